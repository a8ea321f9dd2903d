/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl reload: makes the daemon read its topology again, and shows the
 * result. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/client.h"
#include "ctl/commands.h"
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

static bool report_json(const redisReply *reply)
{
    const redisReply *changes = reply_array(reply, "changes");
    json_t *list = json_array();

    for (size_t i = 0; changes != NULL && i < changes->elements; i++)
        (void)json_array_append_new(list, change_make(changes->element[i]));
    return json_line_print(json_pack(
        "{sI sI sI so}", "applied", (json_int_t)reply_integer(reply, "applied"),
        "restart", (json_int_t)reply_integer(reply, "restart"), "left_out",
        (json_int_t)reply_integer(reply, "left_out"), "changes", list));
}

enum ctl_exit reload_run(const struct ctl_options *options, char **argument)
{
    static const char *const words[] = {"SEQ.RELOAD", "CHECK"};
    const bool is_check = (options->given & CTL_CHECK) != 0;
    redisReply *reply;
    const enum ctl_exit result =
        client_ask(options, is_check ? 2 : 1, words, &reply);
    bool is_printed = true;

    (void)argument;
    if (result != CTL_OK)
        return result;
    if (options->given & CTL_JSON)
        is_printed = report_json(reply);
    else
        report_print(reply, is_check);
    freeReplyObject(reply);
    return is_printed ? CTL_OK : CTL_FAILED;
}
