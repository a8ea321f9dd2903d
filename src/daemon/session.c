/* SPDX-License-Identifier: Apache-2.0 */
/* What commands ask of the session that they are executed for; see session.h.
 */
#include "daemon/session.h"

#include <string.h>

#include <seqbroker/admin.h>

#include "daemon/daemon.h"
#include "daemon/reply.h"

struct lane *session_lane(struct session *session, struct resp_slice key)
{
    struct lane *lane = session->lane;
    struct seqb_error err;

    if (lane != NULL && lane->key_length == key.length &&
        memcmp(lane->key, key.data, key.length) == 0)
        return lane;
    if (lanes_find(&session->daemon->lanes, key, &lane, &err) != SEQB_OK) {
        reply_failure(&session->out, &err);
        return NULL;
    }
    session->lane = lane;
    return lane;
}

void session_answered(struct session *session, size_t count, size_t size)
{
    session->ahead.data += count * size;
    session->ahead.length -= count * size;
    session->daemon->commands_processed += (int64_t)count;
    session->budget -= (int)count;
}

void session_wait(struct session *session, struct lane *lane)
{
    const bool has_waited = session->wait_until_ms != 0;

    if (!has_waited)
        session->wait_until_ms =
            daemon_now_ms() + seqb_deadline_ms(lane->sequence);
    lanes_join(&session->daemon->lanes, lane, &session->waiter, has_waited);
}
