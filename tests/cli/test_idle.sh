#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A daemon that nobody asks, while the files of all its stores are moved away:
# what health and status say. The times are printed and judge nothing, since this
# machine may be busy: test_sim holds the bound of 3 s, in virtual time.
# test_idle.sh BUILD_FOLDER
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
asks_daemon=yes

# health_is CODE
health_is() {
    seqctl health
    [[ $code == "$1" ]]
}

daemon_start idle || exit 1
stores=$work/idle
mkdir "$work/away" || exit 1

does "a number comes" "0 [1-9]*" next order
does "health of a well daemon is code 0" "0 serving" health
does "status has the column" "0 *LAST OK*" status
does "JSON has the field" '0 *"last_ok_ms": [0-9]*' status --json

begin=${EPOCHREALTIME/./}
mv "$stores"/*.db* "$work/away/" || exit 1
ok "health finds out that all stores are gone" wait_for health_is 2
echo "# after $(((${EPOCHREALTIME/./} - begin) / 1000)) ms: $out"
like "and names what the stores say" "$out" \
    "not serving: pool main cannot serve: partition 0 (sqlite-0) is *"

begin=${EPOCHREALTIME/./}
mv "$work/away/"* "$stores/" || exit 1
ok "health finds out that they are back" wait_for health_is 0
echo "# after $(((${EPOCHREALTIME/./} - begin) / 1000)) ms: $out"
does "and numbers come again" "0 [1-9]*" next order
tap_end
