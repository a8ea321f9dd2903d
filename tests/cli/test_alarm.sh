#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Alarms from outside: a store that dies and comes back, TLS of the webhook, the
# programs of packaging/alarms. Usage: test_alarm.sh BUILD_FOLDER
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
examples=$(cd "$(dirname "$0")/../../packaging/alarms" && pwd)
unset http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY

for tool in jq curl openssl redis-server; do
    command -v "$tool" >>"$work/trash" && continue
    if [ -n "${CI:-}" ]; then
        fail "alarms are sent" "$tool is not installed"
    else
        skip "alarms are sent" "$tool is not installed"
    fi
    tap_end
done

# sink NAME ANSWER [CERTIFICATE KEY]: a server whose bodies go to $work/NAME.
# Sets sink_pid and sink_port.
sink() {
    : >"$work/$1"
    "$build/tests/alarm_sink" "$work/$1" "${@:2}" >"$work/$1.port" &
    sink_pid=$!
    track "$sink_pid"
    wait_for test -s "$work/$1.port" || exit 1
    sink_port=$(<"$work/$1.port")
}

# certificate NAME WHOM: one that signs itself, as $work/NAME.pem and NAME.key.
certificate() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
        -days 2 -subj "/CN=test" -addext "subjectAltName=$2" \
        -out "$work/$1.pem" -keyout "$work/$1.key" 2>>"$work/trash"
}

# topology FILE SETTINGS: the patient one with these settings of the daemon.
topology() {
    {
        cat "$work/patient.conf"
        echo "daemon = { $2 };"
    } >"$work/$1"
}

# --- the examples ---

alarm='{"state":"firing","event":"poisoned","level":"error","time":"T","since":"S","broker":"shop","host":"app1","subject":"partition pool=main","left_out":2,"fields":{"pool":"main","reason":"it said \"no\"\nBcc: x@example.com"}}'
told='[seqbroker] firing: poisoned (error)
broker shop on app1
partition pool=main
it said "no"
Bcc: x@example.com
and 2 more'

# example NAME SETTING...: runs one on the alarm, with these lines as its
# settings. Sets out, err and code.
example() {
    local name=$1
    shift
    cp "$examples/$name.sh" "$work/$name.sh"
    printf '%s\n' "$@" >"$work/$name.conf"
    echo "$alarm" | "$work/$name.sh" >"$work/out" 2>"$work/err"
    code=$?
    out=$(<"$work/out")
    err=$(<"$work/err")
}

# posted NAME COUNT: waits until so many bodies came to a sink; the last of them.
posted() {
    has_posted() {
        [ "$(wc -l <"$work/$1")" -ge "$2" ]
    }
    wait_for has_posted "$1" "$2"
    sed -n "$2p" "$work/$1"
}

for robot in dingtalk wecom; do
    sink "$robot.good" '{"errcode":0,"errmsg":"ok"}'
    example "$robot" "url='http://127.0.0.1:$sink_port/send?token=a&b=c'"
    is "$robot: the alarm is delivered" "$code$out$err" 0
    is "$robot: it is a message of text" \
        "$(posted "$robot.good" 1 | jq -r 'keys_unsorted[], .msgtype')" \
        $'msgtype\ntext\ntext'
    is "$robot: which says what happened" \
        "$(posted "$robot.good" 1 | jq -r .text.content)" "$told"
    sink "$robot.bad" '{"errcode":310000,"errmsg":"keywords not in content"}'
    example "$robot" "url='http://127.0.0.1:$sink_port/'"
    like "$robot: what the robot refuses is a failure" "$code$err" \
        '1{"errcode":310000,"errmsg":"keywords not in content"}'
    {
        kill -KILL "$sink_pid"
        reap "$sink_pid"
    } 2>>"$work/trash"
    example "$robot" "url='http://127.0.0.1:$sink_port/'"
    like "$robot: so is a robot that is not there" "$code$err" '[1-9]*curl: *'
done

mkdir "$work/bin"
printf '#!/bin/sh\necho "$@" >"%s"\ncat >"%s"\n' \
    "$work/mail.args" "$work/mail.text" >"$work/bin/sendmail"
chmod +x "$work/bin/sendmail"
PATH=$work/bin:$PATH example mail 'to=ops@example.com' 'from=broker@example.com'
is "mail: the alarm is delivered" "$code$out$err" 0
is "mail: its head says to whom" "$(sed '/^$/,$d' "$work/mail.text")" \
    'To: ops@example.com
From: broker@example.com
Subject: [seqbroker] firing: poisoned on app1
Content-Type: text/plain; charset=utf-8
Auto-Submitted: auto-generated'
like "mail: the words are its text" "$(<"$work/mail.text")" \
    '*'$'\n''since: S'$'\n''*'$'\n''pool: main'$'\n''reason: it said "no"*'
like "mail: its head is taken for whom it goes to" "$(<"$work/mail.args")" "-t -i"

# Without a privilege that sendmail would need, as under the systemd unit.
cat >"$work/smtp.py" <<'END'
import socket
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
stream = listener.accept()[0].makefile("rwb", 0)
stream.write(b"220 a\r\n")
is_text = False
for line in stream:
    print(line.decode().rstrip("\r\n"), flush=True)
    is_text = is_text and line != b".\r\n"
    if line == b"DATA\r\n":
        is_text = True
        stream.write(b"354 a\r\n")
    elif not is_text:
        stream.write(b"250 a\r\n")
END
python3 "$work/smtp.py" >"$work/smtp" &
track $!
wait_for test -s "$work/smtp" || exit 1
printf '%s\n' 'to="ops@example.com, night@example.com"' 'from=broker@example.com' \
    "smtp=smtp://127.0.0.1:$(<"$work/smtp")" >"$work/mail.conf"
is "mail: an SMTP server gets it without sendmail" "$(
    echo "$alarm" | setpriv --no-new-privs "$work/mail.sh" 2>&1
    echo $?
)" 0
like "mail: for each address" "$(<"$work/smtp")" \
    '*MAIL FROM:<broker@example.com>*RCPT TO:<ops@example.com>*RCPT TO:<night@example.com>*Subject: *reason: it said "no"*'

# --- a store dies and comes back ---

certificate good IP:127.0.0.1
certificate other IP:127.0.0.2
sink robot '{"errcode":0}'
cp "$examples/dingtalk.sh" "$work/robot.sh"
echo "url='http://127.0.0.1:$sink_port/'" >"$work/robot.conf"
sink hook well "$work/good.pem" "$work/good.key"
good_port=$sink_port

redis_start || exit 1
cat >"$work/store.conf" <<EOF
broker = { name = "shop"; open_timeout = "60s"; };
backends = (
    { name = "r"; engine = "redis"; socket = "$work/redis.sock"; },
    { name = "b"; engine = "sqlite"; path = "b.db"; },
    { name = "a"; engine = "sqlite"; path = "a.db"; } );
pools = ( { name = "main"; partitions = [ "r", "b" ]; authority = "a";
            check_interval = "100ms"; rescue_after = "1s"; } );
auto_sequences = { pattern = "*"; limit = 10; pool = "main";
                   deadline = "60s"; };
daemon = { on_event = "$work/robot.sh";
           webhook = "https://127.0.0.1:$good_port/hook";
           webhook_ca_file = "$work/good.pem"; };
EOF
daemon_start store -c "$work/store.conf" || exit 1
cli INCR order >>"$work/trash"
{
    kill -KILL "$redis"
    reap "$redis"
} 2>>"$work/trash"

# hook_has STATE, robot_has STATE: whether it was told of r in that state.
hook_has() {
    jq -e "select(.state == \"$1\" and .fields.backend == \"r\")" \
        "$work/hook" >>"$work/trash" 2>&1
}
robot_has() {
    jq -r .text.content "$work/robot" | grep -q "^\[seqbroker\] $1: "
}
ok "the webhook is told that the store died" wait_for hook_has firing
ok "so is the program" wait_for robot_has firing
redis_start
ok "the webhook is told that it is back" wait_for hook_has resolved
ok "so is the program" wait_for robot_has resolved
is "the end names what ended" "$(
    jq -r 'select(.state == "resolved" and .fields.backend == "r") |
        [.broker, .ended_by, .subject] | join(",")' "$work/hook" | head -n 1
)" "shop,up,partition pool=main partition=0 backend=r"

# An order causes no alarm. That the store is dead when the order ends does.
seqctl -s "$daemon_socket" drain main/0
is "a partition is drained" "$code" 0
{
    kill -KILL "$redis"
    reap "$redis"
} 2>>"$work/trash"
hook_firings() {
    jq -n '[inputs | select(.state == "firing" and .fields.backend == "r")] |
        length' "$work/hook"
}
hook_fired_again() {
    [ "$(hook_firings)" -gt "$before" ]
}
before=$(hook_firings)
seqctl -s "$daemon_socket" resume main/0
is "and resumed" "$code" 0
ok "the webhook is told that its store died meanwhile" wait_for hook_fired_again
redis_start

# --- a start that fails ---

printf '#!/bin/sh\ncat >>"%s"\n' "$work/failed" >"$work/note.sh"
chmod +x "$work/note.sh"
topology second.conf "on_event = \"$work/note.sh\";"
like "a second daemon cannot have the socket" \
    "$(refused -c "$work/second.conf" --state-dir "$work/second" \
        --socket "$daemon_socket")" "*event=start_failed*exit 1"
is "its program gets the alarm before it ends" \
    "$(jq -r '[.state, .event, .level] | join(" ")' "$work/failed")" \
    "firing start_failed error"
like "with the reason" "$(jq -r .fields.reason "$work/failed")" \
    "*$daemon_socket*"
daemon_stop
is "the daemon stops cleanly" "$daemon_code" 0

# --- a restart in place that fails: its program is gone by then ---

topology again.conf "stop_timeout = \"60s\"; on_event = \"$work/note.sh\";"
: >"$work/failed"
ln -s "$build/seqbrokerd" "$work/seqbrokerd"
build=$work daemon_start again -c "$work/again.conf" || exit 1
dial # holds up the restart
is_dialled() {
    cli CLIENT LIST | grep -q "addr=127.0.0.1:.* cmd=NULL"
}
wait_for is_dialled
kill -USR2 "$daemon_pid"
wait_for grep -q ' event=restarting$' "$daemon_log"
rm "$work/seqbrokerd"
hang_up "$dialled"
reap "$daemon_pid"
is "a restart that fails ends the daemon" $? 1
is "its program gets the alarm before it ends" \
    "$(jq -r '[.state, .event, .fields.reason] | join(" ")' "$work/failed")" \
    "firing restart_failed No such file or directory"

# --- a target that fails, and comes back ---

printf '#!/bin/sh\n[ -e "%s" ] && cat >>"%s"\n' "$work/route" "$work/late.got" \
    >"$work/late.sh"
chmod +x "$work/late.sh"
topology late.conf "on_event = \"$work/late.sh\";"
daemon_start late -c "$work/late.conf" || exit 1
echo '(' >>"$work/late.conf"
kill -HUP "$daemon_pid"
ok "an alarm is not delivered in four tries" \
    wait_for grep -q event=alarm_failed "$daemon_log"
: >"$work/route"
ok "it is delivered later, without another event" \
    wait_for grep -q event=alarm_delivered "$daemon_log"
is "once" "$(jq -r '[.state, .event, .left_out] | join(" ")' "$work/late.got")" \
    "firing reload_refused 0"
daemon_stop
is "and nothing is left for the stop" "$daemon_code $(wc -l <"$work/late.got")" \
    "0 1"

# --- certificates ---

# be_alarmed TOPOLOGY: a reload of it is refused, which is an alarm.
be_alarmed() {
    echo '(' >>"$1"
    kill -HUP "$daemon_pid"
}

# fails SENTENCE GLOB SETTINGS: why an alarm does not arrive.
fails() {
    topology tls.conf "$3"
    daemon_start tls -c "$work/tls.conf" || exit 1
    be_alarmed "$work/tls.conf"
    wait_for grep -q event=alarm_failed "$daemon_log"
    like "$1" "$(grep event=alarm_failed "$daemon_log")" \
        "* warn event=alarm_failed target=$2"
    daemon_stop
}
count=$(wc -l <"$work/hook")
fails "a server whose certificate nobody vouches for is refused" \
    'webhook reason="*certificate*"' \
    "webhook = \"https://127.0.0.1:$good_port/\";"
is "it was sent nothing" "$(wc -l <"$work/hook")" "$count"
sink elsewhere well "$work/other.pem" "$work/other.key"
fails "so is one that has the certificate of another" \
    'webhook reason="*"' \
    "webhook = \"https://127.0.0.1:$sink_port/\";
     webhook_ca_file = \"$work/other.pem\";"
is "it was sent nothing, either" "$(wc -l <"$work/elsewhere")" 0

# --- what hangs, and what cannot be ---

printf '#!/bin/sh\necho >"%s"\nsleep 100000\n' "$work/runs" >"$work/hang.sh"
chmod +x "$work/hang.sh"
topology hang.conf "on_event = \"$work/hang.sh\";"
daemon_start hang -c "$work/hang.conf" || exit 1
be_alarmed "$work/hang.conf"
ok "the program runs" wait_for test -e "$work/runs"
like "the daemon serves meanwhile" "$(cli INCR order)" "[1-9]*"
daemon_stop
is "and stops cleanly" "$daemon_code" 0
like "the log says that it was not delivered" \
    "$(grep event=alarm_failed "$daemon_log")" \
    '*target=on_event reason="killed, since the daemon stops"'

topology bad.conf 'on_event = "/no/such/program"; webhook_ca_file = "/no/such/file";
    audit_file = "/no/such/folder/audit";'
like "all that cannot be used is refused" \
    "$(refused -c "$work/bad.conf" --check --state-dir "$work/bad")" \
    "*seqbrokerd: *audit*
seqbrokerd: daemon.on_event wants *
seqbrokerd: daemon.webhook_ca_file cannot be read*exit 1"
topology bad.conf 'webhook = "file:///etc/passwd"; alarm_level = "info";'
like "so is a level that would be a flood" \
    "$(refused -c "$work/bad.conf" --check --state-dir "$work/bad")" \
    "*'alarm_level' is \"info\", but must be one of error, warn*exit 1"
tap_end
