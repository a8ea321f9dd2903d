/* SPDX-License-Identifier: Apache-2.0 */
/* SEQ.NUMBER: numbers as texts. How a text looks is the library's to say; one
 * that is not at hand is waited for as a number is. */
#include <seqbroker/seqbroker.h>

#include "daemon/batch.h"
#include "daemon/commands.h"
#include "daemon/lane.h"
#include "daemon/params.h"
#include "daemon/reply.h"
#include "daemon/session.h"
#include "daemon/wait.h"
#include "daemon/wish.h"

static enum command_outcome text_next(struct session *session,
                                      struct lane *lane,
                                      const struct params *params)
{
    char text[SEQB_TEXT_MAX + 1];
    struct seqb_error err;

    if (wait_is_due(session, lane)) {
        session_wait(session, lane);
        return COMMAND_WAITS;
    }
    if (seqb_try_number(lane->sequence, params->list, params->count, text,
                        sizeof text, &err) != SEQB_OK)
        return wait_or_fail(session, lane, &err);
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
