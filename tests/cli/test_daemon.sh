#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# seqbrokerd from outside: what it answers, what it refuses, how it starts and
# stops. Usage: test_daemon.sh BUILD_FOLDER
# shellcheck disable=SC2016,SC2317 # "$4" is protocol; ok() calls functions
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

is_number() {
    [[ $1 =~ ^[1-9][0-9]*$ ]]
}

are_distinct_numbers() { # EXPECTED_COUNT TEXT
    [ "$(grep -cE '^[1-9][0-9]*$' <<<"$2")" -eq "$1" ] &&
        [ "$(sort -u <<<"$2" | wc -l)" -eq "$1" ]
}

# --- the commands ---

daemon_start main || exit 1

like "the ready line tells where it listens" "$(cat "$daemon_log")" \
    "*Z info event=ready name=embedded listen=127.0.0.1:$daemon_port socket=$daemon_socket pid=$daemon_pid"*
is "PING is answered" "$(cli PING)" PONG
is "PING gives a word back" "$(cli ping hello)" hello
is "ECHO gives a word back" "$(cli ECHO 'a b')" "a b"
ok "INCR answers a number" is_number "$(cli INCR order)"
ok "INCR answers over the unix socket" \
    is_number "$(redis-cli -s "$daemon_socket" INCR order)"
is "the unix socket is for its owner and group" \
    "$(stat -c %a "$daemon_socket")" 660
ok "SEQ.NEXT COUNT answers distinct numbers" are_distinct_numbers 1000 \
    "$(cli SEQ.NEXT order COUNT 1000)"
ok "SEQ.NEXT answers more numbers than the ring holds" \
    are_distinct_numbers 100000 "$(cli SEQ.NEXT order COUNT 100000 STR)"
like "SEQ.NEXT STR answers a string" \
    "$(ask 'SEQ.NEXT order STR\r\nQUIT\r\n')" '$*'
like "SEQ.NEXT refuses too many numbers" "$(cli SEQ.NEXT order COUNT 100001)" \
    "ERR COUNT is 1 to 100000*"
like "SEQ.NEXT tells its syntax" "$(cli SEQ.NEXT order COUN 1)" \
    "ERR syntax error*"

last=$(cli INCRBY order 8)
is "INCRBY answers the last of a contiguous run" \
    "$(cli SEQ.DECODE order "$last" | tail -1)" 7
like "INCRBY says how many numbers are contiguous at most" \
    "$(cli INCRBY order 9)" "ERR *increment must be 1 ... 8 *, not 9*"
for increment in 0 -1 9223372036854775807 -9223372036854775808; do
    like "INCRBY refuses $increment and says what was asked" \
        "$(cli INCRBY order "$increment")" \
        "ERR *increment must be 1 ... 8 *, not $increment"
done
for increment in x 1x 1.5 +1 -- "" 9223372036854775808; do
    like "INCRBY refuses '$increment', which is no integer" \
        "$(cli INCRBY order "$increment")" \
        "ERR value is not an integer or out of range: '$increment'*"
done
runs=$(printf 'INCRBY order 1\\r\\n%.0s' {1..200})
ok "a pipeline of INCRBY by 1 is answered with distinct numbers" \
    are_distinct_numbers 200 "$(ask "${runs}QUIT\r\n" | sed -n 's/^://p')"
like "INCRBY quotes a long word in part" \
    "$(cli INCRBY order "$(printf 'x%.0s' {1..1000})")" \
    "ERR value is not an integer *: 'xxxxxxxx*x'*"
like "SEQ.DECODE refuses what is no number" "$(cli SEQ.DECODE order 0)" "ERR *"
is "SEQ.DECODE puts a number together again" "$(
    read -r -d '' counter partition bits memory < <(
        cli SEQ.DECODE order "$last" | sed -n 'n;p' | tr '\n' ' '
        printf '\0')
    echo $((((counter << 2 | partition) << bits) | memory))
)" "$last"

like "a key has its form" "$(cli INCR a/b)" "ERR not a sequence key*"
like "a key has its length" "$(cli INCR "$(printf 'x%.0s' {1..65})")" \
    "ERR not a sequence key*"
like "a writing command of Redis is told what there is" "$(cli SET a 1)" \
    "ERR seqbroker only hands out numbers: use INCR key or SEQ.NEXT key*"
like "an unknown command is named" "$(cli NOSUCH)" \
    "ERR unknown command 'NOSUCH'*"
like "a wrong number of arguments is told" "$(cli INCR)" \
    "ERR wrong number of arguments for 'INCR'*"
like "AUTH says that there is no password" "$(cli AUTH x 2>&1)" \
    "ERR no password is set*"
is "SELECT 0 is there" "$(cli SELECT 0)" OK
like "SELECT 1 is not" "$(cli SELECT 1)" "ERR DB index*"
is "CLIENT SETINFO is accepted" "$(cli CLIENT SETINFO LIB-NAME x)" OK
is "CLIENT SETNAME is kept" \
    "$(ask 'CLIENT SETNAME me\r\nCLIENT GETNAME\r\nQUIT\r\n' | sed -n 3p)" me
like "CLIENT LIST has the addresses of both ends" "$(cli CLIENT LIST)" \
    "id=* addr=127.0.0.1:* laddr=127.0.0.1:$daemon_port * cmd=client *"
like "CLIENT LIST names the unix socket" \
    "$(redis-cli -s "$daemon_socket" CLIENT LIST)" \
    "id=* addr=$daemon_socket:0 laddr=$daemon_socket:0 * flags=U *"
is "DBSIZE counts the sequences" "$(cli DBSIZE)" 1
is "COMMAND COUNT counts what COMMAND LIST lists" "$(cli COMMAND COUNT)" \
    "$(cli COMMAND LIST | wc -l)"
like "COMMAND DOCS has a summary" "$(cli COMMAND DOCS incr)" \
    "incr*summary*Takes one number*"
like "CONFIG GET answers what redis-benchmark asks" \
    "$(cli CONFIG GET appendonly)" "appendonly*no"
is "CONFIG GET of anything else is empty" "$(cli CONFIG GET x | tr -d '\n')" ""
for line in redis_version:7 loading:0 role:master "process_id:$daemon_pid" \
    "tcp_port:$daemon_port" order:pool=main; do
    like "INFO has $line" "$(cli INFO)" "*$line*"
done
like "INFO of a section has no other" "$(cli INFO clients)" "# Clients*"
like "SEQ.STATUS lists the partitions" "$(cli SEQ.STATUS)" \
    "broker*embedded*partitions*sqlite-3*state*up*sequences*order*"

# --- the protocol ---

is "HELLO 3 answers a map" "$(ask 'HELLO 3\r\nQUIT\r\n' | head -1)" "%7"
is "without HELLO 3 a map is an array" \
    "$(ask 'HELLO\r\nQUIT\r\n' | head -1)" "*14"
is "HELLO 3 holds for the commands that follow" \
    "$(ask 'HELLO 3\r\nSEQ.DECODE a 77\r\nQUIT\r\n' | grep -c '^%')" 2
like "HELLO 4 is refused" "$(cli HELLO 4)" "NOPROTO*"
is "pipelined commands are answered in order" "$(
    ask 'PING a\r\n*2\r\n$4\r\nPING\r\n$1\r\nb\r\nPING c\n\r\nQUIT\r\n' |
        tr '\n' ' '
)" '$1 a $1 b $1 c +OK '
ok "numbers in a pipeline are distinct" are_distinct_numbers 5000 "$(
    ask "$(for ((i = 0; i < 5000; i++)); do printf 'INCR pipe\\r\\n'; done)QUIT\r\n" |
        sed -n 's/^://p'
)"

dial
say "$dialled" '*2\r\n$4\r\nINC'
is "half a request keeps nobody waiting" "$(cli PING)" PONG
say "$dialled" 'R\r\n$5\r\norder'
say "$dialled" '\r\n'
like "a request may come in pieces" "$(hear "$dialled")" ":*"
hang_up "$dialled"

while IFS='|' read -r bytes error; do
    is "the protocol error '$error' closes the connection" \
        "$(ask "PING\r\n$bytes" | tr '\n' ' ')" \
        "+PONG -ERR Protocol error: $error "
done <<'EOF'
*1000000000\r\n|invalid multibulk length
*x\r\n|invalid multibulk length
*1\r\n$1000000000\r\n|invalid bulk length
*1\r\n$65537\r\n|invalid bulk length
*1\r\nPING\r\n|expected '$'
*1\r\n$4\r\nPINGPONG|expected CRLF after a bulk string
EOF
is "a protocol error is heard by who goes on sending" \
    "$(ask "PING\r\n*x\r\n$(printf 'x%.0s' {1..600000})" | tr '\n' ' ')" \
    "+PONG -ERR Protocol error: invalid multibulk length "
is "an endless inline command is a protocol error" \
    "$(ask "$(printf 'x%.0s' {1..5000})")" \
    "-ERR Protocol error: too big inline request"
like "a request of HTTP is refused" \
    "$(ask 'POST / HTTP/1.1\r\nINCR order\r\n')" "-ERR this is not an HTTP*"
is "random bytes do no harm" "$(
    for i in {1..20}; do
        exec {fd}<>"/dev/tcp/127.0.0.1/$daemon_port"
        # It may be hung up on before it has sent all.
        (head -c 20000 /dev/urandom >&"$fd") 2>>"$work/trash"
        exec {fd}>&-
    done
    cli PING
)" PONG

# A client that reads nothing: the daemon must stop executing for it, long
# before half a gigabyte of replies is in its memory.
commands_processed() {
    cli INFO stats | tr -d '\r' | sed -n 's/^total_commands_processed://p'
}
is_read() { # its commands are executed
    cli CLIENT LIST | grep -q ' cmd=command'
}
is_at_rest() { # nothing but our own INFO is executed
    local before after
    before=$(commands_processed)
    sleep 1 # in which who writes has gone on
    after=$(commands_processed)
    [ "$after" -eq $((before + 1)) ]
}
dial
deaf=$dialled
before=$(commands_processed)
(yes 'COMMAND DOCS' | head -n 200000 >&"$deaf") 2>>"$work/trash" &
writer=$!
track "$writer"
wait_for is_read
is "others are served beside a client that reads nothing" "$(cli PING)" PONG
ok "the daemon stops executing for a client that reads nothing" \
    wait_for is_at_rest
ok "it has not executed all of them" \
    [ $(($(commands_processed) - before)) -lt 100000 ]
ok "numbers are handed out beside it" \
    are_distinct_numbers 2000 "$(cli SEQ.NEXT order COUNT 2000)"
kill "$writer" 2>>"$work/trash"
reap "$writer"
hang_up "$deaf"
has_one_client() {
    cli INFO clients | grep -q '^connected_clients:1.$'
}
ok "a connection that was reset is forgotten" wait_for has_one_client

# --- starting and stopping ---

like "a port in use is named, with what to do" \
    "$(refused --state-dir "$work/main" --listen "127.0.0.1:$daemon_port" \
        --socket none)" \
    "*cannot listen on 127.0.0.1:$daemon_port: another program*--listen*exit 1"
like "a socket in use is named, with what to do" \
    "$(refused --state-dir "$work/main" --listen none \
        --socket "$daemon_socket")" \
    "*another daemon is listening on $daemon_socket*exit 1"
is "the first daemon still has its socket" \
    "$(redis-cli -s "$daemon_socket" PING)" PONG

dial
say "$dialled" 'PING\r\n'
is "a client is connected" "$(hear "$dialled")" +PONG
say "$dialled" 'PING last\r\n'
daemon_stop TERM
is "SIGTERM ends it with 0" "$daemon_code" 0
is "what had arrived is answered" \
    "$(hear "$dialled") $(hear "$dialled")" '$4 last'
is "then the connection is closed" "$(hear "$dialled")" "(nothing: )"
hang_up "$dialled"
ok "SIGTERM removes the socket" [ ! -e "$daemon_socket" ]

daemon_start main || exit 1
daemon_stop INT
is "SIGINT ends it with 0" "$daemon_code" 0

# drain WORD...: what seqctl says, and its exit code.
drain() {
    "$build/seqctl" -s "$daemon_socket" drain "$@" 2>&1
    echo "exit $?"
}

daemon_start main || exit 1
like "drain without a word is no drain of the broker" "$(drain)" \
    "*usage: seqctl drain PARTITION|--broker*exit 2"
like "nor is one of a partition and the broker" "$(drain --broker main/0)" \
    "*usage:*exit 2"
like "nor is SEQ.DRAIN of a partition" "$(cli_local SEQ.DRAIN main/0)" \
    "ERR wrong number of arguments for 'SEQ.DRAIN'*"
is "it serves" "$(cli PING)" PONG
dial
say "$dialled" 'PING\r\n'
is "a client is connected before the drain" "$(hear "$dialled")" +PONG
say "$dialled" 'PING last\r\n'
is "drain --broker returns when it has stopped" \
    "$(drain --broker -t 60 | tr '\n' /)" "the broker has stopped/exit 0/"
reap "$daemon_pid"
is "a drain ends the daemon with 0" $? 0
is "what had arrived before the drain is answered" \
    "$(hear "$dialled") $(hear "$dialled")" '$4 last'
is "then this connection is closed, too" "$(hear "$dialled")" "(nothing: )"
hang_up "$dialled"
ok "a drain removes the socket" [ ! -e "$daemon_socket" ]
like "the log of a drain is that of a stop" "$(tail -n 2 "$daemon_log")" \
    "*Z info event=stopping*"
like "there is nothing left to drain" "$(drain --broker)" \
    "*no seqbrokerd at*exit 3"
daemon_start main || exit 1
is "nobody drains it by TCP" "$(cli SEQ.DRAIN)" \
    "NOPERM SEQ.DRAIN is an order: give it through the unix socket, as seqctl does, or log in as a user whose role is admin"
is "redis-cli may drain it as well" "$(cli_local SEQ.DRAIN)" OK
reap "$daemon_pid"
is "that ends it with 0, too" $? 0

daemon_start main || exit 1
daemon_stop KILL
ok "SIGKILL leaves the socket behind" [ -S "$daemon_socket" ]
ok "a stale socket is replaced" daemon_start main
is "it serves there" "$(redis-cli -s "$daemon_socket" PING)" PONG
daemon_stop

: >"$work/a-file"
like "a file that is no socket is left alone" \
    "$(refused --state-dir "$work/main" --listen none --socket "$work/a-file")" \
    "*$work/a-file: a file stands there*exit 1"
ok "it is still there" [ -f "$work/a-file" ]
long=$work/$(printf 'x%.0s' {1..100})
like "a socket path that is too long is told" \
    "$(refused --state-dir "$work/main" --listen none --socket "$long")" \
    "*is longer than 107 bytes*exit 1"
like "an address that is not ours is told" \
    "$(refused --state-dir "$work/main" --listen 192.0.2.1:0 --socket none)" \
    "*cannot listen on 192.0.2.1:0: *exit 1"
like "a state directory that cannot be made is told" \
    "$(refused --state-dir "$work/a-file/state" --listen none)" \
    "*$work/a-file*exit 1"
like "a topology that is not there is told" \
    "$(refused -c "$work/nothing.conf" --state-dir "$work/main")" \
    "*$work/nothing.conf*exit 1"

while IFS='|' read -r arguments words; do
    # shellcheck disable=SC2086
    like "wrong usage is told: $arguments" "$(refused $arguments)" \
        "seqbrokerd:*$words*--help*exit 2"
done <<'EOF'
--nonsense|unknown option --nonsense
--litsen 127.0.0.1:0|unknown option --litsen, did you mean --listen?
--log-fromat=json|unknown option --log-fromat, did you mean --log-format?
-c|a value is missing: -c
--listen|a value is missing: --listen
extra|unexpected argument extra
--listen 7379|--listen wants ADDR:PORT
--listen 127.0.0.1:99999|--listen wants ADDR:PORT
--listen ::1:7379|--listen wants ADDR:PORT
--listen none --socket none|nothing to listen on
EOF
like "--version tells the version" "$(refused --version)" \
    "seqbrokerd [0-9]*exit 0"
like "--help begins with examples" "$(refused --help)" "Examples:*exit 0"

if grep -q ' lo$' /proc/net/if_inet6 2>>"$work/trash"; then
    daemon_start main --listen '[::1]:0' --socket none || exit 1
    like "it listens on IPv6" "$(cat "$daemon_log")" \
        "*listen=\[::1\]:$daemon_port socket=none*"
    like "CLIENT LIST has addresses of IPv6 in brackets" \
        "$(redis-cli -h ::1 -p "$daemon_port" CLIENT LIST)" \
        "* addr=\[::1\]:* laddr=\[::1\]:$daemon_port *"
    is "it serves on IPv6" "$(redis-cli -h ::1 -p "$daemon_port" PING)" PONG
    daemon_stop
else
    skip_allowed "it serves on IPv6" "this machine has no IPv6"
fi

# --- a topology, and a backend that does not answer ---

cat >"$work/one.conf" <<'EOF'
broker = { name = "one"; open_timeout = "60s"; };
backends = ( { name = "file"; engine = "sqlite"; path = "one.db"; } );
pools = ( { name = "main"; partitions = [ "file" ]; timeout = "20s"; } );
sequences = ( { key = "order"; pool = "main"; memory_bits = 0;
                deadline = "60s"; } );
EOF
daemon_start one -c "$work/one.conf" || exit 1
ok "a key of the topology has numbers" is_number "$(cli INCR order)"
like "a key that the topology does not know is refused" "$(cli INCR other)" \
    "UNKNOWNKEY *"
like "INCRBY is bound by the memory bits" "$(cli INCRBY order 2)" \
    "ERR *1 ... 1 *"
daemon_stop

test_waiting() {
    local redis first second number later
    redis_start || return
    cat >"$work/wait.conf" <<EOF
broker = { open_timeout = "60s"; spool = false; };
backends = (
    { name = "redis"; engine = "redis"; socket = "$work/redis.sock"; },
    { name = "authority"; engine = "sqlite"; path = "authority.db"; } );
pools = ( { name = "main"; partitions = [ "redis" ];
            authority = "authority"; rescue_after = "1s"; } );
sequences = (
    { key = "patient"; pool = "main"; deadline = "60s"; prefetch = false; },
    { key = "brief"; pool = "main"; deadline = "200ms"; prefetch = false; } );
daemon = { stop_timeout = "60s"; };
EOF
    daemon_start wait -c "$work/wait.conf" || return
    kill -STOP "$redis"
    dial
    first=$dialled
    dial
    second=$dialled
    say "$first" 'PING\r\nINCR patient\r\nPING behind\r\n'
    is "what stands before a number that is not there is answered" \
        "$(hear "$first")" +PONG
    say "$second" 'PING\r\nSEQ.NEXT patient COUNT 3\r\n'
    is "another client is answered meanwhile" "$(hear "$second")" +PONG
    like "a number that does not come in time is an error" \
        "$(cli INCR brief)" "@(TIMEOUT|UNAVAILABLE) *"
    is "a command behind an error is answered" \
        "$(ask 'INCR brief\r\nPING\r\nQUIT\r\n' | sed -n '2,$p' | tr '\n' ' ')" \
        "+PONG +OK "
    kill -CONT "$redis"
    number=$(hear "$first")
    like "the number comes when its backend is back" "$number" ":[1-9]*"
    is "what stands behind it comes then" \
        "$(hear "$first") $(hear "$first")" '$6 behind'
    is "who waited behind is served too" "$(hear "$second")" '*3'
    later=$(hear "$second")
    ok "who came first has the lower number" [ "${number#:}" -lt "${later#:}" ]

    kill -STOP "$redis"
    dial
    say "$dialled" 'PING\r\nSEQ.NEXT patient COUNT 100000\r\n'
    hear "$dialled" >>"$work/redis.log"
    kill -TERM "$daemon_pid"
    kill -CONT "$redis"
    reap "$daemon_pid"
    is "a stop with clients waiting is clean" $? 0
    hang_up "$dialled"

    daemon_start wait -c "$work/wait.conf" || return
    kill -STOP "$redis"
    dial
    say "$dialled" 'PING\r\nSEQ.NEXT patient COUNT 100000\r\n'
    hear "$dialled" >>"$work/redis.log"
    # Who answers within the time, and stops for longer than that.
    like "a drain that is not over in time says so" \
        "$(drain --broker -t 5)" "*is stopping, but has not ended*exit 1"
    kill -TERM "$daemon_pid"
    kill -CONT "$redis"
    reap "$daemon_pid"
    is "one signal does not cut a drain short" $? 0
    hang_up "$first"
    hang_up "$second"
    hang_up "$dialled"
    kill "$redis"
    reap "$redis"
}
if [ -n "$(type -P redis-server)" ]; then
    test_waiting
elif [ -n "${CI:-}" ]; then
    fail "numbers are waited for" "redis-server is not installed"
else
    skip "numbers are waited for" "redis-server is not installed"
fi

# --- started without the standard streams ---

# The daemon forbids all but root to see its descriptors.
streams() {
    readlink "/proc/$1/fd/0" "/proc/$1/fd/1" "/proc/$1/fd/2"
}
answers() {
    [ "$(cli_local PING)" = PONG ]
}
daemon_socket=$work/mute.sock
"$build/seqbrokerd" -c "$work/patient.conf" --state-dir "$work/mute" \
    --socket "$daemon_socket" --listen 127.0.0.1:0 <&- >&- 2>&- &
daemon_pid=$!
track "$daemon_pid"
ok "it serves without stdin, stdout and stderr" wait_for answers
if [ -r "/proc/$daemon_pid/fd" ]; then
    is "no store and no client has their descriptors" \
        "$(streams "$daemon_pid")" "$(printf '/dev/null\n%.0s' 1 2 3)"
else
    skip_allowed "no store and no client has their descriptors" "not root"
fi
daemon_stop

# --- nothing comes twice ---

numbers=$work/numbers
: >"$numbers"
take_until_killed() { # FILE
    redis-cli -p "$daemon_port" -r 1000000 SEQ.NEXT order COUNT 100 \
        >>"$1" 2>&1
}
has_more_than() { # LINES FILE
    [ "$(wc -l <"$2")" -gt "$1" ]
}
for round in 1 2 3; do
    daemon_start main || exit 1
    takers=()
    for taker in 1 2; do
        : >"$numbers.$round.$taker"
        take_until_killed "$numbers.$round.$taker" &
        takers+=("$!")
        track "$!"
    done
    wait_for has_more_than 20000 "$numbers.$round.1"
    daemon_stop KILL
    for taker in "${takers[@]}"; do
        reap "$taker"
    done
done
cat "$numbers".* | grep -E '^[1-9][0-9]*$' >"$numbers"
ok "numbers were taken over three kills" has_more_than 60000 "$numbers"
is "none of them came twice" "$(sort "$numbers" | uniq -d | head -3)" ""

tap_end
