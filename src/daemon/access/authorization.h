/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP header Authorization, as a client sent it. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "credential/credential.h"

/* The longest credentials that are accepted: user, ":" and password of
 * Basic. */
#define AUTHORIZATION_MAX (CREDENTIAL_MAX + 64)

/* The parsed header. To be passed to authorization_wipe. */
struct authorization {
    bool is_token; /* Bearer; else Basic */
    char text[AUTHORIZATION_MAX];
    size_t name_length; /* of the name at the start of `text`, if Basic */
    const char *secret; /* in `text` */
    size_t secret_length;
};

/* False if the header is neither Basic nor Bearer, or malformed, or too
 * long. */
bool authorization_read(const char *header, struct authorization *out);

void authorization_wipe(struct authorization *authorization);
