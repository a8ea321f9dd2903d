/* SPDX-License-Identifier: Apache-2.0 */
/* OpenSSL contexts made from files; see tls.h. */
#include "tls/tls.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/stat.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* For TLS 1.2: ciphers with forward secrecy and authenticated encryption. All
 * ciphers of TLS 1.3 have both. */
#define CIPHERS "ECDHE+AESGCM:ECDHE+CHACHA20"

/* Bytes of the certificates that a client shows: OpenSSL allocates what it
 * announces. Its own limit is 100 KiB. */
#define CERTIFICATES_MAX 16384

static enum seqb_status context_fail(struct seqb_error *err)
{
    ERR_clear_error();
    err->status = SEQB_NO_MEMORY;
    snprintf(err->text, sizeof err->text, "tls: out of memory");
    return err->status;
}

static enum seqb_status file_fail(struct seqb_error *err, const char *setting,
                                  const char *file)
{
    char reason[TLS_REASON_SIZE];

    tls_reason(reason);
    ERR_clear_error();
    err->status = SEQB_INVALID;
    snprintf(err->text, sizeof err->text, "cannot use %s %s: %s", setting, file,
             reason);
    return err->status;
}

/* OpenSSL would ask for a passphrase on the terminal. This refuses, and notes
 * in `*context` that a passphrase is needed. */
static int passphrase_refuse(char *out, int size, int is_writing, void *context)
{
    bool *is_asked = context;

    (void)out;
    (void)size;
    (void)is_writing;
    *is_asked = true;
    return -1;
}

/* A certificate and its key: the names of the settings, and the files. */
struct pair {
    const char *cert_setting, *cert_file;
    const char *key_setting, *key_file;
};

static bool error_is(int library, int reason)
{
    const unsigned long code = ERR_peek_error();

    return ERR_GET_LIB(code) == library && ERR_GET_REASON(code) == reason;
}

static enum seqb_status key_fail(const struct pair *pair, bool is_locked,
                                 struct seqb_error *err)
{
    if (error_is(ERR_LIB_X509, X509_R_KEY_VALUES_MISMATCH) ||
        error_is(ERR_LIB_X509, X509_R_KEY_TYPE_MISMATCH))
        snprintf(err->text, sizeof err->text,
                 "%s %s is not the key of the certificate in %s %s",
                 pair->key_setting, pair->key_file, pair->cert_setting,
                 pair->cert_file);
    else if (is_locked)
        snprintf(err->text, sizeof err->text,
                 "cannot use %s %s: it has a passphrase; store it without "
                 "one, readable by the user alone who runs this program",
                 pair->key_setting, pair->key_file);
    else
        return file_fail(err, pair->key_setting, pair->key_file);
    ERR_clear_error();
    err->status = SEQB_INVALID;
    return err->status;
}

static enum seqb_status pair_load(SSL_CTX *context, const struct pair *pair,
                                  struct seqb_error *err)
{
    bool is_locked = false;
    bool is_loaded = false;

    if (SSL_CTX_use_certificate_chain_file(context, pair->cert_file) != 1)
        return file_fail(err, pair->cert_setting, pair->cert_file);
    SSL_CTX_set_default_passwd_cb(context, passphrase_refuse);
    SSL_CTX_set_default_passwd_cb_userdata(context, &is_locked);
    is_loaded = SSL_CTX_use_PrivateKey_file(context, pair->key_file,
                                            SSL_FILETYPE_PEM) == 1;
    SSL_CTX_set_default_passwd_cb(context, NULL);
    SSL_CTX_set_default_passwd_cb_userdata(context, NULL);
    return is_loaded ? SEQB_OK : key_fail(pair, is_locked, err);
}

/* The group may be one of those who serve with the key. */
static enum seqb_status key_check(const struct tls_settings *settings,
                                  struct seqb_error *err)
{
    struct stat key;

    if (stat(settings->key_file, &key) != 0 || (key.st_mode & S_IROTH) == 0)
        return SEQB_OK;
    err->status = SEQB_INVALID;
    snprintf(err->text, sizeof err->text,
             "cannot use tls_key_file %s: everybody may read it: chmod 600 it",
             settings->key_file);
    return err->status;
}

static SSL_CTX *context_new(const SSL_METHOD *method, int min_version)
{
    SSL_CTX *context = SSL_CTX_new(method);

    if (context == NULL)
        return NULL;
    SSL_CTX_set_options(context,
                        SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    /* The bytes to write may move, and more may follow, before the write is
     * repeated. */
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    /* Session tickets need no cache, which would take memory. */
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    if (SSL_CTX_set_min_proto_version(context, min_version) != 1 ||
        SSL_CTX_set_cipher_list(context, CIPHERS) != 1) {
        SSL_CTX_free(context);
        return NULL;
    }
    return context;
}

/* --- server --- */

/* OpenSSL reads the extensions of a certificate once, and keeps the result. If
 * it had no memory then, the certificate is invalid for as long as the context
 * lives. So they are read here, where a failure refuses the context, and not
 * at the first client. */
static bool authorities_read(SSL_CTX *context)
{
    const STACK_OF(X509_OBJECT) *objects =
        X509_STORE_get0_objects(SSL_CTX_get_cert_store(context));

    for (int i = 0; i < sk_X509_OBJECT_num(objects); i++) {
        X509 *authority =
            X509_OBJECT_get0_X509(sk_X509_OBJECT_value(objects, i));

        if (authority != NULL && X509_check_purpose(authority, -1, 0) != 1)
            return false;
    }
    return true;
}

static enum seqb_status clients_load(SSL_CTX *context,
                                     const struct tls_settings *settings,
                                     struct seqb_error *err)
{
    STACK_OF(X509_NAME) * names;

    if (settings->client_auth == TLS_CLIENTS_NOT_ASKED)
        return SEQB_OK;
    if (SSL_CTX_load_verify_file(context, settings->ca_file) != 1 ||
        !authorities_read(context))
        return file_fail(err, "tls_ca_file", settings->ca_file);
    names = SSL_load_client_CA_file(settings->ca_file);
    if (names == NULL)
        return file_fail(err, "tls_ca_file", settings->ca_file);
    SSL_CTX_set_client_CA_list(context, names);
    /* Without tickets, the certificate is checked at each connection. */
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_verify(context,
                       settings->client_auth >= TLS_CLIENTS_REQUIRED
                           ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
                           : SSL_VERIFY_PEER,
                       NULL);
    return SEQB_OK;
}

static enum seqb_status server_load(SSL_CTX *context,
                                    const struct tls_settings *settings,
                                    struct seqb_error *err)
{
    const struct pair pair = {"tls_cert_file", settings->cert_file,
                              "tls_key_file", settings->key_file};

    if (context == NULL)
        return context_fail(err);
    SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE);
    /* An idle connection holds no buffers. */
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_max_cert_list(context, CERTIFICATES_MAX);
    if (pair_load(context, &pair, err) != SEQB_OK ||
        key_check(settings, err) != SEQB_OK)
        return err->status;
    return clients_load(context, settings, err);
}

enum seqb_status tls_server_context(const struct tls_settings *settings,
                                    SSL_CTX **out, struct seqb_error *err)
{
    SSL_CTX *context =
        context_new(TLS_server_method(),
                    settings->is_1_3_only ? TLS1_3_VERSION : TLS1_2_VERSION);

    if (server_load(context, settings, err) != SEQB_OK) {
        SSL_CTX_free(context);
        return err->status;
    }
    *out = context;
    return SEQB_OK;
}

/* --- client --- */

static enum seqb_status client_load(SSL_CTX *context,
                                    const struct tls_client_files *files,
                                    struct seqb_error *err)
{
    const bool of_backend = files->is_of_backend;
    const struct pair pair = {
        of_backend ? "tls_cert" : "--tls-cert", files->cert_file,
        of_backend ? "tls_key" : "--tls-key", files->key_file};

    if (context == NULL)
        return context_fail(err);
    SSL_CTX_set_verify(context,
                       files->is_unverified ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                       NULL);
    if (files->ca_file != NULL &&
        SSL_CTX_load_verify_file(context, files->ca_file) != 1)
        return file_fail(err, of_backend ? "tls_ca" : "--tls-ca",
                         files->ca_file);
    if (files->ca_file == NULL &&
        SSL_CTX_set_default_verify_paths(context) != 1)
        return context_fail(err);
    return files->cert_file != NULL ? pair_load(context, &pair, err) : SEQB_OK;
}

enum seqb_status tls_client_context(const struct tls_client_files *files,
                                    SSL_CTX **out, struct seqb_error *err)
{
    SSL_CTX *context = context_new(TLS_client_method(), TLS1_2_VERSION);

    if (client_load(context, files, err) != SEQB_OK) {
        SSL_CTX_free(context);
        return err->status;
    }
    *out = context;
    return SEQB_OK;
}

static bool host_is_address(const char *host)
{
    unsigned char address[sizeof(struct in6_addr)];

    return inet_pton(AF_INET, host, address) == 1 ||
           inet_pton(AF_INET6, host, address) == 1;
}

bool tls_expect_host(SSL *ssl, const char *host)
{
    if (host_is_address(host))
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    return SSL_set1_host(ssl, host) == 1 &&
           SSL_set_tlsext_host_name(ssl, host) == 1;
}
