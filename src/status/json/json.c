/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that may not be UTF-8, and structs of the status; see json.h. */
#include "status/json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
#define LONGEST     4              /* bytes of a character */
#define DIGITS_SIZE 24

/* Bytes of the character at the begin of the text; 0 if there is none. jansson
 * decides that, so that what is kept here is valid for it. */
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

static json_t *value_of(const struct status_field *field, const void *status)
{
    char digits[DIGITS_SIZE];

    if (!status_is_present(field, status))
        return json_null();
    if (status_is_text(field))
        return json_of_text(status_text(field, status));
    if (field->kind == STATUS_BOOLEAN)
        return json_boolean(status_integer(field, status) != 0);
    if (field->kind != STATUS_BIG)
        return json_integer(status_integer(field, status));
    snprintf(digits, sizeof digits, "%lld",
             (long long)status_integer(field, status));
    return json_string(digits);
}

char *json_to_text(const json_t *value, size_t flags)
{
    const size_t size = json_dumpb(value, NULL, 0, flags);
    char *text = size > 0 ? malloc(size + 1) : NULL;

    if (text == NULL)
        return NULL;
    text[size] = '\0';
    if (json_dumpb(value, text, size, flags) == size)
        return text;
    free(text);
    return NULL;
}

json_t *json_of_status(const struct status_field *fields, const void *status)
{
    json_t *object = json_object();

    for (; fields->name != NULL; fields++) {
        if (json_object_set_new(object, fields->name,
                                value_of(fields, status)) == 0)
            continue;
        json_decref(object);
        return NULL;
    }
    return object;
}

json_t *json_of_libraries(void)
{
    json_t *list = json_array();

    for (size_t i = 0; list != NULL && seqb_library(i) != NULL; i++)
        (void)json_array_append_new(list, json_of_text(seqb_library(i)));
    return list;
}
