/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS as both programs need it: the settings of a server, contexts of OpenSSL
 * made of files, what these files hold, and OpenSSL's errors as texts. Sockets
 * are left to the programs. The front header of this folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <openssl/types.h>

#include <seqbroker/status.h>

/* --- settings.c --- */

enum tls_client_auth {
    TLS_CLIENTS_NOT_ASKED,
    TLS_CLIENTS_OPTIONAL, /* a certificate that is sent must be valid */
    TLS_CLIENTS_REQUIRED,
    TLS_CLIENTS_USERS /* required, and that of a user */
};

/* Of the topology's section `daemon`. The strings are its own. All zero is
 * without TLS. */
struct tls_settings {
    char *cert_file; /* NULL: none */
    char *key_file;
    char *ca_file; /* of clients' certificates; NULL: none */
    enum tls_client_auth client_auth;
    bool is_1_3_only;
};

/* Takes a setting of the topology by its name; others are not its own, and
 * change nothing. False if memory is short. */
bool tls_settings_take(struct tls_settings *settings, const char *name,
                       const char *value);

void tls_settings_free(struct tls_settings *settings);

/* --- context.c --- */

/*
 * What connections of a server are made with: TLS 1.2 or later, ciphers with
 * forward secrecy, no renegotiation. The files are read now. `*out` is for
 * SSL_CTX_free; connections that were made with it keep it. SEQB_INVALID with
 * the setting, its file and the reason; SEQB_NO_MEMORY.
 */
enum seqb_status tls_server_context(const struct tls_settings *settings,
                                    SSL_CTX **out, struct seqb_error *err);

/* Of a client. NULL stands for the system's CAs, and for no certificate of its
 * own. The strings stay the caller's. */
struct tls_client_files {
    const char *ca_file, *cert_file, *key_file;
    bool is_unverified; /* the server need not prove who it is */
    bool is_of_backend; /* errors name the settings of a backend, else the
                           options of seqctl */
};

/* What connections of a client are made with. The rest is as with
 * tls_server_context. */
enum seqb_status tls_client_context(const struct tls_client_files *files,
                                    SSL_CTX **out, struct seqb_error *err);

/* Tells a connection, before its handshake, whom the server's certificate has
 * to be of: a name, which the server is told, or an address. False if memory
 * is short. */
bool tls_expect_host(SSL *ssl, const char *host);

/* --- certificate.c --- */

#define TLS_DATE_SIZE 64

/* Of a server's certificate. */
struct tls_validity {
    bool is_begun; /* its notBefore has passed */
    int days_left; /* until its notAfter; below 0: it has passed */
    char expires[TLS_DATE_SIZE]; /* "Nov 25 20:48:14 2027 GMT" */
};

/* Less than so many days are worth a warning. */
#define TLS_DAYS_SOON 14

/* By the system's clock, as OpenSSL reads it. `context` has a certificate. */
struct tls_validity tls_context_validity(SSL_CTX *context);

/*
 * Looks at the files of a server as a start would. Calls `report` with a line
 * "warning: ..." for a certificate that has expired, will within TLS_DAYS_SOON
 * days or is not valid yet, and for a key that everybody may read. SEQB_OK if
 * no certificate is set. Errors as of tls_server_context.
 */
enum seqb_status tls_files_check(const struct tls_settings *settings,
                                 void (*report)(void *context,
                                                const char *line),
                                 void *context, struct seqb_error *err);

#define TLS_NAME_SIZE 256
#define TLS_NAMES_MAX 8

/* Who a peer's certificate, which was checked, says that it is. A name that
 * is longer, or has a 0 in it, is left out. */
struct tls_peer {
    char common_name[TLS_NAME_SIZE]; /* of its subject; "": none, or several */
    /* The first alternative names, as "DNS:a.example", "email:a@b.example" or
     * "URI:spiffe://example/a". */
    char names[TLS_NAMES_MAX][TLS_NAME_SIZE];
    size_t name_count;
};

/* For free. NULL if the peer sent no certificate, if none was asked for, if it
 * is not one that our CAs have signed, or if memory is short. */
struct tls_peer *tls_peer_new(const SSL *ssl);

/* --- error.c --- */

#define TLS_REASON_SIZE 256

/* The first error that OpenSSL noted on this thread, in words; it stays noted.
 * "unknown reason" if there is none. */
void tls_reason(char out[static TLS_REASON_SIZE]);

/* The same of a handshake: why the peer's certificate was refused, if it
 * was. */
void tls_handshake_reason(const SSL *ssl, char out[static TLS_REASON_SIZE]);
