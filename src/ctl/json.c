/* SPDX-License-Identifier: Apache-2.0 */
/* The one thing about JSON that is easily got wrong: its strings. */
#include "ctl/json.h"

#include <stddef.h>

/* Bytes of the UTF-8 character that begins at `s`; 0 if none does. */
static size_t utf8_length(const unsigned char *s)
{
    size_t length = *s < 0x80                 ? 1
                    : *s >= 0xc2 && *s < 0xe0 ? 2
                    : *s >= 0xe0 && *s < 0xf0 ? 3
                    : *s >= 0xf0 && *s < 0xf5 ? 4
                                              : 0;

    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) /* a final 0 is none either */
            return 0;
    }
    /* overlong forms, surrogates, above U+10FFFF */
    if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
        (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
        return 0;
    return length;
}

void json_string(FILE *to, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;

    fputc('"', to);
    while (*s != 0) {
        size_t length = utf8_length(s);

        if (length == 0)
            fputs("\\ufffd", to);
        else if (*s == '"' || *s == '\\')
            fprintf(to, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(to, "\\u%04x", *s);
        else
            fwrite(s, 1, length, to);
        s += length == 0 ? 1 : length;
    }
    fputc('"', to);
}
