/* SPDX-License-Identifier: Apache-2.0 */
/* An answer to SEQ.WORKERS as a table or as one JSON object. */
#include "ctl/workers.h"

#include <stdio.h>

#include "ctl/client.h"
#include "ctl/object.h"
#include "ctl/table.h"

static const struct column worker_columns[] = {
    {"POOL", "pool", SHOW_TEXT, 0},
    {"WORKER", "worker", SHOW_INTEGER, SCOLS_FL_RIGHT},
    {"STATE", "state", SHOW_TEXT, 0},
    {"HOLDER", "holder", SHOW_TEXT, 0},
    {"RENEWED", "renewed_ms", SHOW_SINCE, SCOLS_FL_RIGHT},
    {"USED UP TO", "used_upto_ms", SHOW_MOMENT, SCOLS_FL_RIGHT},
    {.title = NULL},
};

static const struct field worker_fields[] = {
    {"pool", MEMBER_TEXT},
    {"worker", MEMBER_INTEGER},
    {"state", MEMBER_TEXT},
    {"holder", MEMBER_TEXT},
    {"renewed_ms", MEMBER_INTEGER},
    {"used_upto_ms", MEMBER_INTEGER},
    {.name = NULL},
};

static enum ctl_exit workers_print(const redisReply *workers, bool is_json)
{
    if (workers->type != REDIS_REPLY_ARRAY) {
        ctl_complain("the answer to SEQ.WORKERS is no list: is this a "
                     "seqbrokerd, and of this version?");
        return CTL_FAILED;
    }
    if (is_json) {
        fputs("{\n  ", stdout);
        objects_print("workers", worker_fields, workers);
        puts("\n}");
        return CTL_OK;
    }
    if (workers->elements == 0) {
        puts("no worker id was ever taken");
        return CTL_OK;
    }
    return table_print(worker_columns, workers, false) ? CTL_OK : CTL_FAILED;
}

enum ctl_exit workers_show(const struct ctl_options *options, char **argument)
{
    static const char *const words[] = {"SEQ.WORKERS"};
    struct client client;
    redisReply *reply = NULL;
    enum ctl_exit result = client_open(options, &client);

    (void)argument;
    if (result == CTL_OK)
        result = client_call(&client, 1, words, &reply);
    if (result == CTL_OK)
        result = workers_print(reply, options->given & CTL_JSON);
    freeReplyObject(reply);
    client_close(&client);
    return result;
}
