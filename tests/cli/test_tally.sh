#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What run-tests counts: no way for a program to fail may look like success.
# Usage: test_tally.sh BUILD_FOLDER
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# tallies SENTENCE COUNTS VERDICT LINE...: what is counted when one program
# printed these lines and ctest gave that verdict.
tallies() {
    local sentence=$1 counts=$2 verdict=$3
    shift 3
    is "$sentence" "$({
        echo "test 7"
        printf '7: %s\n' "Test command: x" "$@"
        echo " 1/1 Test  #7: test_x ......   $verdict    0.01 sec"
    } | awk -f "$(dirname "$0")/../../scripts/tally.awk" | tail -n 1)" \
        "tally $counts"
}

tallies "checks that passed are counted" "2 0 0" Passed \
    1..2 "ok 1 - a" "ok 2 - b"
tallies "checks that failed are counted" "1 1 0" "***Failed" \
    1..2 "ok 1 - a" "not ok 2 - b"
tallies "a skip is neither, in cmocka's words" "1 0 1" Passed \
    1..2 "ok 1 - a" "not ok 2 # SKIP b"
tallies "a skip is neither, in TAP's words" "1 0 1" Passed \
    1..2 "ok 1 - a" "ok 2 - b # SKIP no server"
tallies "a failed set-up is a failure" "0 1 0" "***Failed" \
    1..2 "not ok 0 - group [  FAILED  ] GROUP SETUP"
tallies "a crash is a failure" "1 1 0" "***Exception: SegFault" \
    1..2 "ok 1 - a"
tallies "a crash at the end is a failure" "2 1 0" "Subprocess aborted***" \
    1..2 "ok 1 - a" "ok 2 - b"
tallies "a hang is a failure" "1 1 0" "***Timeout" 1..1 "ok 1 - a"
tallies "an end before the plan is one" "1 1 0" Passed 1..2 "ok 1 - a"
tallies "a program without a check is one" "0 1 0" Passed "hello"
tallies "a program that is not there is one" "0 1 0" "***Not Run"
tallies "plans of several groups add up" "1 1 0" Passed \
    1..1 "ok 1 - a" 1..1
is "no program at all is a failure" \
    "$(awk -f "$(dirname "$0")/../../scripts/tally.awk" </dev/null | tail -n 1)" \
    "tally 0 1 0"

tap_end
