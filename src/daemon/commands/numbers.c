/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that hand out numbers. Each asks the library without waiting;
 * when there is none at hand the session goes into the lane's line, and the
 * command is executed again. */
#include <stdint.h>

#include <seqbroker/admin.h>

#include "daemon/commands/commands.h"
#include "daemon/commands/wish.h"
#include "daemon/lane.h"
#include "daemon/session.h"

#define REPEATS_MAX 1024 /* requests answered together with one before */

/* How many more requests fit into this turn: it ends where it would end if
 * they were executed one by one. */
static size_t repeats_allowed(const struct session *session)
{
    const size_t unsent = session->out.length;
    size_t allowed = (size_t)session->budget - 1;

    if (unsent > SESSION_UNSENT_MAX)
        return 0;
    if (allowed > (SESSION_UNSENT_MAX - unsent) / REPLY_NUMBER_MAX)
        allowed = (SESSION_UNSENT_MAX - unsent) / REPLY_NUMBER_MAX;
    return allowed < REPEATS_MAX ? allowed : REPEATS_MAX;
}

/* Answers those that follow with the same bytes as the one just answered, all
 * by one step of the ring. The rest of them, if it has not enough, are
 * executed like any others. */
static void number_repeat(struct session *session, struct lane *lane,
                          size_t size, const struct wish *wish)
{
    const struct resp_slice ahead = session->ahead;
    const size_t most = repeats_allowed(session) * size;
    const size_t reach = ahead.length < most ? ahead.length : most;
    const size_t count = resp_repeats(ahead.data - size, size + reach, size);
    int64_t values[REPEATS_MAX];
    size_t taken = 0;

    if (count == 0 ||
        buffer_room(&session->out, count * REPLY_NUMBER_MAX) == NULL)
        return;
    /* `taken` says it all. */
    if (wish_take(wish, lane, count, values, &taken, NULL) == SEQB_OK)
        taken = count;
    reply_numbers(&session->out, values, taken, wish->is_text);
    session_answered(session, taken, size);
}

static enum seqb_status number_take(const struct wish *wish,
                                    const struct lane *lane, int64_t *out,
                                    struct seqb_error *err)
{
    size_t taken = 0;

    if (wish->has_shard)
        return wish_take(wish, lane, 1, out, &taken, err);
    return seqb_try_next(lane->sequence, out, err);
}

static enum command_outcome number_next(struct session *session,
                                        struct lane *lane,
                                        const struct resp_request *request,
                                        const struct wish *wish)
{
    struct seqb_error err;
    int64_t value = 0;

    if (session_lines_up(session, lane))
        return COMMAND_WAITS;
    if (number_take(wish, lane, &value, &err) != SEQB_OK)
        return session_wait_or_fail(session, lane, &err);
    reply_numbers(&session->out, &value, 1, wish->is_text);
    if (session->ahead.length >= request->size)
        number_repeat(session, lane, request->size, wish);
    return COMMAND_DONE;
}

enum command_outcome command_incr(struct session *session,
                                  const struct resp_request *request)
{
    static const struct wish plain = {.count = 1};
    struct lane *lane = session_lane(session, request->argv[1]);

    if (lane == NULL)
        return COMMAND_DONE;
    return number_next(session, lane, request, &plain);
}

enum command_outcome command_incrby(struct session *session,
                                    const struct resp_request *request)
{
    struct lane *lane = session_lane(session, request->argv[1]);
    struct seqb_error err;
    long long count = 0;
    int64_t first = 0;

    if (lane == NULL)
        return COMMAND_DONE;
    if (!session_integer(session, request->argv[2], &count))
        return COMMAND_DONE;
    if (session_lines_up(session, lane))
        return COMMAND_WAITS;
    /* One below 0 is as wrong, and the library's answer says the bound. */
    if (seqb_try_next_run(lane->sequence, (size_t)count, &first, &err) !=
        SEQB_OK)
        return session_wait_or_fail(session, lane, &err);
    reply_integer(&session->out, first + count - 1);
    return COMMAND_DONE;
}

enum command_outcome command_next(struct session *session,
                                  const struct resp_request *request)
{
    struct wish wish;
    struct lane *lane = NULL;

    if (!wish_parse(session, request, &wish))
        return COMMAND_DONE;
    lane = session_lane(session, request->argv[1]);
    if (lane == NULL)
        return COMMAND_DONE;
    if (wish.is_array || wish.is_stamped)
        return batch_run(session, lane, &wish);
    return number_next(session, lane, request, &wish);
}

/* --- as texts --- */

static enum command_outcome text_next(struct session *session,
                                      struct lane *lane,
                                      const struct params *params)
{
    char text[SEQB_TEXT_MAX + 1];
    struct seqb_error err;

    if (session_lines_up(session, lane))
        return COMMAND_WAITS;
    if (seqb_try_number(lane->sequence, params->list, params->count, text,
                        sizeof text, &err) != SEQB_OK)
        return session_wait_or_fail(session, lane, &err);
    reply_string(&session->out, text);
    return COMMAND_DONE;
}

/* The parameters are read again each time that it is executed: the words may
 * lie elsewhere then. */
enum command_outcome command_number(struct session *session,
                                    const struct resp_request *request)
{
    struct params params;
    struct wish wish;
    struct lane *lane = NULL;

    if (!wish_parse_texts(session, request, &params, &wish))
        return COMMAND_DONE;
    lane = session_lane(session, request->argv[1]);
    if (lane == NULL)
        return COMMAND_DONE;
    if (wish.is_array)
        return batch_run(session, lane, &wish);
    return text_next(session, lane, &params);
}
