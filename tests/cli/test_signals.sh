#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# seqbrokerd and the signals that operators send: which ones stop it, and which
# ones it outlives, while it starts, serves and stops.
# Usage: test_signals.sh BUILD_FOLDER
# shellcheck disable=SC2317 # functions are called by ok() and wait_for()
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

harmless=(HUP USR1 ALRM PIPE)

# annoy: sends it all that must not end it.
annoy() {
    local signal
    for signal in "${harmless[@]}"; do
        kill -"$signal" "$daemon_pid"
    done
}

# How often the log says that the topology was read again, or why not.
refusals() {
    grep -c -e ' warn event=reload_refused by=SIGHUP reason="' \
        -e ' info event=reloaded ' "$daemon_log"
}
has_refused() { # TIMES
    [ "$(refusals)" -eq "$1" ] || ! kill -0 "$daemon_pid" 2>>"$work/trash"
}

# launch NAME TOPOLOGY: starts it as daemon_start does, without waiting.
launch() {
    daemon_log=$work/$1.log
    : >"$daemon_log"
    "$build/seqbrokerd" -c "$2" --state-dir "$work/$1" --listen none \
        --socket "$work/$1.sock" 2>>"$daemon_log" &
    daemon_pid=$!
    track "$daemon_pid"
}

is_over() { # or a zombie
    ! kill -0 "$daemon_pid" 2>>"$work/trash" ||
        grep -q '^State:.Z' "/proc/$daemon_pid/status"
}
is_logged() { # WORDS
    grep -q -- "$1" "$daemon_log" || is_over
}

# --- while it serves ---

for signal in "${harmless[@]}"; do
    daemon_start serving || exit 1
    cli INCR order >"$work/first"
    kill -"$signal" "$daemon_pid"
    is "SIG$signal leaves it serving" "$(cli PING)" PONG
    daemon_stop TERM
    is "SIG$signal and then SIGTERM end it with 0" "$daemon_code" 0
    like "the numbers that it holds are kept after SIG$signal" \
        "$(tail -n 1 "$daemon_log")" "*event=spool taken=* given=[1-9]*"
done

daemon_start asked || exit 1
kill -HUP "$daemon_pid"
wait_for has_refused 1
is "SIGHUP is answered by one line of the log" "$(refusals)" 1
like "that says what came of it" "$(tail -n 1 "$daemon_log")" \
    '*info event=reloaded applied=0 restart=0'
kill -HUP "$daemon_pid"
wait_for has_refused 2
is "each one is answered" "$(refusals)" 2
daemon_stop INT
is "SIGINT ends it with 0" "$daemon_code" 0

# Closing the terminal is one more SIGHUP: nohup makes no difference.
daemon_log=$work/nohup.log
: >"$daemon_log"
nohup "$build/seqbrokerd" -c "$work/patient.conf" --state-dir "$work/nohup" \
    --listen none --socket "$work/nohup.sock" 2>>"$daemon_log" &
daemon_pid=$!
track "$daemon_pid"
wait_for is_logged ' event=ready '
kill -HUP "$daemon_pid"
wait_for has_refused 1
is "SIGHUP is answered under nohup as well" "$(refusals)" 1
daemon_stop
is "and is outlived there, too" "$daemon_code" 0

# --- while it starts ---

# A topology that is a pipe: the daemon waits where it reads it, once, before
# the broker opens.
pipe=$work/pipe.conf
mkfifo "$pipe"
has_closed_pipe() {
    local fd
    for fd in "/proc/$daemon_pid/fd/"*; do
        [[ $(readlink "$fd") != "$pipe" ]] || return 1
    done
}

# feed SENTENCE TIMES: sends all signals when it reads the topology, of which
# the log has that many answers then, and lets it have one.
feed() {
    local fd
    exec {fd}>"$pipe" # returns when the daemon reads
    annoy
    wait_for has_refused "$2"
    is "$1" "$(refusals)" "$2"
    cat "$work/patient.conf" >&"$fd"
    exec {fd}>&-
    wait_for has_closed_pipe
}

launch starting "$pipe"
# The last step of a start waits until nobody else has the spool.
mkdir -p "$work/starting"
exec {lock}>>"$work/starting/spool.lock"
flock "$lock"
feed "SIGHUP is answered before the broker opens" 1
wait_for is_logged 'event=up .* backend=sqlite-3 '
annoy
wait_for has_refused 2
is "SIGHUP is answered when the stores are open" "$(refusals)" 2
is "it still starts" "$(grep -c ' event=ready ' "$daemon_log")" 0
exec {lock}>&-
wait_for is_logged ' event=ready '
ok "no signal keeps it from starting" grep -q ' event=ready ' "$daemon_log"
redis-cli -s "$work/starting.sock" INCR order >>"$work/trash"
kill -TERM "$daemon_pid"
reap "$daemon_pid"
is "SIGTERM ends it with 0 after such a start" $? 0
like "and it has kept its numbers" "$(tail -n 1 "$daemon_log")" \
    "*event=spool taken=0 given=[1-9]*"

launch patient "$pipe"
mkdir -p "$work/patient"
exec {lock}>>"$work/patient/spool.lock"
flock "$lock"
cat "$work/patient.conf" >"$pipe"
wait_for is_logged 'event=up .* backend=sqlite-3 '
kill -TERM "$daemon_pid"
kill -HUP "$daemon_pid"
wait_for has_refused 1
exec {lock}>&-
reap "$daemon_pid"
is "SIGTERM while the broker opens ends it with 0 when it has" $? 0

# A store that takes a connection and says nothing: a stopped process. It would
# be waited for a minute.
daemon_start silent || exit 1
kill -STOP "$daemon_pid"
{
    echo 'broker = { open_timeout = "60s"; };'
    echo 'backends = ('
    echo "  { name = \"good\"; engine = \"sqlite\"; path = \"$work/good.db\"; },"
    echo '  { name = "silent"; engine = "mysql-row"; host = "127.0.0.1";'
    echo "    port = $daemon_port; user = \"nobody\"; database = \"none\";"
    echo '    connect_timeout = "60s"; }'
    echo ');'
    echo 'pools = ( { name = "main"; partitions = [ "good", "silent" ]; } );'
    echo 'auto_sequences = { pattern = "*"; };'
    echo 'daemon = { stop_timeout = "1s"; };'
} >"$work/silent.conf"
silent_pid=$daemon_pid
silent_port=$(printf %04X "$daemon_port")
is_dialling() { # established to the silent one
    grep -q ":$silent_port 01 " /proc/net/tcp || is_over
}
is_seen() { # SIGNAL: none is pending
    local pending
    pending=$(sed -n 's/^ShdPnd:[[:space:]]*//p' "/proc/$daemon_pid/status" \
        2>>"$work/trash")
    (((16#${pending:-0} >> ($(kill -l "$1") - 1)) % 2 == 0))
}
launch dialling "$work/silent.conf"
wait_for is_dialling
kill -TERM "$daemon_pid"
reap "$daemon_pid"
is "SIGTERM while a store is silent ends the start with 0" $? 0
like "and it says so" "$(tail -n 1 "$daemon_log")" \
    "seqbrokerd: stopped before its stores had answered"
sed -i 's/stop_timeout = "1s"/stop_timeout = "1h"/' "$work/silent.conf"
launch dialling "$work/silent.conf"
wait_for is_dialling
kill -TERM "$daemon_pid"
wait_for is_seen TERM # the kernel merges signals that nobody has seen yet
kill -TERM "$daemon_pid"
reap "$daemon_pid"
is "a second one ends it at once, with 1" $? 1
kill -KILL "$silent_pid"
reap "$silent_pid"

# --- while it stops ---

# start_unable_to_end NAME: the time of its stamps is to be written to a pipe,
# which waits for a reader. No stamp begins any more once it is.
{
    cat "$work/patient.conf"
    echo 'sequences = ( { key = "tick"; pool = "main"; period = "second";'
    echo '                deadline = "3s"; } );'
    echo 'daemon = { stop_timeout = "10m"; };'
} >"$work/ticking.conf"
is_held() {
    [[ $(cli INCR tick) == *TIMEOUT* ]]
}
start_unable_to_end() {
    daemon_start "$1" -c "$work/ticking.conf" || exit 1
    cli INCR order >>"$work/trash"
    mkfifo "$work/$1/clock-embedded.new"
    wait_for is_held
}
start_unable_to_end stopping
kill -TERM "$daemon_pid"
wait_for is_logged ' event=stopping$'
annoy
wait_for has_refused 1
is "SIGHUP is answered while the broker closes" "$(refusals)" 1
annoy
wait_for has_refused 2
is "each one is" "$(refusals)" 2
is_over
is "it has not ended" $? 1
cat "$work/stopping/clock-embedded.new" >>"$work/trash" &
reader=$!
track "$reader"
reap "$daemon_pid"
is "no signal cuts the stop short" $? 0
reap "$reader"

start_unable_to_end twice
kill -TERM "$daemon_pid"
wait_for is_logged ' event=stopping$'
kill -TERM "$daemon_pid"
reap "$daemon_pid"
is "a second SIGTERM ends it at once, with 1" $? 1

# Of a drain the first signal is ignored, since it may ask for the same stop;
# but not if a signal has ended the delay.
sed -i 's/daemon = {/daemon = { stop_delay = "1h";/' "$work/ticking.conf"
start_unable_to_end drained
cli_local SEQ.DRAIN >>"$work/trash" &
drain=$!
track "$drain"
wait_for is_logged ' event=leaving '
kill -TERM "$daemon_pid"
wait_for is_logged ' event=stopping$'
kill -TERM "$daemon_pid"
reap "$daemon_pid"
is "one that ends a drain's delay counts as the first" $? 1
reap "$drain"
sed -i 's/stop_delay = "1h";//' "$work/ticking.conf"

sed -i 's/stop_timeout = "10m"/stop_timeout = "1s"/' "$work/ticking.conf"
start_unable_to_end bounded
kill -TERM "$daemon_pid"
reap "$daemon_pid"
is "a stop that cannot end is ended, with 1" $? 1
like "and it says so" "$(tail -n 1 "$daemon_log")" \
    "seqbrokerd: ended while a store did not answer*"

# A store that hangs, clients that do not read, and sequences about which that
# store is asked before their first number: the numbers are kept all the
# same, because another store answers. Only the times depend on the machine, and
# they are only printed.
if grep -q '^hiredis' < <("$build/seqctl" --version) &&
    command -v redis-server >"$work/trash"; then
    redis_start
    cat >"$work/hung.conf" <<END
backends = ( { name = "r"; engine = "redis"; socket = "$work/redis.sock"; },
             { name = "a"; engine = "sqlite"; path = "$work/hung.db"; } );
pools = ( { name = "one"; partitions = [ "r", "a" ]; authority = "a";
            timeout = "30s"; } );
sequences = ( { key = "order"; deadline = "60s"; } );
auto_sequences = { pattern = "new.*"; deadline = "60s"; };
END
    # Few of them fill what the kernel holds for a client.
    long_ping=$(printf '*2\r\n$4\r\nPING\r\n$900\r\n%0900d\r' 0)
    is_unread() { # those clients are connected, and are not answered any more
        local before now
        before=$(cli INFO | sed -n 's/^total_commands_processed:\([0-9]*\).*/\1/p')
        sleep 0.2
        now=$(cli INFO | sed -n 's/^total_commands_processed:\([0-9]*\).*/\1/p')
        ((now - before < 10))
    }
    # A process that is ended leaves a thread that nobody waited for.
    export TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}report_thread_leaks=0"
    for round in 1 2; do
        daemon_start hung -c "$work/hung.conf" || exit 1
        [ "$round" -eq 1 ] ||
            ok "what was kept is taken back ($round)" \
                grep -q ' event=spool taken=[1-9]' "$daemon_log"
        silent=()
        for ((i = 0; i < 40; i++)); do
            yes "$long_ping" >"/dev/tcp/127.0.0.1/$daemon_port" \
                2>>"$work/trash" &
            silent+=($!)
            track $!
        done
        redis-cli -s "$daemon_socket" -r 100 INCR order >>"$work/numbers"
        wait_for is_unread
        kill -STOP "$redis"
        redis-cli -s "$daemon_socket" -r 300 INCR order >>"$work/numbers"
        for ((i = 0; i < 8; i++)); do
            printf "INCR new.$round.$i.%d\n" {1..100} |
                redis-cli -s "$daemon_socket" >>"$work/trash" 2>&1 &
            silent+=($!)
            track $!
        done
        begun=${EPOCHREALTIME/./}
        kill -TERM "$daemon_pid"
        reap "$daemon_pid"
        is "a stop while a store hangs ends with 1 ($round)" $? 1
        echo "# it took $(((${EPOCHREALTIME/./} - begun) / 1000)) ms"
        ok "and keeps the numbers ($round)" \
            grep -q ' event=spool taken=0 given=[1-9]' "$daemon_log"
        kill -CONT "$redis"
        for i in "${silent[@]}"; do
            kill -KILL "$i" 2>>"$work/trash"
            reap "$i"
        done
    done
    daemon_start hung -c "$work/hung.conf" || exit 1
    redis-cli -s "$daemon_socket" -r 1000 INCR order >>"$work/numbers"
    daemon_stop
    is "all numbers came" "$(grep -c '^[0-9]*$' "$work/numbers")" 1800
    is "and none twice" "$(sort "$work/numbers" | uniq -d)" ""

    # An order that waits for that store would do so for a minute.
    daemon_start hung -c "$work/hung.conf" || exit 1
    cli INCR new.first >>"$work/trash"
    kill -STOP "$redis"
    cli_local SEQ.ADVANCE order 1000000000000 FORCE >>"$work/trash" 2>&1 &
    order=$!
    track "$order"
    wait_for is_logged ' event=order_begun '
    kill -TERM "$daemon_pid"
    reap "$daemon_pid"
    ok "an order that waits for a store does not cost the numbers" \
        grep -q ' event=spool taken=0 given=[1-9]' "$daemon_log"
    ok "and says how far it got" grep -q ' event=order_in_part ' "$daemon_log"
    kill -CONT "$redis"
    reap "$order"
    kill -KILL "$redis"
    reap "$redis"
else
    skip "a stop while a store hangs" "no Redis"
fi

like "--help tells of the signals and the exit codes" \
    "$("$build/seqbrokerd" --help)" \
    "*SIGTERM, SIGINT*SIGUSR2*SIGHUP*SIGUSR1, SIGALRM*Exit codes:*"

tap_end
