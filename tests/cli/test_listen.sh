#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where seqbrokerd listens: by options, by the topology's section `daemon`, at
# several places, and what happens if one of them is taken.
# Usage: test_listen.sh BUILD_FOLDER
# shellcheck disable=SC2317 # functions are called by ok() and wait_for()
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/certificates.sh
. "$(dirname "$0")/certificates.sh"

# topology NAME LINE...: the patient one with these lines in `daemon`.
topology() {
    {
        cat "$work/patient.conf"
        printf 'daemon = {\n%s\n};\n' "$(printf '    %s\n' "${@:2}")"
    } >"$work/$1.conf"
}

# launch NAME [OPTION...]: with that topology and nothing but it.
launch() {
    daemon_log=$work/$1.log
    : >"$daemon_log"
    "$build/seqbrokerd" -c "$work/$1.conf" --state-dir "$work/$1" "${@:2}" \
        2>>"$daemon_log" &
    daemon_pid=$!
    track "$daemon_pid"
    wait_for daemon_is_decided && daemon_serves
}

ping_of() { # SOCKET
    timeout 60 redis-cli -s "$1" PING 2>&1
}

# --- several places ---

ok "several addresses and sockets may be given" \
    daemon_start several --listen 127.0.0.1:0 --listen 127.0.0.1:0 \
    --socket "$work/second.sock" --http 127.0.0.1:0 --http 127.0.0.1:0
mapfile -t ports < <(sed -n 's/.*event=ready .* listen=\([^ ]*\) .*/\1/p' \
    "$daemon_log" | tr , '\n' | sed 's/.*://')
is "both are named" "${#ports[@]}" 2
for port in "${ports[@]}"; do
    is "port answers" "$(timeout 60 redis-cli -p "$port" PING 2>&1)" PONG
done
mapfile -t webs < <(tr , '\n' <<<"$daemon_http")
is "both addresses for HTTP are named" "${#webs[@]}" 2
for web in "${webs[@]}"; do
    is "HTTP answers" "$(curl -s -m 60 "http://$web/livez")" ok
done
shown=$("$build/seqctl" -s "$daemon_socket" -t 60 show config)
like "show config has them all" "$shown" \
    "*listen: 127.0.0.1:${ports[0]},127.0.0.1:${ports[1]}*http: $daemon_http*"
is "the first socket answers" "$(ping_of "$work/several.sock")" PONG
is "the second socket answers" "$(ping_of "$work/second.sock")" PONG
daemon_stop TERM
is "it ends with 0" "$daemon_code" 0
ok "both sockets are removed" \
    [ ! -e "$work/several.sock" -a ! -e "$work/second.sock" ]

# --- the topology says it ---

topology said 'listen = [ ];' "socket = [ \"$work/a.sock\", \"$work/b.sock\" ];" \
    'socket_mode = "0600";' "socket_group = \"$(id -g)\";"
ok "the topology says where" launch said
like "it listens there alone" "$(cat "$daemon_log")" \
    "*ready name=embedded listen=none socket=$work/a.sock,$work/b.sock *"
is "a socket of the topology answers" "$(ping_of "$work/b.sock")" PONG
is "it has the mode of the topology" "$(stat -c %a "$work/b.sock")" 600
is "it has the group of the topology" "$(stat -c %g "$work/a.sock")" "$(id -g)"
daemon_stop TERM

ok "an option goes before the topology" \
    launch said --socket "$work/option.sock"
like "it listens at the option's place" "$(cat "$daemon_log")" \
    "*listen=none socket=$work/option.sock *"
daemon_stop TERM

topology webs 'listen = [ ];' 'http = [ "127.0.0.1:0", "127.0.0.1:0" ];'
ok "the topology may have several addresses for HTTP" launch webs
web=$(sed -n 's/.*event=ready .* http=[^ ,]*,\([^ ]*\).*/\1/p' "$daemon_log")
is "the second one answers" "$(curl -s -m 60 "http://$web/livez")" ok
daemon_stop TERM
topology web 'listen = [ ];' 'http = "127.0.0.1:0";'
ok "or one, without a list" launch web
like "which is the one in use" "$(cat "$daemon_log")" "*http=127.0.0.1:[1-9]*"
daemon_stop TERM
ok "an option goes before it, too" launch web --http none
like "HTTP is off" "$(cat "$daemon_log")" "* http=none *"
daemon_stop TERM

topology usual 'listen = [ ];'
ok "without a word of it a socket is in the state directory" launch usual
is "that socket answers" "$(ping_of "$work/usual/seqbrokerd.sock")" PONG
like "a second daemon finds that the first is alive" \
    "$(refused -c "$work/usual.conf" --state-dir "$work/usual")" \
    "*another daemon is listening on $work/usual/seqbrokerd.sock*exit 1"
daemon_stop TERM

like "a socket without a folder is named" \
    "$(refused -c "$work/usual.conf" --state-dir "$work/empty" \
        --socket "$work/nowhere/a.sock")" \
    "*cannot listen on $work/nowhere/a.sock: No such file*exit 1"
is "no store was touched for it" "$(ls -A "$work/empty")" ""

topology group 'socket_group = "no-such-group";'
like "a group that is not there is named" \
    "$(refused -c "$work/group.conf" --state-dir "$work/group" --listen none)" \
    "*there is no group 'no-such-group'*exit 1"
ok "no store was touched for it" [ ! -e "$work/group" ]
topology mode 'socket_mode = "0777";' 'listen = 5;'
out=$(refused -c "$work/mode.conf" --state-dir "$work/mode")
like "a mode that is none is refused with its line" "$out" \
    "*mode.conf:*'socket_mode' is *0777*, but must be one of 0600, 0660, 0666*"
like "so is an address that is no text" "$out" \
    "*'listen' must be an address in quotes, or a list*exit 1"
topology nowhere 'listen = [ ];' 'socket = [ ];'
like "a daemon that listens nowhere does not start" \
    "$(refused -c "$work/nowhere.conf" --state-dir "$work/nowhere")" \
    "*leaves nothing to listen on*exit 1"

# --- before any store is touched ---

ok "a daemon has a port" daemon_start first
like "a port in use is named" \
    "$(refused -c "$work/patient.conf" --state-dir "$work/untouched" \
        --listen "127.0.0.1:$daemon_port" --socket none)" \
    "*cannot listen on 127.0.0.1:$daemon_port: another program*exit 1"
ok "no store was touched for it" [ ! -e "$work/untouched" ]
daemon_stop TERM
ca ca && certificate server ca DNS:localhost || exit 1
topology secure "tls_cert_file = \"$work/server.crt\";" \
    "tls_key_file = \"$work/server.key\";"
ok "a daemon has ports of all protocols" daemon_start first \
    -c "$work/secure.conf" --http 127.0.0.1:0 --https 127.0.0.1:0 \
    --tls-listen 127.0.0.1:0
for option in --http --https --tls-listen; do
    name=${option#--}
    taken=$(sed -n "s/.*event=ready .* ${name%-listen}=[^ ]*:\([0-9]*\).*/\1/p" \
        "$daemon_log")
    like "a port in use is named for $option" \
        "$(refused -c "$work/secure.conf" --state-dir "$work/untouched" \
            --listen none --socket "$work/untouched.sock" \
            "$option" "127.0.0.1:$taken")" \
        "*cannot listen on 127.0.0.1:$taken: another program*exit 1"
    ok "no store was touched for $option" [ ! -e "$work/untouched" ]
done
daemon_stop TERM

# A store that accepts and never answers keeps a start between its addresses
# and its clients.
"$build/tests/holder" "$work/mute" mute:tcp -- "$(command -v sleep)" 100000 &
mute_pid=$!
track "$mute_pid"
ok "a store that never answers is there" wait_for [ -s "$work/mute" ]
sed -e 's/partitions = \[/authority = "sqlite-0"; &/' \
    -e "s/\"sqlite\"; path = \"partition-3.db\"/\"redis\"; port = $(<"$work/mute")/" \
    "$work/patient.conf" >"$work/mute.conf"
starts_slowly() {
    "$build/seqbrokerd" -c "$work/mute.conf" --state-dir "$work/slow" \
        --socket none --listen "127.0.0.1:$daemon_port" 2>"$work/slow.log" &
    slow_pid=$!
    track "$slow_pid"
    wait_for [ -e "$work/slow/partition-0.db" ]
}
ok "a daemon waits for that store" starts_slowly
like "a second start finds that the port is taken" \
    "$(refused -c "$work/patient.conf" --state-dir "$work/untouched" \
        --listen "127.0.0.1:$daemon_port" --socket none)" \
    "*cannot listen on 127.0.0.1:$daemon_port: another program*exit 1"
ok "no store was touched for it" [ ! -e "$work/untouched" ]
ok "the first one still starts" kill -0 "$slow_pid"
kill -KILL "$slow_pid"
kill -TERM "$mute_pid" # ends its program, too
reap "$slow_pid"
reap "$mute_pid"

# A connection that the daemon closes first leaves its port in TIME_WAIT.
ok "a daemon serves" daemon_start again
exec 5<>"/dev/tcp/127.0.0.1/$daemon_port"
printf 'QUIT\r\n' >&5
read -r -t 60 line <&5
is "it closes a connection" "${line%$'\r'}" +OK
read -r -t 60 line <&5
exec 5>&-
port=$daemon_port
daemon_stop TERM
ok "the next one gets its port at once" \
    daemon_start again --listen "127.0.0.1:$port"
daemon_stop TERM

# --- check ---

like "--check says that all is well" \
    "$(refused -c "$work/said.conf" --state-dir "$work/checked" --check)" \
    "*said.conf: ok*exit 0"
ok "--check touches nothing" [ ! -e "$work/checked" ]
topology http 'http = "5";'
like "--check looks at the daemon's own section, too" \
    "$(refused -c "$work/http.conf" --state-dir "$work/checked" --check)" \
    "*http.conf:*'http' is \"5\", but must be host:port*exit 1"
topology http 'http = [ "127.0.0.1:0", "none" ];'
like "at each address of a list" \
    "$(refused -c "$work/http.conf" --state-dir "$work/checked" --check)" \
    "*http.conf:*'http' is \"none\", but must be host:port*exit 1"
topology http 'http = 9379;'
like "and at what it is" \
    "$(refused -c "$work/http.conf" --state-dir "$work/checked" --check)" \
    "*http.conf:*'http' must be an address in quotes, or a list*exit 1"
topology public 'listen = [ "0.0.0.0:7399" ];'
checks_like() { # SENTENCE NAME WORDS [OPTION...]
    like "$1" "$(refused -c "$work/$2.conf" --state-dir "$work/checked" \
        --check "${@:4}")" "$3"
}
checks_like "--check refuses an address that everybody reaches" public \
    "*0.0.0.0:7399 is not of loopback: *exit 1"
topology open 'listen = [ "0.0.0.0:7399" ];' 'open_to_all = true;'
checks_like "unless the topology opens it to all" open "*open.conf: ok*exit 0"
topology web 'http = "0.0.0.0:7398";'
checks_like "also for HTTP" web "*0.0.0.0:7398 is not of loopback: *exit 1"
checks_like "an option is looked at instead" web "*web.conf: ok*exit 0" \
    --http 127.0.0.1:0
topology twice 'listen = [ "127.0.0.1:7399", "0.0.0.0:7399" ];' \
    'open_to_all = true;'
checks_like "--check refuses an address that is there twice" twice \
    "*cannot listen on 0.0.0.0:7399: *127.0.0.1:7399 already*exit 1"
topology twice 'listen = [ "127.0.0.1:7399" ];' 'http = "127.0.0.1:7399";'
checks_like "also for two protocols" twice \
    "*cannot listen on 127.0.0.1:7399: *already*exit 1"
topology twice 'listen = [ "127.0.0.1:7399", "127.0.0.2:7399" ];' \
    'http = [ "127.0.0.1:0", "127.0.0.1:0" ];'
checks_like "but not a port of two addresses" twice "*twice.conf: ok*exit 0"
topology twice "socket = [ \"$work/s.sock\", \"$work/s.sock\" ];"
checks_like "--check refuses a socket that is there twice" twice \
    "*cannot listen on $work/s.sock: *already*exit 1"
like "a start does not take it for another daemon's" \
    "$(refused -c "$work/twice.conf" --state-dir "$work/checked")" \
    "*cannot listen on $work/s.sock: *already*exit 1"
topology long "socket = [ \"$work/$(printf '%0120d' 0).sock\" ];"
checks_like "--check refuses a path that is too long for a socket" long \
    "*socket path *0.sock is longer than 107 bytes*exit 1"
topology folder "socket = \"$work/nowhere/a.sock\";"
checks_like "--check refuses a socket whose folder is not there" folder \
    "*cannot listen on $work/nowhere/a.sock: there is no folder $work/nowhere: *exit 1"
: >"$work/file.sock"
topology file "socket = \"$work/file.sock\";"
checks_like "--check refuses a socket where another file is" file \
    "*cannot listen on $work/file.sock: a file stands there*exit 1"
topology inner "socket = \"$work/file.sock/a.sock\";"
checks_like "--check refuses a socket whose folder is a file" inner \
    "*cannot use socket $work/file.sock/a.sock: Not a directory*exit 1"
topology state "socket = \"$work/checked/a.sock\";"
checks_like "a start makes the state directory" state "*state.conf: ok*exit 0"
checks_like "--check refuses a group that is not there" group \
    "*there is no group 'no-such-group'*exit 1"
like "--check says what is not" \
    "$(refused -c "$work/mode.conf" --state-dir "$work/checked" --check)" \
    "*mode.conf:*'socket_mode'*exit 1"

tap_end
