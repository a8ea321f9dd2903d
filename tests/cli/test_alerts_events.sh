#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The alerts of packaging/prometheus that test_alerts_live.sh leaves: those on
# events, on worker ids, and on sequences that wait for another pool. Each fires
# in a Prometheus that runs, and ends. ClockUnset is of a second daemon, whose
# wall clock is stepped by libfaketime.
# Usage: test_alerts_events.sh BUILD_FOLDER
# shellcheck disable=SC2317 # ok() calls functions
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/prometheus.sh
. "$(dirname "$0")/prometheus.sh"
# shellcheck source=tests/cli/certificates.sh
. "$(dirname "$0")/certificates.sh"
asks_daemon=yes

# --- a broker ---

ca ca
certificate old ca "DNS:localhost" -days 5
certificate new ca "DNS:localhost" -days 90
# serve NAME: the daemon has that certificate and its key.
serve() {
    local end
    for end in crt key; do
        cp "$work/$1.$end" "$work/fresh.$end"
        mv "$work/fresh.$end" "$work/server.$end"
    done
}
serve old
mkdir "$work/audit"

cat >"$work/events.conf" <<END
broker = { name = "events"; open_timeout = "60s"; };
daemon = { tls_cert_file = "$work/server.crt"; tls_key_file = "$work/server.key";
           audit_file = "$work/audit/lines"; max_connections_per_address = 8; };
backends = ( { name = "a"; engine = "sqlite"; path = "a.db"; },
             { name = "b"; engine = "sqlite"; path = "b.db"; } );
pools = ( { name = "main"; partitions = [ "a" ]; timeout = "20s"; },
          { name = "snow"; partitions = [ "b" ]; timeout = "20s";
            rescue = "fixed"; rescue_after = "500ms"; check_interval = "500ms"; } );
sequences = ( { key = "tick"; pool = "main"; period = "second";
                deadline = "200ms"; },
              { key = "used"; pool = "main"; deadline = "60s"; },
              { key = "flake"; pool = "snow"; deadline = "200ms";
                snowflake = { epoch = "2020-01-01"; lease = "1s"; }; } );
auto_sequences = { pattern = "new*"; limit = 10; pool = "main";
                   deadline = "200ms"; };
END
daemon_start events -c "$work/events.conf" --http 127.0.0.1:0 \
    --tls-listen 127.0.0.1:0 || exit 1
scrape broker "$daemon_http"
prometheus_start

# --- certificates ---

fires SeqbrokerTlsExpires
echo "no certificate" >"$work/server.crt"
fires SeqbrokerTlsNotReloaded
ok "the old one expires all the same" \
    wait_for is_firing SeqbrokerTlsExpires
serve new
ends SeqbrokerTlsNotReloaded
ends SeqbrokerTlsExpires

# --- the audit's file ---

mv "$work/audit" "$work/audit.away"
echo "no folder" >"$work/audit"
seqctl advance used --to 1000
fires SeqbrokerAuditNotWritten
rm "$work/audit"
mv "$work/audit.away" "$work/audit"
seqctl advance used --to 2000
ends SeqbrokerAuditNotWritten

# --- a store of another pool, which leases worker ids, too ---

mv "$work/events/b.db" "$work/b.away"
fires SeqbrokerWorkerNotHeld 'pool="snow"'
cli INCR new >>"$work/trash"
fires SeqbrokerUnasked
mv "$work/b.away" "$work/events/b.db"
ends SeqbrokerUnasked
ends SeqbrokerWorkerNotHeld

# --- the clock's file ---

again tick
file=$work/events/clock-events
wait_for [ -f "$file" ]
until mkdir "$file" 2>>"$work/trash"; do # it may be written in between
    mv "$file" "$work/clock.away"
done
fires SeqbrokerClockNotKept
rmdir "$file"
mv "$work/clock.away" "$file"
ends SeqbrokerClockNotKept
enough "$asking"

# --- what has happened, and is no state ---

# The last of the 2^63 numbers are no thousand away.
seqctl advance used --to 9223372036854775000 --force
fires SeqbrokerEventPage 'event="exhausted"' seqctl next used -n 1000
again used
fires SeqbrokerCallersRefused 'code="EXHAUSTED"'
crowd() {
    local fds=() fd
    for _ in {1..12}; do
        dial
        fds+=("$dialled")
    done
    for fd in "${fds[@]}"; do hang_up "$fd"; done
}
fires SeqbrokerEventTicket 'event="connections_refused"' crowd
ends SeqbrokerEventPage
ok "who asks for it is refused all the same" \
    is_firing SeqbrokerCallersRefused 'code="EXHAUSTED"'
ends SeqbrokerEventTicket
enough "$asking"
ends SeqbrokerCallersRefused

# --- a clock that was never set ---

if can_step; then
    cat >"$work/stepped.conf" <<'END'
broker = { open_timeout = "60s"; };
backends = ( { name = "s"; engine = "sqlite"; path = "s.db"; } );
pools = ( { name = "clocks"; partitions = [ "s" ]; timeout = "20s"; } );
sequences = ( { key = "daily"; period = "day"; deadline = "200ms"; } );
END
    stepped_start "$work/stepped.conf"
    stepped_take daily
    clock_is -$((27 * 366 * 86400)) # 1999
    fires SeqbrokerClockUnset 'instance="stepped"' stepped_take daily
    clock_is 0
    ends SeqbrokerClockUnset
    stepped_stop
fi

daemon_stop
all_are_seen
tap_end
