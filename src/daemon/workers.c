/* SPDX-License-Identifier: Apache-2.0 */
/* SEQ.WORKERS: who has the worker ids of pools with a snowflake. The stores are
 * asked on an errand's thread. */
#include <seqbroker/admin.h>

#include "daemon/commands.h"
#include "daemon/errand.h"
#include "daemon/reply.h"
#include "daemon/session.h"

static const char *worker_state(const struct seqb_worker *worker)
{
    if (worker->is_ours)
        return "ours";
    return worker->is_free ? "free" : "held";
}

static void reply_worker(struct buffer *out, const struct seqb_worker *worker,
                         bool is_resp3)
{
    reply_map(out, 6, is_resp3);
    reply_field_string(out, "pool", worker->pool);
    reply_field_integer(out, "worker", worker->worker);
    reply_field_string(out, "state", worker_state(worker));
    reply_field_string(out, "holder", worker->holder);
    reply_field_integer(out, "renewed_ms", worker->renewed_ms);
    reply_field_integer(out, "used_upto_ms", worker->used_upto_ms);
}

static void reply_workers(struct session *session, const struct errand *errand)
{
    reply_array(&session->out, errand->worker_count);
    for (size_t i = 0; i < errand->worker_count; i++)
        reply_worker(&session->out, &errand->workers[i], session->is_resp3);
}

/* Called again when the errand is done. */
enum command_outcome command_workers(struct session *session,
                                     const struct resp_request *request)
{
    static const struct errand_order order = {.kind = ERRAND_WORKERS};

    (void)request;
    if (session->errand == NULL)
        return errand_start(session, &order) ? COMMAND_WAITS : COMMAND_DONE;
    if (session->errand->err.status == SEQB_OK)
        reply_workers(session, session->errand);
    else
        reply_failure(&session->out, &session->errand->err);
    errand_end(session->daemon);
    return COMMAND_DONE;
}
