#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The alerts of packaging/prometheus in a Prometheus that runs, on a daemon whose
# stores go away and come back, and that is restarted: each fires, and ends. Those
# of clocks are of a second daemon, whose wall clock is stepped by libfaketime.
# SequenceRunsOut takes two minutes, since a forecast compares two samples, a
# minute apart: meanwhile all others fire. More are in test_alerts_events.sh.
# Usage: test_alerts_live.sh BUILD_FOLDER
# shellcheck disable=SC2317 # ok() calls functions
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/prometheus.sh
. "$(dirname "$0")/prometheus.sh"
asks_daemon=yes

# --- a broker of four pools ---

cat >"$work/pools.conf" <<'END'
broker = { open_timeout = "60s"; };
backends = ( { name = "a"; engine = "sqlite"; path = "a.db"; },
             { name = "b"; engine = "sqlite"; path = "b.db"; },
             { name = "c"; engine = "sqlite"; path = "c.db"; },
             { name = "d"; engine = "sqlite"; path = "d.db"; },
             { name = "e"; engine = "sqlite"; path = "e.db"; },
             { name = "f"; engine = "sqlite"; path = "f.db"; },
             { name = "g"; engine = "sqlite"; path = "g.db"; },
             { name = "h"; engine = "sqlite"; path = "h.db"; },
             { name = "i"; engine = "sqlite"; path = "i.db"; } );
pools = ( { name = "one"; partitions = [ "a", "b" ]; timeout = "20s";
            rescue = "fixed"; rescue_after = "500ms"; check_interval = "500ms"; },
          { name = "two"; partitions = [ "c", "d" ]; timeout = "20s";
            rescue = "fixed"; rescue_after = "1h"; check_interval = "500ms"; },
          { name = "near"; partitions = [ "e", "f", "g", "h" ]; timeout = "20s";
            authority = "neighbours";
            rescue = "fixed"; rescue_after = "500ms"; },
          { name = "small"; partitions = [ "i" ]; timeout = "20s"; } );
sequences = ( { key = "hasty"; pool = "one"; deadline = "200ms";
                memory_bits = 0; max_unused = 1; prefetch = false; },
              { key = "poor"; pool = "two"; deadline = "60s";
                memory_bits = 0; max_unused = 1; prefetch = false; },
              { key = "order"; pool = "two"; deadline = "60s"; },
              { key = "near"; pool = "near"; deadline = "60s"; },
              { key = "scarce"; pool = "small"; deadline = "60s";
                memory_bits = 0; max_unused = 1; prefetch = false; } );
END

# At the address that it had, if nobody has that: Prometheus takes 5 seconds to
# look at another one.
broker_start() {
    daemon_start pools -c "$work/pools.conf" --http "${daemon_http:-127.0.0.1:0}" ||
        daemon_start pools -c "$work/pools.conf" --http 127.0.0.1:0 || return 1
    [ "$daemon_http" = "$scraped" ] || scrape broker "$daemon_http"
    scraped=$daemon_http
}
scraped=

away() { # STORE...
    local store
    for store in "$@"; do mv "$work/pools/$store.db" "$work/$store.away"; done
}
back() { # STORE...
    local store
    for store in "$@"; do mv "$work/$store.away" "$work/pools/$store.db"; done
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

broker_start || exit 1
prometheus_start

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

# --- a sequence that is used up ---

# As other brokers would with 10^13 numbers at a time: of the 2^62 that there are
# none would be left in days. It is known of this run of the broker alone.
use_up() {
    while sleep 0.5; do
        cli INCR scarce
        cli INCR scarce
        sqlite3 -cmd ".timeout 20000" "$work/pools/i.db" \
            "UPDATE seqb_counters SET value = value + 10000000000000
                WHERE name = 'small/0/scarce'"
    done >>"$work/trash"
}
use_up &
using=$!
track "$using"

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

ends SeqbrokerSequenceStarves 'sequence="poor"'
ends SeqbrokerTimeouts
ends SeqbrokerSlow
ok "who reads the events hears of a daemon that is silent" \
    wait_for grep -q '^:' "$work/events"
ends SeqbrokerPartitionFlaps

# --- a daemon whose clock is wrong ---

# Its stores are a file, and a Redis, which has a clock.
if can_step; then
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
    stepped_start "$work/stepped.conf"
    stepped_take daily
    clock_is -86400
    fires SeqbrokerClockBehind 'instance="stepped"' stepped_take daily
    fires SeqbrokerStoreClockOff 'instance="stepped",backend="r"'
    clock_is 0
    ends SeqbrokerClockBehind
    ends SeqbrokerStoreClockOff
    clock_is 86400
    fires SeqbrokerClockAhead 'instance="stepped"' stepped_take daily
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
    stepped_stop
fi

fires SeqbrokerSequenceRunsOut 'sequence="scarce"'
enough "$using"

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
all_are_seen
tap_end
