#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A rolling upgrade of two brokers behind HAProxy, with the configuration that
# packaging/ has: clients take numbers all the time and notice nothing.
# Usage: test_haproxy.sh BUILD_FOLDER
# shellcheck disable=SC2317 # functions are called by ok() and wait_for()
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

rounds=3
haproxy=$(PATH=$PATH:/usr/sbin:/sbin command -v haproxy)
if [[ -z $haproxy && -z ${CI:-} ]]; then
    skip "a rolling upgrade behind HAProxy" "there is no haproxy"
    tap_end
fi

# Both have the same stores. The delay ends when HAProxy has noticed.
mkdir "$work/stores"
{
    sed "s|path = \"|&$work/stores/|" "$work/patient.conf"
    echo 'daemon = { stop_delay = "1h"; stop_timeout = "60s"; };'
} >"$work/shared.conf"

# An address of loopback that no other process uses, so that the ports of the
# configuration are free, and stay so while a broker restarts.
host=127.$((64 + ($$ >> 16))).$(($$ >> 8 & 255)).$(($$ & 255))

declare -A pid=() log=()
declare -Ar port=([a]=7379 [b]=7380) http=([a]=9379 [b]=9380)

start() { # BROKER
    daemon_start "$1" -c "$work/shared.conf" --listen "$host:${port[$1]}" \
        --http "$host:${http[$1]}" || return 1
    pid[$1]=$daemon_pid
    log[$1]=$daemon_log
}
start a || exit 1
start b || exit 1

# HAProxy looks more often here, and no verdict depends on how fast it is.
sed -e "s/127\.0\.0\.1/$host/" -e "s/inter 1s/inter 100ms/" \
    -e "s/check 2s/check 60s/" -e "s/connect 2s/connect 60s/" \
    "$(dirname "${BASH_SOURCE[0]}")/../../packaging/haproxy/haproxy.cfg" \
    >"$work/haproxy.cfg"
"$haproxy" -db -f "$work/haproxy.cfg" >"$work/haproxy.log" 2>&1 &
track "$!"

# is_seen BROKER STATE: UP or DOWN, by HAProxy.
is_seen() {
    local fd
    exec {fd}<>"/dev/tcp/$host/9999" || return 1
    printf 'show stat\n' >&"$fd"
    timeout 60 cat <&"$fd" | awk -F, -v name="$1" -v state="$2" \
        '$2 == name && index($18, state) == 1 { found = 1 }
        END { exit !found }'
    set -- $?
    exec {fd}>&-
    return "$1"
}
knows_both() {
    is_seen a UP && is_seen b UP
} 2>>"$work/trash"
wait_for knows_both
ok "HAProxy sees both brokers" knows_both

"$build/tests/clients" "$host:6379" 3 3 >"$work/counts" 2>"$work/words" &
clients=$!
track "$clients"

# has_worked BROKER: clients have taken numbers from it.
has_worked() {
    local commands
    commands=$(timeout 60 redis-cli -h "$host" -p "${port[$1]}" INFO stats \
        2>>"$work/trash" |
        sed -n 's/^total_commands_processed:\([0-9]*\).*/\1/p')
    [ "${commands:-0}" -gt 50 ]
}
is_leaving() { # BROKER
    grep -q ' info event=leaving ' "${log[$1]}"
}

# upgrade BROKER: what an operator does, but for the new program.
upgrade() {
    "$build/seqctl" -s "$work/$1.sock" -t 60 drain --broker \
        >>"$work/drains" 2>&1 &
    local drain=$!
    track "$drain"
    wait_for is_leaving "$1"
    wait_for is_seen "$1" DOWN
    kill -TERM "${pid[$1]}"
    reap "${pid[$1]}"
    codes+=" $?"
    reap "$drain"
    start "$1" && wait_for is_seen "$1" UP && wait_for has_worked "$1"
}
codes=
for ((i = 0; i < rounds; i++)); do
    for broker in a b; do
        wait_for has_worked "$broker"
        upgrade "$broker" || fail "broker $broker comes back"
    done
done
is "each stop was a clean one" "$codes" " 0 0 0 0 0 0"
is "each drain has seen it" "$(sort "$work/drains" | uniq -c | sed 's/^ *//')" \
    "6 the broker has stopped"
kill -TERM "$clients"
reap "$clients"
like "no client was refused, got an error, was cut off, or got a number twice" \
    "$(cat "$work/counts" "$work/words")" \
    "refused=0 failed=0 cut=0 repeats=0 ended=* numbers=[1-9]*"

tap_end
