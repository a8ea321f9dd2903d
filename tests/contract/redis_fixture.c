/* SPDX-License-Identifier: Apache-2.0 */
/* A private redis-server with an open backend on it. */
#include "contract/redis_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "platform/text.h"

enum seqb_status fixture_open(struct fixture *f)
{
    backend_redis.close(f->backend);
    f->backend = NULL;
    return backend_redis.open(&f->options, &f->backend, &f->err);
}

struct fixture *fixture_start(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    *state = f;
    f->server = server_redis(NULL);
    f->options = (struct seqb_backend_options){
        .name = "redis-a",
        .host = "127.0.0.1",
        .port = server_port(f->server),
        .timeout_ms = 20000,
        .connect_timeout_ms = 20000,
    };
    assert_int_equal(fixture_open(f), SEQB_OK);
    return f;
}

int fixture_stop(void **state)
{
    struct fixture *f = *state;

    if (f == NULL)
        return 0;
    backend_redis.close(f->backend);
    server_free(f->server);
    free(f);
    return 0;
}

enum seqb_status install(struct fixture *f, int64_t window, int64_t size,
                         int64_t *standing)
{
    const struct seqb_window w = {COUNTER, window, size};

    return backend_redis.install(f->backend, &w, standing, &f->err);
}

void must_install(struct fixture *f, int64_t window)
{
    int64_t standing;

    assert_int_equal(install(f, window, SIZE, &standing), SEQB_OK);
}

enum seqb_status raise_to(struct fixture *f, int64_t floor, int64_t *out)
{
    const struct seqb_raise r = {COUNTER, floor, 0, INT64_MAX, 0};

    return backend_redis.raise(f->backend, &r, out, &f->err);
}

struct seqb_request ask(struct fixture *f, int64_t want, int64_t size,
                        enum seqb_status *call)
{
    struct seqb_request request = {
        .counter = COUNTER, .want = want, .limit = size};

    *call = backend_redis.reserve(f->backend, &request, 1, &f->err);
    return request;
}

void must_grant(struct fixture *f, int64_t window, int64_t first, int64_t count)
{
    enum seqb_status call;
    const struct seqb_request request = ask(f, count, SIZE, &call);

    assert_int_equal(call, SEQB_OK);
    assert_int_equal(request.status, SEQB_OK);
    assert_int_equal(request.window, window);
    assert_int_equal(request.block.first, first);
    assert_int_equal(request.block.count, count);
}

void must_answer(struct fixture *f, enum seqb_status status, int64_t window)
{
    enum seqb_status call;
    const struct seqb_request request = ask(f, 1, SIZE, &call);

    assert_int_equal(call, SEQB_OK);
    assert_int_equal(request.status, status);
    assert_int_equal(request.error.status, status);
    assert_non_null(strstr(request.error.text, "redis-a"));
    assert_int_equal(request.window, window);
}

void must_fail(struct fixture *f, enum seqb_status status)
{
    enum seqb_status call;
    const struct seqb_request request = ask(f, 1, SIZE, &call);

    assert_int_equal(call, status);
    assert_int_equal(f->err.status, status);
    assert_int_equal(request.status, status);
    assert_non_null(strstr(f->err.text, "redis-a"));
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
