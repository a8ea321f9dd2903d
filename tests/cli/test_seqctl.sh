#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# seqctl from outside: what it prints where, and its exit codes. Usage:
# test_seqctl.sh BUILD_FOLDER
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
export SEQBROKER_STATE_DIR=$work/nothing

# refuses SENTENCE CODE GLOB WORD...: fails with that code, says so on stderr,
# prints nothing.
refuses() {
    local sentence=$1 expected=$2 glob=$3
    shift 3
    seqctl "$@"
    like "$sentence" "exit $code, printed \"$out\", said $err" \
        "exit $expected, printed \"\", said $glob"
}

# shellcheck disable=SC2317 # ok calls it
fits() { # FILE COLUMNS
    awk -v most="$2" 'length > most { long = 1 } END { exit long }' "$1"
}

distinct_numbers() { # FILE: how many
    grep -E '^[1-9][0-9]*$' "$1" | sort -u | wc -l
}

# --- the command line ---

refuses "it asks which command" 2 "*which command*--help*"
refuses "it guesses the command that was meant" 2 '*did you mean "status"*' \
    statsu
refuses "it does not guess what is far away" 2 '*unknown command "frobnicate", see*' \
    frobnicate
refuses "next wants a key" 2 "*usage: seqctl next KEY*" next
refuses "next wants one key" 2 "*usage: seqctl next KEY*" next a b
refuses "an option of another command is refused" 2 "*takes no*--stamp*" \
    number order --stamp
for count in 0 -1 x 1x 10000001 99999999999999999999 ""; do
    refuses "--count \"$count\" is refused" 2 "*--count is 1 ... 10000000*" \
        next order "--count=$count"
done
refuses "--timeout 0 is refused" 2 "*--timeout is 1 ...*" -t 0 status
refuses "a socket path that would be cut is refused" 2 "*more than 107 bytes*" \
    -s "$(printf '/%0120d' 0)" status

seqctl --help
is "--help is no error" "$code/$err" 0/
like "--help begins with examples" "$out" "  seqctl next order *"
like "--help tells the exit codes" "$out" "*Exit codes: 0 *1 *2 *3 *"
commands=$("$build/seqctl" help --json | grep -o '"name": "[a-z]*"' |
    cut -d'"' -f4)
like "help names all commands" " $(tr '\n' ' ' <<<"$commands")" \
    "* next *show *reload *settings *password *token *help "
for command in $commands; do
    like "--help lists $command" "$out" "*"$'\n'"  $command*"
done
for command in $commands; do
    seqctl "$command" --help
    like "$command --help begins with an example" "$code $out" \
        "0   seqctl $command*Usage: seqctl $command *"
    is "$command --help has no two empty lines" "${out//$'\n\n\n'/}" "$out"
    ok "$command --help fits 80 columns" fits "$work/out" 80
done

# The examples of the help, without the words behind them. a and b are no hosts.
examples() {
    sed -n -e 's/[a-z]:7379/127.0.0.1:1/g' -e 's/^  \(seqctl .*[^ ]\)   *[^ ].*/\1/p' \
        -e 's/^  \(seqctl .*\)/\1/p' "$root/docs/help/seqctl.txt" | sort -u
}
# Whether the words of an example are right: it fails, as there is no daemon and
# no file, but not for them.
wrong=
while IFS= read -r example; do
    (cd "$work" && eval "timeout 60 $example" </dev/null) >"$work/out" 2>"$work/err"
    [[ $(<"$work/err") =~ (unknown|usage:|takes|wants|\ is\ [0-9]) ]] &&
        wrong+="$example: $(<"$work/err"); "
done < <(examples | sed "s#^seqctl#$build/seqctl#")
is "the examples of the help are right" "$wrong" ""
is "and these are they" "$(($(examples | wc -l) > 50))" 1
seqctl --version
like "--version names the client libraries" "$code $out" \
    "0 seqbroker [0-9]*.[0-9]*.[0-9]*libconfig [0-9]*libsodium [0-9]*"

# --- without a daemon ---

for command in "next order" "number order" status "decode order 9" \
    "parse order 9"; do
    # shellcheck disable=SC2086
    refuses "$command says which socket and what to do" 3 \
        "*$work/nothing/seqbrokerd.sock*start one (seqbrokerd)*-s SOCKET*" $command
done
: >"$work/file"
refuses "a socket that is a file is no daemon" 3 "*$work/file*" \
    -s "$work/file" status

cp -r "$root/config" "$work/config"
(umask 077 && head -c 32 /dev/urandom | base64 >"$work/config/codes.key")
for file in "$work"/config/*.conf; do
    seqctl check "$file"
    if [[ $out =~ unknown\ engine\ \'(redis|memcached|mysql-|postgres|etcd) ]]; then
        skip_allowed "${file##*/} is a sound topology" "its engine is not built"
        continue
    fi
    is "${file##*/} is a sound topology" \
        "$code $(grep -Ev '^note: | is a file beside servers' <<<"$out") $err" "0 $file: ok "
done
cat >"$work/neighbours.conf" <<'END'
backends = ( { name = "a"; engine = "sqlite"; path = "a.db"; },
             { name = "b"; engine = "sqlite"; path = "b.db"; } );
pools = ( { name = "p"; partitions = [ "a", "b" ];
            authority = "neighbours"; } );
sequences = ( { key = "k"; } );
END
seqctl check "$work/neighbours.conf"
like "neighbours are told of, and what must not go back together" \
    "$code $out" \
    "0 note: *partition 1 (b) is windowed*leased by any of the neighbours a, b*two of the stores a, b go back together*"
seqctl trust "$work/neighbours.conf" nobody
like "an unknown backend is not trusted" "$code $err" \
    "2 *no partition has the backend 'nobody'*"
sed -i 's/"a", "b" \]/"a" ]/' "$work/neighbours.conf"
seqctl check "$work/neighbours.conf"
like "a store alone has no neighbour" "$code $out" \
    "2 *neighbours.conf:4: *needs 2 partitions or more*the pool has [01]: *"
printf 'broker = { name = 5; };\npolls = ();\n' >"$work/bad.conf"
seqctl check "$work/bad.conf"
is "a bad topology is code 2" "$code" 2
like "every diagnostic is a line with its place" "$out" \
    "*bad.conf:1: *"$'\n'"*bad.conf:2: *"
seqctl check "$work/absent.conf"
like "a topology that is not there is code 2" "$code $out$err" \
    "2 *absent.conf*"
cat >"$work/soon.conf" <<END
backends = ( { name = "a"; engine = "sqlite"; path = "a.db"; } );
pools = ( { name = "p"; partitions = [ "a" ]; } );
sequences = ( { key = "k";
    ids = { time = 30; epoch = "$(date -u -d "30 years ago" +%F)"; }; } );
END
seqctl check "$work/soon.conf"
like "ids that end within ten years are a warning, and sound" "$code $out" \
    "0 note: *warning: *soon.conf:4: 'time' = 30 bits *soon.conf: ok*"

# 700 notes of sequences: the library keeps 500.
{
    cat <<'END'
backends = ( { name = "a"; engine = "sqlite"; path = "a.db"; },
             { name = "b"; engine = "sqlite"; path = "b.db"; } );
pools = ( { name = "p"; partitions = [ "a", "b" ]; } );
sequences = (
END
    for i in {1..699}; do
        echo "{ key = \"k$i\"; template = \"@{seq, width=5}\"; },"
    done
    echo '{ key = "k"; template = "@{seq, width=5}"; } );'
} >"$work/many.conf"
seqctl check "$work/many.conf"
is "of many notes the first 20 are shown" \
    "$code $(grep -c '^note: .*many.conf:[0-9]*: ' "$work/out")" "0 20"
like "those about pools are shown, and how many are not" "$out" \
    "*"$'\n'"note: pool p: *"$'\n'"note: ... and 680 more: --all shows up to 500"$'\n'"*many.conf: ok"
seqctl check --all "$work/many.conf"
is "--all shows what the library keeps" \
    "$code $(grep -c '^note: .*many.conf:[0-9]*: ' "$work/out")" "0 500"
like "and how many there are beyond" "$out" \
    "*"$'\n'"note: ... and 200 more"$'\n'"*many.conf: ok"
seqctl check --json "$work/many.conf"
like "so does JSON" "$out" '* "... and 200 more", "pool p: *'
sed -i 's/@{seq/@{sek/' "$work/many.conf"
seqctl check "$work/many.conf"
is "so it is with mistakes" "$code $(wc -l <"$work/out") ${out##*$'\n'}" \
    "2 21 ... and 680 more: --all shows up to 500"
seqctl check --probe "$work/many.conf"
is "and if backends are to be tried" \
    "$code $(wc -l <"$work/out") ${out##*$'\n'}" \
    "2 21 ... and 680 more: --all shows up to 500"

# --- backends, without a daemon ---

cat >"$work/probe.conf" <<'END'
backends = ( { name = "a"; engine = "sqlite"; path = "a.db"; },
             { name = "b"; engine = "sqlite"; path = "b.db"; } );
pools = ( { name = "main"; partitions = [ "a", "b" ]; timeout = "20s"; } );
auto_sequences = { pattern = "*"; deadline = "60s"; };
END
seqctl check --json "$work/probe.conf"
ok "check --json is JSON" is_json "$work/out"
like "it has what is to be noted" "$code $out" \
    '0 {"file": "*probe.conf", "ok": true, "mistakes": \[\], "notes": \["pool main: *"\], "warnings": \[*\]}'
seqctl check --json "$work/bad.conf"
like "and mistakes" "$code $out" \
    '2 {"file": "*bad.conf", "ok": false, "mistakes": \["*bad.conf:1: *", "*bad.conf:2: *"*\], *}'
seqctl check --probe "$work/probe.conf"
like "a store that is not there yet is code 1" "$code $err" \
    "1 *2 of 2 backends cannot serve"
like "each backend is a row, and a line with the reason" "$out" \
    "BACKEND *ENGINE *PLACE *ANSWERS *SERVER *ROLE *CLASS *LOSES *CLAIM *DOMAIN"$'\n'"a *sqlite *main/0 *no *direct *"$'\n'"a: sqlite a: *a.db is not there*"$'\n'"b: sqlite b: *"
ok "a probe makes nothing" [ ! -e "$SEQBROKER_STATE_DIR" ]
daemon_start probe --state-dir "$SEQBROKER_STATE_DIR" -c "$work/probe.conf" ||
    exit 1
daemon_stop TERM
seqctl check --probe "$work/probe.conf"
like "stores in use are well" "$code $out$err" \
    "0 *"$'\n'"b *sqlite *main/1 *ms *sqlite *ok *direct *- *main/1 *"
like "what fails together is warned of" "$out" \
    "*"$'\n'"warning: pool main: a, b stand on one server or disk (*"
like "how partitions count is told" "$out" \
    "*"$'\n'"note: pool main: partition 1 (b) is direct: *"$'\n'"note: pool main: a number repeats if one of the stores a, b *"
seqctl check --probe --json "$work/probe.conf"
ok "check --probe --json is JSON" is_json "$work/out"
like "it has the backends and the warnings" "$out" \
    '*"backend": "b", "engine": "sqlite", "pool": "main", "partition": 1, "authority": false, "status": "OK", "reason": "", "server": "sqlite *", "role": "*", "class": "direct", "loss": "", "claim": "main/1", "domain": "?*", "open_us": [0-9]*}*"notes": \[*partition 1 (b) is direct*\],*"warnings": \[*pool main: a, b *'

# The columns of a node; nobody tells a quorum here, so that there is none.
if command -v redis-server >"$work/trash"; then
    redis_start || exit 1
    cat >"$work/redis.conf" <<END
backends = ( { name = "r"; engine = "redis"; socket = "$work/redis.sock"; },
             { name = "a"; engine = "sqlite"; path = "a.db"; } );
pools = ( { name = "main"; partitions = [ "r" ]; authority = "a"; timeout = "20s"; } );
auto_sequences = { pattern = "*"; deadline = "60s"; };
END
    seqctl check --probe "$work/redis.conf"
    like "a probe shows the node, its replicas and TLS" "$out" \
        "BACKEND *DOMAIN *NODE *REPLICAS *TLS"$'\n'"r *redis *main/0 *master *windowed *redis.sock *redis.sock *none *none*"
    is "but no column that nobody fills" "$(grep -c QUORUM "$work/out")" 0
    seqctl check --probe --json "$work/redis.conf"
    like "so does JSON, which has all keys" "$out" \
        '*"backend": "r", *"role": "master", *"node": "*redis.sock", "quorum": "", "replicas": "none", "tls": "none", "open_us": [0-9]*'
    kill -KILL "$redis"
    reap "$redis"
else
    skip "a probe shows the node, its replicas and TLS" "no redis-server"
fi

seqctl check --probe "$work/bad.conf"
like "a probe of a bad topology is code 2" "$code $out" "2 *bad.conf:1: *"
rm -r "$SEQBROKER_STATE_DIR"

seqctl settings
like "settings lists the settings" "$code $out" \
    "0 broker.name*pools.timeout*200ms*daemon.http*"
reference=$out
seqctl config
is "config still prints the same" "$code $out" "0 $reference"
seqctl settings timeout
like "of a name only that setting" "$code $out" "0 pools.timeout"$'\n'"*200ms*"
is "and no other" "$(grep -c '^[a-z]' "$work/out")" 1
seqctl settings daemon --json
like "of a section its settings" "$code $out" \
    '0 {*"section": "daemon", "name": "listen"*"name": "http"*\]*}'
is "and no other ones" "$(grep -c '"section": "daemon"' "$work/out")" \
    "$(grep -c '"section"' "$work/out")"
seqctl settings 'pools.*time*'
is "of a pattern what matches it" "$code $(grep '^[a-z]' "$work/out")" \
    "0 pools.timeout"
seqctl settings timeuot
is "a name that is none is bad usage, and says what was likely meant" \
    "$code $err" \
    '2 seqctl: there is no setting "timeuot", did you mean "timeout"?'
seqctl settings --markdown
like "settings --markdown is a table" "$code $out" "0 *| *timeout*"
seqctl status --markdown
like "status --markdown tells of each field, and asks no daemon" "$code $out" \
    '0 *| `latency_us` | integer | us | LATENCY | *'

# --- with one ---

daemon_start main || exit 1
socket=$daemon_socket

seqctl -s "$socket" status
like "without a sequence status says so" "$code $out" "0 *no sequence is in use*"
seqctl -s "$socket" next order
like "next prints a number and nothing else" "$code $out $err" "0 [1-9]* "
seqctl next order --count 2500 --socket "$socket"
is "next --count prints so many, each once" \
    "$code $(wc -l <"$work/out") $(distinct_numbers "$work/out")" "0 2500 2500"
number=${out##*$'\n'}
seqctl -s "$socket" decode order "$number"
like "decode takes a number apart" "$code $out" \
    "0 counter * [0-9]*partition * [0-3]*memory_bits * 3*memory * [0-7]"
like "decode's parts are the number" "$(
    read -r counter partition bits memory < <(awk '{ print $2 }' "$work/out" |
        tr '\n' ' ')
    echo $((((counter << 2 | partition) << bits) | memory))
)" "$number"
refuses "the daemon's error is told" 1 "*sequence key*" -s "$socket" next a/b
refuses "decode's error is told" 1 "*integer*" -s "$socket" decode order x

seqctl -s "$socket" status
like "status names the broker" "$code $out" \
    "0 broker embedded: seqbroker *, pid $daemon_pid, up *"
like "status has its columns" "$out" \
    "*PARTITION *BACKEND *ENGINE *STATE *SINCE *LATENCY *GRANTED *ERRORS *LAST OK"$'\n'"*"
is "status has a row for each partition" \
    "$(awk '$3 == "sqlite" && $4 == "up" { print $1 }' \
        "$work/out" | tr '\n' ' ')" "0 1 2 3 "
ok "its lines fit into 80 columns" fits "$work/out" 80
seqctl -s "$socket" status --wide
like "the wide table has all columns" "$out" \
    "*PARTITION *BACKEND *ENGINE *CLASS *STATE *SINCE *LATENCY *GRANTED *ERRORS *EJECTED*"
like "without a period there is no column for it" "$out" "*SEQUENCE *POOL *BITS *"
like "status has the sequences" "$out" "*SEQUENCE *TAKEN*"$'\n'"order *main *2501*"
like "status tells how long a stock lasts, and why the last refill had its size" \
    "$out" "*RATE/S *RUNWAY *WAITS *LAST REFILL*"$'\n'"order *[1-9]*, ?*"
seqctl -s "$socket" status --json
ok "status --json is JSON" is_json "$work/out"
like "status --json tells each store's server" "$out" \
    '*"server": "sqlite [0-9]*", "domain": "?*", "loss": "",*'
like "what does not apply is null in JSON" "$out" \
    '*"clock": null,*"clock_ms": null, "last_ok_ms": [0-9]*}*"period": null, "stamp": null, "dropped": null, "width_numbers": null, "pool_numbers": null}*'
like "status --json tells of a sequence's stock" "$out" \
    '*"window_bits": 0, "stock": [0-9]*, *"rate": [0-9]*, "runway_ms": *, "waits": [0-9]*, *"target": [0-9]*, "asked": [1-9]*, "why": "?*", *'
like "what may pass 2^53 is a string in JSON" "$out" \
    '*"pid": '"$daemon_pid"',*"granted": "[0-9]*"*"errors": 0*"taken": "2501"*'

"$build/seqctl" -s "$socket" -t 60 next order >/dev/full 2>"$work/err"
like "a number that could not be printed is an error" "$? $(<"$work/err")" \
    "1 *output was lost*"
"$build/seqctl" -s "$socket" -t 60 next order --count 1000000 2>"$work/err" |
    head -n 1 >"$work/out"
like "a reader that goes away is an error" \
    "${PIPESTATUS[0]} $(<"$work/err")" "1 *output was lost*"
# Without a stdout its descriptor is free, and a connection must not get it.
"$build/seqctl" -s "$socket" -t 60 next order --count 100000 2>"$work/err" >&-
is "without a stdout no number goes to the daemon" "$? $(<"$work/err")" \
    "1 seqctl: output was lost: stdout cannot be written"

# --- with one that is ill ---

kill -STOP "$daemon_pid"
refuses "a daemon that hangs is told, and that it may be starting" 3 \
    "*did not answer within 1 s: it may be starting (its log says so), hang or be overloaded; *" \
    -s "$socket" -t 1 status
"$build/seqctl" -s "$socket" -t 60 status >"$work/out" 2>"$work/err" &
waiting=$!
daemon_stop KILL
wait "$waiting"
like "a daemon that dies is told" "$? $(<"$work/out")$(<"$work/err")" \
    "3 *seqbrokerd at $socket*"
refuses "the socket of a dead one is no daemon" 3 "*$socket*refused*start one*" \
    -s "$socket" next order

cat >"$work/two.conf" <<'END'
broker = { open_timeout = "60s"; };
backends = ( { name = "a"; engine = "sqlite"; path = "a.db"; },
             { name = "b"; engine = "sqlite"; path = "b.db"; },
             { name = "c"; engine = "sqlite"; path = "c.db"; } );
pools = ( { name = "one"; partitions = [ "a", "b" ]; timeout = "20s"; },
          { name = "two"; partitions = [ "c" ]; timeout = "20s"; } );
auto_sequences = { pattern = "*"; limit = 10; pool = "one"; deadline = "60s"; };
END
daemon_start two -c "$work/two.conf" || exit 1
seqctl -s "$daemon_socket" status
is "several pools are told apart" \
    "$(awk '$3 == "sqlite" { print $1 }' "$work/out" | tr '\n' ' ')" \
    "one/0 one/1 two/0 "

# More keys than there may be sequences.
look_at() { # KEY
    cli SEQ.DECODE "$1" 9
    cli SEQ.PARSE "$1" X-9
    cli INCRBY "$1" many
    cli SEQ.NEXT "$1" COUNT 0
    cli INCRBY "$1" 0
    cli SEQ.NEXT "$1" SHARD 1
    cli SEQ.NUMBER "$1"
    cli SEQ.NUMBER "$1" COUNT 2 area 010
}
decoded=$(cli SEQ.DECODE fresh 9)
for i in {1..20}; do look_at "look$i" >>"$work/trash"; done
is "looking at keys makes no sequence" "$(cli DBSIZE)" 0
like "nor does it use up the limit of those that make themselves" \
    "$(cli INCR fresh)" "[0-9]*"
is "a number was decoded before as it is now" "$decoded" \
    "$(cli SEQ.DECODE fresh 9)"
like "one with no sequence to be is not decoded" \
    "$(cli SEQ.DECODE 'no key' 9 2>&1)" "*not a sequence key*"
daemon_stop TERM

if grep -q '^hiredis' < <("$build/seqctl" --version); then
    cat >"$work/windowed.conf" <<END
backends = ( { name = "r"; engine = "redis"; socket = "$work/no.sock"; },
             { name = "a"; engine = "sqlite"; path = "a.db"; } );
pools = ( { name = "one"; partitions = [ "r" ]; authority = "a";
            timeout = "20s"; rescue = "fixed"; rescue_after = "1h"; } );
auto_sequences = { pattern = "*"; limit = 10; pool = "one"; };
END
    daemon_start windowed -c "$work/windowed.conf" || exit 1
    seqctl -s "$daemon_socket" status --wide
    like "an ill partition is shown with the reason" "$out" \
        "*"$'\n'"0 *r *redis *windowed *quarantined *"$'\n'"0 (r) quarantined: *$work/no.sock*"
    like "the authority is shown" "$out" "*"$'\n'"authority *a *sqlite *direct *up *"
    seqctl -s "$daemon_socket" -s "$work/nobody" status
    like "it is not counted as a partition" "$out" \
        "*"$'\n'"$daemon_socket *not serving *0/1 *"
    daemon_stop TERM
fi

# --- a false daemon ---

# lies SENTENCE ANSWER WORD...: nothing that seqctl prints draws on a terminal.
lies() {
    local sentence=$1
    "$build/tests/liar" "$work/liar.sock" "$2" 2>>"$work/trash" &
    local liar=$!
    track "$liar"
    shift 2
    wait_for test -S "$work/liar.sock"
    seqctl -s "$work/liar.sock" "$@"
    like "$sentence" "$code $out$err" "[01] *red*"
    ok "$sentence, without control characters" \
        not grep -q $'[\x01-\x08\x0b-\x1f\x7f]' "$work/out" "$work/err"
    kill "$liar"
    reap "$liar"
    rm -f "$work/liar.sock"
}
not() { ! "$@"; }
lies "an error of a false daemon is shown" '-ERR \e[31mred\e]0;title\r\n' next order
lies "a number's text of a false daemon is shown" \
    '*1\r\n$9\r\n\e[31mredX\r\n' number order
"$build/tests/liar" "$work/liar.sock" '-\r\n' 2>>"$work/trash" &
liar=$!
track "$liar"
wait_for test -S "$work/liar.sock"
seqctl -s "$work/liar.sock" next order
like "an error without a word is told" "$code $err" "1 *without a word*"
kill "$liar"
reap "$liar"
rm -f "$work/liar.sock"
"$build/tests/liar" "$work/liar.sock" '*2147483647\r\n:1\r\n' 2>>"$work/trash" &
liar=$!
track "$liar"
wait_for test -S "$work/liar.sock"
seqctl -s "$work/liar.sock" show events
like "an array of two thousand million is none" "$code $err" "3 *is no seqbrokerd: an answer is an array of more than *"
kill "$liar"
reap "$liar"
rm -f "$work/liar.sock"
"$build/tests/liar" "$work/liar.sock" '$2000000000\r\n' on 2>>"$work/trash" &
liar=$!
track "$liar"
wait_for test -S "$work/liar.sock"
seqctl -t 60 -s "$work/liar.sock" show events
like "nor is a text of two thousand million" "$code $err" "3 *is no seqbrokerd: a text of an answer is longer than 16 MiB*"
kill "$liar"
reap "$liar"
rm -f "$work/liar.sock"
lies "an event of a false daemon is shown" \
    '*1\r\n*2\r\n$4\r\nline\r\n$8\r\n\e[31mred\r\n' show events

# --- what was meant ---

does "of an unknown option it says what was likely meant" \
    "2 seqctl: unknown option --intervall, did you mean --interval?*" \
    status --intervall=3
does "but not where none is near" \
    "2 seqctl: unknown option --frobnicate, see seqctl --help" --frobnicate
does "also of a short name, where most letters differ" \
    "2 seqctl: unknown option --nope, see seqctl --help" status --nope
does "two letters that are exchanged are a near mistake" \
    "2 seqctl: unknown option --jsno, did you mean --json?*" status --jsno
does "one letter of a short name may differ" \
    "2 seqctl: unknown option --tip, did you mean --top?*" status --tip
does "a beginning of two is of both" "2 seqctl: --wi is --without or --wide" status --wi
wrong=
for letter in {A..Z} {a..z}; do
    [[ hjnstw = *$letter* ]] && continue
    seqctl status "-$letter"
    [[ "$code $err" = "2 seqctl: unknown option -$letter, see seqctl --help" ]] ||
        wrong+="$letter: $code $err; "
done
is "so are all letters but those in the help" "$wrong" ""
does "so is an option without its argument" \
    "2 seqctl: --count wants an argument: -n, --count N" next order -n
does "JSON in a bundle of letters is JSON of errors, too" \
    '3 {"error": "*", "code": "UNREACHABLE", "exit": 3}' -js "$work/none" status
does "and beginning with others, or cut short" \
    '3 {"error": "*", "code": "UNREACHABLE", "exit": 3}' status --js -t5
does "not the letters of an argument" "3 seqctl: no seqbrokerd at jj*" -sjj/ status
does "and one that takes none" '2 seqctl: --wide takes no argument: "--wide=3"' \
    status --wide=3
seqctl --help
help=$out
seqctl help
is "help is --help" "$code $out" "0 $help"
seqctl status --help
help=$out
seqctl help status
is "help COMMAND is COMMAND --help" "$code $out" "0 $help"
seqctl help status --json
is "and as JSON that one alone" "$(grep -o '"name": "[a-z]*"' <<<"$out")" \
    '"name": "status"'
does "help guesses, too" '2 *unknown command "statsu", did you mean "status"?' \
    help statsu

tap_end
