/* SPDX-License-Identifier: Apache-2.0 */
/* The words of SEQ.NEXT and SEQ.NUMBER; see wish.h. */
#include "daemon/commands/wish.h"

#include <seqbroker/seqbroker.h>

#include "daemon/lane.h"
#include "daemon/session.h"

#define COUNT_MAX 100000 /* numbers, or texts, of one request */

struct wish wish_of(size_t count, uint32_t flags)
{
    return (struct wish){.take = {.size = sizeof(struct seqb_take_options),
                                  .count = count,
                                  .flags = SEQB_TRY | flags}};
}

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
    out->take.count = (size_t)count;
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
    out->take.shard = shard;
    out->take.flags |= SEQB_SHARD;
    return true;
}

/* What no word says alone. */
static bool wish_check(struct session *session, struct wish *wish)
{
    if (!wish->is_stamped)
        return true;
    wish->take.flags &= ~SEQB_ANY_STAMP;
    if ((wish->take.flags & SEQB_SHARD) != 0) {
        reply_error(&session->out, "ERR",
                    "SHARD or STAMP, not both: an id has its time in it, "
                    "SEQ.DECODE tells it");
        return false;
    }
    if (wish->take.count > WISH_STAMPED_MAX) {
        reply_error(&session->out, "ERR", "COUNT is 1 to %d with STAMP",
                    WISH_STAMPED_MAX);
        return false;
    }
    return true;
}

bool wish_parse(struct session *session, const struct resp_request *request,
                struct wish *out)
{
    *out = wish_of(1, SEQB_SOME | SEQB_ANY_STAMP);
    for (size_t i = 2; i < request->argc; i++) {
        const struct resp_slice word = request->argv[i];
        bool (*parse)(struct session *, struct resp_slice, struct wish *) =
            word_is(word, "COUNT")   ? count_parse
            : word_is(word, "SHARD") ? shard_parse
                                     : NULL;

        if (parse == NULL && word_is(word, "STR"))
            out->is_string = true;
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

    *out = wish_of(1, SEQB_SOME | SEQB_ANY_STAMP);
    out->is_text = true;
    if (request->argc > 3 && word_is(request->argv[2], "COUNT")) {
        if (!count_parse(session, request->argv[3], out))
            return false;
        first = 4;
    }
    if (!params_read(session, request, first, params))
        return false;
    out->take.params = params->list;
    out->take.param_count = params->count;
    return true;
}

/* One number of a sequence, which most callers ask for, is the library's
 * fastest call. */
static bool is_plain(const struct wish *wish, size_t count)
{
    return count == 1 && !wish->is_text && !wish->is_stamped &&
           (wish->take.flags & SEQB_SHARD) == 0;
}

enum seqb_status wish_take(const struct wish *wish, const struct lane *lane,
                           struct wish_items *items, struct seqb_stamp *stamp,
                           struct seqb_error *err)
{
    struct seqb_take_options take = wish->take;
    struct seqb_taken taken = {.size = sizeof taken};
    enum seqb_status status;

    take.count = items->count;
    if (is_plain(wish, items->count)) {
        status = seqb_try_next(lane->sequence, items->at, err);
        taken.count = status == SEQB_OK;
    } else if (wish->is_text) {
        take.text_size = items->size;
        status = seqb_take_texts(lane->sequence, &take, items->at, &taken, err);
    } else {
        status = seqb_take(lane->sequence, &take, items->at, &taken, err);
    }
    items->count = taken.count;
    if (stamp != NULL)
        *stamp = taken.stamp;
    return status;
}

enum command_outcome wish_take_or_wait(struct session *session,
                                       struct lane *lane,
                                       const struct wish *wish,
                                       struct wish_items *items,
                                       struct seqb_stamp *stamp)
{
    struct seqb_error err;
    enum seqb_status status;

    if (session_lines_up(session, lane)) {
        items->count = 0;
        return COMMAND_WAITS;
    }
    status = wish_take(wish, lane, items, stamp, &err);
    return status == SEQB_OK ? COMMAND_DONE
                             : session_wait_or_fail(session, lane, &err);
}

void wish_reply(struct buffer *out, const struct wish *wish,
                const struct wish_items *items)
{
    const char *texts = items->at;

    if (!wish->is_text) {
        reply_numbers(out, items->at, items->count, wish->is_string);
        return;
    }
    for (size_t i = 0; i < items->count; i++)
        reply_string(out, texts + i * items->size);
}
