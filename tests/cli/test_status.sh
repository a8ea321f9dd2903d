#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What seqctl shows of one broker and of several: which rows, how wide, in which
# colours, on which screen, errors as JSON. Usage: test_status.sh BUILD_FOLDER
# shellcheck disable=SC2317 # ok() and wait_for() call functions
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

fits() { # FILE COLUMNS
    awk -v most="$2" 'length > most { long = 1 } END { exit long }' "$1"
}

# The sequences that are shown, in their order.
keys() {
    awk '/^SEQUENCE / { shown = 1; next }
         shown && NF > 4 && $2 != "more" { print $1 }' "$work/out" | tr '\n' ' '
}

escapes() { # FILE
    grep -c $'\033' "$1"
}

serves() {
    seqctl health
    [ "$code" -eq 0 ]
}

cat >"$work/many.conf" <<'END'
broker = { name = "first"; open_timeout = "60s"; };
backends = ( { name = "a"; engine = "sqlite"; path = "a.db"; },
             { name = "a-name-too-long-for-80-character";
               engine = "sqlite"; path = "b.db"; },
             { name = "c"; engine = "sqlite"; path = "c.db"; } );
pools = ( { name = "main";
            partitions = [ "a",
              "a-name-too-long-for-80-character" ];
            rescue = "fixed"; rescue_after = "1h"; timeout = "20s"; },
          { name = "other"; partitions = [ "c" ];
            rescue = "fixed"; rescue_after = "1h"; timeout = "20s"; } );
sequences = ( { key = "bill"; pool = "other"; deadline = "60s"; } );
auto_sequences = { pattern = "*"; limit = 100; pool = "main";
                   deadline = "60s"; };
END
daemon_start first -c "$work/many.conf" || exit 1
first_pid=$daemon_pid
first=$daemon_socket
address=127.0.0.1:$daemon_port
asks_daemon=yes
for i in {10..39}; do
    seqctl next "order-$i"
done
seqctl next bill

# --- which sequences ---

seqctl status
is "20 sequences are shown" "$code $(keys | wc -w)" "0 20"
like "and a line says how many there are, and how to see them" "$out" \
    "*"$'\n'"11 more sequences: --all *--top N*"
seqctl status --all
is "--all shows all of them" "$(keys | wc -w)" 31
is "and there is no such line" "$(grep -c 'more sequence' "$work/out")" 0
seqctl status --top 3 --sort key
is "--top shows the first ones in the order of --sort" "$(keys)" \
    "bill order-10 order-11 "
like "and tells of the others" "$out" "*28 more sequences: *"
does "which is not for all of them" \
    "2 seqctl: status takes --top or --all, not both" status --top 3 --all
seqctl next order-25 -n 90000
seqctl status --top 1 --sort taken
is "by what was taken the greatest is first" "$(keys)" "order-25 "
is_busiest() { # KEY, which is used now
    seqctl next "$1" -n 5000
    seqctl status --top 1
    [ "$(keys)" = "$1 " ]
}
ok "by rate, the default, the busiest is first" wait_for is_busiest order-30
seqctl status --top 31 --sort stock
is "by stock the least is first" "$(keys | awk '{ print $1 }')" "$(
    awk '/^SEQUENCE/ { shown = 1; next } shown && NF > 4 { print $3, $1 }' \
        "$work/out" | sort -k1,1n -k2,2 | awk 'NR == 1 { print $2 }')"
does "an order that is none is refused" \
    '2 seqctl: --sort is rate, taken, *key or pool, not "size"' \
    status --sort size
does "--top wants a number" "2 seqctl: --top is 1 ... *" status --top 0

seqctl status order-17
is "a key shows its sequence" "$(keys)" "order-17 "
is "and its pool's partitions" \
    "$(awk '$3 == "sqlite" { print $1 }' "$work/out" | tr '\n' ' ')" \
    "main/0 main/1 "
seqctl status 'order-1?' --sort key
is "a pattern shows those that match" "$(keys)" \
    "order-10 order-11 order-12 order-13 order-14 order-15 order-16 order-17 order-18 order-19 "
seqctl status other
is "a pool shows its sequences" "$(keys)" "bill "
is "and its partitions" "$(awk '$3 == "sqlite" { print $1 }' "$work/out")" \
    other/0
does "a name that is none is an error" \
    '1 seqctl: no pool and no sequence in use is called "nobody": *' \
    status nobody
does "there is one name" "2 seqctl: usage: seqctl status ?KEY|POOL?" \
    status a b
seqctl status --json
is "JSON has 20 sequences, too" "$(grep -c '"key": "' "$work/out")" 20
like "and the number of the others" "$out" '*"sequences_left_out": 11'$'\n''}'
seqctl status --json --all
is "or all of them" "$(grep -c '"key": "' "$work/out")" 31
like "and no others" "$out" '*"sequences_left_out": 0'$'\n''}'
seqctl status bill --json
is "or the one that is named" \
    "$(grep -c '"key": "' "$work/out") $(grep -c '"backend": "' "$work/out")" \
    "1 1"
seqctl status --json --top 2 --sort key
is "or the first ones of an order" \
    "$(sed -n 's/.*"key": "\([^"]*\)".*/\1/p' "$work/out" | tr '\n' ' ')" \
    "bill order-10 "

# --- how wide ---

seqctl drain main/1
seqctl status
ok "a line has at most 80 characters" fits "$work/out" 80
like "a long name loses its middle" "$out" "*"$'\n'"main/1 *a-name-*~*acter *"
is "the reason stands below the table, in full" \
    "$(sed -n '/^main\/1 (/,/^$/p' "$work/out" | tr -s '\n ' ' ')" \
    "main/1 (a-name-too-long-for-80-character) drained: drained by an operator "
seqctl status --wide
like "--wide cuts nothing" "$out" \
    "*"$'\n'"main/1 *a-name-too-long-for-80-character *"
like "and has all columns" "$out" "*CLASS *EJECTED*BITS *IN FLIGHT *LAST REFILL*"
like "nor wraps" "$out" "*acter) drained: drained by an operator"$'\n'"*"
seqctl resume main/1

# --- long reasons ---

# The file is a database no more, and its path is longer than the reason in the
# library's struct.
deep=$work/$(printf 'd%.0s' {1..200})/$(printf 'e%.0s' {1..100})
mkdir -p "$deep"
cat >"$work/deep.conf" <<END
broker = { name = "deep"; open_timeout = "60s"; };
backends = ( { name = "a"; engine = "sqlite"; path = "a.db"; },
             { name = "b"; engine = "sqlite"; path = "$deep/b.db"; } );
pools = ( { name = "main"; partitions = [ "a", "b" ];
            rescue = "fixed"; rescue_after = "1h"; timeout = "20s"; } );
auto_sequences = { pattern = "*"; limit = 100; pool = "main";
                   deadline = "60s"; };
END
daemon_start deep -c "$work/deep.conf" || exit 1
daemon_stop
rm "$deep"/*
printf 'not a database, %.0s' {1..500} >"$deep/b.db"
daemon_start deep -c "$work/deep.conf" --http 127.0.0.1:0 || exit 1
seqctl status
like "a long reason stands below the table" \
    "$(sed -n '/^1 (b)/,/^$/p' "$work/out" | tr -d '\n ')" \
    "1(b)quarantined:*:read$deep/b.db:fileisnotadatabase"
like "and in JSON" "$(curl -s "http://$daemon_http/v1/status")" \
    "*\"reason\": \"*$deep/b.db:*not a database*\"*"
daemon_stop
daemon_socket=$first

# --- colours ---

seqctl status
is "there is no colour but on a terminal" "$(escapes "$work/out")" 0
seqctl status --color=always
like "--color=always has them" "$out" "*"$'\033[32m'"up*"
seqctl quarantine main/0
seqctl status --color=always
like "what is quarantined is red" "$out" "*"$'\033[31m'"quarantined*"
seqctl health --color=always
is "health that is degraded is yellow" "$code ${out%%:*}" \
    "1 "$'\033[33mdegraded\033[0m'
seqctl rescue main/0
ok "and health is well again" wait_for serves
seqctl drain main/1
does "what is drained is yellow" "0 *"$'\033[33m'"drained*" status --color=always
seqctl resume main/1
does "there are three ways" \
    '2 seqctl: --color is auto, always or never, not "red"' status --color=red

# on_terminal NAME ENVIRONMENT WORD...: its output on a terminal of 80 x 24.
on_terminal() {
    local name=$1 environment=$2
    shift 2
    script -qec "stty rows 24 cols 80; env $environment $build/seqctl -t 60 \
        -s $first $*" /dev/null </dev/null >"$work/$name" 2>&1
}
has_script=$(command -v script)
if [[ -n $has_script ]]; then
    on_terminal colored TERM=xterm status
    ok "on a terminal there are colours" [ "$(escapes "$work/colored")" -gt 0 ]
    on_terminal plain "TERM=xterm NO_COLOR=1" status
    is "none with NO_COLOR" "$(escapes "$work/plain")" 0
    on_terminal plain TERM=dumb status
    is "none where there can be none" "$(escapes "$work/plain")" 0
    on_terminal plain TERM=xterm status --color=never
    is "and none with --color=never" "$(escapes "$work/plain")" 0
    # narrow COLUMNS WORD...: the same on a narrower terminal.
    narrow() {
        local columns=$1
        shift
        script -qec "stty rows 40 cols $columns; env TERM=dumb $build/seqctl \
            -t 60 -s $first $*" /dev/null </dev/null 2>&1 | tr -d '\r' \
            >"$work/narrow"
    }
    # Titles that are cut, or are none of the wide table's.
    broken_titles() {
        local title
        "$build/seqctl" -t 60 -s "$first" status --wide >"$work/wide"
        for title in $(grep -hE '^(PARTITION|SEQUENCE)|~' "$work/narrow" |
            grep -E '^[A-Z~ /]*$'); do
            grep -qE "(^| )$title( |\$)" "$work/wide" || echo "$title"
        done
    }
    for columns in 79 60 55 50 40; do
        narrow "$columns" status
        ok "at $columns columns no line is longer" fits "$work/narrow" "$columns"
        is "and no title is cut" "$(broken_titles)" ""
        is "but every table has one" "$(grep -cE '^(PARTITION|SEQUENCE) ' \
            "$work/narrow")" 2
    done
    narrow 40 status
    like "the state stays" "$(<"$work/narrow")" "*"$'\n'"PARTITION *STATE *"
    narrow 25 status
    ok "less than 40 columns are taken for 40" fits "$work/narrow" 40
    narrow 40 show clients
    ok "other tables fit, too" fits "$work/narrow" 40
else
    skip "on a terminal there are colours" "there is no script(1)"
fi

# --- the second screen ---

# The last whole frame that was drawn, without the sequences of the terminal.
frame() {
    tr -d '\r' <"$work/screen" |
        awk -v RS=$'\033''\\[H'$'\033''\\[2J' 'NR > 1 { before = last; last = $0 }
            END { print before }' |
        sed "s/$(printf '\033')\[[0-9;?]*[a-z]//g" | sed '/^$/d'
}
draws() { # N
    [ "$(grep -c $'\033''\[H' "$work/screen")" -ge "$1" ]
}
if [[ -n $has_script ]]; then
    mkfifo "$work/typed"
    for end in INT TERM HUP; do
        : >"$work/screen"
        script -qfec "stty rows 24 cols 80 isig; echo \$\$ >$work/watching;
            exec $build/seqctl -s $first status --watch --interval 1" \
            "$work/screen" <"$work/typed" >"$work/trash" 2>&1 &
        watching=$!
        track "$watching"
        exec {typed}>"$work/typed"
        ok "it draws again and again" wait_for draws 3
        ok "what it draws fits the terminal" [ "$(frame | wc -l)" -le 23 ]
        like "and tells how many sequences do not fit" "$(frame)" \
            "*more sequences: *"
        kill "-$end" "$(<"$work/watching")"
        reap "$watching"
        is "SIG$end ends it cleanly" "$?" 0
        is "the second screen is entered once and left at the end" \
            "$(grep -o $'\033''\[?1049[hl]' "$work/screen" | tr -d '\033\n')" \
            "[?1049h[?1049l"
        exec {typed}>&-
    done
    # While the daemon hangs it is in the midst of asking, for ten minutes.
    asks() {
        find "/proc/$(<"$work/watching")/fd" -lname 'socket:*' | grep -q .
    }
    has_ended() {
        ! [ -e "/proc/$(<"$work/watching")/fd/0" ]
    }
    for end in typed TERM HUP; do
        : >"$work/screen"
        script -qfec "stty rows 24 cols 80 isig; echo \$\$ >$work/watching;
            exec $build/seqctl -s $first -t 600 status --watch --interval 1" \
            "$work/screen" <"$work/typed" >"$work/trash" 2>&1 &
        watching=$!
        track "$watching"
        exec {typed}>"$work/typed"
        wait_for draws 2
        kill -STOP "$first_pid"
        wait_for asks
        if [[ $end = typed ]]; then
            printf '\003' >&"$typed"
        else
            kill "-$end" "$(<"$work/watching")"
        fi
        ok "it ends while a daemon hangs ($end)" wait_for has_ended
        kill -CONT "$first_pid"
        reap "$watching"
        is "cleanly, too" "$?" 0
        like "and the terminal is as it was" "$(tail -c 300 "$work/screen")" \
            "*"$'\033'"[?25h"$'\033'"[?7h"$'\033'"[?1049l*"
        exec {typed}>&-
    done
else
    skip "it draws on a second screen" "there is no script(1)"
fi

# --- a bar of progress ---

# The daemon is stopped for longer than the second after which there is a bar.
has_numbers() {
    [ -s "$work/numbers" ]
}
has_bar() {
    grep -q '%.* of 10000000' "$work/bar"
}
if [[ -n $has_script ]]; then
    : >"$work/bar"
    script -qfec "exec $build/seqctl -s $first -t 60 next order-10 \
        -n 10000000 >$work/numbers" "$work/bar" </dev/null \
        >"$work/trash" 2>&1 &
    taking=$!
    track "$taking"
    wait_for has_numbers
    kill -STOP "$first_pid"
    sleep 1.1
    kill -CONT "$first_pid"
    ok "who waits at a terminal for what takes long sees a bar" \
        wait_for has_bar
    kill "$taking"
    reap "$taking"
    kill -STOP "$first_pid" # it takes connections, and does not answer
    cat >"$work/silent.conf" <<END
backends = ( { name = "a"; engine = "sqlite"; path = "$work/silent.db"; },
             { name = "r"; engine = "redis"; host = "127.0.0.1";
               port = ${address##*:}; connect_timeout = "60s"; } );
pools = ( { name = "main"; partitions = [ "a", "r" ]; authority = "a"; } );
sequences = ( { key = "k"; } );
END
    has_half() {
        grep -q '50% 1 of 2' "$work/bar"
    }
    script -qfec "exec $build/seqctl check --probe $work/silent.conf" \
        "$work/bar" </dev/null >"$work/trash" 2>&1 &
    probing=$!
    track "$probing"
    wait_for has_half
    kill -CONT "$first_pid"
    reap "$probing"
    like "a probe has a bar, which is gone before its table" "$(<"$work/bar")" \
        "*"$'\r\033'"[[]K[[]####################   *] 50% 1 of 2"$'\r\033'"[[]K*BACKEND*"
    is "it is not among the numbers" \
        "$(head -c 100000 "$work/numbers" | tr -d '0-9\n' | wc -c)" 0
else
    skip "who waits at a terminal sees a bar" "there is no script(1)"
fi

# --- several brokers ---

asks_daemon=
sed -i 's/"first"/"second"/' "$work/many.conf"
daemon_start second -c "$work/many.conf" || exit 1
second_pid=$daemon_pid
second=$daemon_socket

does "a broker is named by host and port, too" "0 [1-9]*" -s "$address" next bill
does "a port alone is no broker" \
    "3 seqctl: no seqbrokerd at :7379: *taken for a socket's path: * HOST:PORT" \
    -s :7379 next bill
seqctl -s "$address" -s "$second" -t 60 health
is "health is a line for each broker" "$code $out" \
    "0 $address: serving"$'\n'"$second: serving"
seqctl -s "$address" -s "$work/nobody" -s "$second" -t 60 health
is "one that does not answer keeps no other from being asked" "$code $out" \
    "3 $address: serving"$'\n'"$work/nobody: unknown: no daemon answers"$'\n'"$second: serving"
like "and stderr says which one, and why" "$err" \
    "seqctl: $work/nobody: no seqbrokerd: No such file*"
seqctl -s "$address" -s "$second" -t 60 status
like "status is a line for each" "$code $out$err" \
    "0 BROKER *NAME *HEALTH *UP *RATE/S *RUNWAY"$'\n'"$address *first *serving *3/3 *[0-9] *[0-9s-]"$'\n'"$second *second *serving *3/3 *[0-9] *-"
ok "of at most 80 characters" fits "$work/out" 80
seqctl -s "$second" quarantine other/0
does "an order that one of them refuses is an error" \
    "1 $first: other/0: was not drained: it is up*seqctl: $second: ERR *rescue it instead*" \
    -s "$first" -s "$second" -t 60 resume other/0
seqctl -s "$address" -s "$second" -s "$work/nobody" -t 60 status other
is "also where one does not answer, and of a pool alone" \
    "$code $(awk '{ print $2, $3, $4 }' "$work/out" | head -n 4 | tr '\n' ,)" \
    "3 NAME HEALTH UP,first serving 1/1,second not serving,- unknown -,"
like "what is wrong stands below them" "$out" \
    "*"$'\n'"$second not serving: pool other cannot serve: *"
like "stderr says who is away" "$err" "seqctl: $work/nobody: no seqbrokerd: *"
seqctl -s "$second" rescue other/0
second_serves() {
    [[ $("$build/seqctl" -s "$second" -t 60 health) = serving ]]
}
wait_for second_serves
seqctl -s "$second" next bill
seqctl -s "$address" -s "$second" -t 60 status bill
like "of a key it has the runway" "$out" "*"$'\n'"$second *serving *1/1 *[0-9] *"
for option in --all "--top 5" "--sort key" --wide; do
    # shellcheck disable=SC2086 # words
    seqctl -s "$address" -s "$second" -t 60 status $option
    is "with $option there are tables" "$(grep -c '^SEQUENCE' "$work/out")" 2
done
seqctl -s "$address" -s "$second" -t 60 status other --wide
like "status --wide is a block for each" "$code $out" \
    "0 $address:"$'\n'"broker first: *other/0 *"$'\n\n'"$second:"$'\n'"broker second: *other/0 *"
seqctl -s "$work/nobody" -s "$second" -t 60 status --wide
like "also where one does not answer" "$code $out" \
    "3 $work/nobody:"$'\n'"no status"$'\n\n'"$second:"$'\n'"broker second: *"
seqctl -s "$first" -s "$second" -t 60 drain other/0
is "drain is a line for each" "$code $out" \
    "0 $first: other/0: drained, until it is resumed"$'\n'"$second: other/0: drained, until it is resumed"
does "the worst exit code counts" "2 *not serving*not serving*" \
    -s "$address" -s "$second" -t 60 health
seqctl -s "$second" -t 60 resume other/0
does "a resume is given back in one, so that it may be given again" \
    "0 $first: other/0: resumed, *$second: other/0: was not drained: it is *" \
    -s "$first" -s "$second" -t 60 resume other/0
does "other commands are for one broker" "2 seqctl: next takes one -s only" \
    -s "$address" -s "$second" next bill

# One sequence each does not fit 16 rows, and nothing more can be left out.
if [[ -n $has_script ]]; then
    : >"$work/screen"
    script -qfec "stty rows 16 cols 80 isig; echo \$\$ >$work/watching;
        exec $build/seqctl -s $address -s $second status --wide --watch \
            --interval 1" "$work/screen" <"$work/typed" >"$work/trash" 2>&1 &
    watching=$!
    track "$watching"
    exec {typed}>"$work/typed"
    ok "two brokers are drawn where they do not fit" wait_for draws 3
    ok "what is drawn fits" [ "$(frame | wc -l)" -le 15 ]
    is "no line is cut" "$(frame | grep -cE '.{81}')" 0
    like "and tells how much is missing" "$(frame)" \
        "*lines more: the terminal is too low)"
    kill -INT "$(<"$work/watching")"
    reap "$watching"
    is "it ends cleanly" "$?" 0
    exec {typed}>&-
else
    skip "two brokers are drawn where they do not fit" "there is no script(1)"
fi

# --- JSON of everything ---

seqctl -s "$address" -s "$work/nobody" -t 60 health --json
like "several brokers are one list" "$code $out" \
    '3 {"brokers": \[*{"at": "'"$address"'", "answer": {"health": "serving", "reason": "", "warning": ""}*, "exit": 0},*{"at": "'"$work/nobody"'", "answer": null, "error": "no seqbrokerd: *", "code": "UNREACHABLE", "exit": 3}*\]}'
is "and nothing is on stderr" "$err" ""
seqctl -s "$address" -s "$second" -t 60 status --json --all
is "whose answers are as of one" "$code $(grep -c '"key": "' "$work/out")" "0 32"
is "in one value" "$(head -n 1 "$work/out") $(tail -n 1 "$work/out")" \
    '{"brokers": [ ]}'
seqctl -s "$second" -t 60 drain other/0 --json
is "an order has its outcome" "$code $out$err" \
    '0 {"partition": "other/0", "outcome": "drained, until it is resumed"}'
seqctl -s "$second" -t 60 rescue other/0 --json
like "an error of the daemon is an object on stderr" "$code ($out) $err" \
    '1 () {"error": "ERR *resume it instead*", "code": "ERR", "exit": 1}'
seqctl -s "$work/nobody" status --json
like "no daemon is one" "$code ($out) $err" \
    '3 () {"error": "no seqbrokerd at *", "code": "UNREACHABLE", "exit": 3}'
seqctl --json frobnicate
like "and bad usage is, too" "$code ($out) $err" \
    '2 () {"error": "unknown command *", "code": "USAGE", "exit": 2}'
seqctl --frobnicate --json
like "also of an option before it" "$code ($out) $err" \
    '2 () {"error": "unknown option *", "code": "USAGE", "exit": 2}'
seqctl -s "$work/nobody" health --json
like "health is unknown besides" "$code $out $err" \
    '3 {"health": "unknown", *} {"error": *, "code": "UNREACHABLE", "exit": 3}'
seqctl -s "$first" -t 60 advance bill --to 90000000 --json
is "advance says what it did" "$code $out$err" \
    '0 {"key": "bill", "above": "90000000"}'
seqctl settings --json
like "settings has the settings" "$code $out" \
    '0 {*{"section": "pools", "name": "timeout", *"default": "200ms", *}*\]*}'
seqctl --version --json
like "so has --version the libraries" "$code $out" \
    '0 {"version": "[0-9]*", "libraries": \[*"sqlite *"*\]}'
is "each of them once" "$(tr ',' '\n' <"$work/out" | tr -d '[]}' |
    sed 's/.*: //; s/^ *//' | sort | uniq -d)" ""
seqctl -s "$address" -t 60 status --json
is "also in a status" "$(sed -n 's/^ *"libraries": \[\(.*\)\],$/\1/p' \
    "$work/out" | sed 's/", "/"\n"/g' | sort | uniq -d)" ""
seqctl help --json
like "and help the commands" "$code $out" \
    '0 {"commands": \[*{"name": "status", "arguments": "\[KEY|POOL\]", *}*\]}'

# --- stopping them all ---

seqctl -s "$first" -s "$second" -t 60 drain --broker
is "both brokers are stopped" "$code $out" \
    "0 $first: the broker has stopped"$'\n'"$second: the broker has stopped"
reap "$first_pid"
is "one by one" "$?" 0
reap "$second_pid"
is "cleanly" "$?" 0

tap_end
