#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The alerts and the dashboard of packaging/: that they are sound, fire when they
# should, and name metrics that there are. Usage: test_alerts.sh BUILD_FOLDER
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
rules=$root/packaging/prometheus/seqbroker.rules.yml
dashboard=$root/packaging/grafana/seqbroker.json

# metrics_in FILE...: the names in them, those of a histogram without their end.
metrics_in() {
    grep -ohE '(seqbroker|process)_[a-z_]+' "$@" |
        sed 's/\(duration_seconds\)_[a-z]*$/\1/' | sort -u
}

alerts_in() {
    sed -n "s/.*$1: \([A-Za-z]*\).*/\1/p" "${@:2}" | sort -u
}

metrics_in "$root/docs/http.md" "$root/docs/status.md" >"$work/known"
# The server writes each name as it is, so that one that it drops is found.
grep -rhoE '"(seqbroker|process)_[a-z_]+"' "$root/src/daemon" "$root/src/status" | tr -d '"' >"$work/literals"
is "each metric of the pages is one of the server, and the other way round" \
    "$(cat "$work/known")" "$(metrics_in "$work/literals")"
is "the alerts name metrics that there are" \
    "$(metrics_in "$rules" | comm -23 - "$work/known")" ""
is "the dashboard names metrics that there are" \
    "$(metrics_in "$dashboard" | comm -23 - "$work/known")" ""

# --- the events ---

# event|levels|page, as docs/operations.md has them
sed -n '/^### The events/,/^### /s/^| `\([a-z_]*\)` | \([a-z, ]*\) |[^|]*| \([^|]*\) | .*/\1|\2|\3/p' \
    "$root/docs/operations.md" >"$work/events"
is "each event of the table is counted from 0, at its levels" "$(
    sed -n 's/^    {"\([a-z_]*\)", \([A-Z_ |]*\)},$/\1|\2/p' \
        "$root/src/daemon/log/log_events.c" |
        sed -e 's/IS_\([A-Z]*\)/\L\1/g' -e 's/ | /, /g'
)" "$(cut -d '|' -f 1,2 "$work/events")"

# Events to be paged for whose alert is on another metric, or which have none.
elsewhere='
start_failed        up                  the daemon has ended, its metrics, too
restart_failed      up                  the daemon has ended, its metrics, too
quarantined         NotServing          pages only if health says so
refused             PartitionNeedsOperator
poisoned            PartitionNeedsOperator
counter_refused     CountersRefused
lessor_waits        LessorWaits
worker_lease_failed WorkerNotHeld
unasked             Unasked
clock_back          ClockBehind
clock_ahead         ClockAhead'
has_rule() { # EVENT
    local alert
    grep '^ *expr:' "$rules" | grep -qE "event=~?\"([a-z_]*\|)*$1[\"|]" && return
    alert=$(awk -v event="$1" '$1 == event { print $2 }' <<<"$elsewhere")
    [ "$alert" = up ] || { [ -n "$alert" ] &&
        grep -q "alert: Seqbroker$alert\$" "$rules"; }
}
is "each event that somebody is called for has an alert" "$(
    while IFS='|' read -r event _ page; do
        [ "$page" = no ] || has_rule "$event" || echo "$event"
    done <"$work/events"
)" ""
is "no event has two" "$(awk '{ print $1 }' <<<"$elsewhere" | grep . |
    while read -r event; do
        grep '^ *expr:' "$rules" |
            grep -oE "event=~\"([a-z_]*\|)*$event[\"|]"
    done)" ""

if command -v promtool >>"$work/trash"; then
    for file in alerts alerts_day; do
        sed "s|RULES|$rules|" "$root/tests/cli/$file.yml" >"$work/$file.yml"
    done
    like "the rules are sound" "$(promtool check rules "$rules" 2>&1)" \
        "*SUCCESS*"
    like "each fires when it should" \
        "$(promtool test rules "$work"/alerts*.yml 2>&1)" "*SUCCESS*"
    is "each is tried" "$(alerts_in alert "$rules")" "$(
        {
            alerts_in alertname "$work"/alerts*.yml
            sed -n 's/.*ALERTS{alertname="\([A-Za-z]*\)".*/\1/p' \
                "$work/alerts.yml"
        } | sort -u
    )"
    # Every expression of the dashboard as a rule, its variables filled in.
    {
        echo 'groups: [{name: dashboard, rules: ['
        grep -o '"expr": ".*",$' "$dashboard" |
            sed -e 's/^"expr": /{record: "a:b", expr: /' -e 's/,$/},/' \
                -e 's/\$__rate_interval/5m/g'
        echo ']}]'
    } >"$work/dashboard.yml"
    like "the dashboard's expressions are sound" \
        "$(promtool check rules --lint=none "$work/dashboard.yml" 2>&1)" \
        "*SUCCESS: $(grep -c '"expr"' "$dashboard") rules found*"
else
    skip "each alert fires when it should" "there is no promtool"
fi
tap_end
