#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where seqbrokerd listens: by options, by the topology's section `daemon`, at
# several places, and what happens if one of them is taken.
# Usage: test_listen.sh BUILD_FOLDER
# shellcheck disable=SC2317 # functions are called by ok() and wait_for()
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

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
    "$(refused -c "$work/usual.conf" --state-dir "$work/usual" \
        --socket "$work/nowhere/a.sock")" \
    "*cannot listen on $work/nowhere/a.sock: No such file*exit 1"

topology group 'socket_group = "no-such-group";'
like "a group that is not there is named" \
    "$(refused -c "$work/group.conf" --state-dir "$work/group" --listen none)" \
    "*there is no group 'no-such-group'*exit 1"
topology mode 'socket_mode = "0777";' 'listen = "127.0.0.1:1";'
out=$(refused -c "$work/mode.conf" --state-dir "$work/mode")
like "a mode that is none is refused with its line" "$out" \
    "*mode.conf:*'socket_mode' is \"0777\", but must be one of 0600, 0660, 0666*"
like "so is an address that is no list" "$out" \
    "*'listen' must be a list of addresses*exit 1"
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
like "--check says what is not" \
    "$(refused -c "$work/mode.conf" --state-dir "$work/checked" --check)" \
    "*mode.conf:*'socket_mode'*exit 1"

tap_end
