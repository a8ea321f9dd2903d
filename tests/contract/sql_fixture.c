/* SPDX-License-Identifier: Apache-2.0 */
/* A database with an open backend on it. */
#include "contract/sql_fixture.h"

#include <string.h>

#include "platform/text.h"

#define TRIES 1000

/* --- opening --- */

void fixture_close(struct fixture *f)
{
    f->ops->close(f->backend);
    f->backend = NULL;
}

enum seqb_status fixture_open(struct fixture *f)
{
    fixture_close(f);
    return f->ops->open(&f->options, &f->backend, &f->err);
}

void must_open(struct fixture *f)
{
    assert_done(fixture_open(f), f->err);
}

void must_not_open(struct fixture *f, enum seqb_status status,
                   const char *words)
{
    const char *password = f->options.password;

    f->err = (struct seqb_error){SEQB_OK, "opened"};
    (void)fixture_open(f);
    if (f->err.status != status || strstr(f->err.text, words) == NULL ||
        strstr(f->err.text, f->options.name) == NULL)
        fail_msg("%s: %s", seqb_status_name(f->err.status), f->err.text);
    if (password != NULL && password[0] != '\0')
        assert_null(strstr(f->err.text, password));
    assert_null(f->backend);
}

struct seqb_backend *must_open_other(struct fixture *f)
{
    struct seqb_backend *other = NULL;

    assert_done(f->ops->open(&f->options, &other, &f->err), f->err);
    return other;
}

/* --- counters --- */

static enum seqb_status take_once(struct fixture *f, const char *counter,
                                  int64_t want, struct seqb_request *out)
{
    enum seqb_status status;

    memset(out, 0x5a, sizeof *out); /* what nobody may read */
    out->counter = counter;
    out->want = want;
    out->limit = LIMIT;
    out->begins_ms = 0;
    out->guard = NULL;
    status = f->ops->reserve(f->backend, out, 1, &f->err);
    return status == SEQB_OK ? out->status : status;
}

/* Another node of a cluster may be faster; a pool asks once more, too. */
enum seqb_status take(struct fixture *f, const char *counter, int64_t want,
                      struct seqb_request *out)
{
    enum seqb_status status = SEQB_AGAIN;

    for (int i = 0; i < TRIES && status == SEQB_AGAIN; i++)
        status = take_once(f, counter, want, out);
    return status;
}

void must_take(struct fixture *f, int64_t count, int64_t before)
{
    struct seqb_request request;

    assert_done(take(f, ORDER, count, &request), request.error);
    assert_int_equal(request.block.first, before + 1);
    assert_int_equal(request.block.count, count);
}

void must_answer(struct fixture *f, const char *counter,
                 enum seqb_status status)
{
    struct seqb_request request;

    assert_status(take(f, counter, 1, &request), status);
    assert_status(request.status, status);
    assert_status(request.error.status, status);
    assert_non_null(strstr(request.error.text, counter));
    assert_non_null(strstr(request.error.text, f->options.name));
}

void must_fail(struct fixture *f, enum seqb_status status, const char *words)
{
    struct seqb_request request;

    assert_status(take(f, ORDER, 1, &request), status);
    assert_status(f->err.status, status);
    assert_status(request.status, status);
    if (strstr(f->err.text, words) == NULL)
        fail_msg("%s", f->err.text);
    assert_status(take(f, ORDER, 1, &request), SEQB_UNREACHABLE);
    assert_non_null(strstr(f->err.text, "open it again"));
}

int64_t must_raise(struct fixture *f, int64_t floor, int64_t gap)
{
    const struct seqb_raise raise = {.counter = ORDER,
                                     .floor = floor,
                                     .gap = gap,
                                     .limit = LIMIT,
                                     .base_gap = gap};
    int64_t value = -1;

    assert_done(f->ops->raise(f->backend, &raise, &value, &f->err), f->err);
    return value;
}

/* --- counters of days, and purges --- */

static void day_name(char out[SEQB_COUNTER_SIZE], const char *counter, int day)
{
    (void)text_format(out, SEQB_COUNTER_SIZE, "%s@2026110%d", counter, day);
}

enum seqb_status take_day(struct fixture *f, const char *counter, int day,
                          struct seqb_request *out)
{
    char name[SEQB_COUNTER_SIZE];
    enum seqb_status status;

    day_name(name, counter, day);
    *out = (struct seqb_request){
        .counter = name, .want = 1, .limit = LIMIT, .begins_ms = DAY(day)};
    status = f->ops->reserve(f->backend, out, 1, &f->err);
    out->counter = counter;
    return status == SEQB_OK ? out->status : status;
}

void must_take_day(struct fixture *f, const char *counter, int day,
                   int64_t value)
{
    struct seqb_request request;

    assert_done(take_day(f, counter, day, &request), request.error);
    assert_int_equal(request.block.first, value);
}

enum seqb_status purge(struct fixture *f, const char *counter, int day,
                       int32_t most, int32_t *deleted)
{
    char keep[SEQB_COUNTER_SIZE];
    const struct seqb_purge order = {
        .counter = counter, .keep = keep, .before_ms = DAY(day), .most = most};

    day_name(keep, counter, day);
    return f->ops->purge(f->backend, &order, deleted, &f->err);
}

void must_purge(struct fixture *f, const char *counter, int day, int32_t most,
                int32_t deleted)
{
    int32_t count = -1;

    assert_done(purge(f, counter, day, most, &count), f->err);
    assert_int_equal(count, deleted);
}

/* --- claims --- */

enum seqb_status claim(struct fixture *f, const char *name, const char *text)
{
    return f->ops->claim(f->backend, name, text, f->standing,
                         sizeof f->standing, &f->err);
}

enum seqb_status swap_worker(struct fixture *f, const char *expected,
                             const char *text)
{
    const struct seqb_swap swap = {"worker", expected, text, NULL};

    return f->ops->swap(f->backend, &swap, f->standing, sizeof f->standing,
                        &f->err);
}
