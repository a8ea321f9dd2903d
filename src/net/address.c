/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses, as written in settings and by other servers. */
#include "net/net.h"

#include <string.h>

#include "platform/text.h"

#define PORT_MAX 65535

bool port_parse(const char *text, int *out)
{
    int64_t port;

    if (!text_to_int64(text, strlen(text), &port) || port < 1 ||
        port > PORT_MAX)
        return false;
    *out = (int)port;
    return true;
}

bool address_parse(const char *text, struct address *out)
{
    const char *colon = strrchr(text, ':');
    size_t length;

    if (colon == NULL || !port_parse(colon + 1, &out->port))
        return false;
    length = (size_t)(colon - text);
    if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    }
    return length > 0 &&
           text_format(out->host, sizeof out->host, "%.*s", (int)length, text);
}

bool address_equal(const struct address *a, const struct address *b)
{
    return a->port == b->port && strcmp(a->host, b->host) == 0;
}
