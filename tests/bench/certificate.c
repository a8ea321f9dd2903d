/* SPDX-License-Identifier: Apache-2.0 */
/* Made by OpenSSL's library. */
#include "bench/certificate.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "bench/die.h"
#include "platform/text.h"
#include "support/folder.h"

#define DAY_S 86400L

static X509 *certificate_sign(EVP_PKEY *key)
{
    static const unsigned char name[] = "localhost";
    X509 *made = X509_new();
    X509_NAME *subject = made == NULL ? NULL : X509_get_subject_name(made);

    if (subject == NULL ||
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, name, -1, -1,
                                   0) != 1 ||
        X509_set_issuer_name(made, subject) != 1 ||
        ASN1_INTEGER_set(X509_get_serialNumber(made), 1) != 1 ||
        X509_gmtime_adj(X509_getm_notBefore(made), -DAY_S) == NULL ||
        X509_gmtime_adj(X509_getm_notAfter(made), 30 * DAY_S) == NULL ||
        X509_set_pubkey(made, key) != 1 ||
        X509_sign(made, key, EVP_sha256()) == 0)
        die("cannot make a certificate");
    return made;
}

void certificate_make(struct certificate *out)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *made = key == NULL ? NULL : certificate_sign(key);
    FILE *file = NULL;

    (void)text_copy(out->folder, sizeof out->folder,
                    "/tmp/seqbroker-bench-XXXXXX");
    if (made == NULL || mkdtemp(out->folder) == NULL)
        die("cannot make a folder under /tmp");
    (void)text_format(out->cert_file, sizeof out->cert_file, "%s/server.crt",
                      out->folder);
    (void)text_format(out->key_file, sizeof out->key_file, "%s/server.key",
                      out->folder);
    file = fopen(out->cert_file, "we");
    if (file == NULL || PEM_write_X509(file, made) != 1 || fclose(file) != 0)
        die(out->cert_file);
    file = fopen(out->key_file, "we");
    if (file == NULL || fchmod(fileno(file), S_IRUSR | S_IWUSR) != 0 ||
        PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) != 1 ||
        fclose(file) != 0)
        die(out->key_file);
    X509_free(made);
    EVP_PKEY_free(key);
}

void certificate_remove(struct certificate *certificate)
{
    folder_remove(certificate->folder);
}
