/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a number; see wait.h. The line itself is lane.c's. */
#include "daemon/wait.h"

#include <seqbroker/admin.h>

#include "daemon/daemon.h"
#include "daemon/lane.h"
#include "daemon/reply.h"
#include "daemon/session.h"

bool wait_is_due(const struct session *session, const struct lane *lane)
{
    return lane_has_line(lane) && !session->is_late;
}

/* A sequence with a period may have waited for the clock. */
static void reply_late(struct session *session, const struct lane *lane)
{
    const long long deadline_ms = seqb_deadline_ms(lane->sequence);
    struct seqb_clock_status clock = {.behind_ms = 0};

    if (seqb_clock(session->daemon->broker, &clock, NULL) == SEQB_OK &&
        clock.behind_ms > 0)
        reply_error(&session->out, "TIMEOUT",
                    "%s: no number came within %lld ms: the backends did not "
                    "answer, or the clock, which is %lld ms behind, has to "
                    "catch up",
                    lane->key, deadline_ms, (long long)clock.behind_ms);
    else
        reply_error(&session->out, "TIMEOUT",
                    "%s: the backends did not answer within %lld ms", lane->key,
                    deadline_ms);
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
        reply_late(session, lane);
    else
        reply_failure(&session->out, err);
    return COMMAND_DONE;
}
