/* SPDX-License-Identifier: Apache-2.0 */
/* OpenSSL's error queue as one text; see tls.h. The first error is the cause;
 * the later ones only passed it on. */
#include "tls/tls.h"

#include <stdio.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

void tls_reason(char out[static TLS_REASON_SIZE])
{
    const unsigned long code = ERR_peek_error();
    const char *reason = ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code))
                                                : ERR_reason_error_string(code);

    snprintf(out, TLS_REASON_SIZE, "%s",
             reason != NULL ? reason : "unknown reason");
}

void tls_handshake_reason(const SSL *ssl, char out[static TLS_REASON_SIZE])
{
    const long verdict = SSL_get_verify_result(ssl);
    const bool is_refused =
        ERR_GET_REASON(ERR_peek_error()) == SSL_R_CERTIFICATE_VERIFY_FAILED;

    if (!is_refused || verdict == X509_V_OK) {
        tls_reason(out);
        return;
    }
    snprintf(out, TLS_REASON_SIZE, "certificate verify failed: %s",
             X509_verify_cert_error_string(verdict));
}
