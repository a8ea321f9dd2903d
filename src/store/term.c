/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and makes the names of terms. */
#include "store/term.h"

#include <inttypes.h>
#include <string.h>

#include "platform/text.h"

#define NONCE_END '~'

bool term_read(const char *text, const char *incarnation,
               char nonce[static TERM_NONCE_SIZE])
{
    const char *end = strchr(text, NONCE_END);

    nonce[0] = '\0';
    if (strcmp(text, incarnation) == 0)
        return true;
    return end != NULL && strcmp(end + 1, incarnation) == 0 &&
           text_format(nonce, TERM_NONCE_SIZE, "%.*s", (int)(end + 1 - text),
                       text);
}

void term_nonce(uint64_t random, char nonce[static TERM_NONCE_SIZE])
{
    (void)text_format(nonce, TERM_NONCE_SIZE, "%016" PRIx64 "%c", random,
                      NONCE_END);
}

/* As many random bits as fit. */
void term_trust(uint64_t random, char nonce[static TERM_NONCE_SIZE])
{
    (void)text_format(nonce, TERM_NONCE_SIZE, TERM_TRUSTED "%015" PRIx64 "%c",
                      random >> 4, NONCE_END);
}

bool term_is_trusted(const char *nonce)
{
    return strncmp(nonce, TERM_TRUSTED, strlen(TERM_TRUSTED)) == 0;
}

bool term_is_over(const char *term, const char *mark)
{
    const size_t length = strlen(term);

    return mark[0] != '\0' &&
           (strncmp(mark, term, length) != 0 || mark[length] != '|');
}
