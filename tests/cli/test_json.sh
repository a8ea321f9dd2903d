#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# seqctl --json: every command, and every kind of error. stdout is one JSON value
# or nothing, and an error is one object on stderr. Usage: test_json.sh
# BUILD_FOLDER
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

daemon_start main || exit 1
there="-s $daemon_socket"
nobody="-s $work/nobody"
echo 'a password of nobody' >"$work/password"

# fails WORD...: with --json it is an error, and one object on stderr.
wrong=
fails() {
    seqctl "$@" --json </dev/null # of stdin, a password
    if [[ $code -eq 0 || $(wc -l <"$work/err") -ne 1 ||
        $err != '{"error": "'*'", "code": "'*'", "exit": '"$code"'}' ]] ||
        { [[ -s $work/out ]] && ! is_json "$work/out"; }; then
        wrong+="$* ($code): $err; "
    fi
}
# all_fail SENTENCE: says whether all of them did since the last time.
all_fail() {
    is "$1" "$wrong" ""
    wrong=
}

# The arguments of a command, which are right, but for a file: there is none.
arguments() {
    case $1 in
    next | number) echo k ;;
    show) echo stats ;;
    quarantine | rescue | drain | resume) echo main/0 ;;
    advance) echo k --to 5 ;;
    decode | parse) echo k 1 ;;
    check) echo "$work/none" ;;
    migrate) echo "$work/none $work/neither" ;;
    trust) echo "$work/none a" ;;
    esac
}

commands=$("$build/seqctl" help --json | grep -o '"name": "[a-z]*"' |
    cut -d'"' -f4)
offline="check migrate trust settings config password token help"
like "all commands are known" " $(tr '\n' ' ' <<<"$commands")" \
    "* next *status *check *help *"

# shellcheck disable=SC2046,SC2086 # words
{
    for command in $commands; do
        fails "$command" $(arguments "$command") --no-such-option
        fails "$command" $(arguments "$command") --count
        fails "$command" one two three four five=six --shard=x
        fails "$command" $(arguments "$command") --count many
    done
    fails frobnicate
    fails --no-such-option
    fails
    all_fail "wrong usage is an object"

    for command in $commands; do
        [[ " $offline " != *" $command "* ]] || continue
        fails $nobody "$command" $(arguments "$command")
        fails -s tls://nowhere "$command" $(arguments "$command")
        fails $there "$command" $(arguments "$command") \
            --user nobody --password-file "$work/none"
        fails $there "$command" $(arguments "$command") \
            --user nobody --password-file "$work/password"
    done
    all_fail "no daemon, and a login that is refused"

    echo 'polls = ();' >"$work/bad.conf"
    echo 'key' >"$work/keys"
    for file in "$work/none" "$work/bad.conf" "$work"; do
        fails check "$file"
        fails check --probe "$file"
        fails migrate "$file" "$work/patient.conf"
        fails migrate "$work/patient.conf" "$file" --keys "$work/keys"
        fails trust "$file" a
    done
    fails migrate "$work/patient.conf" "$work/patient.conf" --keys "$work/none"
    fails trust "$work/patient.conf" nobody
    fails settings nonsense
    fails help nonsense
    all_fail "no file, and one that is none"

    fails $there next 'no key'
    fails $there next k --shard 3
    fails $there number k
    fails $there decode k x
    fails $there parse k 1
    fails $there status nobody
    fails $there status --sort size
    fails $there status --color red
    fails $there show nothing
    fails $there show config nothing
    fails $there show events --since ever
    fails $there quarantine nobody
    fails $there rescue nobody
    fails $there drain nobody
    fails $there resume nobody
    fails $there advance k
    fails $there advance k --to 9000000000000000000
    fails $there $nobody next k
    mv "$work/patient.conf" "$work/away.conf"
    fails $there reload
    fails $there reload --check
    all_fail "what is refused"
    mv "$work/away.conf" "$work/patient.conf"
}

# --- a file ---

does "the error of check names the file" \
    "2 {*\"mistakes\": \[\"*/none: *\"\],*}{\"error\": \"*none: No such file*\", \"code\": \"CONFIG\", \"exit\": 2}" \
    check "$work/none" --json
printf 'broker = { name = 5; };\npolls = ();\n' >"$work/bad.conf"
does "or how many mistakes it has" \
    "2 {*\"mistakes\": \[*\],*}{\"error\": \"$work/bad.conf: [2-9] mistakes\", \"code\": \"CONFIG\", \"exit\": 2}" \
    check "$work/bad.conf" --json
does "a probe has the mistakes themselves" \
    "2 {\"error\": \"$work/bad.conf:1: *bad.conf:2: *\", \"code\": \"CONFIG\", \"exit\": 2}" \
    check --probe "$work/bad.conf" --json

# --- what is no JSON ---

for command in $commands; do
    seqctl "$command" --help --json
    [[ $code -eq 0 && $out = '{"commands": [{"name": "'"$command"'", '*']}' ]] ||
        wrong+="$command ($code) "
done
is "the help of a command is JSON, too" "$wrong" ""
for option in --watch --markdown; do
    does "$option is not for JSON" \
        "2 {\"error\": \"status takes * or *, not both\", \"code\": \"USAGE\", \"exit\": 2}" \
        -s "$daemon_socket" status --json "$option"
done
does "nor is the page of the settings" \
    '2 {"error": "settings takes * or *, not both", *}' \
    settings --markdown --json

tap_end
