/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of texts that may not be UTF-8; see json.h. */
#include "status/json/json.h"

#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
#define LONGEST     4              /* bytes of a character */

/* Bytes of the character that begins the text; 0 if none does. jansson says it,
 * so that what is kept here is valid there. */
static size_t character_length(const char *text)
{
    const size_t most = strnlen(text, LONGEST);

    for (size_t length = 1; length <= most; length++) {
        json_t *character = json_stringn(text, length);

        json_decref(character);
        if (character != NULL)
            return length;
    }
    return 0;
}

static json_t *repaired(const char *text)
{
    char *whole = malloc(strlen(text) * strlen(REPLACEMENT) + 1);
    char *end = whole;
    json_t *string;

    if (whole == NULL)
        return NULL;
    while (*text != '\0') {
        const size_t length = character_length(text);

        if (length > 0)
            end = mempcpy(end, text, length);
        else
            end = mempcpy(end, REPLACEMENT, strlen(REPLACEMENT));
        text += length > 0 ? length : 1;
    }
    string = json_stringn(whole, (size_t)(end - whole));
    free(whole);
    return string;
}

json_t *json_of_text(const char *text)
{
    json_t *string = json_string(text);

    return string != NULL ? string : repaired(text);
}
