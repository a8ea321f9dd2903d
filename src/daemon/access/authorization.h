/* SPDX-License-Identifier: Apache-2.0 */
/* The header Authorization of HTTP, as a client wrote it. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "credential/credential.h"

/* The longest that is read: user, ":" and password, of Basic. */
#define AUTHORIZATION_MAX (CREDENTIAL_MAX + 64)

/* What it says. For authorization_wipe. */
struct authorization {
    bool is_token; /* Bearer; else Basic */
    char text[AUTHORIZATION_MAX];
    size_t name_length; /* of Basic, where `text` begins with it */
    const char *secret; /* in `text` */
    size_t secret_length;
};

/* False if it is neither Basic nor Bearer, or broken, or too long. */
bool authorization_read(const char *header, struct authorization *out);

void authorization_wipe(struct authorization *authorization);
