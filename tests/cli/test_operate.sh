#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What an operator does: orders to partitions, health, moving a sequence
# forwards, watching. Usage: test_operate.sh BUILD_FOLDER
# shellcheck disable=SC2317 # ok() and wait_for() call functions
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

asks_daemon=yes

# field PLACE NAME: of a partition, as "one/0", in status --json
field() {
    seqctl status --json
    sed -n "s/.*\"pool\": \"${1%/*}\", \"partition\": ${1#*/}, .*\"$2\": \"\{0,1\}\([^\",}]*\).*/\1/p" \
        "$work/out"
}

is_state() { # PLACE STATE...
    local place=$1 state
    state=$(field "$place" state)
    shift
    [[ " $* " == *" $state "* ]]
}

# Nothing is asked for, so that what is granted stays as it is.
at_rest() {
    seqctl status --json --all
    ! grep -q '"in_flight": [1-9]' "$work/out"
}

# No pool's partition comes back by itself while this runs.
cat >"$work/pools.conf" <<'END'
broker = { open_timeout = "60s"; };
backends = ( { name = "a"; engine = "sqlite"; path = "a.db"; },
             { name = "b"; engine = "sqlite"; path = "b.db"; },
             { name = "c"; engine = "sqlite"; path = "c.db"; } );
pools = ( { name = "one"; partitions = [ "a", "b" ];
            rescue = "fixed"; rescue_after = "1h"; timeout = "20s"; },
          { name = "two"; partitions = [ "c" ]; authority = "b";
            rescue = "fixed"; rescue_after = "1h"; timeout = "20s"; } );
sequences = ( { key = "order"; pool = "one"; memory_bits = 2;
                max_unused = 256; deadline = "60s"; },
              { key = "waybill"; pool = "one"; memory_bits = 2; max_unused = 256;
                deadline = "60s"; template = "W@{seq, width=6}"; },
              { key = "label"; pool = "one"; memory_bits = 2; max_unused = 256;
                deadline = "60s"; template = "L@{seq, width=3}"; },
              { key = "bill"; pool = "two"; deadline = "60s"; },
              { key = "hasty"; pool = "two"; deadline = "50ms"; } );
END
daemon_start pools -c "$work/pools.conf" || exit 1

# --- health and orders ---

does "health of a well daemon is one line and code 0" "0 serving" health
does "health --json tells the same" \
    '0 {"health": "serving", "reason": "", "warning": ""}' health --json
does "a sequence takes numbers of its pool" "0 [1-9]*" next order -n 2000
is "the other pool granted nothing" "$(field two/0 granted)" 0

does "quarantine says what it did" "0 one/0: quarantined*" quarantine one/0
is "the partition is quarantined" "$(field one/0 state)" quarantined
like "and the reason is the operator" "$(field one/0 reason)" \
    "quarantined by an operator"
like "the log has it once" "$(grep -c 'event=quarantined .*pool=one partition=0' \
    "$daemon_log")" 1
does "health is degraded, code 1" \
    "1 degraded: pool one: partition 0 (a) is quarantined: *" health
wait_for at_rest
granted=$(field one/0 granted)
does "numbers go on" "0 [1-9]*" next order -n 5000
is "without that partition" "$(field one/0 granted)" "$granted"
does "quarantining it again makes no sense" \
    "1 seqctl: ERR *is quarantined: only one that is up*" quarantine one/0
does "a resume of it says what to do instead" \
    "1 seqctl: ERR *an operator quarantined it: rescue it instead*" resume one/0
does "rescue takes a backend's name" "0 a: probed now" rescue a
ok "a rescue is a probe at once" wait_for is_state one/0 ramping up

does "drain says what it did" "0 a: drained*" drain a
wait_for at_rest
granted=$(field one/0 granted)
does "numbers go on without it" "0 [1-9]*" next order -n 20000
is "a drained partition is never asked" \
    "$(field one/0 granted) $(field one/0 state)" "$granted drained"
does "it cannot be rescued" "1 seqctl: ERR *resume it instead*" rescue one/0
does "draining it again changes nothing" "0 a: was drained already" drain a
is "the log has the drain once" "$(grep -c 'event=drained .*pool=one partition=0' \
    "$daemon_log")" 1
is "in the protocol that is OK" "$(cli_local SEQ.PARTITION DRAIN a)" OK
is "a report has its state" "$(cli_local SEQ.PARTITION DRAIN a REPORT |
    tr '\n' ' ')" "before drained after drained "
like "of an unknown word none" "$(cli_local SEQ.PARTITION DRAIN a REPOTR)" \
    "ERR syntax error*REPORT*"
does "resume says what it did" "0 one/0: resumed*" resume one/0
ok "a resumed one is back" wait_for is_state one/0 ramping up
does "resuming it again changes nothing" \
    "0 one/0: was not drained: it is *" resume one/0
is "in the protocol that is OK, too" "$(cli_local SEQ.PARTITION RESUME one/0)" OK

does "a pool's only partition may be drained" "0 c: drained*" drain c
does "health is not serving, code 2" \
    "2 not serving: pool two cannot serve: partition 0 (c) is drained: *" health
does "the other pool serves" "0 [1-9]*" next order
does "callers are told why" \
    "1 seqctl: UNAVAILABLE *partition 0 (c): drained by an operator" next hasty
does "it comes back" "0 *" resume two/0
ok "and serves" wait_for is_state two/0 ramping up
does "as before" "0 [1-9]*" next bill

out=$(cd "$work" && "$build/seqctl" -s pools.conf drain c 2>&1)
like "a name of a file is a path" "$out" \
    "seqctl: no seqbrokerd at pools.conf: Connection refused*name its socket (-s SOCKET)"
does "an unknown partition is told" "1 seqctl: ERR there is no partition*'one/7'*" \
    drain one/7
does "an unknown backend is told" "1 seqctl: ERR there is no *'nobody'*" \
    drain nobody
does "with several pools a number alone is not enough" \
    "1 seqctl: ERR there is no *'0'*" drain 0
does "a backend with several places is ambiguous" \
    "1 seqctl: ERR 'b' has several places, name one of them: one/1, two/authority" \
    drain b
does "the authority has a place" "0 two/authority: drained*" drain two/authority
is "its other place is not touched" "$(field one/1 state)" up
does "it is resumed by its place" "0 *" resume two/authority
does "quarantine wants a partition" \
    "2 seqctl: usage: seqctl quarantine PARTITION" quarantine
like "an order that is none is told" "$(cli_local SEQ.PARTITION KILL one/0)" \
    "ERR unknown order: use SEQ.PARTITION QUARANTINE, RESCUE, DRAIN or RESUME*"
like "the daemon takes them as well" \
    "$(cli_local seq.partition drain one/0) $(cli_local SEQ.PARTITION RESUME a)" "OK OK"
like "SEQ.HEALTH answers a map" "$(cli SEQ.HEALTH | head -n 1)" health

# --- moving forwards ---

wait_for is_state one/0 ramping up
does "advance says what it did" "0 order: its numbers are above 5000000 now" \
    advance order --to 5000000
"$build/seqctl" -s "$daemon_socket" -t 60 next order -n 2000 >"$work/numbers"
is "all numbers are above it" \
    "$(awk '$1 <= 5000000' "$work/numbers" | wc -l) $(wc -l <"$work/numbers")" \
    "0 2000"
does "a sequence never goes back" \
    "1 seqctl: ERR sequence order: numbers up to * never goes back*" \
    advance order --to 5000001
does "nor beyond its bits" "1 seqctl: ERR *is beyond its bits*" \
    advance order --to 9223372036854775807 --force
does "far ahead only if that is meant" \
    "1 seqctl: ERR *burns 10995*say FORCE*--force*" \
    advance order --to 1099600000000
like "nothing was changed by it" "$(cli INCR order)" "500*"
does "a short sequence is used up only if that is meant" \
    "1 seqctl: ERR *burns 999*: 100.0 % of the 999* width*say FORCE*--force*" \
    advance waybill --to 999999
does "nor a part of it" "1 seqctl: ERR *: [1-9].[0-9] % of the 99*say FORCE*" \
    advance waybill --to 20000
does "a small part may be" "0 waybill: its numbers are above 9000 now" \
    advance waybill --to 9000
does "and a large one if it is meant" \
    "0 waybill: its numbers are above 500000 now" \
    advance waybill --to 500000 --force
does "nor all that is left, be it ever so little" \
    "1 seqctl: ERR *burns 9*: 100.0 % of the 9* width*say FORCE*--force*" \
    advance label --to 999
does "reload wants nothing" "2 seqctl: usage: seqctl reload" reload order
does "advance wants a number" "2 seqctl: usage: seqctl advance KEY --to N" \
    advance order
for to in 0 -3 x 9223372036854775808; do
    does "--to $to is refused" "2 seqctl: --to is 1 ...*" advance order "--to=$to"
done
like "the least number of 64 bits burns nothing" \
    "$(cli_local SEQ.ADVANCE order -9223372036854775808)" "ERR *is no number*"
like "nothing was changed by that either" "$(cli INCR order)" "500*"
does "advance knows the sequences" \
    "1 seqctl: UNKNOWNKEY *'ordre': did you mean 'order'?" advance ordre --to 9
seqctl drain one/1
does "a store that is not raised is told" \
    "1 seqctl: UNAVAILABLE *is advanced, but not in every store*partition 1 (b): drained*" \
    advance order --to 8000000
seqctl resume one/1
wait_for is_state one/1 ramping up
"$build/seqctl" -s "$daemon_socket" -t 60 next order -n 5000 >"$work/numbers"
is "and is raised before it is used" \
    "$(awk '$1 <= 8000000' "$work/numbers" | wc -l) $(wc -l <"$work/numbers")" \
    "0 5000"
is "the log has each advance" "$(grep -c 'event=advanced .*key=order' \
    "$daemon_log")" 2
daemon_stop TERM
daemon_start pools -c "$work/pools.conf" || exit 1
"$build/seqctl" -s "$daemon_socket" -t 60 next order -n 5000 >"$work/numbers"
is "the stores keep it over a restart" \
    "$(awk '$1 <= 8000000' "$work/numbers" | wc -l) $(wc -l <"$work/numbers")" \
    "0 5000"

# --- what a partition that is well refuses ---

does "no column tells of refusals where there are none" "0 *ERRORS*" status
is "and no partition has any" "$(grep -c REFUSES "$work/out")" 0
daemon_stop TERM
refusing() { # BITS: starts one whose sequences have so many memory_bits
    cat >"$work/refusing.conf" <<END
broker = { open_timeout = "60s"; };
backends = ( { name = "a"; engine = "sqlite"; path = "a.db"; } );
pools = ( { name = "one"; partitions = [ "a" ]; timeout = "20s"; } );
auto_sequences = { pattern = "*"; limit = 9; pool = "one"; memory_bits = $1;
                   deadline = "60s"; };
END
    daemon_start refusing -c "$work/refusing.conf"
}
refusing 3 || exit 1
does "a key is used" "0 [1-9]*" next receipt -n 2000
daemon_stop TERM
refusing 2 || exit 1
does "with other bits it is refused" \
    "1 seqctl: LAYOUT *: sequence receipt in backend *memory_bits=3*" \
    next receipt
does "health says which partition refuses which counter, and why" \
    "1 degraded: pool one: no partition grants sequence receipt; partition 0 (a) refuses counter receipt: sequence receipt in backend a was used with memory_bits=3 *" \
    health
does "and so does the status" \
    "0 *REFUSES* a * up *refuses counter receipt: *" status --wide
is "it is up, and has counted it" "$(field one/0 state) $(field one/0 refused)" \
    "up 1"
like "with its reason" "$(field one/0 reason)" "refuses counter receipt: *"
is "as an error" "$(field one/0 errors)" 1
is "the log has it once" \
    "$(grep -c 'event=layout .*key=receipt' "$daemon_log")" 1
grants() { # PLACE: once it is asked
    seqctl next order -n 2000
    (($(field "$1" granted) > 0))
}
ok "other keys are served by the same partition" wait_for grants one/0
daemon_stop TERM
daemon_start pools -c "$work/pools.conf" || exit 1

# --- watching ---

rounds() { # FILE: how often the status was printed
    grep -c 'broker .*: seqbroker ' "$1"
}
has_rounds() { # FILE N
    [ "$(rounds "$1")" -ge "$2" ]
}

does "status tells when sequences run out" "0 *RUNS OUT*" status
does "--interval is for --watch" "2 *--watch only" status --interval 3
does "--interval has its bounds" "2 *--interval is 1 ...*" \
    status --watch --interval 0
for end in INT TERM; do
    : >"$work/watched"
    "$build/seqctl" -s "$daemon_socket" -t 60 status --watch --interval 1 \
        >"$work/watched" 2>&1 &
    watching=$!
    track "$watching"
    ok "--watch prints again and again" wait_for has_rounds "$work/watched" 3
    kill "-$end" "$watching"
    reap "$watching"
    is "SIG$end ends it cleanly" "$?" 0
    is "elsewhere than on a terminal it appends" \
        "$(grep -c $'\033' "$work/watched")" 0
done
# util-linux's script(1) gives it a terminal and types Ctrl-C.
if command -v script >"$work/trash"; then
    : >"$work/typed"
    mkfifo "$work/keys"
    script -qfc "stty isig && exec $build/seqctl -s $daemon_socket status \
        --watch --interval 1" "$work/typed" <"$work/keys" >"$work/trash" 2>&1 &
    watching=$!
    track "$watching"
    exec {keys}>"$work/keys"
    ok "on a terminal it prints again and again" \
        wait_for has_rounds "$work/typed" 3
    ok "each time from the top" \
        [ "$(grep -c $'\033\\[H' "$work/typed")" -ge 2 ]
    printf '\003' >&"$keys"
    reap "$watching"
    is "and ends cleanly on Ctrl-C" "$?" 0
    exec {keys}>&-
else
    skip "on a terminal it redraws" "there is no script(1)"
fi
"$build/seqctl" -s "$daemon_socket" -t 60 status --watch --interval 1 2>"$work/err" |
    head -n 1 >"$work/out"
is "--watch ends when nobody reads" "${PIPESTATUS[0]}" 1

# --- without a daemon, and with one that hangs ---

kill -STOP "$daemon_pid"
does "health of a daemon that hangs is unknown, code 3" \
    "3 unknown: no daemon answers*did not answer within 1 s*" health -t 1
does "an order to it may be carried out all the same, which is said" \
    "3 seqctl: *did not answer within 1 s*the order may be carried out all the same*" \
    advance order --to 99000000 -t 1
daemon_stop KILL
does "health without a daemon is unknown, code 3" \
    "3 unknown: no daemon answers*" health
is "that is one line, too" "$(wc -l <"$work/out")" 1
does "a wrong command line is code 2, and no line" \
    "2 seqctl: --tls-ca, *" health --tls-ca "$work/ca"
does "an order without a daemon is not carried out" "3 seqctl: no seqbrokerd*" \
    advance order --to 99000000
is "which is not said to be possible" "$(grep -c 'may be carried' "$work/out" "$work/err" | cut -d: -f2 | paste -sd ' ')" "0 0"
does "--watch needs a daemon to begin with" "3 *no seqbrokerd*" status --watch

# --- with one pool a partition's number is enough ---

daemon_start one || exit 1
does "the number of a partition is its name" "0 3: drained*" drain 3
does "status shows it under that name" "0 *"$'\n'"3 *sqlite *drained *" status
# Four partitions do not fit.
# shellcheck disable=SC2317 # wait_for calls it
shows_ill() {
    grep -q '^3 .*drained' "$work/low"
}
# shellcheck disable=SC2317
has_drawn() {
    [ "$(grep -c $'\033\\[H' "$work/low")" -ge 2 ]
}
# shellcheck disable=SC2317
commands_answered() {
    "$build/seqctl" -s "$daemon_socket" -t 60 show stats --json |
        sed -n 's/.*"commands": *\([0-9]*\).*/\1/p'
}
if command -v script >"$work/trash"; then
    [ -p "$work/low.keys" ] || mkfifo "$work/low.keys"
    : >"$work/low"
    before=$(commands_answered)
    script -qfec "stty rows 8 cols 80 isig; exec $build/seqctl -s $daemon_socket \
        status --watch --interval 1 --color never" "$work/low" \
        <"$work/low.keys" >"$work/trash" 2>&1 &
    watching=$!
    track "$watching"
    exec {typed}>"$work/low.keys"
    wait_for has_drawn
    ok "a low terminal has the partition that is drained" shows_ill
    like "and how many it leaves out" "$(<"$work/low")" "*3 more partitions: up*"
    printf '\003' >&"$typed"
    reap "$watching"
    exec {typed}>&-
    # One picture more may be asked for than drawn; and the look itself.
    ok "and asks once for each picture" [ $(($(commands_answered) - before)) -le \
        $(($(grep -c $'\033\\[H' "$work/low") + 2)) ]
else
    skip "a low terminal has the partition that is drained" "there is no script(1)"
fi
does "advance makes an automatic sequence" "1 *partition 3 (sqlite-3)*" \
    advance any --to 777
daemon_stop TERM

# --- a store that hangs holds up nobody else ---

if grep -q '^hiredis' < <("$build/seqctl" --version) &&
    command -v redis-server >"$work/trash"; then
    redis_start
    cat >"$work/hang.conf" <<END
backends = ( { name = "r"; engine = "redis"; socket = "$work/redis.sock"; },
             { name = "a"; engine = "sqlite"; path = "a.db"; },
             { name = "b"; engine = "sqlite"; path = "b.db"; } );
pools = ( { name = "one"; partitions = [ "r", "b" ]; authority = "a";
            timeout = "60s"; } );
sequences = ( { key = "order"; deadline = "60s"; } );
END
    daemon_start hang -c "$work/hang.conf" || exit 1
    seqctl next order
    kill -STOP "$redis"
    # Whichever of the two is first waits for the store.
    for i in 1 2; do
        timeout 600 redis-cli -s "$daemon_socket" \
            SEQ.ADVANCE order 1000000000000 >"$work/advanced.$i" 2>&1 &
        advancing[i]=$!
        track "$!"
    done
    one_has_returned() {
        [[ -s $work/advanced.1 || -s $work/advanced.2 ]]
    }
    wait_for one_has_returned
    like "one command waits for the stores at a time" \
        "$(cat "$work"/advanced.[12])" "ERR another order is waiting*"
    is "meanwhile the daemon serves" "$(cli PING)" PONG
    is "and the other one has not returned" \
        "$(grep -c . "$work"/advanced.[12] -h | sort)" "0"$'\n'"1"
    kill -CONT "$redis"
    reap "${advancing[1]}"
    reap "${advancing[2]}"
    is "once the store answers the other one is done" \
        "$(grep -hx OK "$work"/advanced.[12])" OK
    daemon_stop TERM
    kill "$redis"
    reap "$redis"
else
    skip "a store that hangs holds up nobody" "there is no Redis"
fi

tap_end
