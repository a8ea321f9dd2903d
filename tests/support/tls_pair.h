/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two ends of TLS in one program: certificates made here, and a handshake
 * between two contexts. What fails fails the test.
 */
#pragma once

#include <openssl/types.h>
#include <openssl/x509v3.h>

#include "tls/tls.h"

#define TLS_PAIR_PATH_SIZE 128

/* A certificate that is its own CA, and its key, as files. */
struct tls_files {
    char folder[64];
    char cert[TLS_PAIR_PATH_SIZE];
    char key[TLS_PAIR_PATH_SIZE];
};

/* With that common name and these alternative names, as openssl.cnf has them:
 * "DNS:a.example,URI:b". */
void tls_files_make(struct tls_files *out, const char *common_name,
                    const char *names);

/* The same of one that expired a day ago. */
void tls_files_make_expired(struct tls_files *out, const char *common_name,
                            const char *names);

/* The same with that subject and these alternative names, which stay the
 * caller's. */
void tls_files_make_of(struct tls_files *out, const X509_NAME *subject,
                       GENERAL_NAMES *names);

/* Lets servers read them that run as another user. */
void tls_files_share(const struct tls_files *files);

void tls_files_remove(struct tls_files *files);

/* Sockets, which do not block, and what speaks over them. */
struct tls_pair {
    int server_fd, client_fd;
    SSL *server, *client;
};

/* Shakes hands. The server asks for certificates, and both ends show and trust
 * that one. */
void tls_pair_open(struct tls_pair *out, const struct tls_files *files);

/* Closes what the test has not. */
void tls_pair_close(struct tls_pair *pair);
