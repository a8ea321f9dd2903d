# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Of ./run-tests, which sources it: one part of the run beside the others. It only
# computes and knows no time, while the suites wait much: it gets what they leave
# of the processors, so that it does not slow them down.

beside= # its process, while there is one

# In a process of its own; what it counts is in a file.
run_beside() { # FUNCTION [ARGUMENT...]
    work=$work/beside passed=0 failed=0 summary=()
    renice -n 19 "$BASHPID" >/dev/null
    "$@" || true
    printf '%s\n' "$passed $failed" "${summary[@]}" >"$work/result"
}

begin_beside() { # FUNCTION [ARGUMENT...]
    mkdir -p "$work/beside"
    rm -f "$work/beside/result"
    run_beside "$@" >"$work/beside/told" 2>&1 </dev/null &
    beside=$!
}

# Waits for it, tells what it told, and counts what it counted. False if
# something failed in it.
end_beside() {
    local p=0 f=1 rows=()
    wait "$beside" || true
    beside=
    cat "$work/beside/told"
    if [[ -e $work/beside/result ]]; then
        read -r p f <"$work/beside/result"
        mapfile -t -s 1 rows <"$work/beside/result"
    fi
    passed=$((passed + p)) failed=$((failed + f))
    summary+=("${rows[@]}")
    ((f == 0))
}

# With all that it started.
stop_process() { # PROCESS
    local child children
    children=$(pgrep -P "$1") || true
    kill "$1" 2>/dev/null || true
    for child in $children; do
        stop_process "$child"
    done
}

stop_beside() {
    [[ -z $beside ]] || stop_process "$beside"
}
