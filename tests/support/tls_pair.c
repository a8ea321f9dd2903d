/* SPDX-License-Identifier: Apache-2.0 */
/* See tls_pair.h. */
#include "support/tls_pair.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "support/folder.h"
#include "support/test.h"

#define DAY_S      86400L
#define VALID_DAYS 90

/* A certificate and its key. */
struct pair {
    EVP_PKEY *key;
    X509 *certificate;
};

static void pair_fini(struct pair *pair)
{
    X509_free(pair->certificate);
    EVP_PKEY_free(pair->key);
}

/* Not signed yet; expires in so many days. */
static struct pair pair_new(const X509_NAME *subject, long days)
{
    struct pair pair = {EVP_EC_gen("P-256"), X509_new()};
    X509 *made = pair.certificate;

    assert_int_equal(X509_set_version(made, X509_VERSION_3), 1);
    assert_int_equal(X509_set_subject_name(made, subject), 1);
    ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
    assert_non_null(X509_gmtime_adj(X509_getm_notBefore(made), -9 * DAY_S));
    assert_non_null(X509_gmtime_adj(X509_getm_notAfter(made), days * DAY_S));
    assert_int_equal(X509_set_pubkey(made, pair.key), 1);
    return pair;
}

static void pair_sign(struct pair *pair, const struct pair *issuer)
{
    const X509_NAME *name = X509_get_subject_name(issuer->certificate);

    assert_int_equal(X509_set_issuer_name(pair->certificate, name), 1);
    assert_true(X509_sign(pair->certificate, issuer->key, EVP_sha256()) > 0);
}

static void certificate_write(const char *path, const char *mode,
                              X509 *certificate)
{
    FILE *file = fopen(path, mode);

    assert_non_null(file);
    assert_int_equal(PEM_write_X509(file, certificate), 1);
    fclose(file);
}

static void pair_write(const struct pair *pair, struct tls_files *out)
{
    FILE *file;

    assert_true(folder_make(out->folder, sizeof out->folder));
    snprintf(out->cert, sizeof out->cert, "%s/crt", out->folder);
    snprintf(out->key, sizeof out->key, "%s/key", out->folder);
    snprintf(out->root, sizeof out->root, "%s/root", out->folder);
    certificate_write(out->cert, "we", pair->certificate);
    file = fopen(out->key, "we");
    assert_non_null(file);
    assert_int_equal(
        PEM_write_PrivateKey(file, pair->key, NULL, NULL, 0, NULL, NULL), 1);
    fclose(file);
    assert_int_equal(chmod(out->key, 0600), 0);
}

/* Signed by `issuer`, or self-signed if that is NULL. */
static void files_make(struct tls_files *out, const X509_NAME *subject,
                       GENERAL_NAMES *names, long days,
                       const struct pair *issuer)
{
    struct pair pair = pair_new(subject, days);

    assert_int_equal(
        X509_add1_ext_i2d(pair.certificate, NID_subject_alt_name, names, 0, 0),
        1);
    pair_sign(&pair, issuer != NULL ? issuer : &pair);
    pair_write(&pair, out);
    pair_fini(&pair);
}

void tls_files_make_of(struct tls_files *out, const X509_NAME *subject,
                       GENERAL_NAMES *names)
{
    files_make(out, subject, names, VALID_DAYS, NULL);
}

static X509_NAME *name_new(const char *common_name)
{
    X509_NAME *name = X509_NAME_new();

    assert_int_equal(X509_NAME_add_entry_by_txt(
                         name, "CN", MBSTRING_UTF8,
                         (const unsigned char *)common_name, -1, -1, 0),
                     1);
    return name;
}

static void files_make_named(struct tls_files *out, const char *common_name,
                             const char *names, long days,
                             const struct pair *issuer)
{
    X509_EXTENSION *extension =
        X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, names);
    X509_NAME *subject = name_new(common_name);
    GENERAL_NAMES *all = NULL;

    assert_non_null(extension);
    all = X509V3_EXT_d2i(extension);
    assert_non_null(all);
    files_make(out, subject, all, days, issuer);
    GENERAL_NAMES_free(all);
    X509_NAME_free(subject);
    X509_EXTENSION_free(extension);
}

void tls_files_make(struct tls_files *out, const char *common_name,
                    const char *names)
{
    files_make_named(out, common_name, names, VALID_DAYS, NULL);
}

void tls_files_make_expired(struct tls_files *out, const char *common_name,
                            const char *names)
{
    files_make_named(out, common_name, names, -1, NULL);
}

/* Self-signed if `issuer` is NULL. */
static struct pair ca_new(const char *common_name, const struct pair *issuer)
{
    X509_NAME *subject = name_new(common_name);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(
        NULL, NULL, NID_basic_constraints, "critical,CA:TRUE");
    struct pair ca = pair_new(subject, VALID_DAYS);

    assert_non_null(extension);
    assert_int_equal(X509_add_ext(ca.certificate, extension, -1), 1);
    pair_sign(&ca, issuer != NULL ? issuer : &ca);
    X509_EXTENSION_free(extension);
    X509_NAME_free(subject);
    return ca;
}

void tls_files_make_chain(struct tls_files *out, const char *common_name,
                          const char *names, bool is_short)
{
    struct pair root = ca_new("root CA", NULL);
    struct pair middle = ca_new("intermediate CA", &root);

    files_make_named(out, common_name, names, VALID_DAYS, &middle);
    if (!is_short)
        certificate_write(out->cert, "ae", middle.certificate);
    certificate_write(out->root, "we", root.certificate);
    pair_fini(&middle);
    pair_fini(&root);
}

void tls_files_share(const struct tls_files *files)
{
    assert_int_equal(chmod(files->folder, 0755), 0);
    assert_int_equal(chmod(files->cert, 0644), 0);
    assert_int_equal(chmod(files->key, 0644), 0);
    (void)chmod(files->root, 0644);
}

void tls_files_remove(struct tls_files *files)
{
    folder_remove(files->folder);
}

static SSL *end_new(SSL_CTX *context, int fd)
{
    SSL *ssl = SSL_new(context);

    assert_non_null(ssl);
    SSL_CTX_free(context); /* the end keeps it */
    assert_int_equal(SSL_set_fd(ssl, fd), 1);
    return ssl;
}

static void ends_new(struct tls_pair *pair, const struct tls_files *files)
{
    char cert[TLS_PAIR_PATH_SIZE];
    char key[TLS_PAIR_PATH_SIZE];
    const struct tls_settings settings = {.cert_file = cert,
                                          .key_file = key,
                                          .ca_file = cert,
                                          .client_auth = TLS_CLIENTS_REQUIRED};
    const struct tls_client_files own = {.ca_file = files->cert,
                                         .cert_file = files->cert,
                                         .key_file = files->key};
    struct seqb_error err;
    SSL_CTX *context = NULL;

    snprintf(cert, sizeof cert, "%s", files->cert);
    snprintf(key, sizeof key, "%s", files->key);
    assert_done(tls_server_context(&settings, &context, &err), err);
    pair->server = end_new(context, pair->server_fd);
    SSL_set_accept_state(pair->server);
    assert_done(tls_client_context(&own, &context, &err), err);
    pair->client = end_new(context, pair->client_fd);
    SSL_set_connect_state(pair->client);
}

void tls_pair_open(struct tls_pair *out, const struct tls_files *files)
{
    int ends[2];
    int server = 0;
    int client = 0;

    assert_int_equal(socketpair(AF_UNIX,
                                SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
                                ends),
                     0);
    *out = (struct tls_pair){.server_fd = ends[0], .client_fd = ends[1]};
    ends_new(out, files);
    SSL_set_read_ahead(out->server, 1);
    for (int i = 0; i < 8 && (server != 1 || client != 1); i++) {
        client = SSL_do_handshake(out->client);
        server = SSL_do_handshake(out->server);
    }
    assert_int_equal(client, 1);
    assert_int_equal(server, 1);
}

void tls_pair_close(struct tls_pair *pair)
{
    SSL_free(pair->server);
    SSL_free(pair->client);
    if (pair->server_fd >= 0)
        close(pair->server_fd);
    if (pair->client_fd >= 0)
        close(pair->client_fd);
}

bool tls_is_named(const SSL *ssl, const char *common_name)
{
    const X509 *own = SSL_get_certificate(ssl);
    char name[64] = "";

    X509_NAME_get_text_by_NID(X509_get_subject_name(own), NID_commonName, name,
                              sizeof name);
    return strcmp(name, common_name) == 0;
}
