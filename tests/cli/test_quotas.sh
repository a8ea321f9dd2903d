#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How many numbers users and keys may have, and how many connections: by both
# protocols, in the status, and after a reload.
# Usage: test_quotas.sh BUILD_FOLDER
# shellcheck disable=SC2317 # functions are called by ok() and wait_for()
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
asks_daemon=yes

"$build/seqctl" token >"$work/token" || exit 2
token=$(sed -n 's/^token  *//p' "$work/token")
hash=$(sed -n 's/^token_hash *//p' "$work/token")
cp "$work/patient.conf" "$work/first.conf"

# write LIMITS: the topology, and a user "shop" with these limits.
write() {
    {
        cat "$work/first.conf"
        printf 'daemon = { max_connections_per_address = 4; };
users = (
    { name = "default"; role = "take"; max_count = 5000; },
    { name = "shop"; role = "take"; token_hash = "%s"; %s } );
key_limits = (
    { name = "six"; keys = [ "six*" ]; daily_limit = 12; max_count = 9; },
    { name = "run"; keys = [ "run" ]; daily_limit = 1000000000; } );
' "$hash" "$1"
    } >"$work/patient.conf"
}
# In ten hours one number flows back.
write 'rate = 1; burst = 36000; max_count = 30000; max_connections = 1;'
ok "the daemon starts" daemon_start quotas --http 127.0.0.1:0

shop() { # WORD...
    REDISCLI_AUTH=$token timeout 60 redis-cli -p "$daemon_port" --user shop \
        --no-auth-warning "$@" 2>&1
}
taken() { # KIND NAME: what it has taken and how often it was refused
    "$build/seqctl" -s "$daemon_socket" -t 60 show limits |
        awk -v kind="$1" -v name="$2" \
            '$1 == kind && $2 == name { print $3, $NF }'
}

# --- a key ---

is "a key gives no more than a request may ask for" \
    "$(cli SEQ.NEXT six-1 COUNT 10)" \
    "ERR 10 numbers at once are too many for key 'six-1', which may have 9: ask for less"
is "as many are given" "$(cli SEQ.NEXT six-1 COUNT 9 | wc -l)" 9
like "its day ends" "$(cli INCRBY six-1 4)" \
    "LIMIT key 'six-1' may have 12 numbers a day, and 3 are left: try again in [0-9]* s, after 0:00 UTC"
like "what is left is given" "$(cli INCRBY six-1 3)" "[0-9]*"
like "and then none" "$(cli INCR six-1)" "LIMIT key 'six-1' *and 0 are left*"
like "another key has its own" "$(cli INCR six-2)" "[0-9]*"
like "a key without limits has none" "$(cli SEQ.NEXT other COUNT 5000 | wc -l)" \
    5000
is "what was given and refused is counted" "$(taken key six-1)" "12 3"

# --- a run that skips numbers ---

# A run of the default has 8 numbers.
cli INCRBY run 5 >"$work/trash"
cli INCRBY run 5 >"$work/trash"
is "what a run skips counts, too" "$(taken key run)" "13 0"

# --- a pipeline stops where the limit is ---

dial
say "$dialled" "$(printf 'INCR six-3\\r\\n%.0s' {1..20})"
numbers=0
for _ in {1..20}; do
    line=$(hear "$dialled")
    [[ $line != :* ]] || numbers=$((numbers + 1))
done
hang_up "$dialled"
is "a pipeline of 20 gets what is left" "$numbers" 12

# --- a user ---

is "a user asks for so many at once" "$(shop SEQ.NEXT order COUNT 30001)" \
    "ERR 30001 numbers at once are too many for user 'shop', which may have 30000: ask for less"
is "it takes its burst" "$(shop SEQ.NEXT order COUNT 30000 | wc -l)" 30000
since=$SECONDS
like "and not more" "$(shop SEQ.NEXT order COUNT 7000)" \
    "LIMIT user 'shop' may have 1 numbers a second: try again in [0-9]*.[0-9] s"
is "what was refused costs nothing" "$(shop SEQ.NEXT order COUNT 5900 | wc -l)" \
    5900
is "another user goes on" "$(cli SEQ.NEXT order COUNT 1000 | wc -l)" 1000
is "all of it is counted" "$(taken user shop)" "35900 2"
answer=$(curl -s -i -X POST -H "Authorization: Bearer $token" \
    "http://$daemon_http/v1/sequences/order/next?count=2000" | tr -d '\r')
like "HTTP is refused with 429" "$answer" "HTTP/1.1 429 *"
like "it says when to try again" "$answer" *"Retry-After: "[1-9]*
like "and why" "$answer" *"\"code\": \"LIMIT\", \"detail\": \"user 'shop' may "*
said=$(grep -c 'event=limit_reached user=shop' "$daemon_log")
ok "the log says it, once in ten seconds" \
    test 1 -le "$said" -a "$said" -le $((1 + (SECONDS - since + 1) / 10))
metrics=$(curl -s "http://$daemon_http/metrics")
like "metrics say what a user took" "$metrics" \
    *'seqbroker_user_taken_total{user="shop"} 35900'*
like "and what was refused" "$metrics" *'seqbroker_user_refused_total{user="shop"} 3'*

# --- connections ---

mkfifo "$work/hold"
REDISCLI_AUTH=$token redis-cli -p "$daemon_port" --user shop \
    --no-auth-warning <"$work/hold" >"$work/held" 2>&1 &
track $!
exec {hold}>"$work/hold"
echo PING >&"$hold"
wait_for grep -q PONG "$work/held"
like "a user has so many connections" "$(shop PING)" \
    *"LIMIT user 'shop' has as many connections as it may"*
refusals() { # a refused login leaves a trace at its user, and in the counts
    curl -s "http://$daemon_http/metrics" | sed -n \
        -e 's/^seqbroker_user_refused_total{user="shop"} //p' \
        -e 's/^seqbroker_connections_refused_total //p' | paste -sd ' '
}
is "which is counted" "$(refusals)" "1 4"
exec {hold}>&-
one_more() { [[ $(shop PING) == PONG ]]; }
ok "one that leaves makes room" wait_for one_more

alone() { # by both protocols
    [[ $(cli_local CLIENT LIST | wc -l) == 1 &&
        $(cli_local SEQ.SHOW STATS | sed -n '/^http_connections$/{n; p}') == 0 ]]
}
wait_for alone
fds=()
for _ in 1 2 3 4; do
    dial
    fds+=("$dialled")
    say "$dialled" 'PING\r\n'
    is "an address has four connections" "$(hear "$dialled")" +PONG
done
dial
is "and no fifth" "$(hear "$dialled")" "-ERR max number of clients reached"
like "the operator's socket is not counted" "$(cli_local PING)" PONG
is "the log says which limit it was" "$(sed -n \
    's/.*event=connections_refused count=1 \(.*\)/\1/p' "$daemon_log")" \
    "limit=max_connections_per_address"
for fd in "${fds[@]}"; do hang_up "$fd"; done

wait_for alone
fds=()
for _ in {1..6}; do
    exec {fd}<>"/dev/tcp/${daemon_http%:*}/${daemon_http##*:}"
    fds+=("$fd")
done
two_are_closed() {
    local closed=0 fd
    for fd in "${fds[@]}"; do
        IFS= read -r -t 0.05 -u "$fd"
        [[ $? -ne 1 ]] || closed=$((closed + 1))
    done
    ((closed == 2))
}
ok "of six by HTTP two are closed" wait_for two_are_closed
for fd in "${fds[@]}"; do hang_up "$fd"; done

# --- a reload ---

write 'daily_limit = 35905;'
does "a reload brings other limits" "0 *applied: users.shop.daily_limit*" reload
can_take() { (($(shop SEQ.NEXT order COUNT 5 | wc -l) == 5)); }
ok "that count what was taken before" wait_for can_take
like "and no more than it" "$(shop INCR order)" \
    "LIMIT user 'shop' may have 35905 numbers a day, and 0 are left*"

# --- keys that nobody has listed ---

sed -i 's/limit = 10000/limit = 1/' "$work/first.conf"
write 'keys = [ "own*", "order", "six*" ];'
does "a reload brings a limit of automatic sequences" \
    "0 *applied: auto_sequences.limit: 10000 -> 1*" reload
like "no further key makes a sequence" "$(shop INCR own-1)" \
    "U*own-1*the limit of auto_sequences, 1, is reached*"
like "a key that is there goes on" "$(shop INCR order)" "[0-9]*"
sed -i 's/limit = 1;/limit = 20;/' "$work/first.conf"
write 'keys = [ "own*" ];'
does "a reload raises it" "0 *applied: auto_sequences.limit: 1 -> 20*" reload
before=$(cli_local DBSIZE)
like "a look makes no sequence" "$(shop SEQ.DECODE own-1 9)" "[!:]*"
like "nor does a key of others" "$(shop INCR other-1)" \
    "NOPERM user 'shop' may not use the key 'other-1'"
is "there are as many as before" "$(cli_local DBSIZE)" "$before"
like "who may take makes the sequence of a key" "$(shop INCR own-1)" "[0-9]*"
is "there is one more" "$(cli_local DBSIZE)" "$((before + 1))"
daemon_stop
is "it stops well" "$daemon_code" 0

# --- mistakes ---

write 'burst = 5;'
like "a burst without a rate is told" "$("$build/seqctl" check \
    "$work/patient.conf" 2>&1)" "*'burst' is nothing without a 'rate'*"
tap_end
