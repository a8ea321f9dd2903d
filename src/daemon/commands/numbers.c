/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that hand out numbers. Each asks the library without waiting. If
 * no number is at hand, the session joins the waitlist, and the command is
 * executed again. */
#include <stdint.h>

#include <seqbroker/admin.h>

#include "daemon/commands/commands.h"
#include "daemon/commands/take_request.h"
#include "daemon/session.h"
#include "daemon/waitlist.h"

#define REPEATS_MAX 1024 /* further requests answered together with one */

/* How many more requests fit into this turn. It is as many as would be executed
 * in the turn one by one. */
static size_t repeats_allowed(const struct session *session)
{
    const size_t unsent = session->out.length;
    const size_t most = session_unsent_max(session);
    size_t allowed = (size_t)session->budget - 1;

    if (unsent > most)
        return 0;
    if (allowed > (most - unsent) / REPLY_NUMBER_MAX)
        allowed = (most - unsent) / REPLY_NUMBER_MAX;
    return allowed < REPEATS_MAX ? allowed : REPEATS_MAX;
}

/* Whether requests with the same bytes may be answered together: each by one
 * number. Of a contiguous run the library writes only the first number. */
static bool is_repeatable(const struct take_request *take_request)
{
    return !take_request->is_text && take_request->take.count == 1 &&
           (take_request->take.flags & SEQB_CONTIGUOUS) == 0;
}

/* Answers the requests that follow with the same bytes as the one just
 * answered, all by one step of the ring. If the ring has too few numbers, the
 * remaining requests are executed one by one. */
static void number_repeat(struct session *session, struct waitlist *waitlist,
                          size_t size, const struct take_request *take_request,
                          struct charge *charge)
{
    const struct resp_slice ahead = session->ahead;
    const size_t most = repeats_allowed(session) * size;
    const size_t reach = ahead.length < most ? ahead.length : most;
    int64_t values[REPEATS_MAX];
    struct take_request_items items = {
        .at = values,
        .size = sizeof *values,
        .count = resp_repeats(ahead.data - size, size + reach, size)};

    items.count = session_charge_some(session, charge, items.count);
    if (items.count == 0 ||
        buffer_reserve(&session->out, items.count * REPLY_NUMBER_MAX) == NULL)
        return;
    (void)take_request_take(take_request, waitlist, &items, NULL,
                            NULL); /* the count suffices */
    charge->left -= (int64_t)items.count;
    take_request_reply(&session->out, take_request, &items);
    session_answered(session, items.count, size);
}

/* How many numbers the library may skip to find a run of `count`: those that
 * the current run of 2^memory_bits has left, if they are too few. All of it
 * goes in the order of the numbers, and the daemon is the only one that takes
 * them. After a text it is not known which number was the last. */
static int64_t run_skips(const struct session *session,
                         const struct waitlist *waitlist, int64_t count)
{
    struct seqb_decoded last;
    int64_t left = 0;

    if ((session->quota == NULL && waitlist->limit.quota == NULL) ||
        waitlist->last == WAITLIST_NONE_TAKEN)
        return 0;
    if (waitlist->last == WAITLIST_TEXT_TAKEN)
        return count - 1;
    if (seqb_decode(waitlist->sequence, waitlist->last, &last, NULL) !=
            SEQB_OK ||
        last.time_ms != -1)
        return 0;
    left = (INT64_C(1) << last.memory_bits) - 1 - last.memory;
    return left < count ? left : 0;
}

/* What a run has used up. One that does not begin a run of 2^memory_bits has
 * skipped nothing, nor has a run of ids. */
static int64_t run_used(const struct waitlist *waitlist, int64_t first,
                        int64_t count, int64_t beside)
{
    struct seqb_decoded decoded;

    if (beside > 0 &&
        seqb_decode(waitlist->sequence, first, &decoded, NULL) == SEQB_OK &&
        (decoded.memory > 0 || decoded.time_ms != -1))
        return count;
    return count + beside;
}

/* Answers one number, of a run the last one; or one text. */
static enum command_outcome single_run(struct session *session,
                                       const struct resp_request *request,
                                       const struct take_request *take_request)
{
    struct waitlist *waitlist =
        take_request_waitlist(session, request->argv[1], take_request);
    union {
        int64_t number;
        char text[SEQB_TEXT_MAX + 1];
    } item;
    struct take_request_items items = {.at = &item,
                                       .size = sizeof item.text,
                                       .count = take_request->take.count};
    const bool is_run = (take_request->take.flags & SEQB_CONTIGUOUS) != 0;
    struct charge charge;
    enum command_outcome outcome;

    if (waitlist == NULL ||
        !session_charge(
            session, waitlist, items.count,
            is_run ? run_skips(session, waitlist, (int64_t)items.count) : 0,
            &charge))
        return COMMAND_DONE;
    outcome = take_request_take_or_wait(session, waitlist, take_request, &items,
                                        NULL);
    charge.left -= is_run && items.count > 0
                       ? run_used(waitlist, item.number, (int64_t)items.count,
                                  charge.beside)
                       : (int64_t)items.count;
    charge.beside = 0;
    if (outcome == COMMAND_DONE && items.count > 0) {
        if (!take_request->is_text)
            item.number += (int64_t)items.count - 1;
        items.count = 1;
        take_request_reply(&session->out, take_request, &items);
        if (is_repeatable(take_request) &&
            session->ahead.length >= request->size)
            number_repeat(session, waitlist, request->size, take_request,
                          &charge);
    }
    charge_end(&charge);
    return outcome;
}

enum command_outcome command_incr(struct session *session,
                                  const struct resp_request *request)
{
    const struct take_request take_request =
        take_request_of(1, SEQB_SOME | SEQB_ANY_STAMP);

    return single_run(session, request, &take_request);
}

/* A run of one is a number like any other, and redis-py sends INCR as a run of
 * one. A count below 1 becomes a very large size_t here. The library refuses it
 * like one that is too large, and its error names the bounds. */
enum command_outcome command_incrby(struct session *session,
                                    const struct resp_request *request)
{
    struct take_request take_request;
    long long count = 0;

    if (!session_integer(session, request->argv[2], &count))
        return COMMAND_DONE;
    take_request = take_request_of((size_t)count,
                                   (count == 1 ? SEQB_SOME : SEQB_CONTIGUOUS) |
                                       SEQB_ANY_STAMP);
    return single_run(session, request, &take_request);
}

enum command_outcome command_next(struct session *session,
                                  const struct resp_request *request)
{
    struct take_request take_request;

    if (!take_request_parse(session, request, &take_request))
        return COMMAND_DONE;
    if (take_request.is_array || take_request.is_stamped)
        return batch_run(session, request->argv[1], &take_request);
    return single_run(session, request, &take_request);
}

/* The parameters are parsed again each time that the command is executed: the
 * words may have moved in memory. */
enum command_outcome command_number(struct session *session,
                                    const struct resp_request *request)
{
    struct params params;
    struct take_request take_request;

    if (!take_request_parse_texts(session, request, &params, &take_request))
        return COMMAND_DONE;
    return take_request.is_array
               ? batch_run(session, request->argv[1], &take_request)
               : single_run(session, request, &take_request);
}
