/* SPDX-License-Identifier: Apache-2.0 */
/* See address.h. */
#include "backends/redis/address.h"

#include <string.h>

#include "platform/text.h"

#define PORT_MAX 65535

bool redis_port_parse(const char *text, int *out)
{
    int64_t port;

    if (!text_to_int64(text, strlen(text), &port) || port < 1 ||
        port > PORT_MAX)
        return false;
    *out = (int)port;
    return true;
}

bool redis_address_parse(const char *text, struct redis_address *out)
{
    const char *colon = strrchr(text, ':');
    size_t length;

    if (colon == NULL || colon == text ||
        !redis_port_parse(colon + 1, &out->port))
        return false;
    length = (size_t)(colon - text);
    if (text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    }
    return text_format(out->host, sizeof out->host, "%.*s", (int)length, text);
}

bool redis_address_equal(const struct redis_address *a,
                         const struct redis_address *b)
{
    return a->port == b->port && strcmp(a->host, b->host) == 0;
}
