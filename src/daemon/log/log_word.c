/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing of the words of a logfmt line; see log.h. */
#include "daemon/log/log.h"

#include <string.h>

/* Bytes of the value at the begin of `text`: up to the closing quote, or to a
 * space. */
static size_t value_length(const char *text)
{
    size_t length = 1;

    if (*text != '"')
        return strcspn(text, " ");
    while (text[length] != '"' && text[length] != '\0')
        length += text[length] == '\\' && text[length + 1] != '\0' ? 2 : 1;
    return length + (text[length] == '"');
}

bool log_word_next(const char **line, struct log_word *out)
{
    const char *at = *line + strspn(*line, " ");

    if (*at == '\0')
        return false;
    out->key = at;
    out->key_length = strcspn(at, "= ");
    out->value = at + out->key_length + (at[out->key_length] == '=');
    out->value_length = value_length(out->value);
    *line = out->value + out->value_length;
    return true;
}

bool log_word_find(const char *line, const char *key, struct log_word *out)
{
    while (log_word_next(&line, out)) {
        if (out->key_length == strlen(key) &&
            strncmp(out->key, key, out->key_length) == 0)
            return true;
    }
    return false;
}
