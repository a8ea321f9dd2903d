/* SPDX-License-Identifier: Apache-2.0 */
/* See redis_impostor.h. */
#include "contract/redis_impostor.h"

#include <string.h>

#include "backends/backends.h"
#include "platform/text.h"
#include "support/test.h"

void add_bulk(char out[static TEXT_SIZE], const char *text)
{
    assert_true(
        text_append(out, TEXT_SIZE, "$%zu\r\n%s\r\n", strlen(text), text));
}

void session_make(char out[static TEXT_SIZE], const char *answers)
{
    out[0] = '\0';
    add_bulk(out, "# Server\r\nredis_version:7.0.15\r\nrun_id:" RUN_ID "\r\n");
    add_bulk(out,
             "# Replication\r\nrole:master\r\nmaster_replid:" REPLID "\r\n");
    add_bulk(out, RUN_ID); /* 40 characters, as a script's name */
    assert_true(text_append(out, TEXT_SIZE, "%s", answers));
}

void master_start(struct impostor *impostor, const char *answers,
                  enum after after)
{
    char text[TEXT_SIZE];

    session_make(text, answers);
    impostor_start(impostor, text, after);
}

void session_start(struct impostor *impostor, const char *answers,
                   enum after after)
{
    master_start(impostor, answers, after);
    assert_ok(impostor_open(impostor, &backend_redis));
}
