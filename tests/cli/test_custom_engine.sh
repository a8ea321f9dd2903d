#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An engine of a service's own, as a stranger builds it: out of the tree,
# against an installed library and its headers, and used through a topology.
# Usage: test_custom_engine.sh BUILD_FOLDER
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
export SEQBROKER_STATE_DIR=$work/state

cached() { # NAME: its value in the build's CMake cache
    sed -n "s/^$1:[^=]*=//p" "$build/CMakeCache.txt"
}

# What the library was built with, a program that uses it is built with.
cp "$root"/tests/example_engine/*.[ch] "$work"
sanitize=$(cached SEQB_SANITIZE)
install_and_build() {
    local lib
    cmake --install "$build" --prefix "$work/prefix" || return
    lib=$(dirname "$(find "$work/prefix" -name libseqbroker.so)")
    # shellcheck disable=SC2046
    PKG_CONFIG_PATH=$lib/pkgconfig "$(cached CMAKE_C_COMPILER)" -std=c11 \
        -D_GNU_SOURCE -Wall -Wextra -Werror ${sanitize:+-fsanitize=$sanitize} \
        -o "$work/take" "$work"/*.c \
        $(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs seqbroker) \
        -Wl,-rpath,"$lib"
}
if ! install_and_build >"$work/log" 2>&1; then
    fail "an engine builds against the installed headers" "$(<"$work/log")"
    tap_end
fi
pass "an engine builds against the installed headers"

# topology FILE MORE: two partitions of the example's engine.
topology() {
    cat >"$work/$1" <<END
broker = { open_timeout = "60s"; };
backends = ( { name = "a"; engine = "counter-file"; path = "a.counters"; $2 },
             { name = "b"; engine = "counter-file"; path = "b.counters"; } );
pools = ( { name = "main"; partitions = [ "a", "b" ]; timeout = "20s"; } );
sequences = ( { key = "order"; deadline = "60s"; } );
END
}

topology own.conf ""
"$work/take" "$work/own.conf" order 5000 >"$work/numbers" 2>"$work/err"
is "a service takes numbers of its own engine" \
    "$? $(wc -l <"$work/numbers") $(<"$work/err")" "0 5000 "
for i in 1 2 3; do
    "$work/take" "$work/own.conf" order 5000 >"$work/numbers.$i" &
    track $!
done
for pid in "${!tracked[@]}"; do
    ok "several processes share its file" reap "$pid"
done
is "no number comes twice" \
    "$(cat "$work"/numbers* | grep -E '^[1-9][0-9]*$' | sort -u | wc -l)" 20000

# Line 2 is the backend's.
topology wrong.conf "colour = 1;"
"$work/take" "$work/wrong.conf" order 1 >"$work/out" 2>"$work/err"
like "a diagnostic beside it is told with its line" "$? $(<"$work/err")" \
    "1 *wrong.conf:2: unknown setting 'colour' in backends"
"$build/seqctl" check "$work/own.conf" >"$work/out" 2>"$work/err"
like "seqctl does not know it, and says what there is" "$? $(<"$work/out")" \
    "2 *own.conf:2: unknown engine 'counter-file': this build has *"

tap_end
