/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS for both programs: the settings of a server, OpenSSL contexts made from
 * files, the content of these files, and OpenSSL's errors as texts. Sockets are
 * left to the programs. This is the front header of the folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <openssl/types.h>

#include <seqbroker/status.h>

/* --- settings.c --- */

enum tls_client_auth {
    TLS_CLIENTS_NOT_ASKED,
    TLS_CLIENTS_OPTIONAL, /* a certificate is optional, but must be valid */
    TLS_CLIENTS_REQUIRED,
    TLS_CLIENTS_USERS /* required, and it must be a user's */
};

/* The TLS settings of the topology's section `daemon`. The struct owns its
 * strings. All zero: no TLS. */
struct tls_settings {
    char *cert_file; /* NULL: none */
    char *key_file;
    char *ca_file; /* the CAs of clients' certificates; NULL: none */
    enum tls_client_auth client_auth;
    bool is_1_3_only;
};

/* Takes a setting of the topology by its name; settings that are not of TLS are
 * ignored. False if out of memory. */
bool tls_settings_take(struct tls_settings *settings, const char *name,
                       const char *value);

void tls_settings_free(struct tls_settings *settings);

/* --- context.c --- */

/*
 * The context of a server's connections: TLS 1.2 or later, ciphers with forward
 * secrecy, no renegotiation. The files are read now, and so are the extensions
 * of the clients' CAs: memory that is short later invalidates none. The caller
 * frees `*out` with SSL_CTX_free; connections hold references to it.
 * SEQB_INVALID with the setting, its file and the reason; SEQB_NO_MEMORY.
 */
enum seqb_status tls_server_context(const struct tls_settings *settings,
                                    SSL_CTX **out, struct seqb_error *err);

/* The files of a client. NULL means the system's CAs, or no certificate of the
 * client. The caller owns the strings. */
struct tls_client_files {
    const char *ca_file, *cert_file, *key_file;
    bool is_unverified; /* the server need not prove its identity */
    bool is_of_backend; /* errors name the settings of a backend; otherwise the
                           options of seqctl */
};

/* The context of a client's connections. Otherwise see tls_server_context. */
enum seqb_status tls_client_context(const struct tls_client_files *files,
                                    SSL_CTX **out, struct seqb_error *err);

/* Sets, before the handshake, the host for which the server's certificate must
 * be valid: a name, which is also sent to the server (SNI), or an address.
 * False if out of memory. */
bool tls_expect_host(SSL *ssl, const char *host);

/* --- certificate.c --- */

#define TLS_DATE_SIZE 64

/* The validity of a server's certificate. */
struct tls_validity {
    bool is_begun;               /* notBefore has passed */
    int days_left;               /* until notAfter; negative: it has passed */
    char expires[TLS_DATE_SIZE]; /* "Nov 25 20:48:14 2027 GMT" */
};

/* With fewer days left, a warning is reported. */
#define TLS_DAYS_SOON 14

/* The validity by the system's clock, as OpenSSL reads it. `context` must have
 * a certificate. */
struct tls_validity tls_context_validity(SSL_CTX *context);

/*
 * Checks the files of a server as a start would. Calls `report` with a line
 * "warning: ..." for a certificate that has expired, will expire within
 * TLS_DAYS_SOON days or is not valid yet. SEQB_OK if no certificate is set. The
 * errors are those of tls_server_context.
 */
enum seqb_status tls_files_check(const struct tls_settings *settings,
                                 void (*report)(void *context,
                                                const char *line),
                                 void *context, struct seqb_error *err);

#define TLS_NAME_SIZE 256
#define TLS_NAMES_MAX 8

/* The identity in a peer's verified certificate. A name that is too long, or
 * contains a 0, is left out. */
struct tls_peer {
    char common_name[TLS_NAME_SIZE]; /* of the subject; "": none, or several */
    /* The first alternative names, as "DNS:a.example", "email:a@b.example" or
     * "URI:spiffe://example/a". */
    char names[TLS_NAMES_MAX][TLS_NAME_SIZE];
    size_t name_count;
};

/* Reads the peer's identity; free it with free(). It is NULL if the peer sent
 * no certificate, if none was requested, or if our CAs have not signed it.
 * False if out of memory, or if a name in the certificate is malformed: it is
 * not known whose certificate it is. */
bool tls_peer_read(const SSL *ssl, struct tls_peer **out);

/* --- error.c --- */

#define TLS_REASON_SIZE 256

/* The first error in OpenSSL's queue of this thread, as text; it stays in the
 * queue. "unknown reason" if there is none. */
void tls_reason(char out[static TLS_REASON_SIZE]);

/* tls_reason for a handshake: why the peer's certificate was refused, if it
 * was. */
void tls_handshake_reason(const SSL *ssl, char out[static TLS_REASON_SIZE]);
