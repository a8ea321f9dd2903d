/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl reload: makes the daemon read its topology again, and shows the
 * result. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/client.h"
#include "ctl/commands.h"
#include "ctl/complain.h"
#include "ctl/json.h"

static void value_print(const char *text)
{
    printf(" %s", text[0] == '\0' ? "(none)" : text);
}

static void change_print(const redisReply *change, bool is_check)
{
    const char *need = reply_text(change, "need");
    const char *advice = reply_text(change, "advice");
    const char *applied = is_check ? "applies" : "applied";

    printf("%s: %s:", strcmp(need, "nothing") == 0 ? applied : need,
           reply_text(change, "path"));
    value_print(reply_text(change, "before"));
    fputs(" ->", stdout);
    value_print(reply_text(change, "after"));
    if (advice[0] != '\0')
        printf(" (%s)", advice);
    putchar('\n');
}

static void report_print(const redisReply *reply, bool is_check)
{
    const redisReply *changes = reply_array(reply, "changes");
    const int64_t left_out = reply_integer(reply, "left_out");

    for (size_t i = 0; changes != NULL && i < changes->elements; i++)
        change_print(changes->element[i], is_check);
    if (left_out > 0)
        printf("... and %" PRId64 " more\n", left_out);
    printf("%" PRId64 " changes %s, %" PRId64 " need a restart\n",
           reply_integer(reply, "applied"),
           is_check ? "would be applied" : "applied",
           reply_integer(reply, "restart"));
}

static json_t *change_make(const redisReply *change)
{
    return json_pack("{so so so so so}", "need",
                     json_of_text(reply_text(change, "need")), "path",
                     json_of_text(reply_text(change, "path")), "before",
                     json_of_text(reply_text(change, "before")), "after",
                     json_of_text(reply_text(change, "after")), "advice",
                     json_of_text(reply_text(change, "advice")));
}

static const char *reason_text(const redisReply *reason)
{
    return reason->type == REDIS_REPLY_STRING ? reason->str : "";
}

static json_t *reasons_make(const redisReply *reply)
{
    const redisReply *reasons = reply_array(reply, "reasons");
    json_t *list = json_array();

    for (size_t i = 0; reasons != NULL && i < reasons->elements; i++)
        (void)json_array_append_new(
            list, json_of_text(reason_text(reasons->element[i])));
    return list;
}

static bool report_json(const redisReply *reply)
{
    const redisReply *changes = reply_array(reply, "changes");
    json_t *list = json_array();

    for (size_t i = 0; changes != NULL && i < changes->elements; i++)
        (void)json_array_append_new(list, change_make(changes->element[i]));
    return json_line_print(
        json_pack("{sI sI sI so so sI}", "applied",
                  (json_int_t)reply_integer(reply, "applied"), "restart",
                  (json_int_t)reply_integer(reply, "restart"), "left_out",
                  (json_int_t)reply_integer(reply, "left_out"), "changes", list,
                  "reasons", reasons_make(reply), "reasons_left_out",
                  (json_int_t)reply_integer(reply, "reasons_left_out")));
}

/* Several reasons get a line each. */
static void refusal_complain(const redisReply *reply)
{
    const redisReply *reasons = reply_array(reply, "reasons");
    const char *code = reply_text(reply, "code");
    const int64_t left_out = reply_integer(reply, "reasons_left_out");

    complaint_code_set(code);
    if (reasons == NULL || reasons->elements < 2) {
        ctl_complain("%s %s", code, reply_text(reply, "error"));
        return;
    }
    ctl_complain("%s nothing was applied, for %" PRId64 " reasons", code,
                 (int64_t)reasons->elements + left_out);
    for (size_t i = 0; i < reasons->elements; i++)
        ctl_complain("%s", reason_text(reasons->element[i]));
    if (left_out > 0)
        ctl_complain("and %" PRId64 " more", left_out);
}

enum ctl_exit reload_run(const struct ctl_options *options, char **argument)
{
    static const char *const words[] = {"SEQ.RELOAD", "REPORT", "CHECK"};
    const bool is_check = (options->given & CTL_CHECK) != 0;
    redisReply *reply;
    enum ctl_exit result = client_ask(options, is_check ? 3 : 2, words, &reply);
    bool is_refused;

    (void)argument;
    if (result != CTL_OK)
        return result;
    is_refused = reply_text(reply, "code")[0] != '\0';
    if (options->given & CTL_JSON)
        result = report_json(reply) ? CTL_OK : CTL_FAILED;
    else if (!is_refused)
        report_print(reply, is_check);
    if (is_refused && result == CTL_OK) {
        refusal_complain(reply);
        result = CTL_FAILED;
    }
    freeReplyObject(reply);
    return result;
}
