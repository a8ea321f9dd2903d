#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TLS: what clients see of it, with certificates made here; the files replaced;
# handshakes that fail or hang; HTTPS; a restart in place; seqctl.
# Usage: test_tls.sh BUILD_FOLDER
# shellcheck disable=SC2317 # functions are called by ok() and wait_for()
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/certificates.sh
. "$(dirname "$0")/certificates.sh"

"$build/seqctl" token >"$work/token"

# topology NAME LINE...: the patient one with these lines in `daemon`, in which
# whoever comes may take numbers, and the user "operator" give orders.
topology() {
    {
        cat "$work/patient.conf"
        printf 'daemon = {\n%s\n};\n' "$(printf '    %s\n' "${@:2}")"
        printf 'users = ( { name = "default"; role = "take"; },
            { name = "operator"; role = "admin"; token_hash = "%s"; } );\n' \
            "$(sed -n 's/^token_hash *//p' "$work/token")"
    } >"$work/$1.conf"
}

# pair NAME: the two settings of a certificate.
pair() {
    printf 'tls_cert_file = "%s"; tls_key_file = "%s";' \
        "$work/$1.crt" "$work/$1.key"
}

# secure_start NAME [OPTION...]: with that topology, TLS and HTTPS at free
# ports. Sets tls_port and https_port.
secure_start() {
    daemon_start "$1" -c "$work/$1.conf" --tls-listen 127.0.0.1:0 \
        --https 127.0.0.1:0 "${@:2}" || return 1
    tls_port=$(sed -n 's/.* tls=[^ ]*:\([0-9]*\) .*/\1/p' "$daemon_log")
    https_port=$(sed -n 's/.* https=[^ ]*:\([0-9]*\)$/\1/p' "$daemon_log")
}

# secure WORD...: redis-cli by TLS, trusting the CA. With $shows, showing that
# certificate.
shows=
secure() {
    local own=()
    [ -z "$shows" ] ||
        own=(--cert "$work/$shows.crt" --key "$work/$shows.key")
    timeout 60 redis-cli --tls --cacert "$work/ca.crt" "${own[@]}" \
        -p "$tls_port" "$@" 2>&1
}

# shake OPTION...: a handshake by openssl, and what it printed.
shake() {
    timeout 60 openssl s_client -connect "127.0.0.1:$tls_port" \
        -CAfile "$work/ca.crt" "$@" </dev/null 2>&1
}

# serial PORT: of the certificate that is served there.
serial() {
    timeout 60 openssl s_client -connect "127.0.0.1:$1" </dev/null \
        2>>"$work/trash" | openssl x509 -noout -serial
}

# get PATH [OPTION...]: by HTTPS.
get() {
    timeout 60 curl -sS --cacert "$work/ca.crt" \
        "https://localhost:$https_port$1" "${@:2}" 2>&1
}

log_has() { # GLOB
    [[ $(<"$daemon_log") == $1 ]]
}

# asks_secure PORT WORD...: seqctl by TLS, trusting the CA.
asks_secure() {
    seqctl -s "tls://localhost:$1" --tls-ca "$work/ca.crt" -t 60 "${@:2}"
}

both=DNS:localhost,IP:127.0.0.1
ok "certificates are made" ca ca
ok "and those of another CA" ca other
for name in server next; do certificate "$name" ca "$both"; done
certificate elsewhere ca DNS:elsewhere.example
certificate soon ca "$both" -days 3
certificate expired ca "$both" -days -1
certificate client ca URI:spiffe://example/client
certificate stranger other DNS:stranger.example
rsa_key() { openssl genrsa -aes128 -passout pass:x -out "$1" 2048; }
rsa_key "$work/locked.key" 2>>"$work/trash"

# --- clients ---

topology plain "$(pair server)"
ok "a daemon serves by TLS" secure_start plain
first=$(secure INCR order)
like "redis-cli takes a number" "$first" "[0-9]*"
is "and the next one" "$(secure INCR order)" $((first + 1))
like "a client that trusts another CA refuses the server" \
    "$(timeout 60 redis-cli --tls --cacert "$work/other.crt" -p "$tls_port" \
        PING 2>&1)" "*certificate verify failed*"
plain_ping() {
    timeout 60 redis-cli -p "$tls_port" PING 2>&1
}
like "a client without TLS is told what the port wants" "$(plain_ping)" \
    "ERR this port speaks TLS only: *"
plain_is_logged() { # GLOB: by a line a second
    plain_ping >>"$work/trash"
    log_has "*event=tls_failed peer=127.0.0.1:* reason=*speaks no TLS$1"
}
ok "which the log says" wait_for plain_is_logged "*"
ok "and how many lines it left out" wait_for plain_is_logged \
    "* left_out=[1-9]*"
is "it may speak TLS 1.2" \
    "$(shake -tls1_2 | sed -n 's/^ *Protocol *: //p' | head -n 1)" TLSv1.2
like "in which its ciphers have forward secrecy" "$(shake -tls1_2)" \
    "*Cipher is ECDHE-*"
like "but not TLS 1.1" \
    "$(shake -tls1_1 -cipher DEFAULT@SECLEVEL=0)" "*alert protocol version*"
is "100,000 commands in one stream are answered" \
    "$("$build/tests/tls_client" "$tls_port" "$work/ca.crt" 100000)" 100000
is "a client that has said its end gets all answers, and the server's end" \
    "$("$build/tests/tls_client" "$tls_port" "$work/ca.crt" 20000 end)" \
    "20000 told"

is "so does one that asks for new keys, and reads none of the answers" \
    "$("$build/tests/tls_client" "$tls_port" "$work/ca.crt" 1000 renew)" 1000

# counted NAME: what INFO counts.
counted() {
    secure INFO stats | tr -d '\r' | sed -n "s/^$1://p"
}
before=$(counted tls_handshakes)
"$build/tests/tls_client" "$tls_port" "$work/ca.crt" 1000 renew >"$work/trash"
is "new keys are no further handshake" "$(counted tls_handshakes)" \
    $((before + 2))
ok "those that failed are counted, too" [ "$(counted tls_failed)" -gt 0 ]

# --- handshakes that hang, or are none ---

# More than there may be at a time.
daemon_port=$tls_port
ulimit -n "$(ulimit -H -n)"
fds=()
for ((i = 0; i < 1100; i++)); do
    dial
    fds+=("$dialled")
done
for ((i = 0; i < 1100; i += 2)); do
    say "${fds[i]}" '\x16\x03\x01\x02' # the begin of a record
done
is "eleven hundred that hang keep nobody out" "$(secure PING)" PONG
ok "the oldest ones are closed" [ "$(hear "${fds[0]}")" = "(nothing: )" ]
ok "which the log says" wait_for log_has "*event=tls_failed *took too long*"
for fd in "${fds[@]}"; do hang_up "$fd"; done
dial
say "$dialled" '\x16\x03\x01\x00\x05garbage'
like "garbage is answered by an alert" \
    "$(timeout 60 od -An -tx1 -N1 <&"$dialled")" " 15"
hang_up "$dialled"
daemon_port=$(sed -n 's/.* listen=[^ ]*:\([0-9]*\) socket.*/\1/p' "$daemon_log")
is "the plain port serves as before" "$(cli PING)" PONG

# --- HTTP ---

is "HTTPS serves probes" "$(get /readyz)" serving
like "and numbers" "$(get /v1/sequences/order/next -X POST)" '*"numbers":*'
is "a connection carries several requests" \
    "$(get /livez -o "$work/first" -w '%{num_connects}' --next -sS \
        --cacert "$work/ca.crt" "https://localhost:$https_port/livez")" 1ok
many=$(for ((i = 0; i < 50; i++)); do
    printf 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n'
done
printf 'GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n.')
is "requests that are sent ahead are answered" \
    "$(printf %s "${many%.}" | timeout 60 openssl s_client -quiet \
        -connect "127.0.0.1:$https_port" 2>>"$work/trash" | grep -c '^ok')" 51
like "a client of HTTP without TLS sees an end" \
    "$(timeout 60 curl -sS "http://localhost:$https_port/livez" 2>&1)" \
    "*Empty reply*"
is "which is no end of the daemon" "$(get /livez)" ok

daemon_plain=$daemon_port
daemon_port=$https_port
dial
silent=$dialled
daemon_port=$daemon_plain

# --- the files are replaced ---

coproc STANDING {
    redis-cli --tls --cacert "$work/ca.crt" -p "$tls_port"
}
standing=$STANDING_PID
track "$standing"
printf 'INCR standing\n' >&"${STANDING[1]}"
read -r -t 60 before <&"${STANDING[0]}"
was=$(serial "$tls_port")
cp "$work/next.crt" "$work/server.crt"
ok "a certificate without its key is not used" wait_for log_has \
    "*event=tls_reload_failed reason=*is not the key of the certificate*"
is "and the old one is served" "$(serial "$tls_port")" "$was"
cp "$work/next.key" "$work/server.key"
ok "with its key it is" wait_for log_has "*event=tls_reloaded *"
isnt=$(serial "$tls_port")
ok "new connections get it" [ "$isnt" != "$was" ]
is "of HTTP, too" "$(serial "$https_port")" "$isnt"
chmod g+r "$work/server.key"
ok "a changed mode is a changed file, for who may read it is another" \
    wait_for log_has "*event=tls_reloaded *event=tls_reloaded *"
printf 'INCR standing\n' >&"${STANDING[1]}"
read -r -t 60 after <&"${STANDING[0]}"
is "a connection that stands goes on" "$after" $((before + 1))
kill "$standing"
reap "$standing"

# --- time-outs, which have passed meanwhile, or will soon ---

is "a client of HTTPS that says nothing is closed" \
    "$(hear "$silent")" "(nothing: )"
hang_up "$silent"

# --- a restart in place, and the end ---

kill -USR2 "$daemon_pid"
ok "it restarts" wait_for log_has "*event=ready *event=ready *"
like "at the same addresses" "$(tail -n 1 "$daemon_log")" \
    "* tls=127.0.0.1:$tls_port https=127.0.0.1:$https_port"
like "where TLS is served" "$(secure INCR order)" "[0-9]*"
is "and HTTP by TLS" "$(get /readyz)" serving
"$build/tests/tls_client" "$tls_port" "$work/ca.crt" 1 stay >"$work/stay" &
stays=$!
track "$stays"
ok "a client is connected" wait_for eval \
    '[ "$(cli CLIENT LIST | grep -c cmd=incr)" = 1 ]'
daemon_stop TERM
reap "$stays"
is "a stop ends it as TLS does" "$(<"$work/stay")" "1 told"
is "and ends with 0" "$daemon_code" 0

# --- sockets of another program ---

daemon_log=$work/held.log
: >"$daemon_log"
"$build/tests/holder" "$work/ports" tls:tcp https:tcp -- "$build/seqbrokerd" \
    -c "$work/plain.conf" --state-dir "$work/held" --listen none \
    --tls-listen 127.0.0.1:1 --https 127.0.0.1:1 2>>"$daemon_log" &
holder=$!
track "$holder"
ok "it takes them" wait_for daemon_serves
mapfile -t ports <"$work/ports"
tls_port=${ports[0]} https_port=${ports[1]}
like "in place of its own" "$(<"$daemon_log")" \
    "* tls=127.0.0.1:$tls_port https=127.0.0.1:$https_port*"
like "and serves by TLS at one" "$(secure INCR order)" "[0-9]*"
is "and HTTPS at the other" "$(get /livez)" ok
kill -TERM "$holder"
reap "$holder"

# --- clients that show certificates ---

topology required "$(pair next)" "tls_ca_file = \"$work/ca.crt\";" \
    'tls_client_auth = "required";'
ok "certificates of clients may be required" secure_start required
like "a client without one is refused" "$(secure PING)" "*rror*"
ok "and the log says why" wait_for log_has \
    "*tls_failed *reason=\"peer did not return a certificate\"*"
shows=stranger
like "so is one whose CA is another" "$(secure PING)" "*rror*"
shows=client
is "one with a certificate of the CA is served" "$(secure PING)" PONG
shows=
like "HTTPS wants one, too" "$(get /livez)" "curl: *"
is "and serves who has one" \
    "$(get /livez --cert "$work/client.crt" --key "$work/client.key")" ok
asks_secure "$tls_port" health
is "seqctl is refused without one" "$code" 3
asks_secure "$tls_port" --tls-cert "$work/client.crt" \
    --tls-key "$work/client.key" health
is "and served with one" "$code $out" "0 serving"
daemon_stop TERM

topology optional "$(pair next)" "tls_ca_file = \"$work/ca.crt\";" \
    'tls_client_auth = "optional";' 'tls_min_version = "1.3";'
ok "they may be optional" secure_start optional
is "then a client needs none" "$(secure PING)" PONG
shows=stranger
like "but a wrong one is refused" "$(secure PING)" "*rror*"
shows=
like "a daemon of TLS 1.3 speaks no 1.2" "$(shake -tls1_2)" \
    "*alert protocol version*"

# --- seqctl ---

asks_secure "$tls_port" next order
like "seqctl takes a number" "$code $out" "0 [0-9]*"
asks_secure "$tls_port" next order --count 20000
is "and 20,000" "$(sort -u "$work/out" | wc -l)" 20000
does "it trusts the CAs that it is told of" \
    "3 *TLS: certificate verify failed: *" \
    -s "tls://localhost:$tls_port" --tls-ca "$work/other.crt" health
does "a server without TLS is told" "3 *TLS: *" \
    -s "tls://localhost:$daemon_port" --tls-ca "$work/ca.crt" -t 60 health
does "a CA file that is not there is told" \
    "2 *cannot use --tls-ca $work/none: No such file or directory*" \
    -s "tls://localhost:$tls_port" --tls-ca "$work/none" next order
does "an address without a port is told" "2 *-s wants tls://HOST:PORT*" \
    -s tls://localhost next order
does "options of TLS are for TLS" "2 *are for a broker that is named by*" \
    -s "127.0.0.1:$daemon_port" --tls-ca "$work/ca.crt" next order
does "a certificate needs its key" "2 *--tls-cert and --tls-key go together*" \
    -s "tls://localhost:$tls_port" --tls-cert "$work/client.crt" next order
SEQCTL_PASSWORD=$(sed -n 's/^token  *//p' "$work/token")
export SEQCTL_PASSWORD
asks_secure "$tls_port" --user operator drain --broker
unset SEQCTL_PASSWORD
is "it waits until a daemon has stopped" "$code" 0
reap "$daemon_pid"
is "which ends with 0" "$?" 0

for name in elsewhere expired; do
    topology "$name" "$(pair "$name")"
    ok "a daemon serves with the certificate '$name'" secure_start "$name"
    asks_secure "$tls_port" health
    like "which seqctl refuses" "$code $err" \
        "3 *certificate verify failed: *${name/elsewhere/hostname mismatch}*"
    daemon_stop TERM
done
like "that it has expired is said at the start" "$(<"$daemon_log")" \
    "*warn event=tls_expires file=$work/expired.crt expires=*days=-*"

# --- check ---

# checked NAME LINE...: what both programs say of a topology.
checked() {
    topology "$@"
    refused -c "$work/$1.conf" --state-dir "$work/$1" --check
    "$build/seqctl" check "$work/$1.conf"
    echo "exit $?"
}
like "a pair that fits is sound" "$(checked sound "$(pair next)")" \
    "*ok*exit 0*ok*exit 0"
like "a certificate that expires soon is a warning" \
    "$(checked soon "$(pair soon)")" \
    "*warning: tls_cert_file *soon.crt expires on *, in [23] days*exit 0*"
like "so is one that has expired" "$(checked expired "$(pair expired)")" \
    "*expired.crt expired on *exit 0*expired.crt expired on *exit 0"
chmod 644 "$work/next.key"
like "a key that everybody may read is refused" \
    "$(checked open "$(pair next)")" \
    "*tls_key_file *next.key: everybody may read it: chmod 600 it*exit 1*exit 2"
like "at the start as well" "$(refused -c "$work/open.conf" \
    --state-dir "$work/open" --socket none --listen 127.0.0.1:0 \
    --tls-listen 127.0.0.1:0)" \
    "*next.key: everybody may read it*exit 1"
chmod 640 "$work/next.key"
like "its group may" "$(checked grouped "$(pair next)")" "*ok*exit 0*ok*exit 0"
like "a key of another certificate is refused" \
    "$(checked apart "tls_cert_file = \"$work/next.crt\";" \
        "tls_key_file = \"$work/client.key\";")" \
    "*client.key is not the key of the certificate in *next.crt*exit 1*exit 2"
like "a file that is not there is named" \
    "$(checked absent "tls_cert_file = \"$work/none.crt\";" \
        "tls_key_file = \"$work/next.key\";")" \
    "*tls_cert_file $work/none.crt: No such file or directory*exit 1*exit 2"
like "a key with a passphrase is refused" \
    "$(checked locked "tls_cert_file = \"$work/next.crt\";" \
        "tls_key_file = \"$work/locked.key\";" </dev/null)" \
    "*locked.key: it has a passphrase*exit 1*exit 2"
like "TLS without a certificate is told with its line" \
    "$(checked bare 'tls_listen = [ "127.0.0.1:0" ];')" \
    "*bare.conf:*'tls_listen' needs a certificate: add tls_cert_file*exit 1*"
like "so it is where an option wants TLS" \
    "$(refused -c "$work/patient.conf" --state-dir "$work/bare" \
        --tls-listen 127.0.0.1:0)" \
    "*cannot start: TLS: there is no certificate: name it and its key*exit 1"

# --- memory ---

# A connection by TLS counts 16 KiB: 1 MiB is used up by 64.
topology small "$(pair next)" "max_client_memory = 1;" 'client_timeout = "1s";'
chmod 600 "$work/next.key"
secure_start small || exit 1
members=()
for ((i = 0; i < 70; i++)); do
    "$build/tests/tls_client" "$tls_port" "$work/ca.crt" 1 stay \
        >>"$work/trash" 2>&1 &
    members+=($!)
    track $!
done
ok "connections by TLS are counted, and refused beyond max_client_memory" \
    wait_for log_has \
    "*event=connections_refused count=[0-9]* limit=max_client_memory*"
is "one that has no room is refused" "$(secure PING | grep -c PONG)" 0
is "clients without TLS are served" "$(cli PING)" PONG
for i in "${members[@]}"; do
    kill -KILL "$i" 2>>"$work/trash"
    reap "$i"
done
is_served() { [ "$(secure PING)" = PONG ]; }
ok "the room of those that have left is free" wait_for is_served

# A ClientHello, a byte at a time: libevent hears of each, and so waits on.
daemon_port=$https_port
dial
is_ended_while_it_drips() {
    local byte
    for byte in 16 03 01 02 00 01 00 01 fc 03 03 {10..59}; do
        say "$dialled" "\\x$byte"
        IFS= read -r -t 0.2 -n 1 _ <&"$dialled"
        (($? < 128)) && return 0 # it is closed, and not only silent
    done
    return 1
}
ok "a handshake that comes byte by byte is ended" is_ended_while_it_drips
hang_up "$dialled"
daemon_stop

tap_end
