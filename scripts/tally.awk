# SPDX-License-Identifier: Apache-2.0
#
# Counts the checks in the output of `ctest -V` over programs that print TAP,
# shows the output of programs that failed, and ends with one line,
# "tally PASSED FAILED SKIPPED". A program that crashes, hangs, prints no
# check, or fewer than it planned is a failed check of its own.

# What ctest says of a program when it has ended.
/^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: / {
    id = $0
    sub(/^[^#]*#/, "", id)
    name = id
    sub(/:.*/, "", id)
    sub(/^[0-9]+: /, "", name)
    sub(/ .*/, "", name)
    good = $0 ~ / Passed +[0-9.]+ sec/
    end_of(id + 0, name, good, $0)
    next
}

# What a program printed.
/^[0-9]+: / {
    id = $0
    sub(/:.*/, "", id)
    line = $0
    sub(/^[0-9]+: /, "", line)
    id += 0
    if (line ~ /^(Test command|Working Directory|Environment variables): ?/ || \
        line ~ /^( CMOCKA_MESSAGE_OUTPUT=TAP|Test timeout computed.*)$/)
        next
    output[id] = output[id] "    " line "\n"
    if (line ~ /^(not )?ok [0-9]+ *# *SKIP/ || line ~ /^ok [0-9]+ .*# *SKIP/)
        skipped[id]++
    else if (line ~ /^ok [0-9]+/)
        passed[id]++
    else if (line ~ /^not ok [0-9]+/)
        failed[id]++
    else if (line ~ /^1\.\.[0-9]+$/)
        planned[id] += substr(line, 4)
    if (line ~ /# *SKIP/)
        printf "    %s\n", line
}

function end_of(id, name, good, verdict,    seen, why)
{
    seen = passed[id] + failed[id] + skipped[id]
    if (seen == 0)
        why = "printed no check"
    else if (planned[id] > seen && failed[id] == 0)
        why = "ended after " seen " of " planned[id] " checks"
    else if (!good && failed[id] == 0)
        why = "ended badly"
    if (why != "") {
        failed[id]++
        output[id] = output[id] "    not ok - " name " " why ":" verdict "\n"
    }
    if (failed[id] > 0)
        printf "FAILED %s\n%s", name, output[id]
    all_passed += passed[id]
    all_failed += failed[id]
    all_skipped += skipped[id]
    ended++
}

END {
    if (ended == 0) {
        print "FAILED no test program ran"
        all_failed++
    }
    print "tally", all_passed + 0, all_failed + 0, all_skipped + 0
}
