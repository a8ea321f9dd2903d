#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The topology read again, in the three ways: seqctl reload, SEQ.RELOAD, SIGHUP.
# Usage: test_reload.sh BUILD_FOLDER
# shellcheck disable=SC2317 # functions are called by wait_for()
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
asks_daemon=yes

cp "$work/patient.conf" "$work/first.conf"
daemon_start reload || exit 1

# write TEXT: the topology that it began with, and this.
write() {
    { cat "$work/first.conf" && printf '%s\n' "$1"; } >"$work/next.conf"
    mv "$work/next.conf" "$work/patient.conf"
}
has_logged() { # WORDS
    grep -q -- "$1" "$daemon_log"
}

does "nothing changed" "0 0 changes applied, 0 need a restart" reload

# --- seqctl reload ---

write 'daemon = { log_level = "warn"; http = "127.0.0.1:1"; };'
does "--check tells what would be applied" \
    "0 restart: daemon.http: (none) -> 127.0.0.1:1 (restart *)*applies: daemon.log_level: info -> warn*1 changes would be applied, 1 need a restart" \
    reload --check
does "and applies nothing" "0 *daemon.log_level: info*" show config daemon.log_level
does "reload applies" \
    "0 restart: daemon.http: *applied: daemon.log_level: info -> warn*1 changes applied, 1 need a restart" \
    reload
does "show config has what is in effect" "0 *daemon.log_level: warn" \
    show config daemon.log_level
does "what needs a restart is told again" \
    "0 restart: daemon.http: (none) -> 127.0.0.1:1 *0 changes applied, 1 need a restart" \
    reload
write 'daemon = { log_level = "info"; };'
does "JSON has the same" \
    '0 {"applied": 1, "restart": 0, "left_out": 0, "changes": \[{"need": "nothing", "path": "daemon.log_level", "before": "warn", "after": "info", "advice": ""}\], "reasons": \[\], "reasons_left_out": 0}' \
    reload --json
ok "it is JSON" is_json "$work/out"

# --- a file that does not end ---

rm "$work/patient.conf"
mkfifo "$work/patient.conf"
does "a pipe that nobody writes to is given up" \
    "1 seqctl: CONFIG cannot read *patient.conf: it is a pipe that had no writer*" \
    -t 60 reload
rm "$work/patient.conf"
write 'daemon = { log_level = "info"; };'
does "and the next reload is not kept waiting" "0 0 changes applied, *" reload

# --- what the command line decides ---

write 'daemon = { listen = [ "127.0.0.1:2" ]; };'
does "the addresses in use are named, and who decides" \
    "0 restart: daemon.listen: 127.0.0.1:$daemon_port -> 127.0.0.1:2 (--listen, not the topology, decides where it listens)*" \
    reload
does "--check says the same" \
    "0 restart: daemon.listen: 127.0.0.1:$daemon_port -> 127.0.0.1:2 (--listen, not *" \
    reload --check
write 'daemon = { socket = [ "/x.sock" ]; log_level = "info"; };'
does "so of a socket" \
    "0 *restart: daemon.socket: $daemon_socket -> /x.sock (--socket, not the topology, *" \
    reload
write 'daemon = { log_level = "info"; };'
seqctl reload
reload_socket=$daemon_socket reload_port=$daemon_port reload_pid=$daemon_pid
reload_log=$daemon_log
cp "$work/patient.conf" "$work/options.conf"
sed 's/daemon = {/& listen = [ "127.0.0.1:2" ]; /' "$work/options.conf" \
    >"$work/listens.conf"
mv "$work/listens.conf" "$work/options.conf"
daemon_start options -c "$work/options.conf" --log-level debug || exit 1
does "show config has the addresses in use, whatever the topology says" \
    "0 *daemon.listen: 127.0.0.1:$daemon_port" show config daemon.listen
sed -i -e 's/ listen = [^;]*;//' -e 's/"info"/"warn"/' "$work/options.conf"
does "without the setting it would be the default" \
    "0 *restart: daemon.listen: 127.0.0.1:$daemon_port -> 127.0.0.1:7379 (--listen, *" \
    reload --check
does "the level of the command line stays, and the answer says so" \
    "0 *applied: daemon.log_level: info -> warn (--log-level, not the topology, decides what is logged)*" \
    reload
daemon_stop TERM

# Started by a topology alone.
{
    cat "$work/first.conf"
    echo 'daemon = { listen = [ ]; };'
} >"$work/plain.conf"
: >"$work/plain.log"
"$build/seqbrokerd" -c "$work/plain.conf" --state-dir "$work/plain" \
    2>"$work/plain.log" &
plain=$!
track "$plain"
daemon_log=$work/plain.log daemon_pid=$plain
wait_for daemon_serves
daemon_socket=$work/plain/seqbrokerd.sock
sed -i 's/listen = \[ \]/socket = [ "\/x.sock" ]/' "$work/plain.conf"
does "what it uses by default is named" \
    "0 restart: daemon.listen: (none) -> 127.0.0.1:7379 (restart the broker *restart: daemon.socket: $work/plain/seqbrokerd.sock -> /x.sock (restart the broker *" \
    reload
daemon_stop TERM
daemon_socket=$reload_socket daemon_port=$reload_port daemon_pid=$reload_pid
daemon_log=$reload_log

# --- a template ---

bills() { # TEMPLATE
    write "sequences = ({ key = \"bill\"; template = \"$1\"; });"
}
bills 'QJ@{seq, width=12}'
does "a sequence with a template comes" "0 applied: sequences.bill: *" reload
like "its texts are narrow" "$(cli SEQ.NUMBER bill)" "QJ????????????"
bills 'QJ@{seq, width=14}'
does "a wider number is applied" \
    "0 applied: sequences.bill.template: *width=12* -> *width=14*1 changes applied, 0 need a restart" \
    reload
like "its texts are wide" "$(cli SEQ.NUMBER bill)" "QJ??????????????"
bills 'QJ@{seq, width=14, base=16}'
does "another base is refused, and why" \
    "1 seqctl: LAYOUT sequences.bill.template cannot change from *nothing was applied: in another base the digits of one number are those of another: begin a new sequence; *" \
    reload
like "and nothing is applied" "$(cli SEQ.NUMBER bill)" "QJ??????????????"

write 'daemon = { log_level = "info"; };'
does "the sequence goes" "0 applied: sequences.bill: *" reload

# --- SEQ.RELOAD ---

ok "a reload is in the audit" has_logged \
    'event=order user=uid:.* command=SEQ.RELOAD .* after="applied 1, need a restart 0"'

like "SEQ.RELOAD answers a map" "$(cli_local SEQ.RELOAD | tr '\n' ' ')" \
    "applied 0 restart 0 left_out 0 changes*"
like "CHECK is its only word" "$(cli_local SEQ.RELOAD NOW)" "ERR use SEQ.RELOAD*"

# --- a file with a mistake ---

printf 'pools = (' >"$work/patient.conf"
does "a mistake refuses all" "1 seqctl: CONFIG *patient.conf:1: *" reload
is "the daemon serves on" "$(cli PING)" PONG
like "and gives numbers" "$(cli INCR order)" "[0-9]*"
wait_for has_logged 'warn event=reload_refused by=command reason="*'
ok "the log has the refusal" has_logged \
    'warn event=reload_refused by=command reason="*'
ok "and so has the audit" has_logged \
    'event=order_refused user=uid:.* command=SEQ.RELOAD .* reason="'

# --- SIGHUP ---

kill -HUP "$daemon_pid"
wait_for has_logged 'event=reload_refused by=SIGHUP '
ok "SIGHUP is answered in the log" has_logged 'event=reload_refused by=SIGHUP '
write 'daemon = { alarm_level = "error"; };'
kill -HUP "$daemon_pid"
wait_for has_logged 'event=reloaded applied=1 restart=0'
ok "and applies what is sound" has_logged 'event=reloaded applied=1 restart=0'

# --- alarms ---

printf '#!/bin/sh\ncat >>"%s/told"\n' "$work" >"$work/alarm"
chmod +x "$work/alarm"
write "daemon = { on_event = \"$work/none\"; };"
does "a program that is not there refuses all" "1 seqctl: ERR daemon.on_event *" \
    reload
does "--check says it as well" "1 seqctl: ERR daemon.on_event *" reload --check
write 'daemon = { webhook = "https://[::1"; };'
does "so does a webhook without a host" "1 *'webhook' wants a URL with a host*" \
    reload
write "daemon = { on_event = \"$work/alarm\"; };"
does "one that is there is run from now on" "0 *applied: daemon.on_event: *" \
    reload
mv "$work/alarm" "$work/alarm.away"
does "one that has gone since refuses all" "1 seqctl: ERR daemon.on_event *" \
    reload
does "which --check says, too" "1 seqctl: ERR daemon.on_event *" reload --check
mv "$work/alarm.away" "$work/alarm"
printf 'pools = (' >"$work/patient.conf"
has_told() {
    [ -s "$work/told" ]
}
seqctl reload
wait_for has_told
ok "it is told of the next warning" grep -q reload_refused "$work/told"

# --- users ---

# has_users NAME...: a topology with users of these names and one password.
has_users() {
    local name text=
    for name; do
        text+="{ name = \"$name\"; role = \"take\"; password_hash = \"$hash\"; },"
    done
    write "users = ( ${text%,} );"
}
needs_login() {
    [[ $(cli INCR order) == NOAUTH* ]]
}
logs_in() { # NAME
    [[ $(cli --user "$1" --pass "$password" --no-auth-warning INCR order) == [1-9]* ]]
}
password=open-sesame
hash=$(echo "$password" | "$build/seqctl" password)
has_users alice bob
does "users are applied" "0 *applied: users.alice: *applied: users.bob: *" reload
ok "who is not one of them takes nothing from now on" wait_for needs_login
ok "alice does" logs_in alice
mkfifo "$work/words"
redis-cli -p "$daemon_port" <"$work/words" >"$work/heard" 2>&1 &
client=$!
track "$client"
exec 9>"$work/words"
echo "AUTH bob $password" >&9
bob_is_in() {
    [ "$(head -n 1 "$work/heard")" = OK ]
}
ok "bob logs in" wait_for bob_is_in
has_users alice
does "bob may go" "0 *applied: users.bob: present -> *" reload
echo "INCR order" >&9
bob_is_refused() {
    [ "$(grep -c -v '^OK$' "$work/heard")" -gt 0 ] &&
        ! grep -q '^[1-9]' "$work/heard"
}
ok "what he sends is not executed" wait_for bob_is_refused
exec 9>&-
reap "$client" # its connection would count below
ok "nor can he log in again" eval '! logs_in bob'
ok "alice still does" logs_in alice
write 'daemon = { log_level = "info"; };'
does "the last user may not go by a reload" \
    "1 seqctl: * without users everybody could take numbers: *" reload
ok "and alice stays" logs_in alice

# --- what clients may use up ---

# limits SETTINGS: the topology with these
limits() {
    write "daemon = { log_level = \"info\"; login_timeout = \"${2:-0s}\"; $1 };
users = ( { name = \"alice\"; role = \"take\"; password_hash = \"$hash\"; } );"
}

# A client that says nothing more is answered, or refused with a line.
greeting() {
    local answer
    printf 'PING\r\n' >&"$1"
    IFS= read -r -t 60 answer <&"$1"
    printf '%s\n' "$answer"
}

limits 'max_connections_per_address = 1;'
does "the limits of connections are applied" \
    "0 *applied: daemon.max_connections_per_address: 0 -> 1*" reload
exec 7<>"/dev/tcp/127.0.0.1/$daemon_port"
like "the first is let in" "$(greeting 7)" "+PONG*"
exec 8<>"/dev/tcp/127.0.0.1/$daemon_port"
like "the second is one too many" "$(greeting 8)" "-ERR max number of clients*"
exec 8>&-
limits 'max_connections_per_address = 2;'
does "and again" "0 *applied: daemon.max_connections_per_address: 1 -> 2*" reload
exec 8<>"/dev/tcp/127.0.0.1/$daemon_port"
like "now it is let in" "$(greeting 8)" "+PONG*"
limits 'idle_timeout = "1s";'
does "time-outs are applied" "0 *applied: daemon.idle_timeout: 0s -> 1s*" reload
ok "also to those who were there" timeout 60 cat <&7
exec 7>&- 8>&-
limits '' 1s
does "the time for a login is applied" \
    "0 *applied: daemon.login_timeout: 0ms -> 1s*" reload
exec 7<>"/dev/tcp/127.0.0.1/$daemon_port"
ok "who does not log in is disconnected" timeout 60 cat <&7
exec 7>&-

# --- how it stops ---

write "daemon = { stop_delay = \"2h\"; };
users = ( { name = \"alice\"; role = \"take\"; password_hash = \"$hash\"; } );"
does "a delay of the stop is refused beyond its range" "1 seqctl: CONFIG *" reload
write "daemon = { stop_delay = \"17ms\"; stop_timeout = \"50s\"; log_level = \"info\"; };
users = ( { name = \"alice\"; role = \"take\"; password_hash = \"$hash\"; } );"
does "within it is applied" \
    "0 *applied: daemon.stop_delay: 0s -> 17ms*applied: daemon.stop_timeout: 3500ms -> 50s*" \
    reload
daemon_stop TERM
ok "the stop has the delay" has_logged 'event=leaving delay_ms=17'
is "SIGTERM ends it with 0" "$daemon_code" 0

# --- all reasons of a refusal ---

# rewrite TEXT: the topology that it began with, and this.
rewrite() {
    { cat "$work/first.conf" && printf '%s\n' "$1"; } >"$work/next.conf"
    mv "$work/next.conf" "$work/many.conf"
}

# many COUNT WORDS: as many sequences with these words, and the bill as it was.
many() {
    local text='' i
    for ((i = 0; i < $1; i++)); do
        text+=", { key = \"many$i\"; $2 }"
    done
    rewrite "sequences = ({ key = \"bill\"; template = \"QJ@{seq, width=14}\"; }$text);
daemon = { log_level = \"$3\"; };"
}
many 23 'memory_bits = 4;' info
daemon_start many -c "$work/many.conf" || exit 1
many 2 'memory_bits = 5;' warn
does "each reason of a refusal is named" \
    "1 seqctl: LAYOUT nothing was applied, for 2 reasons
seqctl: sequences.many0.memory_bits cannot change from '4' to '5' while the broker runs: *
seqctl: sequences.many1.memory_bits cannot change from '4' to '5' while *" reload
does "and by --check" "1 seqctl: LAYOUT nothing was applied, for 2 reasons*many1*" \
    reload --check
does "and nothing is applied by either" "0 *daemon.log_level: info*" \
    show config daemon.log_level
for option in '' --check; do
    does "JSON has the reasons and what would have changed $option" \
        '1 {"applied": 0, "restart": 0, "left_out": 0, "changes": \[*{"need": "refused", "path": "sequences.many1.memory_bits", *{"need": "nothing", "path": "daemon.log_level", *\], "reasons": \["sequences.many0.memory_bits cannot *", "sequences.many1.memory_bits cannot *"\], "reasons_left_out": 0}{"error": "LAYOUT nothing was applied, for 2 reasons; *", "code": "LAYOUT", "exit": 1}' \
        reload --json $option
    ok "it is JSON" is_json "$work/out"
done
like "the protocol has them in its error" "$(cli_local SEQ.RELOAD)" \
    "LAYOUT nothing was applied, for 2 reasons: *many0.memory_bits cannot change from '4' to '5' *many1.memory_bits cannot *"
kill -HUP "$daemon_pid"
has_named() {
    has_logged 'reload_refused by=SIGHUP .*many0.*many1'
}
ok "and so has the log" wait_for has_named
many 23 'memory_bits = 5;' info
does "very many are counted" \
    "1 seqctl: LAYOUT nothing was applied, for 23 reasons
*many19.memory_bits *
seqctl: and 3 more" reload
like "in the error of the protocol, too" "$(cli_local SEQ.RELOAD)" \
    "LAYOUT nothing was applied, for 23 reasons: *; and [1-9]* more"
rewrite 'daemon = { log_level = "no"; http = 1; };'
does "mistakes of the file are reasons" \
    "1 seqctl: CONFIG nothing was applied, for 2 reasons
*'log_level' is \"no\"*'http' must be *" reload
like "REPORT is a word of SEQ.RELOAD" \
    "$(cli_local SEQ.RELOAD CHECK REPORT | tr '\n' ' ')" \
    "*applied 0 *code CONFIG *error *reasons *many.conf:*"
like "but only once" "$(cli_local SEQ.RELOAD REPORT REPORT)" "ERR use SEQ.RELOAD*"
daemon_stop TERM

# both TEMPLATE MORE: two sequences with the template
both() {
    rewrite "sequences = ({ key = \"bill\"; template = \"$1\"; },
    { key = \"note\"; template = \"$1\"; }); $2"
}
both 'QJ@{seq, width=14}' ''
daemon_start both -c "$work/many.conf" || exit 1
cp "$work/many.conf" "$work/both.conf"
wrong="daemon = { on_event = \"$work/none\"; webhook_ca_file = \"$work/none\"; };
users = ( { name = \"x\"; role = \"take\"; password_hash = \"\$argon2id\$wrong\"; },
    { name = \"y\"; role = \"take\"; uids = [ \"no-such-user\" ]; } );"
of_daemon="seqctl: user x: password_hash is no *
seqctl: user y: the system has no user no-such-user
seqctl: daemon.on_event wants *
seqctl: daemon.webhook_ca_file *"
both 'QJ@{seq, width=14, base=16}' "$wrong"
for option in '' --check; do
    does "changes, users and alarms are refused at once $option" \
        "1 seqctl: LAYOUT nothing was applied, for 6 reasons
seqctl: sequences.bill.template cannot change *
seqctl: sequences.note.template cannot change *
$of_daemon" reload $option
done
rewrite 'sequences = ({ key = "order"; });'
does "both sequences go" "0 *applied: sequences.note: *" reload
both 'QJ@{seq, width=14, base=16}' "$wrong"
for option in '' --check; do
    does "so are sequences that are still served $option" \
        "1 seqctl: LAYOUT nothing was applied, for 6 reasons
seqctl: sequence bill cannot get another template *
seqctl: sequence note cannot get another template *
$of_daemon" reload $option
done
like "the error of the protocol has as many as fit" "$(cli_local SEQ.RELOAD)" \
    "LAYOUT nothing was applied, for 6 reasons: sequence bill *; sequence note *; user x: *"
both 'QJ@{seq, width=14}' "$wrong"
does "without such a change the daemon's are named" \
    "1 seqctl: ERR nothing was applied, for 4 reasons
$of_daemon" reload
mv "$work/both.conf" "$work/many.conf"
does "without all that it is applied" "0 *applied: sequences.note: *" reload
daemon_stop TERM

tap_end
