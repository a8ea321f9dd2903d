/* SPDX-License-Identifier: Apache-2.0 */
/* A private server with an open backend of a windowed engine on it. */
#include "contract/windowed_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "platform/text.h"
#include "support/test.h"

enum seqb_status fixture_open(struct fixture *f)
{
    f->ops->close(f->backend);
    f->backend = NULL;
    return f->ops->open(&f->options, &f->backend, &f->err);
}

struct fixture *fixture_prepare(void **state, const char *name,
                                const struct seqb_backend_ops *ops,
                                struct server *server)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    *state = f;
    f->ops = ops;
    f->server = server;
    f->options = (struct seqb_backend_options){
        .name = name,
        .host = "127.0.0.1",
        .port = server_port(server),
        .timeout_ms = 20000,
        .connect_timeout_ms = 20000,
    };
    return f;
}

int fixture_stop(void **state)
{
    struct fixture *f = *state;

    if (f == NULL)
        return 0;
    f->ops->close(f->backend);
    server_free(f->server);
    free(f);
    return 0;
}

enum seqb_status install(struct fixture *f, int64_t window, int64_t size,
                         int64_t *standing)
{
    const struct seqb_window w = {
        .counter = COUNTER, .window = window, .size = size};

    return f->ops->install(f->backend, &w, standing, &f->err);
}

void must_install(struct fixture *f, int64_t window)
{
    int64_t standing;

    assert_ok(install(f, window, SIZE, &standing));
}

enum seqb_status raise_to(struct fixture *f, int64_t floor, int64_t *out)
{
    const struct seqb_raise r = {
        .counter = COUNTER, .floor = floor, .limit = INT64_MAX};

    return f->ops->raise(f->backend, &r, out, &f->err);
}

struct seqb_request ask(struct fixture *f, int64_t want, int64_t size,
                        enum seqb_status *call)
{
    struct seqb_request request = {
        .counter = COUNTER, .want = want, .limit = size};

    assert_non_null(f->backend);
    *call = f->ops->reserve(f->backend, &request, 1, &f->err);
    return request;
}

int64_t must_take(struct fixture *f, int64_t window, int64_t first,
                  int64_t count)
{
    enum seqb_status call;
    const struct seqb_request request = ask(f, count, SIZE, &call);

    assert_ok(call);
    assert_ok(request.status);
    assert_int_equal(request.window, window);
    assert_int_equal(request.block.first, first);
    assert_in_range(request.block.count, 1, count);
    return request.block.count;
}

void must_answer(struct fixture *f, enum seqb_status status, int64_t window)
{
    enum seqb_status call;
    const struct seqb_request request = ask(f, 1, SIZE, &call);

    assert_ok(call);
    assert_int_equal(request.status, status);
    assert_int_equal(request.error.status, status);
    assert_non_null(strstr(request.error.text, f->options.name));
    assert_int_equal(request.window, window);
}

void must_fail(struct fixture *f, enum seqb_status status)
{
    enum seqb_status call;
    const struct seqb_request request = ask(f, 1, SIZE, &call);

    assert_int_equal(call, status);
    assert_int_equal(f->err.status, status);
    assert_int_equal(request.status, status);
    assert_non_null(strstr(f->err.text, f->options.name));
}

int64_t must_take_many(struct fixture *f)
{
    static struct seqb_request requests[MANY];
    static char names[MANY][SEQB_COUNTER_SIZE];
    int64_t taken = 0;
    struct seqb_error err;

    for (size_t i = 0; i < MANY; i++) {
        const struct seqb_window window = {
            .counter = names[i], .window = 7, .size = SIZE};
        int64_t standing;

        (void)text_format(names[i], sizeof names[i], "main/0/%.40s-%zu",
                          "a-key-of-forty-letters-to-fill-the-buffers", i);
        assert_ok(f->ops->install(f->backend, &window, &standing, &err));
        requests[i] = (struct seqb_request){.counter = names[i],
                                            .want = 1 + (int64_t)i % 2,
                                            .limit = SIZE,
                                            .window = SEQB_NO_WINDOW};
    }
    assert_ok(f->ops->reserve(f->backend, requests, MANY, &err));
    for (size_t i = 0; i < MANY; i++) {
        assert_ok(requests[i].status);
        assert_int_equal(requests[i].window, 7);
        assert_int_equal(requests[i].block.first, 0);
        assert_in_range(requests[i].block.count, 1, requests[i].want);
        taken += requests[i].block.count;
    }
    return taken;
}

void must_refuse_arguments(struct fixture *f)
{
    char name[1000];
    const struct seqb_window windows[] = {
        {.counter = name, .window = 2, .size = SIZE},
        {.counter = COUNTER, .window = 0, .size = SIZE},
        {.counter = COUNTER, .window = 2, .size = 0},
    };
    const struct seqb_raise raises[] = {{.counter = name, .floor = 1},
                                        {.counter = COUNTER, .floor = -1}};
    int64_t out;

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (size_t i = 0; i < COUNT(windows); i++)
        assert_int_equal(
            f->ops->install(f->backend, &windows[i], &out, &f->err),
            SEQB_INVALID);
    for (size_t i = 0; i < COUNT(raises); i++)
        assert_int_equal(f->ops->raise(f->backend, &raises[i], &out, &f->err),
                         SEQB_INVALID);
    must_install(f, 1);
    (void)must_take(f, 1, 0, 1);
}

void must_refuse_options(struct fixture *f)
{
    const struct seqb_backend_options options = f->options;
    char path[256];

    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    f->options.prefix = path;
    assert_int_equal(fixture_open(f), SEQB_INVALID);
    assert_non_null(strstr(f->err.text, "at most 64 bytes"));
    f->options = options;
    f->options.socket_path = path;
    assert_int_equal(fixture_open(f), SEQB_INVALID);
    f->options = options;
    f->options.host = NULL;
    assert_int_equal(fixture_open(f), SEQB_INVALID);
}
