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

    for (size_t i = 1; i < request->argc; i++) {
        bool *is_asked = word_is(request->argv[i], "CHECK") ? &order.is_check
                         : word_is(request->argv[i], "REPORT")
                             ? &order.is_report
                             : NULL;

        if (is_asked == NULL || *is_asked) {
            reply_error(&session->out, "ERR",
                        "use SEQ.RELOAD [CHECK] [REPORT]");
            return COMMAND_DONE;
        }
        *is_asked = true;
    }
    session->is_audited = order.is_check; /* no order */
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

/* `code` is empty if it was not refused. */
static void reply_refusal(struct buffer *out,
                          const struct reload_report *report)
{
    const bool is_refused = report->err.status != SEQB_OK;
    char code[REPLY_CODE_SIZE];

    reply_code(report->err.status, code);
    reply_field_string(out, "code", is_refused ? code : "");
    reply_field_string(out, "error", is_refused ? report->err.text : "");
    reply_field_integer(out, "reasons_left_out",
                        (int64_t)report->reasons_left_out);
    reply_string(out, "reasons");
    reply_array(out, report->reason_count);
    for (size_t i = 0; i < report->reason_count; i++)
        reply_string(out, report->reasons[i]);
}

static void reply_report(struct session *session,
                         const struct reload_report *report, bool is_whole)
{
    struct buffer *out = &session->out;

    reply_map(out, is_whole ? 8 : 4, session->is_resp3);
    reply_field_integer(out, "applied", (int64_t)report->applied);
    reply_field_integer(out, "restart", (int64_t)report->restart);
    reply_field_integer(out, "left_out", (int64_t)report->left_out);
    reply_string(out, "changes");
    reply_array(out, report->count);
    for (size_t i = 0; i < report->count; i++)
        reply_change(session, &report->lines[i]);
    if (is_whole)
        reply_refusal(out, report);
}

/* Called again when the blocking call is done. */
enum command_outcome command_reload(struct session *session,
                                    const struct resp_request *request)
{
    const struct blocking_call *call = session->blocking_call;
    const struct reload_report *report;

    if (call == NULL)
        return reload_begin(session, request);
    report = &call->report;
    if (report->err.status == SEQB_OK || call->order.is_report)
        reply_report(session, report, call->order.is_report);
    else
        reply_failure(&session->out, &report->err);
    blocking_call_end(session);
    return COMMAND_DONE;
}
