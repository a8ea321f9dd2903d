#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Numbers as texts from outside: seqctl number and parse, SEQ.NUMBER and
# SEQ.PARSE, JSON, exit codes, and what the status tells of a template's width.
# Usage: test_numbers.sh BUILD_FOLDER
# shellcheck disable=SC2016,SC2317 # "$4" is protocol; ok() calls functions
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

asks_daemon=yes

# refuses SENTENCE CODE GLOB WORD...: fails with that code, says so on stderr,
# prints nothing.
refuses() {
    local sentence=$1 expected=$2 glob=$3
    shift 3
    seqctl "$@"
    like "$sentence" "exit $code, printed \"$out\", said $err" \
        "exit $expected, printed \"\", said $glob"
}

# All lines of a file match, and none comes twice. Prints how many there are.
distinct() { # REGEX FILE
    grep -cvE "$1" "$2" | grep -v '^0$'
    sort -u "$2" | wc -l
}

cat >"$work/numbers.conf" <<'END'
broker = { name = "numbers"; open_timeout = "60s"; };
backends = ( { name = "a"; engine = "sqlite"; path = "a.db"; },
             { name = "b"; engine = "sqlite"; path = "b.db"; },
             { name = "c"; engine = "sqlite"; path = "c.db"; } );
pools = ( { name = "one"; partitions = [ "a" ]; timeout = "20s"; },
          { name = "two"; partitions = [ "b", "c" ]; timeout = "20s"; } );
sequences = (
    { key = "order"; pool = "one"; memory_bits = 0; deadline = "60s";
      template = "SN-@{seq, width=6}-@{check, algorithm=damm}"; },
    { key = "area"; pool = "one"; memory_bits = 0; deadline = "60s";
      template = "@{param, name=area, width=3, alphabet=digits}-@{param, name=count, max=4, default=1}-@{seq, width=5}"; },
    { key = "daily"; pool = "two"; memory_bits = 0; deadline = "60s";
      period = "day"; time_zone = "Asia/Shanghai";
      template = "@{date}@{seq, width=5}"; },
    { key = "id"; pool = "one"; memory_bits = 0; deadline = "60s";
      ids = { epoch = "2020-01-01"; time = 32; unit = "s"; shard = 12;
              counter = 19; };
      template = "@{date}@{shard, width=4}@{seq, width=6}"; },
    { key = "few"; pool = "one"; memory_bits = 0; deadline = "60s";
      template = "@{seq, width=1, overflow=refuse}"; },
    { key = "plain"; pool = "one"; memory_bits = 0; deadline = "60s"; }
);
END
daemon_start numbers -c "$work/numbers.conf" --http 127.0.0.1:0 || exit 1

# --- seqctl number ---

refuses "a key without a template gives no texts" 1 "*plain*template*" \
    number plain
does "the first number is 1" "0 SN-000001-?" number order
first=$out
does "--count prints so many, one a line" "0 SN-000002-?*" \
    number order --count 2500
is "each once, in the template's form" \
    "$(distinct '^SN-[0-9]{6}-[0-9]$' "$work/out")" 2500
does "--json is one object of strings" \
    '0 {"numbers": \["SN-002502-?", "SN-002503-?"\]}' number order -n 2 --json
does "parameters are given by name" "0 010-1-00001" number area area=010
does "one of them may be named count" "0 010-77-00002" \
    number area area=010 count=77
refuses "a parameter has its form" 1 "*ERR *area*" number area area=01
refuses "one without a default must be there" 1 "*ERR *area*" number area
refuses "one that the template has not is refused" 1 "*ERR *town*" \
    number area area=010 town=x
refuses "a word without = is none" 2 '*NAME=VALUE, not "010"*' \
    number area 010
refuses "nor is one without a name" 2 '*NAME=VALUE, not "=010"*' \
    number area =010
refuses "there are not as many as one likes" 2 "*at most 9 parameters*" \
    number area a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1 j=1
refuses "number wants a key" 2 "*usage: seqctl number KEY*" number
does "what was refused took no number" "0 010-1-00003" number area area=010
does "the shard of ids is one" "0 2*0017000001" number id shard=17
id=$out
refuses "it has its range" 1 "*ERR *4095*" number id shard=4096

number_all() {
    while seqctl number few && [ "$code" -eq 0 ]; do
        printf '%s ' "$out"
    done
    printf '%s' "$code $err"
}
like "numbers that do not fit the width any more are refused" \
    "$(number_all)" "1 2 3 4 5 6 7 8 9 1 *EXHAUSTED *few*"

# --- SEQ.NUMBER ---

like "SEQ.NUMBER is a string" "$(ask 'SEQ.NUMBER order\r\nQUIT\r\n' |
    tr '\n' ' ')" '$11 SN-00????-? +OK '
like "with COUNT it is an array" \
    "$(ask 'SEQ.NUMBER order COUNT 2\r\nQUIT\r\n' | tr '\n' ' ')" \
    '\*2 $11 SN-00????-? $11 SN-00????-? +OK '
is "it may be a long one" "$(cli SEQ.NUMBER area COUNT 60000 area 020 |
    grep -cE '^020-1-[0-9]{5}$')" 60000
like "COUNT elsewhere is a parameter's name, and letter case counts" \
    "$(cli SEQ.NUMBER area area 020 count 9)" "020-9-?????"
like "so that a wrong one is told" "$(cli SEQ.NUMBER area area 020 COUNT 9)" \
    "ERR *COUNT*"
like "a name has a value" "$(cli SEQ.NUMBER area area)" "ERR syntax error*"
like "the shard is a parameter" "$(cli SEQ.NUMBER id shard 9)" "2*0009??????"

# --- taken apart ---

does "parse takes a text apart" \
    "0 value *1"$'\n'"number *1" parse order "$first"
does "with its stamp" \
    "0 value *"$'\n'"number *1"$'\n'"stamp *20261121"$'\n'"begins_ms *1795190400000"$'\n'"ends_ms *1795276800000" \
    parse daily 2026112100001
does "and its parameters" \
    "0 value *5"$'\n'"number *5"$'\n'"param.area *010"$'\n'"param.count *77" \
    parse area 010-77-00005
does "and the shard" "0 value *number *1"$'\n'"stamp *shard *17" parse id "$id"
value=$(awk '$1 == "value" { print $2 }' "$work/out")
does "the value is the id, which decode takes apart" \
    "0 counter *time_ms *shard *17"$'\n'"number *1" decode id "$value"
does "parse --json has strings where numbers may be great" \
    '0 {"value": "5", "number": "5", "stamp": null, "begins_ms": null, "ends_ms": null, "shard": null, "params": {"area": "010", "count": "77"}}' \
    parse area 010-77-00005 --json
does "and no parameters where there are none" \
    '0 {"value": *, "number": "1", "stamp": 20261121, "begins_ms": 1795190400000, "ends_ms": 1795276800000, "shard": null, "params": {}}' \
    parse daily 2026112100001 --json
does "the shard is in JSON, too" '0 {"value": "'"$value"'", *"shard": 17, *}' \
    parse id "$id" --json
while IFS='|' read -r key text what; do
    refuses "$what is none of the numbers" 1 "*FOREIGN *$key*" \
        parse "$key" "$text"
done <<END
order|${first%?}$(((${first: -1} + 1) % 10))|a wrong check digit
order|SN-00001-0|another form
order||nothing
order|${first}0|more than it
area|01x-1-00001|a letter in a parameter
daily|2026023000001|a date that does not exist
daily|2026112100000|a number out of the range
END
refuses "a text that is too long is none" 1 "*FOREIGN *longer*" \
    parse order "$(printf '1%.0s' {1..256})"
refuses "a text that begins with - stands behind --" 1 "*FOREIGN *" \
    parse order -- -5
refuses "a key without a template parses nothing" 1 "*ERR *plain*template*" \
    parse plain 1
refuses "parse wants a text" 2 "*usage: seqctl parse KEY TEXT*" parse order
like "SEQ.PARSE has a kind of error for it" "$(cli SEQ.PARSE order x)" \
    "FOREIGN *order*"
like "a NUL byte is none's" \
    "$(ask '*3\r\n$9\r\nSEQ.PARSE\r\n$5\r\norder\r\n$2\r\nx\x00\r\nQUIT\r\n')" \
    "-FOREIGN order: *NUL*"
is "SEQ.PARSE is a map of names and values" \
    "$(cli SEQ.PARSE area 010-77-00005 | tr '\n' ' ')" \
    "value 5 number 5 param.area 010 param.count 77 "
is "its numbers are strings on request" \
    "$(ask 'SEQ.PARSE area 010-77-00005 STR\r\nQUIT\r\n' | head -n 9 |
        tr '\n' ' ')" \
    '*8 $5 value $1 5 $6 number $1 5 '

# --- next and decode in JSON ---

does "next --json is one object of strings" '0 {"numbers": \["[1-9]*"\]}' \
    next plain --json
seqctl next plain --json --count 2500
is "and so it is with many" "$code $(tr ',' '\n' <"$work/out" |
    grep -cE '^(\{"numbers": \[)? ?"[0-9]+"(]})?$') $(wc -l <"$work/out")" \
    "0 2500 1"
does "with --stamp each has it" \
    '0 {"numbers": \[{"stamp": 20??????, "number": "[1-9]*"}, {"stamp": 20??????, "number": "[1-9]*"}\]}' \
    next daily --stamp --json --count 2
refuses "an error is no object" 1 "*UNKNOWNKEY*" next none --json
does "decode --json has null for what does not apply" \
    '0 {"counter": "7", "partition": 0, "memory_bits": 0, "memory": 0, "time_ms": null, "time": null, "shard": null, "datacenter": null, "worker": null, "number": null}' \
    decode plain 7 --json
does "and all there is of an id" \
    '0 {"counter": "*", *"time_ms": [1-9]*, "time": "20*Z", "shard": 17, "datacenter": null, "worker": null, "number": "1"}' \
    decode id "$value" --json
"$build/seqctl" -s "$daemon_socket" -t 60 number order --json >/dev/full 2>"$work/err"
like "a text that could not be printed is an error" "$? $(<"$work/err")" \
    "1 *output was lost*"

# --- the status ---

does "status tells how many numbers of a width the pool gives" \
    "0 *SEQUENCE *POOL GIVES *" status --wide --sort key
like "all of them with one partition" "$out" \
    "*"$'\n'"order *999,999 of 999,999*"
like "fewer with two, and there is none without a width" "$out" \
    "*"$'\n'"daily *99,99? of 99,999*"$'\n'"plain * - *"
seqctl status --json --all
like "in JSON they are strings, or null" "$out" \
    '*"key": "order"*"width_numbers": "999999", "pool_numbers": "999999"}*"key": "plain"*"width_numbers": null, "pool_numbers": null}*'

# --- a width that is used up ---

metrics_of_few() {
    timeout 60 curl -s "http://$daemon_http/metrics" |
        grep -E '^seqbroker_(health.state="degraded"|sequence_runs_out.*"few")' |
        tr '\n' ' '
}
logged() {
    grep -q "event=$1 pool=one partition=-1 backend=\"\" key=few" "$daemon_log"
}

refuses "a width stays used up" 1 "*EXHAUSTED *few*" number few
wait_for logged exhausted
does "health says so, and what to do" \
    "1 degraded: sequence few: number 1? does not fit its template, which ends at 9, and texts of such numbers are refused: reload a wider template*" \
    health
does "the sequence runs out now" "0 *RUNS OUT*"$'\n'"few * now*" status few
is "the metrics agree" "$(metrics_of_few)" \
    'seqbroker_health{state="degraded"} 1 seqbroker_sequence_runs_out_seconds{sequence="few",pool="one"} 0.000 '
sed -i 's/width=1, overflow/width=2, overflow/' "$work/numbers.conf"
does "a wider template comes by a reload" "0 *template*" reload
wait_for logged counter_recovered
does "health is well again" "0 serving" health
does "and there are numbers" "0 1?" number few
like "it does not run out" "$(metrics_of_few)" \
    'seqbroker_health{state="degraded"} 0 '
is "the log says it once" "$(grep -c 'event=exhausted' "$daemon_log")" 1
daemon_stop TERM

tap_end
