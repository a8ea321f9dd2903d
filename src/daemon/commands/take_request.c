/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing and executing SEQ.NEXT and SEQ.NUMBER; see take_request.h. */
#include "daemon/commands/take_request.h"

#include <seqbroker/seqbroker.h>

#include "daemon/daemon.h"
#include "daemon/session.h"
#include "daemon/waitlist.h"

#define COUNT_MAX 100000 /* numbers or texts of one request, at most */

struct take_request take_request_of(size_t count, uint32_t flags)
{
    return (struct take_request){
        .take = {.size = sizeof(struct seqb_take_options),
                 .count = count,
                 .flags = SEQB_TRY | flags}};
}

static bool take_request_refuse(struct session *session)
{
    reply_error(&session->out, "ERR",
                "syntax error, use SEQ.NEXT key [COUNT n] [SHARD s] [STAMP] "
                "[STR]");
    return false;
}

static bool count_parse(struct session *session, struct resp_slice word,
                        struct take_request *out)
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

/* The library checks the shard's range. */
static bool shard_parse(struct session *session, struct resp_slice word,
                        struct take_request *out)
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

/* Checks combinations of words. */
static bool take_request_check(struct session *session,
                               struct take_request *take_request)
{
    if (!take_request->is_stamped)
        return true;
    take_request->take.flags &= ~SEQB_ANY_STAMP;
    if ((take_request->take.flags & SEQB_SHARD) != 0) {
        reply_error(&session->out, "ERR",
                    "SHARD or STAMP, not both: an id has its time in it, "
                    "SEQ.DECODE tells it");
        return false;
    }
    if (take_request->take.count > TAKE_STAMPED_MAX) {
        reply_error(&session->out, "ERR", "COUNT is 1 to %d with STAMP",
                    TAKE_STAMPED_MAX);
        return false;
    }
    return true;
}

bool take_request_parse(struct session *session,
                        const struct resp_request *request,
                        struct take_request *out)
{
    *out = take_request_of(1, SEQB_SOME | SEQB_ANY_STAMP);
    for (size_t i = 2; i < request->argc; i++) {
        const struct resp_slice word = request->argv[i];
        bool (*parse)(struct session *, struct resp_slice,
                      struct take_request *) =
            word_is(word, "COUNT")   ? count_parse
            : word_is(word, "SHARD") ? shard_parse
                                     : NULL;

        if (parse == NULL && word_is(word, "STR"))
            out->is_string = true;
        else if (parse == NULL && word_is(word, "STAMP"))
            out->is_stamped = true;
        else if (parse == NULL || i + 1 == request->argc)
            return take_request_refuse(session);
        else if (!parse(session, request->argv[++i], out))
            return false;
    }
    return take_request_check(session, out);
}

/* Refuses a word that is too long, or that has a NUL, behind which a string
 * would end. */
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

/* Reads the words from `first` on, pairs of a name and a value. False after
 * answering the error. The library checks the names. */
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

/* COUNT is recognised directly after the key only: elsewhere it may be the name
 * of a parameter. */
bool take_request_parse_texts(struct session *session,
                              const struct resp_request *request,
                              struct params *params, struct take_request *out)
{
    size_t first = 2;

    *out = take_request_of(1, SEQB_SOME | SEQB_ANY_STAMP);
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

/* Whether the request may succeed; false after answering the error. A word that
 * is no string is left to the waitlists, whose error says what is wrong with
 * the key. */
static bool is_answerable(struct session *session, struct resp_slice key,
                          const struct take_request *take_request)
{
    struct seqb_take_options take = take_request->take;
    char text[SEQB_KEY_MAX + 1];
    struct seqb_error err;

    if (take_request->is_text)
        take.text_size = SEQB_TEXT_MAX + 1;
    if (session_knows(session, key) || !word_copy(key, text, sizeof text) ||
        seqb_check_take(session->daemon->broker, text, &take, &err) == SEQB_OK)
        return true;
    reply_failure(&session->out, &err);
    return false;
}

struct waitlist *take_request_waitlist(struct session *session,
                                       struct resp_slice key,
                                       const struct take_request *take_request)
{
    struct seqb_error err;

    return is_answerable(session, key, take_request)
               ? session_waitlist(session, key, &err)
               : NULL;
}

/* One plain number, the most frequent request, is taken by the library's
 * fastest call. */
static bool is_plain(const struct take_request *take_request, size_t count)
{
    return count == 1 && !take_request->is_text && !take_request->is_stamped &&
           (take_request->take.flags & SEQB_SHARD) == 0;
}

/* For what a later run uses up. Of a run, only the first number is written. */
static void note_last(const struct take_request *take_request,
                      struct waitlist *waitlist,
                      const struct take_request_items *items)
{
    const int64_t *numbers = items->at;

    if (items->count == 0)
        return;
    if (take_request->is_text)
        waitlist->last = WAITLIST_TEXT_TAKEN;
    else if ((take_request->take.flags & SEQB_CONTIGUOUS) != 0)
        waitlist->last = numbers[0] + (int64_t)items->count - 1;
    else
        waitlist->last = numbers[items->count - 1];
}

enum seqb_status take_request_take(const struct take_request *take_request,
                                   struct waitlist *waitlist,
                                   struct take_request_items *items,
                                   struct seqb_stamp *stamp,
                                   struct seqb_error *err)
{
    struct seqb_take_options take = take_request->take;
    struct seqb_taken taken = {.size = sizeof taken};
    enum seqb_status status;

    take.count = items->count;
    if (is_plain(take_request, items->count)) {
        status = seqb_try_next(waitlist->sequence, items->at, err);
        taken.count = status == SEQB_OK;
    } else if (take_request->is_text) {
        take.text_size = items->size;
        status =
            seqb_take_texts(waitlist->sequence, &take, items->at, &taken, err);
    } else {
        status = seqb_take(waitlist->sequence, &take, items->at, &taken, err);
    }
    items->count = taken.count;
    note_last(take_request, waitlist, items);
    if (stamp != NULL)
        *stamp = taken.stamp;
    return status;
}

enum command_outcome
take_request_take_or_wait(struct session *session, struct waitlist *waitlist,
                          const struct take_request *take_request,
                          struct take_request_items *items,
                          struct seqb_stamp *stamp)
{
    struct seqb_error err;
    enum seqb_status status;

    if (session_lines_up(session, waitlist)) {
        items->count = 0;
        return COMMAND_WAITS;
    }
    status = take_request_take(take_request, waitlist, items, stamp, &err);
    return status == SEQB_OK ? COMMAND_DONE
                             : session_wait_or_fail(session, waitlist, &err);
}

void take_request_reply(struct buffer *out,
                        const struct take_request *take_request,
                        const struct take_request_items *items)
{
    const char *texts = items->at;

    if (!take_request->is_text) {
        reply_numbers(out, items->at, items->count, take_request->is_string);
        return;
    }
    for (size_t i = 0; i < items->count; i++)
        reply_string(out, texts + i * items->size);
}
