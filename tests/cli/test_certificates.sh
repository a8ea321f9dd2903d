#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Users by their certificates: redis-cli, curl and seqctl as whom they show;
# certificates of nobody; names that are to deceive; a reload; the audit.
# Usage: test_certificates.sh BUILD_FOLDER
# shellcheck disable=SC2317 # functions are called by ok() and wait_for()
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/certificates.sh
. "$(dirname "$0")/certificates.sh"

# topology AUTH USER...: by.conf, with that tls_client_auth and these users.
topology() {
    local users
    users=$(printf '    { %s },\n' "${@:2}")
    {
        cat "$work/patient.conf"
        cat <<END
daemon = {
    tls_cert_file = "$work/server.crt"; tls_key_file = "$work/server.key";
    tls_ca_file = "$work/ca.crt"; tls_client_auth = "$1";
    audit_file = "$work/audit";
};
users = (
${users%,}
);
END
    } >"$work/by.conf"
}

# secure_start NAME: with by.conf. Sets tls_port and https_port.
secure_start() {
    daemon_start "$1" -c "$work/by.conf" --tls-listen 127.0.0.1:0 \
        --https 127.0.0.1:0 || return 1
    tls_port=$(sed -n 's/.* tls=[^ ]*:\([0-9]*\) .*/\1/p' "$daemon_log")
    https_port=$(sed -n 's/.* https=[^ ]*:\([0-9]*\)$/\1/p' "$daemon_log")
}

# shows CERTIFICATE WORD...: redis-cli that shows it; - shows none.
shows() {
    local own=(--cert "$work/$1.crt" --key "$work/$1.key")
    [ "$1" != - ] || own=()
    timeout 60 redis-cli --tls --cacert "$work/ca.crt" "${own[@]}" \
        --no-auth-warning -p "$tls_port" "${@:2}" 2>&1
}

# get CERTIFICATE PATH [OPTION...]: the status of HTTPS, its body in $work/body.
get() {
    local own=(--cert "$work/$1.crt" --key "$work/$1.key")
    [ "$1" != - ] || own=()
    timeout 60 curl -sS -o "$work/body" -w '%{http_code}' \
        --cacert "$work/ca.crt" "${own[@]}" \
        "https://localhost:$https_port$2" "${@:3}" 2>&1
}

# reloaded: the daemon follows by.conf.
reloaded() {
    timeout 60 "$build/seqctl" -s "$daemon_socket" -t 60 reload >"$work/out" 2>&1
}

audit_has() { # GLOB
    [[ $(<"$work/audit") == $1 ]]
}

ok "certificates are made" ca ca
ok "and those of another CA" ca other
certificate server ca DNS:localhost,IP:127.0.0.1
certificate shop ca DNS:shop.example
certificate web ca URI:spiffe://example/web
certificate boss ca DNS:boss.example
certificate guest ca DNS:guest.example
certificate forged other DNS:shop.example,URI:spiffe://example/web
# The common names of two users, and the names of two.
certificate_of twice ca /CN=boss/CN=shop DNS:nobody.example
certificate_of mixed ca /CN=boss URI:spiffe://example/web
# An alternative name in the place of the common one, and the other way round.
certificate_of dressed ca '/CN=URI:spiffe:\/\/example\/web' DNS:boss

hash=$(printf 'pass-word\n' | "$build/seqctl" password)
shop='name = "shop"; role = "take"; keys = [ "order*" ]; certificate = "shop";'
web='name = "web"; role = "take"; certificate = "URI:spiffe://example/web";'
boss='name = "boss"; role = "admin"; certificate = "boss";'
other="name = \"other\"; role = \"read\"; password_hash = \"$hash\";"

# --- who it is ---

topology optional "$shop" "$web" "$boss" "$other"
secure_start optional || exit 1
like "the common name says who takes" "$(shows shop INCR order)" "[0-9]*"
like "with its keys alone" "$(shows shop INCR bill)" \
    "NOPERM user 'shop' may not use the key 'bill'"
like "and its role" "$(shows shop SEQ.PARTITION DRAIN main/1)" "NOPERM *"
like "which CLIENT LIST shows" "$(shows shop CLIENT LIST)" "* user=shop *"
like "an alternative name, too" "$(shows web INCR bill)" "[0-9]*"
like "who shows none has to log in" "$(shows - INCR order)" "NOAUTH *"
like "so has who shows one of nobody" "$(shows guest INCR order)" "NOAUTH *"
is "and may ask whether it lives" "$(shows guest PING)" PONG
like "one of another CA is refused" "$(shows forged INCR order)" "*rror*"
like "a login goes before the certificate" \
    "$(REDISCLI_AUTH=pass-word shows shop --user other INCR order)" "NOPERM *"
like "RESET is who the certificate says" \
    "$(printf 'AUTH other pass-word\nRESET\nINCR order-9\n' | shows shop | tail -n 1)" \
    "[0-9]*"
like "a certificate of several common names is nobody's" \
    "$(shows twice INCR order)" "NOAUTH *"
like "so is one of two users" "$(shows mixed INCR order)" "NOAUTH *"
like "a common name is no alternative name, nor the other way round" \
    "$(shows dressed INCR order)" "NOAUTH *"

# --- HTTP ---

next=/v1/sequences/order/next
is "HTTPS knows who asks" "$(get shop $next -X POST)" 200
is "with its keys alone" "$(get shop /v1/sequences/bill/next -X POST)" 403
is "who shows none has to log in" "$(get - $next -X POST)" 401
is "so has who shows one of nobody" "$(get guest $next -X POST)" 401
is "probes are open" "$(get - /livez)" 200
is "Authorization goes before the certificate" \
    "$(get shop $next -X POST -u other:pass-word)" 403
is "and is wrong if it is wrong" \
    "$(get shop $next -X POST -u other:wrong)" 401
is "each request of a connection is the user's" \
    "$(get shop $next -X POST --next -sS -o "$work/second" \
        -w '%{http_code}%{num_connects}' --cacert "$work/ca.crt" \
        --cert "$work/shop.crt" --key "$work/shop.key" -X POST \
        "https://localhost:$https_port$next")" 2002000

# --- orders, and the audit ---

does "seqctl gives orders by its certificate" "0 main/1: drained*" \
    -s "tls://localhost:$tls_port" --tls-ca "$work/ca.crt" -t 60 \
    --tls-cert "$work/boss.crt" --tls-key "$work/boss.key" drain main/1
ok "the audit says by which means" audit_has \
    "*event=order user=boss by=certificate from=127.0.0.1:* command=\"SEQ.PARTITION DRAIN\"*"
ok "of those refused, too" audit_has \
    "*event=order_refused user=shop by=certificate from=*"
REDISCLI_AUTH=pass-word shows shop --user other SEQ.DRAIN >"$work/trash"
ok "and of a password" audit_has \
    "*event=order_refused user=other by=password from=*"
does "the socket is one, too" "0 main/1: *" -s "$daemon_socket" resume main/1
ok "which it says" audit_has "*event=order user=uid:* by=socket from=*"

# --- a reload ---

coproc STANDING { shows shop; }
standing=$STANDING_PID
track "$standing"
printf 'INCR order\n' >&"${STANDING[1]}"
read -r -t 60 first <&"${STANDING[0]}"
like "a connection stands" "$first" "[0-9]*"
timeout 60 curl -sSN --cacert "$work/ca.crt" --cert "$work/web.crt" \
    --key "$work/web.key" "https://localhost:$https_port/v1/events" \
    >"$work/events" 2>&1 &
stream=$!
track "$stream"
ok "so does a stream" wait_for test -s "$work/events"
topology optional "${shop/certificate = \"shop\"/certificate = \"guest\"}" \
    "$boss" "$other"
ok "the names change" reloaded
user_is_gone() { ! [[ $(cli_local CLIENT LIST) == *user=shop* ]]; }
ok "a connection whose certificate is nobody's is closed" wait_for user_is_gone
reap "$stream"
is "so is the stream of a user who is gone" "$([ $? = 124 ]; echo $?)" 1
like "the new name says who it is" "$(shows guest INCR order)" "[0-9]*"
like "the old one does not" "$(shows shop INCR order)" "NOAUTH *"
kill "$standing" 2>>"$work/trash"
reap "$standing"
topology optional "$boss" "name = \"two\"; role = \"read\"; certificate = \"boss\";"
is "one name of two users is refused" "$(reloaded; echo $?)" 1
like "and told with its line" "$(<"$work/out")" \
    "*by.conf:*'certificate' \"boss\" is that of the user 'boss', too*"
like "which changes nothing" "$(shows boss INCR order)" "[0-9]*"
daemon_stop
like "a start refuses it, too" "$(refused -c "$work/by.conf" \
    --state-dir "$work/two" --tls-listen 127.0.0.1:0)" \
    "*is that of the user 'boss', too*exit 1"

# --- users are wanted ---

topology user "$shop" "$boss" "$other"
secure_start user || exit 1
like "and serves them" "$(shows shop INCR order)" "[0-9]*"
like "one of nobody is refused" "$(shows guest PING)" \
    "*NOAUTH the certificate belongs to no user*"
ok "which the audit says" audit_has \
    "*event=login_refused user=guest from=127.0.0.1:* command=TLS reason=\"no user's certificate\"*"
like "no login helps it" "$(REDISCLI_AUTH=pass-word shows guest --user other PING)" \
    "*NOAUTH the certificate belongs to no user*"
like "who shows none is refused" "$(shows - PING)" "*rror*"
is "HTTPS serves users" "$(get shop $next -X POST)" 200
is "and refuses others" "$(get guest /livez)" 403
like "with the reason" "$(<"$work/body")" "*belongs to no user*"
is "the plain port is as it was" "$(cli PING)" PONG
is "no secret is in the log" "$(cat "$daemon_log" "$work/audit" |
    grep -c -e pass-word -e PRIVATE)" 0
daemon_stop

tap_end
