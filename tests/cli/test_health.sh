#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The line that says what is wrong, of four pools of 64 partitions, all of which
# have much to say: what a probe and seqctl have of it. test_health.sh
# BUILD_FOLDER
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
asks_daemon=yes

pools=4
partitions=64
size=4095 # SEQB_HEALTH_SIZE without its end

# The files' names are long, and of letters of two bytes: what is cut must not
# be cut within one. A folder each, which is moved away as a whole.
deep=$(printf 'ä%.0s' {1..120})
stores=$work/$deep
mkdir "$stores" || exit 1

topology() {
    local pool i
    printf 'broker = { open_timeout = "60s"; interval = "100ms"; };\n'
    printf 'backends = ( '
    for ((pool = 0; pool < pools; pool++)); do
        for ((i = 0; i < partitions; i++)); do
            ((pool + i > 0)) && printf ','
            printf '\n{ name = "p%d-%d"; engine = "sqlite"; ' "$pool" "$i"
            printf 'path = "%s/%d-%d.db"; }' "$stores" "$pool" "$i"
        done
    done
    printf ' );\npools = ( '
    for ((pool = 0; pool < pools; pool++)); do
        ((pool > 0)) && printf ','
        printf '\n{ name = "pool%d"; timeout = "20s"; authority = "none"; ' "$pool"
        printf 'check_interval = "100ms"; partitions = [ "p%d-0"' "$pool"
        for ((i = 1; i < partitions; i++)); do
            printf ', "p%d-%d"' "$pool" "$i"
        done
        printf ' ]; }'
    done
    printf ' );\nsequences = ( { key = "order"; pool = "pool0"; '
    printf 'deadline = "60s"; } );\n'
}

# All that are down are told or counted, each whole: how many that is.
told() {
    local entries more=0
    entries=$(grep -o 'partition [0-9]* (p[0-9]-[0-9]*) is [a-z]*: [^;]*' \
        <<<"$1" | wc -l)
    [[ $1 =~ \;\ and\ ([0-9]+)\ more$ ]] && more=${BASH_REMATCH[1]}
    echo "$((entries + more))"
}

all_are_down() {
    seqctl health
    [[ $code == 2 && $(told "$out") == $((pools * partitions)) ]]
}

ready() {
    timeout 60 curl -s -o "$work/ready" -w '%{http_code}' \
        "http://$daemon_http/readyz"
}

topology >"$work/patient.conf"
daemon_start main --http 127.0.0.1:0 || exit 1
does "all serve" "0 serving" health
mv "$stores" "$work/away" || exit 1
ok "health tells or counts each partition" wait_for all_are_down

seqctl health
line=${out#not serving: }
like "the first is named" "$line" "pool pool0 cannot serve: partition 0 (p0-0) *"
like "the others are counted" "$line" "*; and [1-9]* more"
bytes=$(printf '%s' "$line" | wc -c)
ok "the line is no longer than it may be" test "$bytes" -le "$size"
ok "nor much shorter" test "$bytes" -gt $((size - 512))
ok "it is UTF-8" iconv -f UTF-8 -t UTF-8 -o "$work/trash" <<<"$line"

is "a probe gets 503" "$(ready)" 503
is "with as much of it" "$(told "$(cat "$work/ready")")" \
    $((pools * partitions))
like "as a line" "$(cat "$work/ready")" "not serving: pool pool0 cannot serve: *more"
ok "that ends" test "$(tail -c 1 "$work/ready" | wc -l)" -eq 1

seqctl health --json
json=$(sed 's/.*"reason": "\([^"]*\)".*/\1/' <<<"$out")
is "JSON has as much of it" "$(told "$json")" $((pools * partitions))
mv "$work/away" "$stores" || exit 1
tap_end
