#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A migration that was cut off once it had retired a store, of which another one
# is gone since and this one was restarted: each error says what comes next, to
# the end. Usage: test_migrate_retired.sh BUILD_FOLDER
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
export SEQBROKER_STATE_DIR=$work/state
old=$work/old.conf
new=$work/new.conf

# topology FILE GENERATION BACKEND...
topology() {
    local file=$1 generation=$2 backends='' names='' name
    shift 2
    for name; do
        backends+="${backends:+, }{ name = \"$name\"; engine = \"sqlite\";"
        backends+=" path = \"$name.db\"; connect_timeout = \"20s\"; }"
        names+="${names:+, }\"$name\""
    done
    cat >"$file" <<END
broker = { open_timeout = "60s"; };
backends = ( $backends );
pools = ( { name = "main"; timeout = "20s"; generation = $generation;
            authority = "neighbours"; partitions = [ $names ]; } );
sequences = ( { key = "order"; deadline = "60s"; } );
END
}

# take COUNT: numbers of the daemon, one a line.
take() {
    "$build/seqctl" -s "$daemon_socket" -t 60 next order --count "$1"
}

# restarted STORE: as after a start of its machine, which no file survives that
# is in memory: another file with the same content.
restarted() {
    cp "$SEQBROKER_STATE_DIR/$1.db" "$SEQBROKER_STATE_DIR/copy" &&
        mv "$SEQBROKER_STATE_DIR/copy" "$SEQBROKER_STATE_DIR/$1.db"
}

topology "$old" 1 a b c d
topology "$new" 2 a e c d
ok "the pool is used" daemon_start state -c "$old"
take 1000 >"$work/before"
daemon_stop
is "it stops" "$daemon_code" 0

# --- cut off after the first store was retired ---

ok "a migration retires a store" sqlite3 "$SEQBROKER_STATE_DIR/a.db" \
    "INSERT INTO seqb_claims VALUES ('retired/main', 'main~2')"
restarted a
does "with all stores it needs no word" \
    "2 *all of its neighbours can be asked*the migration that retired it needs no word: run it again*" \
    trust "$old" a
mv "$SEQBROKER_STATE_DIR/b.db" "$work/gone"
does "it does not go on without a store" "1 *needs every backend, and b fails*" migrate "$old" "$new"
does "what is to be said is told" \
    "1 *backend a was restarted*only backend b knows*seqctl trust and the old topology*" \
    migrate "$old" "$new" --without b
does "whom the word is for is told first" \
    "0 *pool main was retired by seqctl migrate*without the store that cannot be asked*dry run: nothing was written*" \
    trust "$old" a --dry-run
does "the word is not given so" "1 *backend a was restarted*" \
    migrate "$old" "$new" --without b
does "the word is not given without --force" \
    "1 *warning: if the store of a was put back*nothing takes this back; nothing was written*say --force*" \
    trust "$old" a
does "nor is it with --dry-run" "0 *dry run: nothing was written*" \
    trust "$old" a --dry-run --force
does "it was not" "1 *backend a was restarted*" migrate "$old" "$new" --without b
does "the word is given" "0 *done: run the migration again, with --without*" \
    trust "$old" a --force
does "it comes to its end" "0 *numbers go on above *" \
    migrate "$old" "$new" --without b

# --- afterwards ---

ok "the new topology serves" daemon_start state -c "$new"
take 1000 >"$work/after"
daemon_stop
is "no number came again" "$(sort -nu "$work/before" "$work/after" | wc -l)" 2000
ok "every number is above all of before" \
    test "$(sort -n "$work/after" | head -n 1)" -gt \
    "$(sort -n "$work/before" | tail -n 1)"
does "nothing is left to be done" "0 *all is migrated already*" \
    migrate "$old" "$new" --without b
tap_end
