/* SPDX-License-Identifier: Apache-2.0 */
/* What words of a request say; see words.h. */
#include "daemon/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/commands.h"
#include "daemon/reply.h"
#include "daemon/session.h"

#define INTEGER_DIGITS_MAX 20
#define SHOWN_MAX          64 /* bytes of a client's word in an error */

bool word_is(struct resp_slice word, const char *text)
{
    return word.length == strlen(text) &&
           strncasecmp(word.data, text, word.length) == 0;
}

bool word_to_integer(struct resp_slice word, long long *out)
{
    char text[INTEGER_DIGITS_MAX + 1];
    char *end = NULL;

    if (word.length == 0 || word.length > INTEGER_DIGITS_MAX)
        return false;
    if (strchr("-0123456789", word.data[0]) == NULL)
        return false;
    memcpy(text, word.data, word.length);
    text[word.length] = '\0';
    errno = 0;
    *out = strtoll(text, &end, 10);
    return errno == 0 && end == text + word.length;
}

int word_shown(struct resp_slice word)
{
    return (int)(word.length < SHOWN_MAX ? word.length : SHOWN_MAX);
}

bool command_integer(struct session *session, struct resp_slice word,
                     long long *out)
{
    if (word_to_integer(word, out))
        return true;
    reply_error(&session->out, "ERR",
                "value is not an integer or out of range: '%.*s'",
                word_shown(word), word.data);
    return false;
}

bool command_is_text(struct session *session,
                     const struct resp_request *request, size_t count,
                     bool *out)
{
    *out = request->argc == count + 1 && word_is(request->argv[count], "STR");
    if (*out || request->argc == count)
        return true;
    reply_error(&session->out, "ERR", "syntax error: %s",
                session->command->summary);
    return false;
}
