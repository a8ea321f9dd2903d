#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# INCR through seqbrokerd beside redis-server (no persistence), 50 connections,
# both saturated in turn by the same client. Ends by itself, in about a minute.
# Usage: bench_daemon.sh BUILD_FOLDER [SECONDS_A_RUN] [RUNS]
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
seconds=${2:-1}
runs=${3:-5}
connections=50

# redis_start: on a unix socket and a free TCP port, the first of a few tries.
redis_start() {
    local pid try
    redis_socket=$work/redis.sock
    for try in {1..20}; do
        redis_port=$((20000 + RANDOM % 30000))
        redis-server --port "$redis_port" --bind 127.0.0.1 \
            --unixsocket "$redis_socket" --dir "$work" --save "" \
            --appendonly no >"$work/redis.log" 2>&1 &
        pid=$!
        track "$pid"
        wait_for redis_is_decided "$pid"
        kill -0 "$pid" 2>>"$work/trash" && return
    done
    echo "bench: redis-server does not start after $try tries" >&2
    exit 1
}

redis_is_decided() { # PID
    ! kill -0 "$1" 2>>"$work/trash" ||
        grep -q 'ready to accept' "$work/redis.log"
}

# measure ADDRESS PIPELINE: prints requests a second.
measure() {
    "$build/tests/lineload" "$1" "$connections" "$2" "$seconds" |
        sed 's/ .*//'
}

median() {
    sort -n | sed -n "$(((runs + 1) / 2))p"
}

# compare NAME PIPELINE OURS THEIRS: one row of the table.
compare() {
    local run ours=$work/ours theirs=$work/theirs
    : >"$ours"
    : >"$theirs"
    for ((run = 0; run < runs; run++)); do
        measure "$3" "$2" >>"$ours"
        measure "$4" "$2" >>"$theirs"
    done
    awk -v name="$1" -v pipeline="$2" -v ours="$(median <"$ours")" \
        -v theirs="$(median <"$theirs")" \
        'BEGIN { printf "%-5s %8d %14d %14d %8.2f\n", name, pipeline, ours,
                 theirs, ours / theirs }'
}

daemon_start bench || exit 1
redis_start
# Not counted: the ring grows with the demand.
measure "tcp:$daemon_port" 64 >>"$work/trash"
measure "tcp:$redis_port" 64 >>"$work/trash"

echo "INCR, requests/s, $connections connections, medians of $runs runs" \
    "of $seconds s"
printf '%-5s %8s %14s %14s %8s\n' over pipeline seqbrokerd redis-server ratio
for pipeline in 1 16 64; do
    compare tcp "$pipeline" "tcp:$daemon_port" "tcp:$redis_port"
    compare unix "$pipeline" "unix:$daemon_socket" "unix:$redis_socket"
done
