#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The daemon's log: its formats and levels, and that each line of it can be
# parsed, whatever paths are called. Usage: test_log.sh BUILD_FOLDER
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
asks_daemon=yes

# The parsers: one extended regular expression a format. A value that is not in
# quotes has no space, quote, equals sign or backslash.
escape='\\(["\\nrtbf]|u[0-9a-f]{4})'
quoted='"([^[:cntrl:]"\]|'$escape')*"'
bare='[^[:cntrl:] "=\]+'
words="event=[a-z_]+( [a-z_]+=($bare|$quoted))*"
date='[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z'
member="\"[a-z_]+\":$quoted"
members="\"level\":\"(error|warn|info)\",\"event\":\"[a-z_]+\"(,$member)*"
logfmt="$date (error|warn|info) $words"
json="\{\"ts\":\"$date\",$members\}"
journal="<[346]>(error|warn|info) $words"
journal_json="<[346]>\{$members\}"

# strays PATTERN: the lines of the log that it does not match as a whole.
strays() {
    grep -Evx -- "$1" "$daemon_log"
}

# lines: how many the log has.
lines() {
    wc -l <"$daemon_log"
}

# scene NAME [OPTION...]: orders, numbers, a file of kept numbers that is
# damaged, and a stop, in a folder with a strange name.
scene() {
    local name=$1 folder=$work/$1/'a "b" = \c'$'\t'é
    shift
    mkdir -p "$folder"
    echo damaged >"$folder/spool"
    daemon_start "$name" --state-dir "$folder" "$@" || exit 1
    seqctl next order --count 10
    seqctl drain 1
    seqctl resume 1
    seqctl advance order --to 1000000
    daemon_stop
}

# A pattern that matches too much finds nothing.
daemon_log=$work/strays.log
printf '%s\n' 'event=up' '2026-11-23T20:00:00.000Z info stopping' \
    '2026-11-23T20:00:00.000Z info event=up file=a b' \
    '2026-11-23T20:00:00.000Z info event=up file="a"b"' \
    '2026-11-23T20:00:00.000Z info event=up file=' \
    '2026-11-23T20:00:00.000Z info event=up file="a\x"' \
    '2026-11-23T20:00:00.000Z info  event=up' >"$daemon_log"
is "the parser takes no line that is no logfmt" "$(strays "$logfmt" | wc -l)" 7

scene logfmt
is "every line is logfmt" "$(strays "$logfmt")" ""
ok "they are many" [ "$(lines)" -ge 10 ]
like "a path is quoted as it has to be" \
    "$(grep event=open "$daemon_log")" \
    '* state_dir="*/a \\"b\\" = \\\\c\\té"'
like "that of a file, too" "$(grep event=spool_refused "$daemon_log")" \
    '* warn event=spool_refused file="*/a \\"b\\" = \\\\c\\té/spool" aside="*'
like "an order is no warning" "$(grep event=drained "$daemon_log")" \
    '* info event=drained was=*'

# A socket's path is the operator's as well.
daemon_start quoted --socket "$work/a \"socket\"" || exit 1
like "the socket's path is quoted" "$(grep event=ready "$daemon_log")" \
    "* socket=\"$work/quoted.sock,$work/a \\\\\"socket\\\\\"\" pid=$daemon_pid http=none *"
daemon_stop
is "every line with it is logfmt" "$(strays "$logfmt")" ""

scene json --log-format=json
is "every line is an object of JSON" "$(strays "$json")" ""
ok "they are as many" [ "$(lines)" -ge 10 ]
like "a path is the same in JSON" "$(grep '"event":"open"' "$daemon_log")" \
    '*,"state_dir":"*/a \\"b\\" = \\\\c\\té"}'
like "ready has its members" "$(grep '"event":"ready"' "$daemon_log")" \
    "{\"ts\":\"*Z\",\"level\":\"info\",\"event\":\"ready\",\"name\":\"embedded\",\"listen\":\"127.0.0.1:*\",\"socket\":\"$daemon_socket\",\"pid\":\"$daemon_pid\",\"http\":\"none\",\"tls\":\"none\",\"https\":\"none\"}"

# --- journald: JOURNAL_STREAM names the file that stderr is ---

# as_journal STREAM OPTION...: a scene whose stderr is said to be STREAM's.
as_journal() {
    local stream=$1
    shift
    JOURNAL_STREAM=$stream scene "$@"
}
log_file() { # NAME: its device and inode
    : >"$work/$1.log"
    stat -c %d:%i "$work/$1.log"
}
as_journal "$(log_file journal)" journal
is "for journald a line has its priority and no date" "$(strays "$journal")" ""
like "a warning is priority 4" "$(grep event=spool_refused "$daemon_log")" \
    '<4>warn event=spool_refused *'
like "what is usual is priority 6" "$(grep event=open "$daemon_log")" \
    '<6>info event=open *'
as_journal "$(log_file journal_json)" journal_json --log-format json
is "in JSON as well" "$(strays "$journal_json")" ""
log_file elsewhere >"$work/trash"
as_journal "1:1" elsewhere
is "stderr that was sent elsewhere has dates" "$(strays "$logfmt")" ""

# --- a start that fails ---

# fails_to_start NAME FOLDER OPTION...: what it says is the log.
fails_to_start() {
    daemon_log=$work/$1.log
    refused --listen none --state-dir "$2" "${@:3}" |
        grep -v '^exit 1$' >"$daemon_log"
}
echo 'no folder' >"$work/a file"
fails_to_start unable "$work/a file/state"
is "a start that fails is a line of logfmt" "$(strays "$logfmt")" ""
like "which is an error, and says why" "$(<"$daemon_log")" \
    "* error event=start_failed reason=\"*$work/a file/state*\""
fails_to_start unable_json "$work/a file/state" --log-format json
is "of JSON as well" "$(strays "$json")" ""
like "with the same event" "$(<"$daemon_log")" \
    '*"level":"error","event":"start_failed","reason":"*'
fails_to_start unread "$work/unread" -c "$work/nothing.conf" --log-format json
is "so is one whose topology cannot be read" "$(strays "$json")" ""
like "which names it" "$(<"$daemon_log")" '*"start_failed"*nothing.conf*'

# --- levels ---

# What is written says no more when it serves.
daemon_serves() {
    [[ $("$build/seqctl" -s "$daemon_socket" -t 60 health 2>&1) == serving ]]
}

audit=' event=(order|order_begun|order_in_part|order_refused|login_refused) '
scene warnings --log-level=warn
is "--log-level=warn leaves out what is info, except for the audit" \
    "$(grep -Evc " warn event=|$audit" "$daemon_log")" 0
ok "and has the warnings" grep -q ' warn event=spool_refused ' "$daemon_log"
scene errors --log-level error
is "--log-level=error leaves out warnings, except for the audit" \
    "$(grep -Evc "$audit" "$daemon_log")" 0
ok "and has all of the audit" [ "$(grep -Ec "$audit" "$daemon_log")" -ge 3 ]
scene debugging --log-level debug
ok "--log-level=debug has all" [ "$(lines)" -ge 10 ]

# --- a flood ---

# most_of EVENT: whether its lines are within 1,000 and 10 a second since $begin.
most_of() {
    (($(grep -c " event=$1 " "$daemon_log") <= 1000 + 10 * (SECONDS - begin + 1)))
}

begin=$SECONDS
mkdir "$work/turns"
daemon_start turns --state-dir "$work/turns" || exit 1
for ((i = 0; i < 1500; i++)); do
    printf 'SEQ.PARTITION DRAIN main/1\nSEQ.PARTITION RESUME main/1\n'
done | cli_local >"$work/answers"
is "all orders are given" "$(grep -cE '^(drained|resumed|OK)$' "$work/answers")" 3000
ok "their lines are bounded" most_of order
ok "and those of the partition" most_of drained
ok "what is left out is counted" grep -q ' event=lines_left_out ' "$daemon_log"
daemon_stop

# --- a reader that has stopped ---

mkfifo "$work/unread"
exec {unread}<>"$work/unread" # open, and never read
mkdir "$work/stalled"
daemon_socket=$work/stalled.sock
"$build/seqbrokerd" -c "$work/patient.conf" --state-dir "$work/stalled" \
    --socket "$daemon_socket" --listen 127.0.0.1:0 2>&"$unread" {unread}>&- &
daemon_pid=$!
track "$daemon_pid"
ok "it serves while nobody reads its log" wait_for daemon_serves
for ((i = 0; i < 1500; i++)); do
    printf 'SEQ.PARTITION DRAIN main/1\nSEQ.PARTITION RESUME main/1\n'
done | cli_local >"$work/answers"
is "and when the log is full" "$(grep -cE '^(drained|resumed|OK)$' "$work/answers")" 3000
daemon_stop
is "and it stops" "$daemon_code" 0
exec {unread}>&-

like "another format is wrong usage" "$(refused --log-format=xml)" \
    "*--log-format is logfmt or json, not xml*exit 2"
like "another level is wrong usage" "$(refused --log-level loud)" \
    "*--log-level is error, warn, info or debug, not loud*exit 2"

tap_end
