/* SPDX-License-Identifier: Apache-2.0 */
/* A list of texts; see words.h. */
#include "daemon/access/words.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/access/users.h"

bool words_add(struct words *words, const char *text)
{
    char **at = realloc(words->at, (words->count + 1) * sizeof *at);

    if (at == NULL)
        return false;
    words->at = at;
    at[words->count] = strdup(text);
    return at[words->count] != NULL && ++words->count > 0;
}

bool words_match(const struct words *words, const char *key, size_t length)
{
    for (size_t i = 0; i < words->count; i++)
        if (pattern_matches(words->at[i], key, length))
            return true;
    return false;
}

void words_free(struct words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->at[i]);
    free(words->at);
    *words = (struct words){.count = 0};
}
