#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# scripts/check-circles finds each circle of files, and nothing else: small
# trees of objects that are compiled here. Usage: test_circles.sh BUILD_FOLDER
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

tree=$work/tree
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")

# plant FILE CALLED...: adds src/FILE.c and its object, with a function of the
# file's name that calls the others.
plant() {
    local file=$1 name=${1##*/} called
    local object=$tree/build/src/CMakeFiles/all.dir/$file.c.o
    mkdir -p "$tree/src/${file%/*}" "${object%/*}"
    {
        for called in "${@:2}"; do
            printf 'void %s(void);\n' "$called"
        done
        printf 'void %s(void);\nvoid %s(void)\n{\n' "$name" "$name"
        for called in "${@:2}"; do
            printf '    %s();\n' "$called"
        done
        printf '}\n'
    } >"$tree/src/$file.c"
    "$compiler" -c -o "$object" "$tree/src/$file.c"
}

circles() {
    "$(dirname "$0")/../../scripts/check-circles" "$tree/build" "$tree" 2>&1
}

finds() { # NAME PATTERN: one line
    local said
    # shellcheck disable=SC2053 # $2 is a pattern
    if said=$(circles); then
        fail "$1" "check-circles found nothing"
    elif [[ $said == $2 && $said != *$'\n'* ]]; then
        pass "$1"
    else
        fail "$1" "$said"
    fi
    rm -rf "$tree"
}

accepts() { # NAME
    local said
    if said=$(circles); then
        pass "$1"
    else
        fail "$1" "$said"
    fi
    rm -rf "$tree"
}

plant ha/a b c
plant ha/b c
plant ha/c
accepts "files that call downwards are no circle"

plant ha/a a
accepts "a file that calls itself is no circle"

plant ha/a b
plant ha/b a
finds "two files that call each other are one" \
    "src/ha: a circle of 2 files: ha/a ha/b; *ha/a -b-> ha/b -a-> ha/a"

plant ha/a b
plant ha/b c
plant ha/c a
plant ha/d a
finds "a longer way round is one, without the files that only lead to it" \
    "src/ha: a circle of 3 files: ha/a ha/b ha/c; *"

plant ha/a b
plant ha/b c d
plant ha/c b
plant ha/d a
finds "the shortest way round is what is shown" \
    "src/ha: a circle of 4 files: *; *: ha/b -c-> ha/c -b-> ha/b"

plant ha/one/a b
plant ha/two/b a
finds "folders within a folder are a part of it" \
    "src/ha: a circle of 2 files: ha/one/a ha/two/b; *"

plant ha/a b
plant queue/b a
accepts "files of two folders are left to check-shape"

# Each of the programs may have a function of that name.
plant ctl/a b
plant ctl/b
plant daemon/b
plant daemon/a b
plant daemon/c
accepts "a name may be defined in two folders"
plant ctl/a b
plant ctl/b a
plant daemon/a
plant daemon/b
finds "a name in another folder hides no circle" \
    "src/ctl: a circle of 2 files: ctl/a ctl/b; *"

plant ha/a b
plant ha/b a
rm "$tree/src/ha/b.c"
accepts "the object of a file that was removed does not count"

for pair in "a b" "c d"; do
    plant "ha/${pair% *}" "${pair#* }"
    plant "ha/${pair#* }" "${pair% *}"
done
said=$(circles)
like "each circle is a line" "$(wc -l <<<"$said")" 2
rm -rf "$tree"

# searched KNOWN: what the search says of a circle of 2 files, with that list.
searched() {
    printf '%s\n' 'ha/a: a T' 'ha/a: b U' 'ha/b: b T' 'ha/b: a U' |
        awk -v known="$1" \
            -f "$(dirname "$0")/../../scripts/check-circles.awk"
    echo "$?"
}

like "a circle of the list is none" "$(searched 'ha=2')" 0
like "a circle may be smaller than the list says" "$(searched 'ha=3')" 0
like "a circle may not be larger than the list says" "$(searched 'ha=1')" \
    "src/ha: a circle of 2*\"ha=1\"*1"
like "the list says nothing of other folders" "$(searched 'queue=2')" \
    "src/ha: a circle of 2*\"queue=2\"*1"
like "what is no circle any more leaves the list" "$(searched 'ha=2 ha=2')" \
    "*no circle any more for \"ha=2\" in its list*1"

mkdir -p "$tree/src" "$tree/build/src/CMakeFiles"
like "a folder without objects is no success" "$(circles; echo $?)" \
    "*there is no object*1"
tap_end
