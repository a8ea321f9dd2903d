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
daemon_stop
is "the daemon stops cleanly" "$daemon_code" 0

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

topology bad.conf 'on_event = "program";'
like "a program without a folder is refused" \
    "$(refused -c "$work/bad.conf" --check --state-dir "$work/bad")" \
    "*seqbrokerd: daemon.on_event wants the absolute path of a program*exit 1"
topology bad.conf 'webhook = "file:///etc/passwd"; alarm_level = "info";'
like "so is a level that would be a flood" \
    "$(refused -c "$work/bad.conf" --check --state-dir "$work/bad")" \
    "*'alarm_level' is \"info\", but must be one of error, warn*exit 1"
tap_end
