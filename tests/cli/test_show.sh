#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# seqctl show: what a daemon tells of itself. Usage: test_show.sh BUILD_FOLDER
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
asks_daemon=yes

daemon_start shown --log-format=json --http 127.0.0.1:0 || exit 1

# --- the log ---

before=$(wc -l <"$daemon_log")
seqctl show events
is "show events succeeds" "$code$err" 0
like "it has the lines of the log, as they are whatever its format" "$out" \
    "20*-*T*:*:*.???Z info event=open *Z info event=ready name=embedded listen=127.0.0.1:$daemon_port *"
lines=$(wc -l <"$work/out")
ok "as many as the log has, which may have gone on" \
    test "$before" -le "$lines" -a "$lines" -le "$(wc -l <"$daemon_log")"
mv "$work/patient.conf" "$work/away.conf"
kill -HUP "$daemon_pid"
# shellcheck disable=SC2317 # wait_for calls it
has_warned() {
    grep -q reload_refused "$daemon_log"
}
wait_for has_warned
mv "$work/away.conf" "$work/patient.conf"
does "--level has what is as bad, or worse" \
    '0 *Z warn event=reload_refused by=SIGHUP reason="*patient.conf*"' \
    show events --level warn
is "and nothing else" "$(wc -l <"$work/out")" 1
does "an error was not among it" "0 " show events --level error
does "--since a day has it, too" "0 *Z warn event=reload_refused *" \
    show events --since 1d --level warn
at=$(sed 's/ .*//' "$work/out")
does "so does the time of a line" "0 $at warn event=reload_refused *" \
    show events --since "$at" --level warn
after=$(($(date -u -d "$at" +%s%3N) + 1))
after=$(date -u -d "@${after%???}.${after: -3}" +%Y-%m-%dT%H:%M:%S.%3NZ)
does "but not the millisecond after it" "0 " show events --level warn \
    --since "$after"
does "since a moment that is yet to come there is nothing" "0 " \
    show events --since 9999-12-31
does "JSON has the same lines" \
    '0 {*"events": \[*{"number": [0-9]*, "time_ms": 1*, "level": "warn", "line": "event=reload_refused *patient.conf*"}*\]*}' \
    show events --level warn --json
ok "it is JSON" is_json "$work/out"
does "what is neither an age nor a moment is bad usage" \
    '2 *--since is an age as 90s, *, not "10x"' show events --since 10x
does "nor is there such a level" \
    '2 *--level is error, warn, info or debug, not "bad"' \
    show events --level bad
does "both are for events only" \
    "2 *--since and --level are for show events only" show stats --level warn

does "nobody has a limit, and it says so" \
    "0 no user and no key has a limit" show limits
does "JSON has an empty list" '0 {*"limits": \[*\]*}' show limits --json

# --- what went wrong ---

does "all partitions are well" \
    "0 PARTITION *BACKEND *STATE *ERRORS *SLOW *EJECTED *LAST*main/0 *sqlite-0 *up *0 *main/3 *sqlite-3 *up *" \
    show errors
is "no line is about them" "$(grep -c event= "$work/out")" 0

# --- what it runs with ---

seqctl show config
like "show config tells how it was started" "$code $out$err" \
    "0 topology: $work/patient.conf"$'\n'"read: 20*Z"$'\n'"state_dir: $work/shown"$'\n'"listen: 127.0.0.1:$daemon_port"$'\n'"socket: $daemon_socket"$'\n'"http: 127.0.0.1:*"$'\n'"log_level: info"$'\n'"log_format: json*"
like "and each setting, with defaults" "$out" \
    "*broker.name: embedded"$'\n'"broker.state_dir: $work/shown (default)"$'\n'"broker.open_timeout: 1m"$'\n'"broker.interval: 20ms (default)*pools.main.timeout: 20s*"
does "a part of a path shows some of them" "0 *pools.main.timeout: 20s*" \
    show config pools.main.timeout
is "and no other" "$(grep -c '^[a-z]*\.' "$work/out")" 1
does "so does a pattern, also in JSON" \
    '0 {*"settings_left_out": 0,*"settings": \[*{"path": "backends.*.connect_timeout", "value": "20s", "is_default": false}*\]*}' \
    show config '*connect_timeout' --json
is "and no other" \
    "$(grep -c '"path"' "$work/out")" "$(grep -c 'connect_timeout' "$work/out")"
ok "it is JSON" is_json "$work/out"
does "a pattern that no setting has is told" \
    '1 *no setting has "nonsense" in its path*' show config nonsense
does "a pattern is for settings only" "2 *a pattern and --all are for show config only" \
    show stats x
does "and in JSON" \
    "0 {*\"topology\": \"$work/patient.conf\", \"read_ms\": 1*, *\"log_format\": \"json\"*}" \
    show config --json
ok "it is JSON" is_json "$work/out"

# --- who is connected ---

dial
say "$dialled" 'CLIENT SETNAME visitor\r\nCLIENT SETINFO LIB-NAME raw\r\nCLIENT SETINFO LIB-VER 1.2\r\nPING\r\n'
is "a client is connected" \
    "$(hear "$dialled")$(hear "$dialled")$(hear "$dialled")$(hear "$dialled")" \
    "+OK+OK+OK+PONG"
does "show clients has a row for each" \
    "0 ID *ADDRESS *USER *NAME *LIBRARY *STATE *AGE *IDLE *COMMANDS *LAST*127.0.0.1:* - *visitor *raw 1.2 *open *4 *ping* uid:$UID *open*seq.show*" \
    show clients --wide
is "and no second one" "$(grep -c visitor "$work/out")" 1
does "an object in JSON" \
    '0 {*"clients": \[*"user": "-", "name": "visitor", "library": "raw 1.2", "state": "open", "age_ms": [0-9]*, "idle_ms": [0-9]*, "commands": 4, "command": "ping", "resp": 2}*' \
    show clients --json
ok "it is JSON" is_json "$work/out"

# --- what it counted ---

seqctl show stats
like "show stats counts" "$code $out" \
    "0 uptime: *pid: $daemon_pid"$'\n'"memory: [1-9]*connections: [2-9]*"$'\n'"connections_received: *command_errors: 0"$'\n'"http_responses: 0"$'\n'"log_lines: [1-9]*"$'\n'"http_connections: 0"$'\n'"max_connections: [1-9]*answers_refused: 0"$'\n'"logins_refused: 0"$'\n'"audit_lines_lost: 0"$'\n'"takes_refused: 0"$'\n'"tls_handshakes: 0"$'\n'"tls_failed: 0"$'\n'"commands_waiting: 0"
is "sizes have a unit" \
    "$(grep -cE '^memory: [0-9]+\.[0-9] MiB$' "$work/out") $(
        sed -n 's/^max_client_memory: //p' "$work/out")" "1 32.0 MiB"
like "as one of few bytes has" "$out" \
    "*"$'\n'"client_memory: [0-9]* bytes"$'\n'"*"
before=$(sed -n 's/^commands: //p' "$work/out")
does "in JSON they are bytes" \
    '0 {*"memory": [1-9]*[0-9], *"max_client_memory": 33554432, *}' \
    show stats --json
say "$dialled" 'PING\r\nNOSUCH\r\n'
like "two commands more" "$(hear "$dialled")$(hear "$dialled")" "+PONG-ERR *"
seqctl show stats
is "are counted, and the one that asks" \
    "$(sed -n 's/^commands: //p' "$work/out")" $((before + 4))
is "and the error" "$(sed -n 's/^command_errors: //p' "$work/out")" 1
hang_up "$dialled"

# --- the rest ---

does "anything else is bad usage" \
    '2 *show config, clients, * or stats, not "all"' show all
does "as is nothing" "2 *usage: seqctl show WHAT \[PATTERN\]" show
like "redis-cli may ask, too" "$(cli seq.show nothing)" \
    "ERR use SEQ.SHOW CONFIG *, CLIENTS, *"
like "it has a map" "$(cli seq.show config)" "topology*patient.conf*log_level*info*"
asks_daemon=
seqctl -t 60 -s "$daemon_socket" -s "$work/nobody" show stats
like "of several brokers each has its name, and the worst code counts" \
    "$code $out$err" "3 $daemon_socket:*uptime: *nobody*no seqbrokerd: *"
seqctl -t 60 -s "$daemon_socket" -s "$work/nobody" show events --json
like "and is an object" "$code $out" \
    '3 {"brokers": \[*"answer": {*"events": \[*\]*}*, "exit": 0},*"answer": null, *'
ok "it is JSON" is_json "$work/out"
asks_daemon=yes
daemon_stop

does "what can be shown is no command, but nearly" \
    '2 seqctl: unknown command "events", did you mean "show events"?' events

# --- a store that is not there ---

cat >"$work/broken.conf" <<'END'
broker = { name = "broken"; open_timeout = "60s"; };
backends = ( { name = "a"; engine = "sqlite"; path = "a.db"; },
             { name = "r"; engine = "redis"; port = 1; } );
pools = ( { name = "p"; partitions = [ "a", "r" ]; authority = "a";
            timeout = "20s"; } );
sequences = ( { key = "k"; } );
END
daemon_start broken -c "$work/broken.conf" || exit 1
# shellcheck disable=SC2317 # wait_for calls it
has_failed() {
    grep -q 'event=quarantined .* backend=r ' "$daemon_log"
}
wait_for has_failed
does "what happened to a partition is told below the table" \
    '0 *p/0 *a *p/1 *r *[1-9]*'$'\n''20*Z event=quarantined was=* pool=p partition=1 backend=r reason="r (redis *"' \
    show errors --wide
is "and of no other one" "$(grep -c event= "$work/out")" 1
# The log has the first failure of several, the status the latest.
seqctl status --wide
why=$(sed -n 's/^1 (r) \(quarantined\|probing\): //p' "$work/out")
seqctl show errors --wide
like "and why it is not up now, as the status has it" "$out" \
    "* *p/1 (r) *: ${why:-no reason at all}"$'\n'"20*Z event=quarantined *"
does "in JSON, too" \
    '0 {*"errors": \[*"partition": 0, "backend": "a", *"last_ms": 0, "last": "", "reason": ""}*"partition": 1, "backend": "r", *"errors": [1-9]*, "last_ms": 1*, "last": "event=quarantined *", "reason": "r (redis *"}*\]*}' \
    show errors --json
ok "it is JSON" is_json "$work/out"

# There may be very many sequences.
seqctl show config
is "no setting of a sequence is shown unasked" \
    "$code $(grep -c '^sequences\.' "$work/out")" "0 0"
like "those of pools are" "$out" "*"$'\n'"pools.p.timeout: 20s"$'\n'"*"
skipped=$(sed -n 's/^sequences_left_out: //p' "$work/out")
like "but how many there are, and how to see them" "${out##*$'\n'}" \
    "[1-9]* settings of sequences left out: --all or a pattern as sequences.KEY shows them"
seqctl show config --all
is "--all shows them" "$code $(grep -c '^sequences\.' "$work/out")" "0 $skipped"
is "and leaves nothing out" "$(grep -c 'left out:' "$work/out")" 0
seqctl show config sequences.k
is "so does a pattern" "$code $(grep -c '^sequences\.' "$work/out")" \
    "0 $skipped"
does "JSON has the number, too" \
    "0 {*\"sequences_left_out\": $skipped,*\"settings\": *" show config --json
does "a pattern and --all are too much" \
    "2 *show config takes a pattern or --all, not both" \
    show config sequences.k --all
does "--all is for settings only" \
    "2 *a pattern and --all are for show config only" show stats --all
daemon_stop
does "without a daemon it is code 3" "3 *no seqbrokerd at*" show events

tap_end
