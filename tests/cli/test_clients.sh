#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Client libraries of others at the TLS listener: redis-cli, redis-py and
# ioredis take numbers one by one and in pipelines, as a user with a password, as
# one with a certificate, and as nobody. ioredis is no package of Debian:
# $NODE_PATH says where it is, and without it its part is skipped.
# Usage: test_clients.sh BUILD_FOLDER
# shellcheck disable=SC2317 # functions are called by way of a name
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/certificates.sh
. "$(dirname "$0")/certificates.sh"
here=$(cd "$(dirname "$0")" && pwd)

ok "certificates are made" ca ca
ok "and those of another CA" ca other
certificate server ca DNS:localhost,IP:127.0.0.1
certificate shop ca DNS:shop.example
certificate forged other DNS:shop.example
export CLIENT_PASSWORD=pass-word
hash=$(printf '%s\n' "$CLIENT_PASSWORD" | "$build/seqctl" password)
{
    cat "$work/patient.conf"
    cat <<END
daemon = {
    tls_cert_file = "$work/server.crt"; tls_key_file = "$work/server.key";
    tls_ca_file = "$work/ca.crt"; tls_client_auth = "optional";
};
users = (
    { name = "shop"; role = "take"; certificate = "shop"; },
    { name = "other"; role = "take"; password_hash = "$hash"; }
);
END
} >"$work/clients.conf"
daemon_start clients -c "$work/clients.conf" --tls-listen 127.0.0.1:0 || exit 1
tls_port=$(sed -n 's/.* tls=[^ ]*:\([0-9]*\)\( .*\)*$/\1/p' "$daemon_log")

# Each takes a CA and whose identity it shows: "user NAME", "certificate CRT
# KEY" or nothing; and prints the 510 numbers that it gets, or an error.
redis_cli() { # CA [WHO...]
    local own=() i
    case ${2-} in
    user) own=(--user "$3" --pass "$CLIENT_PASSWORD" --no-auth-warning) ;;
    certificate) own=(--cert "$3" --key "$4") ;;
    esac
    for ((i = 0; i < 510; i++)); do echo INCR order; done |
        timeout 60 redis-cli --tls --cacert "$1" -h localhost -p "$tls_port" \
            "${own[@]}" 2>&1
}
redis_py() {
    timeout 60 /usr/bin/python3 "$here/client_redis_py.py" "$tls_port" "$@" 2>&1
}
ioredis() {
    timeout 60 node "$here/client_ioredis.js" "$tls_port" "$@" 2>&1
}

# takes SENTENCE CLIENT [WHO...]: 510 numbers, none of which anyone had.
: >"$work/all"
takes() {
    "$2" "$work/ca.crt" "${@:3}" >"$work/out"
    is "$1" "$(grep -c '^[1-9][0-9]*$' "$work/out") of $(wc -l <"$work/out")" \
        "510 of 510"
    cat "$work/out" >>"$work/all"
}

# client NAME CLIENT
client() {
    takes "$1 takes as a user with a password" "$2" user other
    takes "$1 takes as a user with a certificate" "$2" \
        certificate "$work/shop.crt" "$work/shop.key"
    like "$1 as nobody has to log in" "$("$2" "$work/ca.crt")" \
        "*[Aa]uthentication required*"
    like "$1 with a wrong password is told so" \
        "$(CLIENT_PASSWORD=wrong "$2" "$work/ca.crt" user other)" \
        "*invalid username-password pair*"
    like "$1 refuses a broker of another CA" \
        "$("$2" "$work/other.crt" user other)" "*certificate*"
    like "a certificate of another CA helps $1 to nothing" \
        "$("$2" "$work/ca.crt" certificate "$work/forged.crt" \
            "$work/forged.key")" "*rror*"
}
client redis-cli redis_cli
if /usr/bin/python3 -c 'import redis' 2>>"$work/trash" || [ -n "${CI:-}" ]; then
    client redis-py redis_py
else
    skip "redis-py takes numbers" "python3-redis is not installed"
fi
if node -e 'require("ioredis")' >>"$work/trash" 2>&1; then
    client ioredis ioredis
else
    skip_allowed "ioredis takes numbers" "\$NODE_PATH leads to no ioredis"
fi
is "no number came twice" "$(sort "$work/all" | uniq -d)" ""
daemon_stop TERM
is "the daemon stops well" "$daemon_code" 0
tap_end
