/* SPDX-License-Identifier: Apache-2.0 */
/* SEQ.RELOAD: reads the topology again, on a thread of its own. */
#include "daemon/blocking_call.h"
#include "daemon/commands/commands.h"
#include "daemon/daemon.h"
#include "daemon/session.h"

static enum command_outcome reload_begin(struct session *session,
                                         const struct resp_request *request)
{
    struct blocking_call_order order = {.kind = BLOCKING_CALL_RELOAD};

    order.is_check = request->argc == 2;
    if (request->argc > 2 ||
        (order.is_check && !word_is(request->argv[1], "CHECK"))) {
        reply_error(&session->out, "ERR", "use SEQ.RELOAD [CHECK]");
        return COMMAND_DONE;
    }
    return blocking_call_start(session, &order) ? COMMAND_WAITS : COMMAND_DONE;
}

static void reply_change(struct session *session,
                         const struct reload_line *line)
{
    struct buffer *out = &session->out;

    reply_map(out, 5, session->is_resp3);
    reply_field_string(out, "need", seqb_reload_need_name(line->need));
    reply_field_string(out, "path", line->path);
    reply_field_string(out, "before", line->before);
    reply_field_string(out, "after", line->after);
    reply_field_string(out, "advice", line->advice);
}

static void reply_report(struct session *session,
                         const struct reload_report *report)
{
    struct buffer *out = &session->out;

    reply_map(out, 4, session->is_resp3);
    reply_field_integer(out, "applied", (int64_t)report->applied);
    reply_field_integer(out, "restart", (int64_t)report->restart);
    reply_field_integer(out, "left_out", (int64_t)report->left_out);
    reply_string(out, "changes");
    reply_array(out, report->count);
    for (size_t i = 0; i < report->count; i++)
        reply_change(session, &report->lines[i]);
}

/* Called again when the blocking call is done. */
enum command_outcome command_reload(struct session *session,
                                    const struct resp_request *request)
{
    const struct reload_report *report;

    if (session->blocking_call == NULL)
        return reload_begin(session, request);
    report = &session->blocking_call->report;
    if (report->err.status == SEQB_OK)
        reply_report(session, report);
    else
        reply_failure(&session->out, &report->err);
    blocking_call_end(session->daemon, session->blocking_call);
    return COMMAND_DONE;
}
