/* SPDX-License-Identifier: Apache-2.0 */
/* Basic (RFC 7617) and Bearer (RFC 6750); see authorization.h. */
#include "daemon/access/authorization.h"

#include <string.h>
#include <strings.h>

/* What follows the scheme; NULL if the header has another scheme. */
static const char *scheme_end(const char *header, const char *scheme)
{
    const size_t length = strlen(scheme);

    if (strncasecmp(header, scheme, length) != 0 || header[length] != ' ')
        return NULL;
    header += length;
    return header + strspn(header, " ");
}

static bool read_bearer(const char *token, struct authorization *out)
{
    const size_t length = strlen(token);

    if (length == 0 || length > CREDENTIAL_MAX)
        return false;
    memcpy(out->text, token, length);
    out->is_token = true;
    out->secret = out->text;
    out->secret_length = length;
    return true;
}

static bool read_basic(const char *encoded, struct authorization *out)
{
    const char *colon = NULL;
    size_t length = 0;

    if (!credential_base64_read(encoded, out->text, sizeof out->text, &length))
        return false;
    colon = memchr(out->text, ':', length);
    if (colon == NULL)
        return false;
    out->name_length = (size_t)(colon - out->text);
    out->secret = colon + 1;
    out->secret_length = length - out->name_length - 1;
    return true;
}

bool authorization_read(const char *header, struct authorization *out)
{
    const char *basic = scheme_end(header, "Basic");
    const char *bearer = scheme_end(header, "Bearer");

    *out = (struct authorization){.is_token = false};
    if ((basic != NULL && read_basic(basic, out)) ||
        (bearer != NULL && read_bearer(bearer, out)))
        return true;
    authorization_wipe(out);
    return false;
}

void authorization_wipe(struct authorization *authorization)
{
    credential_wipe(authorization, sizeof *authorization);
}
