/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of memcached items. */
#include "backends/memcached/key.h"

#include <stdint.h>
#include <string.h>

#include "platform/text.h"

static bool is_plain(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text <= ' ' || *text == 0x7f)
            return false;
    }
    return true;
}

/* Base64 of RFC 4648, three bytes at a time. */
static bool base64_make(const char *from, char *out, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz"
                                 "0123456789+/="; /* the last one is the
                                                     padding */
    const size_t length = strlen(from);
    size_t used = 0;

    if ((length + 2) / 3 * 4 >= size)
        return false;
    for (size_t i = 0; i < length; i += 3) {
        uint32_t bits = 0;

        for (size_t j = 0; j < 3; j++)
            bits =
                bits << 8 | (i + j < length ? (unsigned char)from[i + j] : 0U);
        for (size_t j = 0; j < 4; j++)
            out[used++] = digits[i + j <= length ? bits >> (18 - 6 * j) & 0x3fU
                                                 : sizeof digits - 2];
    }
    out[used] = '\0';
    return true;
}

bool memcached_key_make(const char *prefix, const char *kind, const char *name,
                        struct memcached_key *out)
{
    if (!text_format(out->name, sizeof out->name, "%s:%s%s", prefix, kind,
                     name))
        return false;
    out->flag = "";
    if (is_plain(out->name))
        return text_copy(out->text, sizeof out->text, out->name);
    out->flag = " b";
    return base64_make(out->name, out->text, sizeof out->text);
}
