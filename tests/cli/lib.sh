# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # what it sets is for its users
# What the tests of the programs share: TAP output, a temporary folder, and
# seqbrokerd started and stopped by its pid. To be sourced; $1 of the test is
# the build folder.

build=$(cd "${1:?usage: $0 BUILD_FOLDER}" && pwd) || exit 2
work=$(mktemp -d /tmp/seqb.XXXXXX) || exit 2
test_count=0
test_failures=0

# Background processes, by pid. One is ours until it is reaped: an ended child
# keeps its pid until then, so that no other process can have it.
declare -A tracked=()

# track PID: the end of the test kills it, however the test ends.
track() {
    tracked[$1]=yes
}

# reap PID: waits until it ends; returns its exit code.
reap() {
    local code
    wait "$1" 2>>"$work/trash"
    code=$?
    unset "tracked[$1]"
    return "$code"
}

# The notes of the sqlite engine outlive their files.
remove_notes() {
    local device inode
    while read -r device inode; do
        rm -f "$(printf '/dev/shm/seqbroker-%x-%x' "$device" "$inode")"-*
    done < <(find "$work" -name '*.db' -type f -printf '%D %i\n')
}

clean_up() {
    local pid
    trap '' INT TERM # a second one must not leave anything behind
    for pid in "${!tracked[@]}"; do
        kill -KILL "$pid" 2>>"$work/trash"
        reap "$pid"
    done
    remove_notes
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# --- TAP ---

# pass SENTENCE; fail SENTENCE [WHY...]
pass() {
    test_count=$((test_count + 1))
    echo "ok $test_count - $1"
}
fail() {
    test_count=$((test_count + 1))
    test_failures=$((test_failures + 1))
    echo "not ok $test_count - $1"
    shift
    [ $# -eq 0 ] || printf '%s\n' "$@" | sed 's/^/#   /'
}

# skip SENTENCE WHY: something is not installed. Where $CI is set, all is.
skip() {
    if [ -n "${CI:-}" ]; then fail "$1" "$2"; else skip_allowed "$@"; fi
}

# skip_allowed SENTENCE WHY: the same for what a machine of CI may lack, too.
skip_allowed() {
    test_count=$((test_count + 1))
    echo "ok $test_count - $1 # SKIP $2"
}

# ok SENTENCE COMMAND...: the command succeeds
ok() {
    local sentence=$1
    shift
    if "$@"; then pass "$sentence"; else fail "$sentence" "failed: $*"; fi
}

# is SENTENCE GOT EXPECTED
is() {
    if [ "$2" = "$3" ]; then
        pass "$1"
    else
        fail "$1" "got:" "$2" "expected:" "$3"
    fi
}

# like SENTENCE GOT GLOB
like() {
    # shellcheck disable=SC2053
    if [[ $2 == $3 ]]; then
        pass "$1"
    else
        fail "$1" "got:" "$2" "expected:" "$3"
    fi
}

# The last line of a test.
tap_end() {
    echo "1..$test_count"
    [ "$test_failures" -eq 0 ]
    exit
}

# wait_for COMMAND...: until it succeeds; gives up after a minute, which is no
# verdict but the end of a hang.
wait_for() {
    local i
    for ((i = 0; i < 1200; i++)); do
        "$@" && return 0
        sleep 0.05
    done
    return 1
}

# --- the daemon ---

# The embedded default, but with patience: no verdict may depend on how busy
# the machine is.
sed -e 's/name = "embedded";/& open_timeout = "60s";/' \
    -e 's/partitions = \[/timeout = "20s"; &/' \
    -e 's/engine = /connect_timeout = "20s"; &/' \
    -e 's/auto_sequences = {/& deadline = "60s";/' \
    "$(dirname "${BASH_SOURCE[0]}")/../../config/embedded.conf" \
    >"$work/patient.conf" || exit 2

# daemon_start NAME [OPTION...]: starts seqbrokerd with that topology, the state
# directory $work/NAME, a free TCP port and the socket $work/NAME.sock, and
# waits until it serves. Sets daemon_pid, daemon_port, daemon_socket,
# daemon_log and daemon_http, an address or "none". An option says it instead:
# of the topology, of where it listens.
# Fails if it ended instead.
daemon_start() {
    local name=$1
    shift
    daemon_socket=$work/$name.sock
    daemon_log=$work/$name.log
    : >"$daemon_log"
    [[ " $* " == *" --listen "* ]] || set -- --listen 127.0.0.1:0 "$@"
    "$build/seqbrokerd" -c "$work/patient.conf" --state-dir "$work/$name" \
        --socket "$daemon_socket" "$@" 2>>"$daemon_log" &
    daemon_pid=$!
    track "$daemon_pid"
    if ! wait_for daemon_is_decided || ! daemon_serves; then
        sed 's/^/# /' "$daemon_log"
        return 1
    fi
    daemon_port=$(sed -n 's/.*event.*ready.*listen[^ ,]*:\([0-9]*\)[ "].*/\1/p' \
        "$daemon_log")
    daemon_http=$(sed -n 's/.*event=ready .* http=\([^ ]*\).*/\1/p' "$daemon_log")
}

# In logfmt or JSON. A test whose daemon does not log it says it otherwise.
daemon_serves() {
    grep -q 'event["=:]*ready[ "]' "$daemon_log"
}

daemon_is_decided() {
    daemon_serves ||
        ! kill -0 "$daemon_pid" 2>>"$work/trash"
}

# daemon_stop [SIGNAL]: stops it and sets daemon_code to its exit code.
daemon_stop() {
    kill -"${1:-TERM}" "$daemon_pid"
    reap "$daemon_pid"
    daemon_code=$?
}

# refused OPTION...: runs seqbrokerd where it must not start. Prints what it
# said and, as the last line, its exit code. One that serves is killed.
refused() {
    timeout -s KILL 60 "$build/seqbrokerd" "$@" 2>&1
    echo "exit $?"
}

# cli WORD...: redis-cli on the daemon's port; the minute only ends a hang.
cli() {
    timeout 60 redis-cli -p "$daemon_port" "$@" 2>&1
}

# cli_local WORD...: the same by the unix socket, where orders are given.
cli_local() {
    timeout 60 redis-cli -s "$daemon_socket" "$@" 2>&1
}

# seqctl WORD...: its stdout in $out, its stderr in $err, its exit code in
# $code. With $asks_daemon set, it asks the daemon that was started last. A daemon
# that is named has a minute, unless it is said otherwise.
asks_daemon=
seqctl() {
    [[ -z $asks_daemon ]] || set -- -s "$daemon_socket" -t 60 "$@"
    [[ " $*" != *" -s "* || " $*" == *" -t "* ]] || set -- -t 60 "$@"
    "$build/seqctl" "$@" >"$work/out" 2>"$work/err"
    code=$?
    out=$(<"$work/out")
    err=$(<"$work/err")
}

# does SENTENCE GLOB WORD...: what seqctl answers, its exit code before it.
does() {
    local sentence=$1 expected=$2
    shift 2
    seqctl "$@"
    like "$sentence" "$code $out$err" "$expected"
}

# is_json FILE: it holds one value.
is_json() {
    [ "$(tr -d '\n' <"$1" | sed -E '
        s/"([^"\\]|\\.)*"/s/g; s/-?[0-9]+|true|false|null/v/g; s/ //g
        :again
        s/s:[vs]/p/; s/\{(p(,p)*)?\}/v/; s/\[([vs](,[vs])*)?\]/v/
        t again')" = v ]
}

# --- raw connections ---

# dial: opens one to the daemon's port; its descriptor is in $dialled.
dial() {
    exec {dialled}<>"/dev/tcp/127.0.0.1/$daemon_port"
}
hang_up() {
    local fd=$1
    exec {fd}>&-
}

# say FD TEXT: sends a text with printf's escapes.
say() {
    printf '%b' "$2" >&"$1"
}

# hear FD: prints the next line of the answer without its line end.
hear() {
    local line=
    IFS= read -r -t 60 -u "$1" line || line="(nothing: $line)"
    printf '%s\n' "${line%$'\r'}"
}

# ask TEXT: sends a text on a connection of its own and prints all that comes
# until the daemon closes it.
ask() {
    local fd
    exec {fd}<>"/dev/tcp/127.0.0.1/$daemon_port"
    printf '%b' "$1" >&"$fd"
    timeout 60 cat <&"$fd" | tr -d '\r'
    exec {fd}>&-
}

# redis_start [OPTION...]: a private Redis at $work/redis.sock; its pid is $redis.
redis_start() {
    redis-server --port 0 --unixsocket "$work/redis.sock" --dir "$work" \
        --save '' "$@" >"$work/redis.log" 2>&1 &
    redis=$!
    track "$redis"
    wait_for redis_answers
}
redis_answers() {
    [ "$(redis-cli -s "$work/redis.sock" PING 2>&1)" = PONG ]
}
