#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What seqbrokerd and seqctl show and take of time: numbers with their stamps,
# ids, the clock, worker ids. Usage: test_time.sh BUILD_FOLDER
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

asks_daemon=yes

cat >"$work/time.conf" <<'END'
broker = { name = "time"; open_timeout = "60s"; };
backends = ( { name = "a"; engine = "sqlite"; path = "a.db"; },
             { name = "leases"; engine = "sqlite"; path = "leases.db"; },
             { name = "more"; engine = "sqlite"; path = "more.db"; } );
pools = ( { name = "main"; partitions = [ "a" ]; timeout = "20s"; },
          { name = "snow"; partitions = [ "leases", "more" ];
            timeout = "20s"; } );
sequences = (
    { key = "tick"; pool = "main"; period = "second"; deadline = "60s"; },
    { key = "daily"; pool = "main"; period = "day"; deadline = "60s";
      time_zone = "Asia/Shanghai"; },
    { key = "plain"; pool = "main"; deadline = "60s"; },
    { key = "id"; pool = "main"; deadline = "60s"; memory_bits = 0;
      ids = { epoch = "2020-01-01"; time = 32; unit = "s"; shard = 12;
              counter = 19; }; },
    { key = "flake"; pool = "snow"; deadline = "60s";
      snowflake = { epoch = "2020-01-01"; worker_bits = 10; counter_bits = 12;
                    lease = "1h"; }; }
);
END
daemon_start time -c "$work/time.conf" || exit 1

# today: the date in the daily sequence's zone, which never has summer time.
today() {
    date -u -d "@$(($(date +%s) + 8 * 3600))" +%Y%m%d
}
# between GOT COMMAND: what a clock says was, before or after the answer came.
between() { # BEFORE GOT AFTER
    [[ $1 -le $2 && $2 -le $3 ]]
}

# --- stamps ---

before=$(today)
read -r stamp number < <(cli SEQ.NEXT daily STAMP | tr '\n' ' ')
ok "the stamp of a day is its date" between "$before" "$stamp" "$(today)"
like "the number comes with it" "$number" "[1-9]*"
before=$(date -u +%Y%m%d%H%M%S)
cli SEQ.NEXT tick STAMP COUNT 1000 >"$work/answer"
stamp=$(head -n 1 "$work/answer")
ok "a thousand numbers are of one second" \
    between "$before" "$stamp" "$(date -u +%Y%m%d%H%M%S)"
is "they are a thousand" "$(sed 1d "$work/answer" | sort -u | wc -l)" 1000
like "with STR stamp and number are strings" \
    "$(ask 'SEQ.NEXT daily STAMP STR\r\nQUIT\r\n' | tr '\n' ' ')" \
    "\*2 \$8 20?????? \$* *+OK "
like "with COUNT the numbers are an array" \
    "$(ask 'SEQ.NEXT daily COUNT 2 STAMP\r\nQUIT\r\n' | tr '\n' ' ')" \
    "\*2 :20?????? \*2 :* :* +OK "
is "without a period the stamp is 0" "$(cli SEQ.NEXT plain STAMP | head -n 1)" 0
like "with STAMP there are fewer at once" "$(cli SEQ.NEXT tick STAMP COUNT 1001)" \
    "ERR COUNT is 1 to 1000 with STAMP*"
like "INCR takes from a sequence with a period" "$(cli INCR daily)" "[1-9]*"
like "INCRBY takes one" "$(cli INCRBY daily 1)" "[1-9]*"

# --- ids ---

before=$(date +%s)
id=$(cli SEQ.NEXT id SHARD 37)
does "decode tells an id's time, shard and number" \
    "0 counter *time_ms *time *-*T*:*:*.000Z*shard *37*number *" decode id "$id"
seconds=$(($(awk '$1 == "time_ms" { print $2 }' "$work/out") / 1000))
ok "the time is that at which it was taken" \
    between "$before" "$seconds" "$(date +%s)"
is "in words, too" "$(awk '$1 == "time" { print $2 }' "$work/out")" \
    "$(date -u -d "@$seconds" +%Y-%m-%dT%H:%M:%S.000Z)"
is "the parts are the id" "$((((seconds - 1577836800) << 31) | (37 << 19) |
    $(awk '$1 == "number" { print $2 }' "$work/out")))" "$id"
does "without SHARD it is 0" "0 *shard *0*" decode id "$(cli INCR id)"
is "COUNT with SHARD gives so many" \
    "$(cli SEQ.NEXT id COUNT 500 SHARD 4095 | sort -u | wc -l)" 500
like "a shard has its range" "$(cli SEQ.NEXT id SHARD 4096)" "ERR *0 ... 4095*"
like "a shard is not negative" "$(cli SEQ.NEXT id COUNT 2 SHARD -1)" \
    "ERR *0 ... 4095*"
like "only ids have shards" "$(cli SEQ.NEXT daily SHARD 1)" "ERR *no ids*"
like "a shard is a number" "$(cli SEQ.NEXT id SHARD x)" "ERR SHARD is an integer*"
like "SHARD and STAMP do not go together" "$(cli SEQ.NEXT id SHARD 1 STAMP)" \
    "ERR SHARD or STAMP, not both*"
does "a plain number has no time" "0 counter *memory * ?" \
    decode plain "$(cli INCR plain)"

# --- seqctl next ---

does "next --stamp prints the stamp before each number" "0 $(date +%Y)???? [1-9]*" \
    next daily --stamp
seqctl next tick --stamp --count 2500
is "and so it does with many" "$code $(sort -u "$work/out" | wc -l) $(
    grep -cvE '^20[0-9]{12} [1-9][0-9]*$' "$work/out"
)" "0 2500 0"
does "next --shard puts it into the id" "0 [1-9]*" next id --shard 9
does "so that decode finds it" "0 *shard *9*" decode id "$out"
does "the shard's range is told" "1 *0 ... 4095*" next id --shard 4096
for shard in -1 x ""; do
    does "--shard \"$shard\" is refused" "2 *--shard is 0 ...*" \
        next id "--shard=$shard"
done

# --- worker ids ---

flake=$(cli INCR flake)
like "a snowflake gives numbers" "$flake" "[1-9]*"
does "decode tells its time and worker" "0 *time *T*Z*worker * [0-9]*number *" \
    decode flake "$flake"
worker=$(awk '$1 == "worker" { print $2 }' "$work/out")
does "workers lists who has the id" \
    "0 POOL *WORKER *STATE *HOLDER *RENEWED *USED UP TO*"$'\n'"snow * $worker *ours *time@*:$daemon_pid *20*T*Z" \
    workers
does "workers --json tells the same" \
    '0 {*"workers": *"pool": "snow", "worker": '"$worker"', "state": "ours", "holder": "time@*", "renewed_ms": [1-9]*, "used_upto_ms": [1-9]*}' \
    workers --json
like "SEQ.WORKERS is a list of maps" "$(cli SEQ.WORKERS | head -n 1)" pool

# --- the status ---

does "status shows stamps" \
    "0 *SEQUENCE *POOL *PERIOD *STAMP *DROPPED*"$'\n'"daily *main *day *20[0-9]* *" \
    status --wide --sort key
like "what has no period has none" "$out" "*"$'\n'"plain *main *- *- *"
like "status tells the clock that stamps are made of" "$out" \
    "*"$'\n'"clock $(date -u +%Y)-*T*Z*"
seqctl status --json --all
like "status --json has the clock" "$out" \
    '*"clock": {"wall_ms": [1-9]*, "guarded_ms": [1-9]*, "behind_ms": 0, "ahead_ms": 0, "issued_ms": [1-9]*, "steps_back": 0, "reason": "", "effect": ""}*'
like "and the stamps" "$out" \
    '*"key": "daily"*"period": "day", "stamp": 20[0-9]*, "dropped": [0-9]*}*'
does "health has no warning" "0 serving" health
daemon_stop TERM

# --- after it ---

daemon_start time -c "$work/time.conf" --http 127.0.0.1:0 || exit 1
like "a stamp goes on after a restart" "$(cli SEQ.NEXT daily STAMP | tail -n 1)" \
    "[1-9]*"
cli INCR flake >"$work/trash"
does "a worker id that was given back is had again" "0 *snow *ours *" workers
is "so that there is one" "$(grep -c '^snow ' "$work/out")" 1
like "metrics have it" \
    "$(timeout 60 curl -s "http://$daemon_http/metrics" | grep '^seqbroker_worker_')" \
    "seqbroker_worker_held{pool=\"snow\"} 1
seqbroker_worker_id{pool=\"snow\"} $worker
seqbroker_worker_lease_seconds{pool=\"snow\"} [0-9]*"
daemon_stop TERM

# --- without worker ids ---

daemon_start plain || exit 1
does "without a snowflake there is no worker id" "0 no worker id was ever taken" \
    workers
does "nor is one in JSON" '0 {*"workers": \[\]*}' workers --json
daemon_stop TERM

tap_end
