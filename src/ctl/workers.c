/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl workers: an answer to SEQ.WORKERS as a table or as one JSON object. */
#include <stdio.h>

#include "ctl/answer.h"
#include "ctl/client.h"
#include "ctl/commands.h"
#include "ctl/status/status.h"

static bool workers_object(const struct rows *workers)
{
    fputs("{\n  ", stdout);
    if (!objects_print(STATUS_OF_WORKERS, workers))
        return false;
    puts("\n}");
    return true;
}

static bool workers_table(const struct rows *workers, const struct view *view)
{
    if (workers->count > 0)
        return table_print(view, STATUS_OF_WORKERS, workers, false);
    puts("no worker id was ever taken");
    return true;
}

static enum ctl_exit workers_print(const redisReply *workers,
                                   const struct ctl_options *options)
{
    struct rows rows;
    struct view view;
    bool is_printed;

    if (workers->type != REDIS_REPLY_ARRAY)
        return reply_refuse("SEQ.WORKERS", "is no list");
    if (!view_init(&view, options))
        return CTL_USAGE;
    is_printed = rows_init(&rows, workers) &&
                 (options->given & CTL_JSON ? workers_object(&rows)
                                            : workers_table(&rows, &view));
    rows_fini(&rows);
    return is_printed ? CTL_OK : CTL_FAILED;
}

enum ctl_exit workers_run(const struct ctl_options *options, char **argument)
{
    static const char *const words[] = {"SEQ.WORKERS"};
    redisReply *reply;
    enum ctl_exit result = client_ask(options, 1, words, &reply);

    (void)argument;
    if (result == CTL_OK)
        result = workers_print(reply, options);
    freeReplyObject(reply);
    return result;
}
