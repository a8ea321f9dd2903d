#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How many clients seqbrokerd takes, and what it says to those that are too
# many, by each protocol. The operator gets in.
# Usage: test_limits.sh BUILD_FOLDER
# shellcheck disable=SC2317 # functions are called by ok() and wait_for()
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

printf 'daemon = {\n    max_connections = 3;\n};\n' >>"$work/patient.conf"
ok "a daemon takes three clients" daemon_start few --http 127.0.0.1:0

first=()
for _ in 1 2 3; do
    dial
    first+=("$dialled")
    say "$dialled" 'PING\r\n'
    hear "$dialled" >/dev/null
done
dial
is "a fourth one is refused clearly" "$(hear "$dialled")" \
    "-ERR max number of clients reached"
hang_up "$dialled"
say "${first[0]}" 'INCR order\r\n'
like "those that are connected go on" "$(hear "${first[0]}")" ":*"

asks_daemon=yes
does "the operator gets in by the unix socket" "0 serving*" health
seqctl show stats --json
like "the status counts who was refused" "$(tr -d ' \n' <"$work/out")" \
    '*"max_connections":3,"connections_refused":[1-9]*'
like "the log says it" "$(grep -c event=connections_refused "$daemon_log")" "1"
is "HTTP is refused as well, with 503" "$(curl -s -o "$work/body" -w \
    '%{http_code}' "http://$daemon_http/livez")" 503
like "and says why" "$(cat "$work/body")" "*max number of clients reached*"

hang_up "${first[0]}"
hang_up "${first[1]}"
takes_http() {
    [ "$(curl -s -o "$work/body" -w '%{http_code}' \
        "http://$daemon_http/livez")" = 200 ]
}
ok "when some have left, HTTP is answered" wait_for takes_http
again() {
    dial
    say "$dialled" 'PING\r\n'
    [ "$(hear "$dialled")" = +PONG ]
}
ok "and so are clients" wait_for again
daemon_stop
is "it stops well" "$daemon_code" 0

# --- descriptors are kept back ---

sed -i 's/max_connections = 3/max_connections = 100000/' "$work/patient.conf"
ulimit -n 256
ok "with few descriptors it takes fewer" daemon_start small
like "and says how many" "$(grep event=connections_capped "$daemon_log")" \
    "* max=[0-9]* max_connections=100000 open_files=256"
daemon_stop

# --- a store comes back while clients hold all that they may ---

cat >"$work/patient.conf" <<END
broker = { name = "orders"; };
backends = (
    { name = "r"; engine = "redis"; socket = "$work/redis.sock"; },
    { name = "s"; engine = "sqlite"; path = "s.db"; },
    { name = "a"; engine = "sqlite"; path = "a.db"; }
);
pools = ( { name = "main"; partitions = [ "s", "r" ]; authority = "a"; } );
sequences = ( { key = "order"; } );
daemon = { max_connections = 100000; };
END
ok "a Redis starts" redis_start
ok "a daemon has few descriptors" daemon_start held
most=$(sed -n 's/.*event=connections_capped max=\([0-9]*\).*/\1/p' "$daemon_log")
for ((i = 0; i < most; i++)); do
    dial
    say "$dialled" 'INCR order\r\n'
    hear "$dialled" >/dev/null
done
dial
is "clients hold all that they may" "$(hear "$dialled")" \
    "-ERR max number of clients reached"
hang_up "$dialled"
redis_state() {
    seqctl status --json
    [ "$(jq -r '.partitions[] | select(.backend == "r").state' \
        "$work/out")" = "$1" ]
}
kill "$redis"
reap "$redis" 2>>"$work/trash"
ok "its store is away" wait_for redis_state quarantined
ok "and starts again" redis_start
ok "it is asked again, though the clients stay" wait_for redis_state up
daemon_stop
tap_end
