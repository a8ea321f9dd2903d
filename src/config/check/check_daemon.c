/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the settings that seqbrokerd needs to serve TLS. The programs read the
 * files. */
#include "config/check/check.h"

#include <string.h>

/* The first setting that needs a certificate and its key; NULL if there is
 * none. `*line` is the setting's line. */
static const char *certificate_user(const struct draft_daemon *daemon,
                                    int *line)
{
    const struct {
        const char *name;
        bool is_set;
        int line;
    } users[] = {
        {"tls_listen", daemon->tls_listen.count > 0, daemon->tls_listen.line},
        {"https", daemon->https.count > 0, daemon->https.line},
        {"tls_cert_file", daemon->tls_cert_file.text != NULL,
         daemon->tls_cert_file.line},
        {"tls_key_file", daemon->tls_key_file.text != NULL,
         daemon->tls_key_file.line},
    };

    for (size_t i = 0; i < sizeof users / sizeof users[0]; i++) {
        *line = users[i].line;
        if (users[i].is_set)
            return users[i].name;
    }
    return NULL;
}

void check_daemon(const struct draft *draft, struct diagnostics *diagnostics)
{
    const struct draft_daemon *daemon = draft->daemon;
    const char *auth = daemon->tls_client_auth.text;
    int line = 0;
    const char *user = certificate_user(daemon, &line);

    if (user != NULL && daemon->tls_cert_file.line == 0)
        diagnostics_add(diagnostics, line,
                        "'%s' needs a certificate: add tls_cert_file", user);
    if (user != NULL && daemon->tls_key_file.line == 0)
        diagnostics_add(diagnostics, line,
                        "'%s' needs the certificate's key: add tls_key_file",
                        user);
    if (auth != NULL && strcmp(auth, "none") != 0 &&
        daemon->tls_ca_file.line == 0)
        diagnostics_add(diagnostics, daemon->tls_client_auth.line,
                        "'tls_client_auth' = \"%s\" needs the CAs that sign "
                        "clients' certificates: add tls_ca_file",
                        auth);
}
