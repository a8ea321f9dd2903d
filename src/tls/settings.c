/* SPDX-License-Identifier: Apache-2.0 */
/* The TLS settings of the topology; see tls.h. The library has checked their
 * values. */
#include "tls/tls.h"

#include <string.h>

#include "setting/setting.h"

static enum tls_client_auth client_auth_of(const char *value)
{
    if (strcmp(value, "user") == 0)
        return TLS_CLIENTS_USERS;
    if (strcmp(value, "required") == 0)
        return TLS_CLIENTS_REQUIRED;
    return strcmp(value, "optional") == 0 ? TLS_CLIENTS_OPTIONAL
                                          : TLS_CLIENTS_NOT_ASKED;
}

bool tls_settings_take(struct tls_settings *settings, const char *name,
                       const char *value)
{
    if (strcmp(name, "tls_cert_file") == 0)
        return setting_keep(&settings->cert_file, value);
    if (strcmp(name, "tls_key_file") == 0)
        return setting_keep(&settings->key_file, value);
    if (strcmp(name, "tls_ca_file") == 0)
        return setting_keep(&settings->ca_file, value);
    if (strcmp(name, "tls_client_auth") == 0)
        settings->client_auth = client_auth_of(value);
    else if (strcmp(name, "tls_min_version") == 0)
        settings->is_1_3_only = strcmp(value, "1.3") == 0;
    return true;
}

void tls_settings_free(struct tls_settings *settings)
{
    free(settings->cert_file);
    free(settings->key_file);
    free(settings->ca_file);
    *settings = (struct tls_settings){.cert_file = NULL};
}
