#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# seqctl migrate as an operator uses it: four files become two, with other
# bits, under sequences that made themselves. Usage: test_migrate.sh
# BUILD_FOLDER
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
export SEQBROKER_STATE_DIR=$work/state
old=$work/old.conf
new=$work/new.conf

# topology FILE POOL_SETTINGS SEQUENCE_SETTINGS BACKEND...
topology() {
    local file=$1 pool=$2 sequences=$3 backends='' names='' name
    shift 3
    for name; do
        backends+="${backends:+, }{ name = \"$name\"; engine = \"sqlite\";"
        backends+=" path = \"$name.db\"; }"
        names+="${names:+, }\"$name\""
    done
    cat >"$file" <<END
broker = { open_timeout = "60s"; };
backends = ( $backends );
pools = ( { name = "main"; timeout = "20s"; $pool partitions = [ $names ]; } );
auto_sequences = { pattern = "*"; deadline = "60s"; $sequences };
END
}

# take KEY COUNT: numbers of the daemon, one a line.
take() {
    "$build/seqctl" -s "$daemon_socket" -t 60 next "$1" --count "$2"
}

highest() { # FILE
    sort -n "$1" | tail -n 1
}
lowest() { # FILE
    sort -n "$1" | head -n 1
}

# sums: what is in the stores.
sums() {
    (cd "$SEQBROKER_STATE_DIR" && sha256sum -- *.db)
}

topology "$old" "" "memory_bits = 3;" a b c d
topology "$new" "generation = 2;" "memory_bits = 5;" d a
printf 'order\r\n\nbill\n' >"$work/keys"

# --- what is no migration ---

seqctl migrate "$old"
is "it wants two topologies" "$code $err" \
    "2 seqctl: usage: seqctl migrate OLD NEW"
seqctl migrate "$old" "$new" --json
like "with --json an error is an object on stderr" "$code $out $err" \
    '1  {"error": "pool main: a migration needs every backend, *", "code": "UNREACHABLE", "exit": 1}'
seqctl migrate "$work/absent.conf" "$new"
like "a topology that is not there is code 2" "$code $err" "2 *absent.conf*"
seqctl migrate "$old" "$new" --keys "$work/absent"
like "keys that are not there are code 2" "$code $err" "2 *$work/absent: *"
seqctl migrate "$old" "$old" --keys "$work/keys"
like "one topology is no migration" "$code $err" \
    "2 *no pool changes its generation*"
printf 'order\nno key\n' >"$work/bad-keys"
seqctl migrate "$old" "$new" --keys "$work/bad-keys"
like "what is no key is told" "$code $err" "2 *'no key' is no key*"
seqctl migrate "$old" "$new" --keys "$work/keys" --without nobody
like "what is no backend is not left out" "$code $err" \
    "2 *no partition *has the backend 'nobody'*"
seqctl migrate "$old" "$new" --keys "$work/keys"
like "stores that are not there are code 1" "$code $err" \
    "1 *pool main: a migration needs every backend, and a fails: *"

# --- the old brokers ---

daemon_start old -c "$old" --state-dir "$SEQBROKER_STATE_DIR" || exit 1
take order 5000 >"$work/order.old"
take bill 50 >"$work/bill.old"
daemon_stop TERM
like "the new topology is refused before it is migrated to" \
    "$(refused -c "$new" --state-dir "$SEQBROKER_STATE_DIR" \
        --socket "$work/no.sock")" "*run seqctl migrate first*exit 1"

# --- a dry run ---

before=$(sums)
seqctl migrate "$old" "$new" --dry-run
like "a dry run tells the plan" "$code $err $out" \
    "0  pool main: generation 1 -> 2, partitions 4 -> 2*sequence bill: memory_bits 3 -> 5; fits *sequence order: *warning: stop every broker*dry run: nothing was written"
is "a dry run writes nothing" "$(sums)" "$before"

# --- the migration ---

seqctl migrate "$old" "$new" --keys "$work/keys"
like "it tells the plan, and that it is done" "$code $err $out" \
    "0  pool main: generation 1 -> 2*sequence order: numbers go on above *done: start the brokers with the new topology"
like "the old topology is refused afterwards" \
    "$(refused -c "$old" --state-dir "$SEQBROKER_STATE_DIR" \
        --socket "$work/no.sock")" "*was retired by seqctl migrate*exit 1"
seqctl check --probe "$old"
like "check --probe says so, too" "$code $out" "1 *was retired by seqctl*"
before=$(sums)
seqctl migrate "$old" "$new"
is "a second run says that all is done" "$code $err $out" \
    "0  all is migrated already: nothing is to be done"
is "a second run writes nothing" "$(sums)" "$before"
seqctl check --probe "$new"
like "the new topology is well" "$code $out$err" \
    "0 *"$'\n'"d *sqlite *main/0 *main~2/0 *"

# --- the new brokers ---

daemon_start new -c "$new" --state-dir "$SEQBROKER_STATE_DIR" || exit 1
like "numbers that were kept before the migration are a gap, and no warning" \
    "$(grep event=spool_refused "$daemon_log")" \
    '* info event=spool_refused * reason="it is of an earlier generation *'
take order 5000 >"$work/order.new"
take bill 50 >"$work/bill.new"
daemon_stop TERM
for key in order bill; do
    ok "$key goes on above its old numbers" \
        [ "$(lowest "$work/$key.new")" -gt "$(highest "$work/$key.old")" ]
    is "no number of $key comes twice" \
        "$(sort "$work/$key.old" "$work/$key.new" | uniq -d)" ""
done

# --- a bar ---

# A store is locked for longer than the second after which there is a bar.
has_begun() { # it has opened the store
    local fd
    for fd in /proc/[0-9]*/fd/*; do
        [[ $fd != "/proc/$locking/"* && $fd -ef $SEQBROKER_STATE_DIR/d.db ]] &&
            return 0
    done
    return 1
}
is_locked() {
    [ -e "$work/locked" ]
}
if [[ -n $(command -v script) ]]; then
    topology "$work/third.conf" "generation = 3;" "memory_bits = 5;" a d
    {
        cat "$work/keys"
        printf 'key-%d\n' {1..100}
    } >"$work/many"
    : >"$work/bar"
    sqlite3 "$SEQBROKER_STATE_DIR/d.db" "BEGIN IMMEDIATE" \
        ".shell touch $work/locked; until test -e $work/unlock; do sleep 0.05; done" \
        ROLLBACK >"$work/trash" 2>&1 &
    locking=$!
    track "$locking"
    wait_for is_locked
    script -qfec "exec $build/seqctl migrate $new \
        $work/third.conf --keys $work/many >$work/report" "$work/bar" \
        </dev/null >"$work/trash" 2>&1 &
    migrating=$!
    track "$migrating"
    wait_for has_begun
    sleep 1.1
    touch "$work/unlock"
    reap "$locking"
    reap "$migrating"
    is "it ends well" "$? $(tail -n 1 "$work/report")" \
        "0 done: start the brokers with the new topology"
    like "who waits at a terminal for what takes long sees a bar" \
        "$(<"$work/bar")" "*"$'\r\033'"[[]K[[]#*] [0-9]*% [0-9]* of 306*"
    is "it is not among the lines" "$(grep -c '%' "$work/report")" 0
else
    skip "who waits at a terminal sees a bar" "there is no script(1)"
fi

tap_end
