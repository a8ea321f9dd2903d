/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a number; see wait.h. The line itself is lane.c's. */
#include "daemon/wait.h"

#include <seqbroker/admin.h>

#include "daemon/lane.h"
#include "daemon/reply.h"
#include "daemon/session.h"

bool wait_is_due(const struct session *session, const struct lane *lane)
{
    return lane_has_line(lane) && !session->is_late;
}

enum command_outcome wait_or_fail(struct session *session, struct lane *lane,
                                  const struct seqb_error *err)
{
    bool may_come =
        err->status == SEQB_AGAIN || err->status == SEQB_UNAVAILABLE;

    if (may_come && !session->is_late) {
        session_wait(session, lane);
        return COMMAND_WAITS;
    }
    if (err->status == SEQB_AGAIN)
        reply_error(&session->out, "TIMEOUT",
                    "%s: the backends did not answer within %lld ms", lane->key,
                    (long long)seqb_deadline_ms(lane->sequence));
    else
        reply_failure(&session->out, err);
    return COMMAND_DONE;
}
