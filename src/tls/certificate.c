/* SPDX-License-Identifier: Apache-2.0 */
/* What certificates contain: their validity and their names; see tls.h. */
#include "tls/tls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#define LINE_SIZE 4608 /* a path, and the text around it */

/* --- validity --- */

static void date_print(const ASN1_TIME *date, char out[static TLS_DATE_SIZE])
{
    BIO *text = BIO_new(BIO_s_mem());
    int length = 0;

    if (text != NULL && ASN1_TIME_print(text, date) == 1)
        length = BIO_read(text, out, TLS_DATE_SIZE - 1);
    out[length > 0 ? length : 0] = '\0';
    BIO_free(text);
}

struct tls_validity tls_context_validity(SSL_CTX *context)
{
    const X509 *certificate = SSL_CTX_get0_certificate(context);
    const ASN1_TIME *end = X509_get0_notAfter(certificate);
    struct tls_validity validity = {
        .is_begun = X509_cmp_current_time(X509_get0_notBefore(certificate)) < 0,
    };
    int seconds = 0;

    if (ASN1_TIME_diff(&validity.days_left, &seconds, NULL, end) != 1 ||
        (validity.days_left == 0 && seconds < 0))
        validity.days_left = -1;
    date_print(end, validity.expires);
    return validity;
}

/* --- the files of a server --- */

struct reporter {
    void (*report)(void *context, const char *line);
    void *context;
};

static void warn(const struct reporter *reporter, const char *setting,
                 const char *file, const char *what)
{
    char line[LINE_SIZE];

    snprintf(line, sizeof line, "warning: %s %s %s", setting, file, what);
    reporter->report(reporter->context, line);
}

static void validity_warn(const struct reporter *reporter, const char *file,
                          const struct tls_validity *validity)
{
    char what[TLS_DATE_SIZE + 64];

    if (!validity->is_begun)
        warn(reporter, "tls_cert_file", file, "is not valid yet");
    if (validity->days_left < 0)
        snprintf(what, sizeof what, "expired on %s: clients refuse it",
                 validity->expires);
    else
        snprintf(what, sizeof what, "expires on %s, in %d days",
                 validity->expires, validity->days_left);
    if (validity->days_left < TLS_DAYS_SOON)
        warn(reporter, "tls_cert_file", file, what);
}

enum seqb_status tls_files_check(const struct tls_settings *settings,
                                 void (*report)(void *context,
                                                const char *line),
                                 void *context, struct seqb_error *err)
{
    const struct reporter reporter = {report, context};
    struct tls_validity validity;
    SSL_CTX *made = NULL;

    if (settings->cert_file == NULL)
        return SEQB_OK;
    if (tls_server_context(settings, &made, err) != SEQB_OK)
        return err->status;
    validity = tls_context_validity(made);
    SSL_CTX_free(made);
    validity_warn(&reporter, settings->cert_file, &validity);
    return SEQB_OK;
}

/* --- names --- */

/* False if the name does not fit, or contains a 0: the part before it could
 * pass for another name. */
static bool name_copy(char out[static TLS_NAME_SIZE], const char *kind,
                      const ASN1_STRING *name)
{
    const char *text = (const char *)ASN1_STRING_get0_data(name);
    const size_t length = (size_t)ASN1_STRING_length(name);

    if (strlen(kind) + length >= TLS_NAME_SIZE ||
        memchr(text, '\0', length) != NULL)
        return false;
    snprintf(out, TLS_NAME_SIZE, "%s%.*s", kind, (int)length, text);
    return true;
}

/* Without exactly one common name, it is left out: readers of certificates
 * differ in which one of several they take, so the CA may have checked another
 * one. */
static bool common_name_read(struct tls_peer *peer, const X509 *certificate)
{
    const X509_NAME *subject = X509_get_subject_name(certificate);
    ASN1_STRING *name = NULL;
    unsigned char *text = NULL;
    const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    int length = 0;

    if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0)
        return true;
    name = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
    length = ASN1_STRING_to_UTF8(&text, name);
    if (length > 0 && length < TLS_NAME_SIZE &&
        memchr(text, '\0', (size_t)length) == NULL)
        memcpy(peer->common_name, text, (size_t)length);
    OPENSSL_free(text);
    return length >= 0;
}

static void name_add(struct tls_peer *peer, const GENERAL_NAME *name)
{
    int type = 0;
    const ASN1_STRING *value = GENERAL_NAME_get0_value(name, &type);
    const char *kind = type == GEN_DNS     ? "DNS:"
                       : type == GEN_EMAIL ? "email:"
                       : type == GEN_URI   ? "URI:"
                                           : NULL;

    if (kind != NULL && peer->name_count < TLS_NAMES_MAX &&
        name_copy(peer->names[peer->name_count], kind, value))
        peer->name_count++;
}

static bool names_read(struct tls_peer *peer, const X509 *certificate)
{
    int critical = -1; /* the certificate has no such extension; -2: several */
    GENERAL_NAMES *names =
        X509_get_ext_d2i(certificate, NID_subject_alt_name, &critical, NULL);
    const bool is_read = names != NULL || critical == -1;

    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++)
        name_add(peer, sk_GENERAL_NAME_value(names, i));
    GENERAL_NAMES_free(names);
    return is_read;
}

/* A handshake without a verified certificate fails anyway. If that ever
 * changes, its peer gets no names. */
static bool is_verified(const SSL *ssl)
{
    return (SSL_get_verify_mode(ssl) & SSL_VERIFY_PEER) != 0 &&
           SSL_get_verify_result(ssl) == X509_V_OK;
}

bool tls_peer_read(const SSL *ssl, struct tls_peer **out)
{
    const X509 *certificate = SSL_get0_peer_certificate(ssl);
    struct tls_peer *peer = NULL;

    *out = NULL;
    if (certificate == NULL || !is_verified(ssl))
        return true;
    peer = calloc(1, sizeof *peer);
    if (peer == NULL || !common_name_read(peer, certificate) ||
        !names_read(peer, certificate)) {
        ERR_clear_error();
        free(peer);
        return false;
    }
    *out = peer;
    return true;
}
