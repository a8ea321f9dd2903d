#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Restarts under clients that take numbers all the time: no connection is
# refused, no number is taken twice, and what was asked is answered.
# Usage: test_restart.sh BUILD_FOLDER
# shellcheck disable=SC2317 # functions are called by ok() and wait_for()
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

restarts=10

# The topology with patience: no time-out of a stop decides, either.
{
    cat "$work/patient.conf"
    echo 'daemon = { stop_timeout = "60s"; };'
} >"$work/still.conf"

readies() {
    grep -c ' event=ready ' "$daemon_log"
}
is_ready() { # TIMES
    [ "$(readies)" -eq "$1" ]
}
last_pid() {
    sed -n 's/.* event=ready .* pid=\([0-9]*\) .*/\1/p' "$daemon_log" | tail -n 1
}

# has_worked SOCKET: clients have taken numbers from the process that is there.
has_worked() {
    local commands
    commands=$(timeout 60 redis-cli -s "$1" INFO stats 2>>"$work/trash" |
        sed -n 's/^total_commands_processed:\([0-9]*\).*/\1/p')
    [ "${commands:-0}" -gt 50 ]
}

# launch PLACE...: the clients that count, on each place.
declare -a crowd=()
launch() {
    local place
    crowd=()
    for place in "$@"; do
        "$build/tests/clients" "$place" 2 2 >"$work/counts.${#crowd[@]}" \
            2>"$work/words.${#crowd[@]}" &
        crowd+=($!)
        track "$!"
    done
}
land() {
    local i
    for i in "${!crowd[@]}"; do
        kill -TERM "${crowd[i]}"
        reap "${crowd[i]}"
        like "$1: none refused, none failed, none cut, no repeat" \
            "$(cat "$work/counts.$i" "$work/words.$i")" \
            "refused=0 failed=0 cut=0 repeats=0 ended=* numbers=[1-9]*"
    done
}

# restart_often SIGNAL SOCKET PLACE...
restart_often() {
    local signal=$1 socket=$2 i
    shift 2
    launch "$@"
    for ((i = 1; i <= restarts; i++)); do
        wait_for has_worked "$socket"
        kill -"$signal" "$(last_pid)"
        wait_for is_ready $((i + 1))
    done
    wait_for has_worked "$socket"
    is "it was restarted $restarts times" "$(readies)" $((restarts + 1))
}

# --- sockets that another process holds, as systemd does ---

daemon_log=$work/held.log
: >"$daemon_log"
"$build/tests/holder" "$work/ports" any:tcp http:tcp "any:$work/held.sock" http:tcp -- \
    "$build/seqbrokerd" -c "$work/still.conf" --state-dir "$work/held" \
    --listen 127.0.0.1:1 --socket "$work/nowhere/a.sock" --http 127.0.0.1:1 \
    2>>"$daemon_log" &
holder=$!
track "$holder"
wait_for is_ready 1
mapfile -t ports <"$work/ports"
like "sockets that it was given stand in place of its options" \
    "$(cat "$daemon_log")" \
    "* listen=127.0.0.1:${ports[0]} socket=$work/held.sock * http=127.0.0.1:${ports[1]},127.0.0.1:${ports[2]}*"
restart_often TERM "$work/held.sock" "127.0.0.1:${ports[0]}" \
    "$work/held.sock"
for port in "${ports[@]:1}"; do
    is "HTTP is where it was" \
        "$(curl -s -m 60 "http://127.0.0.1:$port/livez")" ok
done
land "TERM, and started again"
kill -USR2 "$(last_pid)"
wait_for is_ready $((restarts + 2))
like "USR2 keeps sockets of another process, whatever its options say" \
    "$(tail -n 1 "$daemon_log")" \
    "* listen=127.0.0.1:${ports[0]} socket=$work/held.sock * http=127.0.0.1:${ports[1]},127.0.0.1:${ports[2]}*"
kill -TERM "$holder"
reap "$holder"
is "it ends with 0" $? 0
ok "a socket of another process is not removed" [ -S "$work/held.sock" ]

# --- sockets of its own: a restart in place ---

daemon_start own -c "$work/still.conf" --http 127.0.0.1:0 \
    --http 127.0.0.1:0 || exit 1
restart_often USR2 "$daemon_socket" "127.0.0.1:$daemon_port" "$daemon_socket"
is "the process is the same one" "$(last_pid)" "$daemon_pid"
for address in ${daemon_http/,/ }; do
    is "HTTP is where it was, too" "$(curl -s -m 60 "http://$address/livez")" ok
done
land "USR2"

is_refused() {
    grep -q ' error event=restart_refused reason="' "$daemon_log"
}
cp "$work/still.conf" "$work/saved.conf"
echo 'nonsense = 1;' >>"$work/still.conf"
kill -USR2 "$daemon_pid"
wait_for is_refused
is "a topology that is wrong refuses it" "$(cli PING)" PONG
like "with the line and the mistake" "$(tail -n 1 "$daemon_log")" \
    "* reason=\"$work/still.conf:*: unknown section 'nonsense'*\"*"
cp "$work/saved.conf" "$work/still.conf"
daemon_stop TERM
is "it ends with 0 after such restarts" "$daemon_code" 0
ok "it removes its socket" [ ! -e "$daemon_socket" ]

# --- a restart with other addresses in the topology ---

# moved LINE...: the topology of the daemon below, with these addresses.
moved() {
    {
        cat "$work/patient.conf"
        printf 'daemon = { stop_timeout = "60s"; %s };\n' "$*"
    } >"$work/next.conf"
    mv "$work/next.conf" "$work/moved.conf"
}
# port_free: a port that nobody has.
port_free() {
    "$build/tests/holder" "$work/free" any:tcp -- /bin/false
    cat "$work/free"
}
# place_of KIND: where it listens, as its last line ready says.
place_of() {
    sed -n "s/.* event=ready .*\\b$1=\\([^ ]*\\).*/\\1/p" "$daemon_log" |
        tail -n 1
}
shows() { # NAME
    "$build/seqctl" -s "$1" -t 60 show config
}

kept=$(port_free)
moved "listen = [ \"127.0.0.1:$kept\" ]; socket = [ \"$work/kept.sock\", \"$work/gone.sock\" ];" \
    'http = "127.0.0.1:0";'
daemon_log=$work/moved.log
: >"$daemon_log"
"$build/seqbrokerd" -c "$work/moved.conf" --state-dir "$work/moved" \
    2>>"$daemon_log" &
daemon_pid=$!
track "$daemon_pid"
wait_for is_ready 1
http=$(place_of http)
daemon_port=$kept
launch "127.0.0.1:$kept" "$work/kept.sock"
wait_for has_worked "$work/kept.sock"

come=$(port_free)
moved "listen = [ \"localhost:$kept\", \"127.0.0.1:$come\" ]; http = \"127.0.0.1:0\";" \
    "socket = [ \"$work/kept.sock\", \"$work/come.sock\" ]; socket_mode = \"0600\";"
kill -USR2 "$daemon_pid"
wait_for is_ready 2
like "it listens at the addresses of the topology" "$(tail -n 1 "$daemon_log")" \
    "* listen=127.0.0.1:$kept,127.0.0.1:$come socket=$work/kept.sock,$work/come.sock *"
is "a port that the system chose stays" "$(place_of http)" "$http"
is "a new address answers" "$(timeout 60 redis-cli -p "$come" PING 2>&1)" PONG
is "and a new socket" "$(timeout 60 redis-cli -s "$work/come.sock" PING 2>&1)" \
    PONG
is "an old socket has the new mode" "$(stat -c %a "$work/kept.sock")" 600
ok "a socket that is gone is removed" [ ! -e "$work/gone.sock" ]
like "show config has the truth" "$(shows "$work/kept.sock")" \
    "*127.0.0.1:$kept,127.0.0.1:$come*$work/kept.sock,$work/come.sock*daemon.listen: localhost:$kept, 127.0.0.1:$come*"

# An address that another program has.
"$build/tests/holder" "$work/taken" any:tcp -- /bin/sleep 3600 &
holder=$!
track "$holder"
wait_for test -s "$work/taken"
taken=$(cat "$work/taken")
has_refused() { # TIMES
    [ "$(grep -c ' error event=restart_refused reason="' "$daemon_log")" -eq "$1" ]
}
moved "listen = [ \"127.0.0.1:$taken\" ]; socket = [ \"$work/kept.sock\" ];"
kill -USR2 "$daemon_pid"
wait_for has_refused 1
like "an address of another program refuses the restart, by its name" \
    "$(tail -n 1 "$daemon_log")" \
    "*reason=\"cannot listen on 127.0.0.1:$taken: another program does;*"
is "the old process goes on" "$(cli PING)" PONG
is "at each of its addresses" "$(timeout 60 redis-cli -p "$come" PING 2>&1)" PONG
ok "with the files of its sockets" \
    [ -S "$work/kept.sock" -a -S "$work/come.sock" ]
kill -TERM "$holder"
reap "$holder"

moved "listen = [ \"0.0.0.0:$kept\" ]; socket = [ \"$work/kept.sock\" ]; open_to_all = true;"
kill -USR2 "$daemon_pid"
wait_for has_refused 2
like "so does one that overlaps with one of its own" \
    "$(tail -n 1 "$daemon_log")" \
    "*cannot listen on 0.0.0.0:$kept while this daemon has that port*"
moved "listen = [ \"127.0.0.1:$kept\", \"0.0.0.0:$taken\" ]; socket = [ \"$work/kept.sock\" ];"
kill -USR2 "$daemon_pid"
wait_for has_refused 3
like "and one that may not be reached without users" \
    "$(tail -n 1 "$daemon_log")" "*0.0.0.0:$taken is not of loopback*"

moved "listen = [ \"127.0.0.1:$kept\" ]; socket = [ \"$work/kept.sock\" ]; socket_group = \"no-such-group\";"
kill -USR2 "$daemon_pid"
wait_for has_refused 4
like "and a group that is not there" "$(tail -n 1 "$daemon_log")" \
    "*there is no group 'no-such-group'*"
moved "listen = [ \"127.0.0.1:$kept\" ]; socket = [ \"$work/nowhere/a.sock\" ];"
kill -USR2 "$daemon_pid"
wait_for has_refused 5
like "and a socket whose folder is not there" "$(tail -n 1 "$daemon_log")" \
    "*cannot listen on $work/nowhere/a.sock: No such file*"

# A client that has sent nothing holds up the restart. Meanwhile another one
# waits at an address that goes.
moved "listen = [ \"127.0.0.1:$kept\" ]; socket = [ \"$work/kept.sock\" ];"
dial
first=$dialled
is_dialled() {
    cli CLIENT LIST | grep -q "addr=127.0.0.1:.* cmd=NULL"
}
wait_for is_dialled
kill -USR2 "$daemon_pid"
restarts_again() {
    [ "$(grep -c ' event=restarting$' "$daemon_log")" -eq 2 ]
}
wait_for restarts_again
daemon_port=$come dial
say "$dialled" 'INCR order\r\n'
say "$first" 'INCR order\r\n'
like "the first client has its answer" "$(hear "$first")" ":[1-9]*"
wait_for is_ready 3
like "so has the one that waited" "$(hear "$dialled")" ":[1-9]*"
hang_up "$first"
hang_up "$dialled"
like "addresses go" "$(tail -n 1 "$daemon_log")" \
    "* listen=127.0.0.1:$kept socket=$work/kept.sock * http=none *"
like "and are refused from then on" \
    "$(timeout 60 redis-cli -p "$come" PING 2>&1)" "*Connection refused*"
land "other addresses"
rm "$work/kept.sock"
kill -USR2 "$daemon_pid"
wait_for is_ready 4
is "a socket whose file was removed is opened again" \
    "$(timeout 60 redis-cli -s "$work/kept.sock" PING 2>&1)" PONG
kill -TERM "$daemon_pid"
reap "$daemon_pid"
is "it ends with 0 after other addresses" $? 0
ok "it removes its sockets" [ ! -e "$work/kept.sock" -a ! -e "$work/come.sock" ]

# --- a client that connected, and has not sent its first command yet ---

daemon_start silent -c "$work/still.conf" || exit 1
dial
is_accepted() {
    [ "$(cli CLIENT LIST | grep -c 'id=')" -eq 2 ]
}
wait_for is_accepted
kill -TERM "$daemon_pid"
is_stopping() {
    [ ! -e "$daemon_socket" ]
}
ok "the daemon stops" wait_for is_stopping
say "$dialled" 'INCR order\r\n'
like "the client has its answer" "$(hear "$dialled")" ":[1-9]*"
is "and then the end" "$(timeout 60 cat <&"$dialled")" ""
hang_up "$dialled"
reap "$daemon_pid"
is "the daemon ends with 0" $? 0

# --- what cannot be used ---

# given DESCRIPTORS REDIRECTION: what it says of these.
given() {
    # shellcheck disable=SC2016 # the inner shell's
    timeout -s KILL 60 bash -c 'export LISTEN_PID=$$ LISTEN_FDS=$1
        exec "$2" --state-dir "$3" --listen none '"$2"'' \
        - "$1" "$build/seqbrokerd" "$work/given" 2>&1
    echo "exit $?"
}
like "a descriptor that is no socket is named" "$(given 1 '3</dev/null')" \
    "*descriptor 3 of \$LISTEN_FDS: it is no stream socket that listens*exit 1"
like "one that is closed is, too" "$(given 1 '3<&-')" \
    "*descriptor 3 of \$LISTEN_FDS: it is no stream socket*exit 1"
like "more than there may be are refused" "$(given 33 '3</dev/null')" \
    "*LISTEN_FDS: there are more than 32*exit 1"
ok "no store was touched for them" [ ! -e "$work/given" ]
export LISTEN_PID=1 LISTEN_FDS=32
ok "sockets that were meant for another process are not looked at" \
    daemon_start other
unset LISTEN_PID LISTEN_FDS
daemon_stop TERM

# --- a stop with a delay ---

{
    cat "$work/patient.conf"
    echo 'daemon = { stop_delay = "1h"; };'
} >"$work/slow.conf"
readyz() {
    curl -s -m 60 -o "$work/trash" -w '%{http_code}' "http://$daemon_http/readyz"
}
daemon_start slow -c "$work/slow.conf" --http 127.0.0.1:0 || exit 1
is "it is ready" "$(readyz)" 200
kill -TERM "$daemon_pid"
is_leaving() {
    grep -q ' info event=leaving delay_ms=3600000$' "$daemon_log"
}
ok "SIGTERM begins the delay" wait_for is_leaving
is "then it is not ready" "$(readyz)" 503
is "which the metrics say, too" "$(curl -s -m 60 "http://$daemon_http/metrics" |
    grep '^seqbroker_health{.* 1$')" 'seqbroker_health{state="stopping"} 1'
like "SEQ.HEALTH says so" "$(cli SEQ.HEALTH)" \
    "*not serving*the broker is going to stop*"
like "it serves all the same" "$(cli INCR order)" "[1-9]*"
is "HTTP closes its connections" "$(curl -s -m 60 -D - -o "$work/trash" \
    "http://$daemon_http/livez" | tr -d '\r' | grep -i '^connection:')" \
    "Connection: close"
daemon_stop TERM
is "a second one ends the delay, and nothing else" "$daemon_code" 0

daemon_start drained -c "$work/slow.conf" --http 127.0.0.1:0 || exit 1
"$build/seqctl" -s "$daemon_socket" -t 60 drain --broker >"$work/drain" &
drain=$!
track "$drain"
ok "a drain begins the delay, too" wait_for is_leaving
is "it is not ready, either" "$(readyz)" 503
daemon_stop TERM
is "SIGTERM ends that delay" "$daemon_code" 0
reap "$drain"
is "and the drain has seen it" "$? $(cat "$work/drain")" \
    "0 the broker has stopped"

tap_end
