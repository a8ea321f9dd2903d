/* SPDX-License-Identifier: Apache-2.0 */
/* A private memcached with an open backend on it. */
#include "contract/memcached_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "platform/text.h"

enum seqb_status fixture_open(struct fixture *f)
{
    backend_memcached.close(f->backend);
    f->backend = NULL;
    return backend_memcached.open(&f->options, &f->backend, &f->err);
}

struct fixture *fixture_start(void **state, const char *const *args)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    *state = f;
    f->server = server_memcached(args);
    f->options = (struct seqb_backend_options){
        .name = "mc-a",
        .host = "127.0.0.1",
        .port = server_port(f->server),
        .timeout_ms = 20000,
        .connect_timeout_ms = 20000,
    };
    (void)fixture_open(f); /* a test of refusals looks at it itself */
    return f;
}

int fixture_stop(void **state)
{
    struct fixture *f = *state;

    if (f == NULL)
        return 0;
    backend_memcached.close(f->backend);
    server_free(f->server);
    free(f);
    return 0;
}

enum seqb_status install(struct fixture *f, int64_t window, int64_t size,
                         int64_t *standing)
{
    const struct seqb_window w = {COUNTER, window, size};

    return backend_memcached.install(f->backend, &w, standing, &f->err);
}

void must_install(struct fixture *f, int64_t window)
{
    int64_t standing;

    assert_int_equal(install(f, window, SIZE, &standing), SEQB_OK);
}

enum seqb_status raise_to(struct fixture *f, int64_t floor, int64_t *out)
{
    const struct seqb_raise r = {COUNTER, floor, 0, INT64_MAX, 0};

    return backend_memcached.raise(f->backend, &r, out, &f->err);
}

struct seqb_request ask(struct fixture *f, int64_t want, int64_t size,
                        enum seqb_status *call)
{
    struct seqb_request request = {
        .counter = COUNTER, .want = want, .limit = size};

    assert_non_null(f->backend);
    *call = backend_memcached.reserve(f->backend, &request, 1, &f->err);
    return request;
}

void must_grant(struct fixture *f, int64_t window, int64_t first, int64_t count)
{
    while (count > 0) {
        enum seqb_status call;
        const struct seqb_request request = ask(f, count, SIZE, &call);

        assert_int_equal(call, SEQB_OK);
        assert_int_equal(request.status, SEQB_OK);
        assert_int_equal(request.window, window);
        assert_int_equal(request.block.first, first);
        assert_in_range(request.block.count, 1, count);
        first += request.block.count;
        count -= request.block.count;
    }
}

void must_answer(struct fixture *f, enum seqb_status status, int64_t window)
{
    enum seqb_status call;
    const struct seqb_request request = ask(f, 1, SIZE, &call);

    assert_int_equal(call, SEQB_OK);
    assert_int_equal(request.status, status);
    assert_int_equal(request.error.status, status);
    assert_non_null(strstr(request.error.text, "mc-a"));
    assert_int_equal(request.window, window);
}

void must_fail(struct fixture *f, enum seqb_status status)
{
    enum seqb_status call;
    const struct seqb_request request = ask(f, 1, SIZE, &call);

    assert_int_equal(call, status);
    assert_int_equal(f->err.status, status);
    assert_int_equal(request.status, status);
    assert_non_null(strstr(f->err.text, "mc-a"));
}

void must_tell(struct fixture *f, const char *command, const char *answer)
{
    memcached_tell(f->server, command, f->answer, sizeof f->answer);
    assert_string_equal(f->answer, answer);
}

void must_hold(struct fixture *f, const char *value)
{
    char expected[4096];

    if (value == NULL)
        (void)text_copy(expected, sizeof expected, "EN\r\n");
    else
        (void)text_format(expected, sizeof expected, "VA %zu\r\n%s\r\n",
                          strlen(value), value);
    must_tell(f, "mg " KEY " v", expected);
}
