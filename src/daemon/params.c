/* SPDX-License-Identifier: Apache-2.0 */
/* Words become strings, or are refused; see params.h. */
#include "daemon/params.h"

#include <string.h>

#include "daemon/reply.h"
#include "daemon/resp.h"
#include "daemon/session.h"

/* What a string would lose is refused: all behind a 0, or what is too long. */
static bool word_copy(struct session *session, struct resp_slice word,
                      const char *what, char *out, size_t size)
{
    if (word.length >= size) {
        reply_error(&session->out, "ERR",
                    "a parameter's %s has at most %zu bytes", what, size - 1);
        return false;
    }
    if (memchr(word.data, '\0', word.length) != NULL) {
        reply_error(&session->out, "ERR", "a parameter's %s has a NUL byte",
                    what);
        return false;
    }
    memcpy(out, word.data, word.length);
    out[word.length] = '\0';
    return true;
}

static bool params_count(struct session *session, size_t words,
                         struct params *out)
{
    out->count = words / 2;
    if (words % 2 != 0) {
        reply_error(&session->out, "ERR",
                    "syntax error, use SEQ.NUMBER key [COUNT n] [name value "
                    "...]: a name has no value");
        return false;
    }
    if (out->count > PARAMS_MAX) {
        reply_error(&session->out, "ERR", "there are at most %d parameters",
                    PARAMS_MAX);
        return false;
    }
    return true;
}

bool params_read(struct session *session, const struct resp_request *request,
                 size_t first, struct params *out)
{
    if (!params_count(session, request->argc - first, out))
        return false;
    for (size_t i = 0; i < out->count; i++) {
        struct param_copy *copy = &out->copies[i];
        const struct resp_slice *pair = &request->argv[first + 2 * i];

        if (!word_copy(session, pair[0], "name", copy->name,
                       sizeof copy->name) ||
            !word_copy(session, pair[1], "value", copy->value,
                       sizeof copy->value))
            return false;
        out->list[i] = (struct seqb_param){copy->name, copy->value};
    }
    return true;
}
