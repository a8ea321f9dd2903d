# SPDX-License-Identifier: Apache-2.0
#
# The output of `ctest -V` without that of the programs whose name matches
# `late`, and without what ctest says of them.

{
    lines[NR] = $0
    if ($0 ~ /^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: /) {
        id = $0
        sub(/^[^#]*#/, "", id)
        name = id
        sub(/:.*/, "", id)
        sub(/^[0-9]+: /, "", name)
        sub(/ .*/, "", name)
        if (name ~ late) {
            dropped[id + 0] = 1
            lines[NR] = ""
        }
    }
}

END {
    for (i = 1; i <= NR; i++) {
        id = -1
        if (lines[i] ~ /^[0-9]+: /) {
            id = lines[i]
            sub(/:.*/, "", id)
        }
        if (lines[i] != "" && !(id + 0 in dropped))
            print lines[i]
    }
}
