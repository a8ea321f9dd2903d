# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # lib.sh, and who sources this
# A Prometheus that runs with the alerts of packaging/prometheus, whose durations
# are shortened, for the tests in which each alert fires and ends. To be sourced
# after lib.sh.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
rules=$root/packaging/prometheus/seqbroker.rules.yml

if ! command -v prometheus >>"$work/trash" && [ -z "${CI:-}" ]; then
    skip "alerts of a Prometheus that runs" "there is no prometheus"
    tap_end
fi

sed -e 's/^\( *for:\) .*/\1 1s/' -e 's/\[5m\]/[12s]/g' \
    -e 's/\[1h\]/[12s]/g' -e 's/\[10m\] offset 1h/[5s] offset 12s/' \
    -e 's/\[[13][05]m\]/[30s]/' \
    "$rules" >"$work/rules.yml"
is "only durations are others" "$(diff "$work/rules.yml" "$rules" |
    grep '^>' | grep -vcE 'for: |\[(5m|15m|30m|1h)\]')" 0
cat >"$work/prometheus.yml" <<END
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 500ms}
rule_files: ["$work/rules.yml"]
scrape_configs:
  - job_name: seqbroker
    file_sd_configs: [{files: ["$work/targets.json"], refresh_interval: 1s}]
END

# scrape [NAME ADDRESS]...: these instances, and no others
scrape() {
    local comma='['
    while [ $# -gt 0 ]; do
        printf '%s{"targets": ["%s"], "labels": {"instance": "%s"}}\n' \
            "$comma" "$2" "$1"
        comma=,
        shift 2
    done >"$work/targets.new"
    echo ']' >>"$work/targets.new"
    mv "$work/targets.new" "$work/targets.json"
}

prometheus_start() {
    prometheus --config.file="$work/prometheus.yml" \
        --storage.tsdb.path="$work/data" --web.listen-address=127.0.0.1:0 \
        2>"$work/prometheus.log" &
    prometheus_pid=$!
    track "$prometheus_pid"
    if ! wait_for prometheus_listens; then
        fail "prometheus starts" "$(cat "$work/prometheus.log")"
        tap_end
    fi
    prometheus_at=$(sed -n 's/.*msg="Listening on" address=//p' \
        "$work/prometheus.log")
    wait_for is_scraped
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
# A scrape that is missed, as on a busy machine, ends all alerts for a while.
has_ended() { # ALERT [MORE-LABELS]
    [[ $(answer "ALERTS{alertname=\"$1\"${2:+,$2}} or min_over_time(up[3s]) < 1
        or absent_over_time(up[3s])") == *'"result":[]'* ]]
}
ends() { # ALERT [MORE-LABELS]
    local end=$((SECONDS + 300)) is_over=
    while ((SECONDS < end)) && [ -z "$is_over" ]; do
        if has_ended "$@"; then is_over=yes; else sleep 0.5; fi
    done
    ok "$1 ends" [ -n "$is_over" ]
}

# unseen fires|ends: alerts of which neither test says it
unseen() {
    sed -n "s/^ *$1 \(Seqbroker[A-Za-z]*\).*/\1/p" \
        "$root/tests/cli/test_alerts_live.sh" \
        "$root/tests/cli/test_alerts_events.sh" | sort -u |
        comm -13 - <(sed -n 's/^ *- alert: //p' "$rules" | sort)
}
all_are_seen() {
    is "each alert is seen to fire, in one of the two tests" "$(unseen fires)" ""
    is "each is seen to end" "$(unseen ends)" ""
}

# --- what makes them fire ---

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

clock_is() { # SECONDS that it is ahead
    printf '%+d\n' "$1" >"$work/clock.new"
    mv "$work/clock.new" "$work/clock"
}

# can_step: libfaketime can step the clock of a daemon. Not with a sanitizer, whose
# runtime has to be loaded first, and does not see what libfaketime does to locks.
can_step() {
    faketime=$(ls /usr/lib/*/faketime/libfaketimeMT.so.1 2>>"$work/trash" |
        head -n 1)
    if [ -n "$(sed -n 's/^SEQB_SANITIZE:[A-Z]*=//p' "$build/CMakeCache.txt")" ]; then
        printf '# the alerts of clocks are seen without a sanitizer\n'
        return 1
    fi
    [ -z "$faketime" ] || return 0
    skip "alerts of clocks" "there is no libfaketime"
    return 1
}

# stepped_start CONF: a daemon of that topology whose wall clock is that of
# clock_is. It is scraped as "stepped", beside the other one. Sets stepped.
stepped_start() {
    local http
    clock_is 0
    # The monotonic clocks run on.
    env LD_PRELOAD="$faketime" FAKETIME_TIMESTAMP_FILE="$work/clock" \
        FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 \
        FAKETIME_FORCE_MONOTONIC_FIX=0 NO_FAKE_STAT=1 \
        "$build/seqbrokerd" -c "$1" \
        --state-dir "$work/stepped" --listen none --http 127.0.0.1:0 \
        --socket "$work/stepped.sock" 2>"$work/stepped.log" &
    stepped=$!
    track "$stepped"
    wait_for grep -q 'event=ready' "$work/stepped.log"
    http=$(sed -n 's/.*event=ready .* http=\([^ ]*\).*/\1/p' "$work/stepped.log")
    scrape broker "$daemon_http" stepped "$http"
}
stepped_stop() {
    kill "$stepped"
    reap "$stepped"
    scrape broker "$daemon_http"
}
stepped_take() { # KEY
    "$build/seqctl" -s "$work/stepped.sock" -t 60 next "$1" \
        >>"$work/trash" 2>&1
}
