/* SPDX-License-Identifier: Apache-2.0 */
/* The words of SEQ.NEXT and SEQ.NUMBER; see wish.h. */
#include "daemon/commands/wish.h"

#include "daemon/lane.h"
#include "daemon/session.h"

#define COUNT_MAX 100000 /* numbers, or texts, of one request */

static bool wish_refuse(struct session *session)
{
    reply_error(&session->out, "ERR",
                "syntax error, use SEQ.NEXT key [COUNT n] [SHARD s] [STAMP] "
                "[STR]");
    return false;
}

static bool count_parse(struct session *session, struct resp_slice word,
                        struct wish *out)
{
    long long count = 0;

    if (!word_to_integer(word, &count) || count < 1 || count > COUNT_MAX) {
        reply_error(&session->out, "ERR", "COUNT is 1 to %d", COUNT_MAX);
        return false;
    }
    out->count = (size_t)count;
    out->is_array = true;
    return true;
}

/* Which shards there are is the library's to say. */
static bool shard_parse(struct session *session, struct resp_slice word,
                        struct wish *out)
{
    long long shard = 0;

    if (!word_to_integer(word, &shard)) {
        reply_error(&session->out, "ERR", "SHARD is an integer");
        return false;
    }
    out->shard = shard;
    out->has_shard = true;
    return true;
}

/* What no word says alone. */
static bool wish_check(struct session *session, const struct wish *wish)
{
    if (!wish->is_stamped)
        return true;
    if (wish->has_shard) {
        reply_error(&session->out, "ERR",
                    "SHARD or STAMP, not both: an id has its time in it, "
                    "SEQ.DECODE tells it");
        return false;
    }
    if (wish->count > WISH_STAMPED_MAX) {
        reply_error(&session->out, "ERR", "COUNT is 1 to %d with STAMP",
                    WISH_STAMPED_MAX);
        return false;
    }
    return true;
}

bool wish_parse(struct session *session, const struct resp_request *request,
                struct wish *out)
{
    *out = (struct wish){.count = 1};
    for (size_t i = 2; i < request->argc; i++) {
        const struct resp_slice word = request->argv[i];
        bool (*parse)(struct session *, struct resp_slice, struct wish *) =
            word_is(word, "COUNT")   ? count_parse
            : word_is(word, "SHARD") ? shard_parse
                                     : NULL;

        if (parse == NULL && word_is(word, "STR"))
            out->is_text = true;
        else if (parse == NULL && word_is(word, "STAMP"))
            out->is_stamped = true;
        else if (parse == NULL || i + 1 == request->argc)
            return wish_refuse(session);
        else if (!parse(session, request->argv[++i], out))
            return false;
    }
    return wish_check(session, out);
}

/* What a string would lose is refused: all behind a 0, or what is too long. */
static bool param_copy(struct session *session, struct resp_slice word,
                       const char *what, char *out, size_t size)
{
    if (word.length >= size) {
        reply_error(&session->out, "ERR",
                    "a parameter's %s has at most %zu bytes", what, size - 1);
        return false;
    }
    if (word_copy(word, out, size))
        return true;
    reply_error(&session->out, "ERR", "a parameter's %s has a NUL byte", what);
    return false;
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

/* The words from `first` on, a name and a value each; false after answering the
 * error. Which names there are is the library's to say. */
static bool params_read(struct session *session,
                        const struct resp_request *request, size_t first,
                        struct params *out)
{
    if (!params_count(session, request->argc - first, out))
        return false;
    for (size_t i = 0; i < out->count; i++) {
        struct param_copy *copy = &out->copies[i];
        const struct resp_slice *pair = &request->argv[first + 2 * i];

        if (!param_copy(session, pair[0], "name", copy->name,
                        sizeof copy->name) ||
            !param_copy(session, pair[1], "value", copy->value,
                        sizeof copy->value))
            return false;
        out->list[i] = (struct seqb_param){copy->name, copy->value};
    }
    return true;
}

/* COUNT has one place: elsewhere it may be a parameter's name. */
bool wish_parse_texts(struct session *session,
                      const struct resp_request *request, struct params *params,
                      struct wish *out)
{
    size_t first = 2;

    *out = (struct wish){.count = 1, .params = params};
    if (request->argc > 3 && word_is(request->argv[2], "COUNT")) {
        if (!count_parse(session, request->argv[3], out))
            return false;
        first = 4;
    }
    return params_read(session, request, first, params);
}

enum seqb_status wish_take(const struct wish *wish, const struct lane *lane,
                           size_t count, int64_t *out, size_t *taken,
                           struct seqb_error *err)
{
    if (wish->has_shard)
        return seqb_try_next_shard(lane->sequence, wish->shard, count, out,
                                   taken, err);
    return seqb_try_next_many(lane->sequence, count, out, taken, err);
}
