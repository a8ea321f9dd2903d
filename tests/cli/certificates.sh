# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # $work is of lib.sh
# Certificates for the tests of TLS, made by openssl. To be sourced after
# lib.sh. Files are in $work, by name: NAME.crt and NAME.key.

# ca NAME: one that signs the others.
ca() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
        -keyout "$work/$1.key" -out "$work/$1.crt" -days 100 \
        -subj "/CN=$1" >>"$work/trash" 2>&1
}

# certificate NAME CA ALTERNATIVE_NAMES [OPTION...]: with the common name NAME;
# options are those of openssl x509, as -days.
certificate() {
    certificate_of "$1" "$2" "/CN=$1" "${@:3}"
}

# certificate_of NAME CA SUBJECT ALTERNATIVE_NAMES [OPTION...]: the same with
# that subject, as "/CN=a/CN=b".
certificate_of() {
    local name=$1 ca=$2 subject=$3 names=$4
    shift 4
    [ $# -gt 0 ] || set -- -days 90
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
        -keyout "$work/$name.key" -out "$work/$name.csr" -subj "$subject" \
        >>"$work/trash" 2>&1 || return 1
    openssl x509 -req -in "$work/$name.csr" -CA "$work/$ca.crt" \
        -CAkey "$work/$ca.key" -CAcreateserial -out "$work/$name.crt" \
        -extfile <(printf 'subjectAltName=%s\n' "$names") "$@" \
        >>"$work/trash" 2>&1
}
