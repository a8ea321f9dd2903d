#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The alerts of packaging/prometheus in a Prometheus that runs, on a daemon whose
# stores go away and come back, and that is restarted: each fires, and ends. Only
# durations are shortened. Those of clocks are of a second daemon, whose wall
# clock is stepped by libfaketime. SequenceRunsOut takes two minutes, since a
# forecast compares two samples, a minute apart.
# Usage: test_alerts_live.sh BUILD_FOLDER
# shellcheck disable=SC2317 # ok() calls functions
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
asks_daemon=yes

if ! command -v prometheus >>"$work/trash" && [ -z "${CI:-}" ]; then
    skip "alerts of a Prometheus that runs" "there is no prometheus"
    tap_end
fi

# --- a broker of three pools ---

cat >"$work/pools.conf" <<'END'
broker = { open_timeout = "60s"; };
backends = ( { name = "a"; engine = "sqlite"; path = "a.db"; },
             { name = "b"; engine = "sqlite"; path = "b.db"; },
             { name = "c"; engine = "sqlite"; path = "c.db"; },
             { name = "d"; engine = "sqlite"; path = "d.db"; },
             { name = "e"; engine = "sqlite"; path = "e.db"; },
             { name = "f"; engine = "sqlite"; path = "f.db"; },
             { name = "g"; engine = "sqlite"; path = "g.db"; },
             { name = "h"; engine = "sqlite"; path = "h.db"; } );
pools = ( { name = "one"; partitions = [ "a", "b" ]; timeout = "20s";
            rescue = "fixed"; rescue_after = "500ms"; check_interval = "500ms"; },
          { name = "two"; partitions = [ "c", "d" ]; timeout = "20s";
            rescue = "fixed"; rescue_after = "1h"; check_interval = "500ms"; },
          { name = "near"; partitions = [ "e", "f", "g", "h" ]; timeout = "20s";
            authority = "neighbours";
            rescue = "fixed"; rescue_after = "500ms"; } );
sequences = ( { key = "hasty"; pool = "one"; deadline = "200ms"; },
              { key = "poor"; pool = "two"; deadline = "60s";
                memory_bits = 0; max_unused = 1; prefetch = false; },
              { key = "order"; pool = "two"; deadline = "60s"; },
              { key = "near"; pool = "near"; deadline = "60s"; } );
END

# Its address is another one after each start, its name stays.
broker_start() {
    daemon_start pools -c "$work/pools.conf" --http 127.0.0.1:0 || return 1
    printf '[{"targets": ["%s"], "labels": {"instance": "broker"}}]\n' \
        "$daemon_http" >"$work/targets.new"
    mv "$work/targets.new" "$work/targets.json"
}

away() { # STORE...
    local store
    for store in "$@"; do mv "$work/pools/$store.db" "$work/$store.away"; done
}
back() { # STORE...
    local store
    for store in "$@"; do mv "$work/$store.away" "$work/pools/$store.db"; done
}

# again KEY: asks for a number of it, all the time. Sets asking.
again() {
    redis-cli -p "$daemon_port" -r -1 -i 0.05 INCR "$1" >>"$work/trash" 2>&1 &
    asking=$!
    track "$asking"
}
enough() { # PID
    kill "$1"
    reap "$1"
}

# field PLACE NAME: of a partition, as "one/0", in status --json
field() {
    seqctl status --json
    sed -n "s/.*\"pool\": \"${1%/*}\", \"partition\": ${1#*/}, .*\"$2\": \"\{0,1\}\([^\",}]*\).*/\1/p" \
        "$work/out"
}
is_state() { # PLACE STATE...
    local place=$1 state
    state=$(field "$place" state)
    shift
    [[ " $* " == *" $state "* ]]
}

# --- a Prometheus ---

sed -e 's/^\( *for:\) .*/\1 1s/' -e 's/\[5m\]/[20s]/g' \
    -e 's/\[[13][05]m\]/[45s]/' \
    "$root/packaging/prometheus/seqbroker.rules.yml" >"$work/rules.yml"
is "only durations are others" "$(diff "$work/rules.yml" \
    "$root/packaging/prometheus/seqbroker.rules.yml" |
    grep '^>' | grep -vcE 'for: |\[(5|15|30)m\]')" 0
cat >"$work/prometheus.yml" <<END
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 500ms}
rule_files: ["$work/rules.yml"]
scrape_configs:
  - job_name: seqbroker
    file_sd_configs: [{files: ["$work/targets.json"], refresh_interval: 1s}]
END

prometheus_start() {
    prometheus --config.file="$work/prometheus.yml" \
        --storage.tsdb.path="$work/data" --web.listen-address=127.0.0.1:0 \
        2>"$work/prometheus.log" &
    prometheus_pid=$!
    track "$prometheus_pid"
    wait_for prometheus_listens || return 1
    prometheus_at=$(sed -n 's/.*msg="Listening on" address=//p' \
        "$work/prometheus.log")
}
prometheus_listens() {
    grep -q 'msg="Listening on"' "$work/prometheus.log"
}

# answer QUERY: the JSON of what holds now.
answer() {
    timeout 60 curl -sG --data-urlencode "query=$1" \
        "http://$prometheus_at/api/v1/query"
}
is_scraped() {
    [[ $(answer "up == 1") == *'"instance":"broker"'* ]]
}
is_firing() { # ALERT [MORE-LABELS]
    [[ $(answer "ALERTS{alertname=\"$1\",alertstate=\"firing\"${2:+,$2}}") == \
        *'"alertname"'* ]]
}

# The minutes of both are no verdict but the end of a hang.
fires() { # ALERT [MORE-LABELS] [COMMAND...]: which it does meanwhile
    local alert=$1 labels=${2:-} end=$((SECONDS + 300)) is_there=
    shift $(($# < 2 ? $# : 2))
    while ((SECONDS < end)) && [ -z "$is_there" ]; do
        "$@"
        if is_firing "$alert" "$labels"; then is_there=yes; else sleep 0.5; fi
    done
    ok "$alert${labels:+ of $labels} fires" [ -n "$is_there" ]
}
ends() { # ALERT
    local end=$((SECONDS + 300))
    while ((SECONDS < end)) && is_firing "$1"; do sleep 0.5; done
    if is_firing "$1"; then fail "$1 ends"; else pass "$1 ends"; fi
}

broker_start || exit 1
prometheus_start || {
    fail "prometheus starts" "$(cat "$work/prometheus.log")"
    tap_end
}

wait_for is_scraped

# --- a neighbour lost what it knew, and cannot ask the others ---

daemon_stop
cp "$work/pools/e.db" "$work/e.copy"
rm "$work/pools/e.db"
mv "$work/e.copy" "$work/pools/e.db"
away g
broker_start || exit 1
fires SeqbrokerLessorWaits 'pool="near",partition="0"'
back g
ends SeqbrokerLessorWaits

# --- stores of a pool, both ---

timeout 300 curl -sN "http://$daemon_http/v1/events" >"$work/events" &
track $!
cli INCR hasty >>"$work/trash"
cli INCR order >>"$work/trash"
away a b
again hasty
hasty=$asking
fires SeqbrokerNotServing
fires SeqbrokerPartitionDown 'partition="0"'
fires SeqbrokerTimeouts
fires SeqbrokerSlow
back a
ends SeqbrokerNotServing
fires SeqbrokerDegraded
enough "$hasty"

# --- a store that comes and goes ---

# The operator's rescue probes at once. Otherwise it rests longer each time.
flap() {
    away c
    wait_for is_state two/0 quarantined
    back c
    seqctl rescue two/0
    wait_for is_state two/0 ramping up
}
fires SeqbrokerPartitionFlaps 'pool="two",partition="0"' flap

# --- what needs an operator ---

row="name = 'two/1/order'"
store=$work/pools/d.db
value=$(sqlite3 "$store" "SELECT value FROM seqb_counters WHERE $row")
sqlite3 "$store" "UPDATE seqb_counters SET value = 'x' WHERE $row"
fires SeqbrokerCountersRefused 'pool="two",partition="1"' \
    seqctl next order -n 20000
sqlite3 "$store" "UPDATE seqb_counters SET value = $value WHERE $row"
ends SeqbrokerCountersRefused

away d
cp "$work/pools/c.db" "$store"
wait_for is_state two/1 quarantined refused
seqctl rescue two/1
fires SeqbrokerPartitionNeedsOperator 'pool="two",partition="1"'
rm -f "$store"*
back d
seqctl rescue two/1
ends SeqbrokerPartitionNeedsOperator

seqctl drain two/1
fires SeqbrokerPartitionDrained 'pool="two",partition="1"'
seqctl resume two/1
ends SeqbrokerPartitionDrained

again poor
poor=$asking
fires SeqbrokerSequenceStarves 'sequence="poor"'
enough "$poor"

back b
ends SeqbrokerDegraded
ends SeqbrokerPartitionDown

# --- all of it is over ---

ends SeqbrokerSequenceStarves
ends SeqbrokerTimeouts
ends SeqbrokerSlow
ok "who reads the events hears of a daemon that is silent" \
    wait_for grep -q '^:' "$work/events"
ends SeqbrokerPartitionFlaps

# --- a sequence that is used up ---

# As other brokers would with 10^13 numbers at a time: of the 2^62 that there are
# none would be left in days. It is known of this run of the broker alone.
row="name = 'two/0/poor'"
cli INCR poor >>"$work/trash"
cli INCR poor >>"$work/trash"
use_up() {
    sqlite3 -cmd ".timeout 20000" "$work/pools/c.db" \
        "UPDATE seqb_counters SET value = value + 10000000000000 WHERE $row"
    cli INCR poor >>"$work/trash"
    cli INCR poor >>"$work/trash"
}
fires SeqbrokerSequenceRunsOut 'sequence="poor"' use_up

# --- a daemon whose clock is wrong ---

# Its stores are a file, and a Redis, which has a clock. Not with a sanitizer, whose
# runtime has to be loaded first, and does not see what libfaketime does to locks.
clock_is() { # SECONDS that it is ahead
    printf '%+d\n' "$1" >"$work/clock.new"
    mv "$work/clock.new" "$work/clock"
}
faketime=$(ls /usr/lib/*/faketime/libfaketimeMT.so.1 2>>"$work/trash" | head -n 1)
sanitized=$(sed -n 's/^SEQB_SANITIZE:[A-Z]*=//p' "$build/CMakeCache.txt")
if [ -n "$sanitized" ]; then
    printf '# the alerts of clocks are seen without a sanitizer\n'
elif [ -n "$faketime" ] || [ -n "${CI:-}" ]; then
    cat >"$work/stepped.conf" <<END
broker = { open_timeout = "60s"; };
backends = ( { name = "s"; engine = "sqlite"; path = "s.db"; },
             { name = "r"; engine = "redis"; socket = "$work/redis.sock";
               accept_loss = true; } );
pools = ( { name = "clocks"; partitions = [ "r" ]; authority = "s";
            timeout = "20s"; check_interval = "500ms"; } );
sequences = ( { key = "daily"; period = "day"; deadline = "60s"; } );
END
    redis_start --appendonly yes --appendfsync always
    clock_is 0
    # The monotonic clocks run on.
    export FAKETIME_TIMESTAMP_FILE=$work/clock FAKETIME_NO_CACHE=1 \
        FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_FORCE_MONOTONIC_FIX=0 \
        NO_FAKE_STAT=1
    LD_PRELOAD=$faketime "$build/seqbrokerd" -c "$work/stepped.conf" \
        --state-dir "$work/stepped" --listen none --http 127.0.0.1:0 \
        --socket "$work/stepped.sock" 2>"$work/stepped.log" &
    stepped=$!
    track "$stepped"
    wait_for grep -q 'event=ready' "$work/stepped.log"
    stepped_http=$(sed -n 's/.*event=ready .* http=\([^ ]*\).*/\1/p' \
        "$work/stepped.log")
    printf '[{"targets": ["%s"], "labels": {"instance": "broker"}},
             {"targets": ["%s"], "labels": {"instance": "stepped"}}]\n' \
        "$daemon_http" "$stepped_http" >"$work/targets.new"
    mv "$work/targets.new" "$work/targets.json"
    take_daily() {
        "$build/seqctl" -s "$work/stepped.sock" -t 60 next daily \
            >>"$work/trash" 2>&1
    }
    take_daily
    clock_is -86400
    fires SeqbrokerClockBehind 'instance="stepped"' take_daily
    fires SeqbrokerStoreClockOff 'instance="stepped",backend="r"'
    clock_is 0
    ends SeqbrokerClockBehind
    ends SeqbrokerStoreClockOff
    clock_is 86400
    fires SeqbrokerClockAhead 'instance="stepped"' take_daily
    clock_is 0
    ends SeqbrokerClockAhead
    # A server that dies. Its daemon is idle: only a look finds out.
    kill -KILL "$redis"
    reap "$redis" 2>>"$work/trash"
    fires SeqbrokerNotServing 'instance="stepped"'
    fires SeqbrokerPartitionDown 'instance="stepped",backend="r"'
    redis_start --appendonly yes --appendfsync always
    ends SeqbrokerNotServing
    ends SeqbrokerPartitionDown
    kill "$stepped"
    reap "$stepped"
else
    skip "alerts of clocks" "there is no libfaketime"
fi

# --- a daemon that is started again and again ---

# Each run is seen for a second at least: its uptime is what is reset.
runs_a_while() {
    [[ $(answer "seqbroker_uptime_seconds > 1") == *'"instance":"broker"'* ]]
}
restart() {
    daemon_stop
    broker_start && wait_for runs_a_while
}
fires SeqbrokerRestarted '' restart
ends SeqbrokerSequenceRunsOut
ends SeqbrokerRestarted
daemon_stop
tap_end
