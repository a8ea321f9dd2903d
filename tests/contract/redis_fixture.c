/* SPDX-License-Identifier: Apache-2.0 */
/* A private redis-server with an open backend on it. */
#include "contract/redis_fixture.h"

#include <string.h>

#include "platform/text.h"
#include "support/test.h"

struct fixture *fixture_start(void **state)
{
    struct fixture *f =
        fixture_prepare(state, "redis-a", &backend_redis, server_redis(NULL));

    assert_ok(fixture_open(f));
    return f;
}

void must_grant(struct fixture *f, int64_t window, int64_t first, int64_t count)
{
    assert_int_equal(must_take(f, window, first, count), count);
}

void must_hold(struct fixture *f, const char *field, const char *value)
{
    redisReply *reply = server_ask(f->server, "HGET %s %s", KEY, field);

    assert_int_equal(reply->type, REDIS_REPLY_STRING);
    assert_string_equal(reply->str, value);
    freeReplyObject(reply);
}

bool key_exists(struct fixture *f, const char *key)
{
    redisReply *reply = server_ask(f->server, "EXISTS %s", key);
    const bool exists = reply->integer == 1;

    freeReplyObject(reply);
    return exists;
}

int64_t info_number(struct fixture *f, const char *section, const char *name)
{
    redisReply *reply = server_ask(f->server, "INFO %s", section);
    const char *at = strstr(reply->str, name);
    int64_t number;

    assert_non_null(at);
    at += strlen(name);
    assert_true(text_to_int64(at, strspn(at, "0123456789"), &number));
    freeReplyObject(reply);
    return number;
}
