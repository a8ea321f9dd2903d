#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck source=tests/cli/lib.sh
#
# Roles from outside: the steps of docs/secure.md as they stand there, who is
# refused what, the audit, and where a daemon does not start.
# $1: the build folder.
here=$(dirname "${BASH_SOURCE[0]}")
. "$here/lib.sh"
page=$(cd "$here/../.." && pwd)/docs/secure.md

# steps FENCE: the blocks of the page's steps that begin with that fence.
steps() {
    awk -v fence="\`\`\`$1" '
        /^## / { is_steps = $0 == "## In steps" }
        { sub(/^   ( ?)/, "") }
        /^```/ { is_in = is_steps && $0 == fence; next }
        is_in' "$page"
}

# run_steps FENCE: runs them in the folder of the topology.
run_steps() {
    (cd "$work/site" && PATH=$build:$PATH password='tr0ub4dor&3' \
        port=$tls_port https=$https bash -euo pipefail -c "$(steps "$1")") 2>&1
}

# --- the steps of the page ---

mkdir "$work/site"
cp "$work/patient.conf" "$work/site/topology.conf"
tls_port='' https=''
out=$(run_steps sh)
is "the steps make users and certificates" $? 0
like "the topology with users is well" "$out" "*topology.conf: ok*topology.conf: ok"
sed -i "s|^daemon = {|&\n    audit_file = \"$work/audit\";|" "$work/site/topology.conf"
daemon_start secure -c "$work/site/topology.conf" --http 127.0.0.1:0 \
    --tls-listen 127.0.0.1:0 --https 127.0.0.1:0 || exit 1
tls_port=$(sed -n 's/.*event=ready.* tls=[^ ]*:\([0-9]*\) .*/\1/p' "$daemon_log")
https=$(sed -n 's/.*event=ready.* https=\([^ ]*\)$/\1/p' "$daemon_log")
out=$(run_steps "sh client")
is "clients log in" $? 0
is "by TLS alone" \
    "$(steps "sh client" | grep -c -e --tls -e tls:// -e https://)" 4
like "and get their numbers" "$out" \
    '[0-9]*{"sequence":*"bill"*{"sequence":*"order-7"*'

# --- who may do what ---

like "who has not logged in takes nothing" "$(cli INCR order)" "NOAUTH *"
is "and may ask whether it is alive" "$(cli PING)" PONG
like "a wrong password is refused" \
    "$(cli --user shop --pass wrong --no-auth-warning INCR order)" \
    "*WRONGPASS*NOAUTH*"
as_shop() {
    REDISCLI_AUTH='tr0ub4dor&3' cli --user shop "$@"
}
like "a user has its keys" "$(as_shop INCR order-8)" "[0-9]*"
like "and no others" "$(as_shop INCR bill)" "NOPERM user 'shop' may not use the key 'bill'"
like "and gives no orders" "$(as_shop SEQ.DRAIN)" "NOPERM SEQ.DRAIN is an order*"
asks_daemon=yes
dial
say "$dialled" 'AUTH shop tr0ub4dor&3\r\n'
is "a user logs in" "$(hear "$dialled")" "+OK"
does "the operator sees who is connected" "0 *127.0.0.1:* shop *auth*" show clients
hang_up "$dialled"
does "the operator needs no password" "0 main/1: drained*" drain main/1
does "and looks" "0 *drained*" status
asks_daemon=
(umask 077 && sed -n 's/^token  *//p' "$work/site/web.token" >"$work/token")
does "seqctl logs in by a file" "0 [0-9]*" -s "127.0.0.1:$daemon_port" \
    --user web --password-file "$work/token" next bill
chmod 644 "$work/token"
does "which others may not read" "2 seqctl: *chmod 600 it" \
    -s "127.0.0.1:$daemon_port" --user web --password-file "$work/token" next bill
does "health does not say that no daemon answers" \
    "3 unknown: the daemon reported no healthseqctl: NOAUTH *" \
    -s "127.0.0.1:$daemon_port" health
does "seqctl says what is wrong, and its options" \
    "1 seqctl: NOAUTH *seqctl logs in by --user NAME*" \
    -s "127.0.0.1:$daemon_port" next bill
does "a password has a user" "2 seqctl: *--user NAME" \
    -s "127.0.0.1:$daemon_port" --password-file "$work/token" next bill

# --- http ---

web() {
    curl -sS -o "$work/body" -w '%{http_code}' "$@"
}
is "probes are open" "$(web "http://$daemon_http/livez")" 200
is "metrics are not" "$(web "http://$daemon_http/metrics")" 401
like "and say what to do" "$(<"$work/body")" '*"code": "NOAUTH"*docs/secure.md*'
is "nor is another key" "$(web -u 'shop:tr0ub4dor&3' -X POST \
    "http://$daemon_http/v1/sequences/bill/next")" 403

# --- the audit ---

like "the audit has the order" "$(grep event=order "$work/audit" | tail -n 1)" \
    "20*Z event=order user=uid:* by=socket from=uid:* command=\"SEQ.PARTITION DRAIN\" target=main/1 before=* after=drained left_out=0"
like "and what was refused" "$(grep event=order_refused "$work/audit")" \
    "*user=shop by=password from=127.0.0.1:* command=SEQ.DRAIN *"
like "and the wrong login" "$(grep event=login_refused "$work/audit")" \
    "*user=shop from=127.0.0.1:* command=AUTH reason=wrong left_out=0"
is "a password in the place of the name is refused" \
    "$(cli AUTH 'tr0ub4dor&3' shop | cut -d' ' -f1) $(web -u 'tr0ub4dor&3:shop' \
        "http://$daemon_http/metrics")" "WRONGPASS 401"
is "and is not in the audit" "$(grep -c "event=login_refused user=(unknown) \
from=127.0.0.1:" "$work/audit")" 2
ok "which is counted" [ "$(cli_local INFO stats | tr -d '\r' |
    sed -n 's/^logins_refused://p')" -gt 0 ]
is "the audit is its owner's alone" "$(stat -c %a "$work/audit")" 600
is "no password is in the log" \
    "$(grep -c -e tr0ub4dor -e "$(<"$work/token")" "$daemon_log" "$work/audit" |
        cut -d: -f2 | sort -u)" 0
for _ in 1 2 3 4 5 6 7; do
    web -H 'Authorization: Bearer wrong' "http://$daemon_http/metrics" \
        >"$work/status"
done
is "a wrong token is refused each time" "$(<"$work/status")" 401
is "and slows no password of that address" "$(web -u 'shop:tr0ub4dor&3' \
    -X POST "http://$daemon_http/v1/sequences/order-8/next")" 200
like "seqctl show hides the hashes" \
    "$("$build/seqctl" -s "$daemon_socket" -t 60 show config 'users.*')" "*users.web.token_hash*[*][*][*]*"
daemon_stop

# --- where it does not start ---

like "an address that others reach wants users" \
    "$(refused --state-dir "$work/open" --listen 0.0.0.0:0 --socket none)" \
    "*0.0.0.0:* is not of loopback*open_to_all = true*exit 1"
like "so does one of HTTP" \
    "$(refused --state-dir "$work/open" --listen 127.0.0.1:0 --socket none \
        --http 0.0.0.0:0)" "*is not of loopback*exit 1"
cp "$work/patient.conf" "$work/open.conf"
echo 'daemon = { open_to_all = true; };' >>"$work/open.conf"
ok "unless it is open to all" \
    daemon_start open -c "$work/open.conf" --listen 0.0.0.0:0
like "who then may take" "$(cli INCR order)" "[0-9]*"
like "and give no orders" "$(cli SEQ.DRAIN)" "NOPERM *"
daemon_stop

# anyone ROLE [LINE]: a topology in which a client without a login has the role.
anyone() {
    {
        cat "$work/patient.conf"
        echo "users = ( { name = \"default\"; role = \"$1\"; } );"
        echo "${2-}"
    } >"$work/anyone.conf"
}
anyone admin
does "nobody gives orders without a login" \
    "2 *the user 'default' needs no login*could give orders*" \
    check "$work/anyone.conf"
like "and the daemon does not start" "$(refused -c "$work/anyone.conf" \
    --state-dir "$work/open" --listen 127.0.0.1:0 --socket none)" \
    "*the user 'default' needs no login*"
anyone take
like "a user without a login does not open an address to all" \
    "$(refused -c "$work/anyone.conf" --state-dir "$work/open" \
        --listen 0.0.0.0:0 --socket none)" "*is not of loopback*'default'*exit 1"
like "nor one of HTTP" "$(refused -c "$work/anyone.conf" \
    --state-dir "$work/open" --listen 127.0.0.1:0 --socket none \
    --http 0.0.0.0:0)" "*is not of loopback*exit 1"
anyone take 'daemon = { open_to_all = true; };'
ok "open_to_all does" \
    daemon_start anyone -c "$work/anyone.conf" --listen 0.0.0.0:0
daemon_stop
anyone read
ok "who only reads may" \
    daemon_start anyone -c "$work/anyone.conf" --listen 0.0.0.0:0
anyone take
asks_daemon=yes
does "a reload does not open it, either" \
    "1 *'default' could take numbers without a login*" reload
asks_daemon=
daemon_stop

cp "$work/patient.conf" "$work/wrong.conf"
echo 'users = ( { name = "x"; role = "king"; }, { name = "y"; role = "read"; },
    { name = "y"; role = "read"; password_hash = "secret"; } );' >>"$work/wrong.conf"
does "mistakes are told, and no password" \
    "2 *'role' is \"king\"*'x' can never log in*another user named 'y'*'password_hash' is no hash*" \
    check "$work/wrong.conf"
is "not even one in the place of its hash" "$(grep -c secret "$work/out" "$work/err" |
    cut -d: -f2 | sort -u)" 0
tap_end
