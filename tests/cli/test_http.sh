#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# seqbrokerd --http from outside: probes, metrics, refusals. Usage:
# test_http.sh BUILD_FOLDER
# shellcheck disable=SC2317 # ok() and wait_for() call functions
set -u
trap '' PIPE # a server that closes early is what some of this looks at
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# get PATH [OPTION...]: the answer's body, and its status on a line of its own.
get() {
    local path=$1
    shift
    timeout 60 curl -s -w '\n%{http_code}\n' "$@" "http://$daemon_http$path"
}

status_of() {
    get "$@" | tail -1
}

# metric NAME_AND_LABELS: its value.
metric() {
    get /metrics | sed -n "s/^$1 //p"
}

# raw BYTES: what the server answers to them until it closes, and that it does.
raw() {
    exec 3<>"/dev/tcp/${daemon_http%:*}/${daemon_http##*:}" || return 1
    printf '%b' "$1" >&3 2>>"$work/trash"
    timeout 60 cat <&3 2>>"$work/trash"
    [ $? -eq 124 ] || printf '\nclosed' 2>>"$work/trash"
    exec 3>&-
}

is "--http wants an address" "$("$build/seqbrokerd" --http x 2>&1
    echo $?)" "seqbrokerd: --http wants ADDR:PORT or none, not x; see seqbrokerd --help
2"
daemon_start none || exit 1
is "without --http there is none" "$daemon_http" none
daemon_stop

daemon_start main --http 127.0.0.1:0 || exit 1

# --- probes ---

is "it is alive" "$(get /livez)" "ok

200"
is "it is ready" "$(get /readyz)" "serving

200"
is "HEAD answers the length alone" \
    "$(get /livez -I | tr -d '\r' | grep -c 'Content-Length: 3')" 1

# --- metrics ---

is "a number" "$(cli INCR order | grep -c '^[1-9]')" 1
cli SET a 1 >>"$work/trash"
cli INCR a/b >>"$work/trash"
if command -v promtool >>"$work/trash"; then
    is "promtool finds nothing wrong" \
        "$(get /metrics | sed '$d' | promtool check metrics 2>&1)" ""
else
    skip "promtool finds nothing wrong" "there is no promtool"
fi
like "who asks for OpenMetrics gets them" "$(curl -si --max-time 60 \
    -H 'Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5' \
    "http://$daemon_http/metrics" | tr -d '\r')" \
    "*Content-Type: application/openmetrics-text; version=1.0.0;*# EOF"
docs=$(cd "$(dirname "$0")/../../docs" && pwd)
is "each metric is documented" "$(get /metrics |
    sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' | sort -u | comm -23 - <(
        grep -ohE '(seqbroker|process)_[a-z_]*' "$docs/http.md" "$docs/status.md" |
            sort -u
    ))" ""
is "the numbers of a sequence" \
    "$(metric 'seqbroker_sequence_taken_total{sequence="order",pool="main"}')" 1
is "the numbers of all" "$(metric seqbroker_taken_total)" 1
is "a partition's state" "$(metric \
    'seqbroker_partition_state{pool="main",partition="0",backend="sqlite-0",state="up"}')" 1
is "commands by their name" \
    "$(metric 'seqbroker_commands_total{command="INCR"}')" 2
is "errors by their code" \
    "$(metric 'seqbroker_command_errors_total{code="ERR"}')" 2
is "the durations of all" "$(metric seqbroker_command_duration_seconds_count)" 3
for ((i = 0; i < 5000; i++)); do echo INCR pipe; done |
    timeout 60 redis-cli -p "$daemon_port" --pipe >>"$work/trash" 2>&1
is "commands that are answered together are counted each" \
    "$(metric 'seqbroker_commands_total{command="INCR"}')" 5002
for ((i = 0; i < 150; i++)); do echo "INCR some.$i"; done |
    timeout 60 redis-cli -p "$daemon_port" --pipe >>"$work/trash" 2>&1
is "only so many sequences are labels" \
    "$(get /metrics | grep -c '^seqbroker_sequence_taken_total')" 100
is "all are counted" "$(metric seqbroker_sequences)" 152
is "the others are one" \
    "$(get /metrics | grep -c '^seqbroker_sequence_stock_numbers')" 101
is "which has no counter" \
    "$(get /metrics | grep -c '_total{sequence="other"')" 0
is "all numbers are counted" "$(metric seqbroker_taken_total)" 5151

is "its memory and its files, by the usual names" "$(get /metrics |
    grep -oE '^process_[mor][a-z_]+ [1-9]' | cut -d' ' -f1 | sort | tr '\n' ' ')" \
    "process_max_fds process_open_fds process_resident_memory_bytes "
is "as many as it may have open" "$(metric process_max_fds)" \
    "$(awk '/^Max open files/ { print $4 }' "/proc/$daemon_pid/limits")"
like "its processor time" "$(metric process_cpu_seconds_total)" '*[1-9]*'

# --- the status, and numbers ---

names() {
    grep -o '"[a-z_]*":'
}

is "the status has the members that seqctl prints" \
    "$(get /v1/status | names)" \
    "$("$build/seqctl" --socket "$daemon_socket" -t 60 status --json --all |
        names | grep -v left_out)"
is "of the busiest sequences only" \
    "$(get '/v1/status?sequences=3' | grep -c '{"key":')" 3
like "a number" "$(get /v1/sequences/order/next -X POST)" \
    '{"sequence":"order","numbers":\["[1-9]*"\]}
200'
is "many are distinct" "$(get '/v1/sequences/order/next?count=10000' -X POST |
    grep -o '"[0-9]*"' | sort -u | wc -l)" 10000
is "they count as commands" \
    "$(metric 'seqbroker_commands_total{command="SEQ.NEXT"}')" 2

# --- the page ---

page=$(get /)
like "the page" "$page" "<!doctype html>*</html>*200"
is "it loads nothing from elsewhere" \
    "$(grep -cE 'https?://|src=|@import|url\(' <<<"$page")" 0
like "and may not" "$(get / -I)" \
    "*Content-Security-Policy: default-src 'none'; *connect-src 'self'*"
for path in $(grep -o 'fetch("[^"?]*' <<<"$page" | cut -d'"' -f2); do
    is "it reads /$path" "$(status_of "/$path")" 200
done

# --- what is refused ---

is "an unknown path" "$(status_of /nope)" 404
like "as problem details" "$(get /nope -i)" \
    "*404*application/problem+json*\"code\": \"ERR\"*"
is "another method" "$(status_of /livez -X POST)" 405
like "with those that are right" "$(get /livez -i -X DELETE)" \
    "*405*Allow: GET, HEAD*"
two_lengths='POST /v1/sequences/order/next HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 9\r\n\r\n'
like "a request of two lengths is refused, and what follows is not read" \
    "$(raw "${two_lengths}GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" |
        grep -oE 'HTTP/1.1 [0-9]+|closed' | tr '\n' ' ')" "HTTP/1.1 400 closed "
is "a method that nobody knows" "$(status_of /livez -X NOSUCH)" 501
like "a large body" "$(
    raw "POST /livez HTTP/1.1\r\nContent-Length: 2000\r\n\r\n$(printf 'x%.0s' {1..2000})" |
        head -1)" "HTTP/1.1 413*"
# The end of the connection may overtake the answer, as part of them is unread.
is "large headers" "$(
    raw "GET /livez HTTP/1.1\r\nX: $(printf 'x%.0s' {1..9000})\r\n\r\n" |
        grep -cE '^(HTTP/1.1 200|closed)')" 1
like "what is no HTTP" "$(raw 'hello\r\n\r\n' | head -1)" "HTTP/1.1 400*"
is "it is still alive" "$(status_of /livez)" 200
is "two requests on one connection" "$(get /livez --next -s \
    "http://$daemon_http/livez" | grep -c ok)" 2
is "requests that come together are answered in order" "$(
    raw 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\nGET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n' |
        tr -d '\r' | grep -cE '^(HTTP/1.1 200 OK|ok)$')" 3

# --- not ready ---

asks_daemon=yes
for i in 0 1 2 3; do
    cli_local SEQ.PARTITION DRAIN "main/$i" >>"$work/trash"
done
like "no partition, not ready" "$(get /readyz)" "not serving: pool main *
503"
is "but alive" "$(status_of /livez)" 200
is "its state" "$(metric 'seqbroker_health{state="not serving"}')" 1
is "it is not up" "$(metric \
    'seqbroker_partition_up{pool="main",partition="0",backend="sqlite-0"}')" 0

daemon_stop
is "it stops cleanly" "$daemon_code" 0
tap_end
