/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both ends of TLS in one program: makes certificates, and connects two
 * contexts by a handshake. A failure fails the test.
 */
#pragma once

#include <stdbool.h>

#include <openssl/types.h>
#include <openssl/x509v3.h>

#include "tls/tls.h"

#define TLS_PAIR_PATH_SIZE 128

/* The files of a certificate, which is self-signed unless a function says
 * otherwise, and of its key. */
struct tls_files {
    char folder[64];
    char cert[TLS_PAIR_PATH_SIZE];
    char key[TLS_PAIR_PATH_SIZE];
    char root[TLS_PAIR_PATH_SIZE]; /* only of a chain */
};

/* A certificate with that common name and these alternative names, in the form
 * of openssl.cnf: "DNS:a.example,URI:b". */
void tls_files_make(struct tls_files *out, const char *common_name,
                    const char *names);

/* The same, but it expired a day ago. */
void tls_files_make_expired(struct tls_files *out, const char *common_name,
                            const char *names);

/* The same with that subject and these alternative names, which the caller
 * still owns. */
void tls_files_make_of(struct tls_files *out, const X509_NAME *subject,
                       GENERAL_NAMES *names);

/* The same, but signed by an intermediate CA, and this by a root CA, whose
 * certificate is out->root. out->cert has the intermediate one, too, unless
 * `is_short`. */
void tls_files_make_chain(struct tls_files *out, const char *common_name,
                          const char *names, bool is_short);

/* Makes the files readable for servers that run as another user. */
void tls_files_share(const struct tls_files *files);

void tls_files_remove(struct tls_files *files);

/* Non-blocking sockets, and the TLS connections over them. */
struct tls_pair {
    int server_fd, client_fd;
    SSL *server, *client;
};

/* Does the handshake. The server asks for a certificate. Both ends use `files`
 * as their own certificate and trust it. */
void tls_pair_open(struct tls_pair *out, const struct tls_files *files);

/* Whether the certificate that this end has itself is of that common name. */
bool tls_is_named(const SSL *ssl, const char *common_name);

/* Closes what the test has not closed. */
void tls_pair_close(struct tls_pair *pair);
