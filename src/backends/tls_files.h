/* SPDX-License-Identifier: Apache-2.0 */
/* A backend's TLS settings, for engines whose connections are streams. */
#pragma once

#include <seqbroker/backend.h>

#include "tls/tls.h"

/* The strings remain owned by the options. */
static inline struct tls_client_files
tls_files_of(const struct seqb_backend_options *options)
{
    const struct tls_client_files files = {
        .ca_file = options->tls_ca,
        .cert_file = options->tls_cert,
        .key_file = options->tls_key,
        .is_unverified = options->tls == SEQB_TLS_REQUIRE,
        .is_of_backend = true,
    };

    return files;
}
