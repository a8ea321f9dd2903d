/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that a correct server does not give, and those that do not come: this
 * program changes a row, a count or an id of what the client library says, or
 * says that the connection is lost. No number and no claim may be made of it,
 * and the connection must not be used again. */
#include "contract/mysql_fixture.h"

#include <errmsg.h>
#include <mysql.h>

#include "backends/mysql/mysql.h"
#include "platform/text.h"
#include "support/test.h"

#define NO_ROW (-1) /* instead of a column: the row is missing */

static int changes_row;    /* of a call, from 1 on; 0: none is changed */
static int changes_column; /* becomes NULL */
static int fetched;

static bool changes_id;
static uint64_t other_id;
static uint64_t more_changed;

MYSQL_ROW __real_mysql_fetch_row(MYSQL_RES *result);
MYSQL_ROW __wrap_mysql_fetch_row(MYSQL_RES *result);
my_ulonglong __real_mysql_insert_id(MYSQL *handle);
my_ulonglong __wrap_mysql_insert_id(MYSQL *handle);
my_ulonglong __real_mysql_affected_rows(MYSQL *handle);
my_ulonglong __wrap_mysql_affected_rows(MYSQL *handle);

MYSQL_ROW __wrap_mysql_fetch_row(MYSQL_RES *result)
{
    MYSQL_ROW row = __real_mysql_fetch_row(result);

    if (row == NULL || ++fetched != changes_row)
        return row;
    if (changes_column == NO_ROW)
        return NULL;
    row[changes_column] = NULL;
    return row;
}

my_ulonglong __wrap_mysql_insert_id(MYSQL *handle)
{
    return changes_id ? other_id : __real_mysql_insert_id(handle);
}

my_ulonglong __wrap_mysql_affected_rows(MYSQL *handle)
{
    return __real_mysql_affected_rows(handle) + more_changed;
}

/* --- rows --- */

static enum seqb_status raise_order(struct seqb_backend *backend)
{
    const struct seqb_raise raise = {
        .counter = ORDER, .floor = 10, .limit = LIMIT};
    int64_t out;

    return backend->ops->raise(backend, &raise, &out, NULL);
}

static enum seqb_status claim_main(struct seqb_backend *backend)
{
    char standing[SEQB_CLAIM_SIZE];

    return backend->ops->claim(backend, "main", "a", standing, sizeof standing,
                               NULL);
}

static enum seqb_status claim_many(struct seqb_backend *backend)
{
    struct seqb_claim claim = {.name = "main", .text = "a"};
    size_t done;

    return backend->ops->claim_many(backend, &claim, 1, &done, NULL);
}

static enum seqb_status swap_main(struct seqb_backend *backend)
{
    const struct seqb_swap swap = {"main", "a", "b", NULL};
    char standing[SEQB_CLAIM_SIZE];

    return backend->ops->swap(backend, &swap, standing, sizeof standing, NULL);
}

static enum seqb_status purge_order(struct seqb_backend *backend)
{
    const struct seqb_purge purge = {ORDER, ORDER "@20261121", 1, 1};
    int32_t deleted;

    return backend->ops->purge(backend, &purge, &deleted, NULL);
}

static enum seqb_status list_main(struct seqb_backend *backend)
{
    struct seqb_listed listed[2];
    struct seqb_page page = {
        .prefix = "main/", .after = "", .listed = listed, .most = 2};

    return backend->ops->list(backend, &page, NULL);
}

static enum seqb_status ask_clock(struct seqb_backend *backend)
{
    int64_t ms;

    return backend->ops->clock(backend, &ms, NULL);
}

static const struct {
    enum seqb_status (*call)(struct seqb_backend *backend);
    int row;
    int column;
    enum seqb_status status;
} rows[] = {
    {raise_order, 1, NO_ROW, SEQB_PROTOCOL},
    {raise_order, 1, 0, SEQB_PROTOCOL},
    {raise_order, 1, 1, SEQB_UNREACHABLE},
    {raise_order, 2, 0, SEQB_CORRUPT},
    {claim_main, 1, NO_ROW, SEQB_PROTOCOL},
    {claim_main, 1, 1, SEQB_PROTOCOL},
    {claim_many, 1, NO_ROW, SEQB_PROTOCOL},
    {claim_many, 1, 0, SEQB_PROTOCOL},
    {claim_many, 1, 3, SEQB_PROTOCOL},
    {swap_main, 1, NO_ROW, SEQB_PROTOCOL},
    {purge_order, 1, NO_ROW, SEQB_PROTOCOL},
    {purge_order, 1, 0, SEQB_UNCERTAIN},
    {purge_order, 1, 1, SEQB_PROTOCOL},
    {list_main, 1, NO_ROW, SEQB_PROTOCOL},
    {list_main, 1, 0, SEQB_PROTOCOL},
    {list_main, 1, 1, SEQB_UNREACHABLE},
    {list_main, 2, 1, SEQB_CORRUPT},
    {ask_clock, 1, NO_ROW, SEQB_PROTOCOL},
    {ask_clock, 1, 0, SEQB_PROTOCOL},
};

TEST_SKIPPABLE(ON_ROW, row_that_is_none_to_the_question_is_distrusted)
{
    must_take(f, 5, 0);
    assert_ok(claim_main(f->backend));
    for (size_t i = 0; i < COUNT(rows); i++) {
        fetched = 0;
        changes_row = rows[i].row;
        changes_column = rows[i].column;
        assert_status(rows[i].call(f->backend), rows[i].status);
        changes_row = 0;
        if (rows[i].status == SEQB_PROTOCOL)
            assert_status(rows[i].call(f->backend), SEQB_UNREACHABLE);
        if (rows[i].status == SEQB_CORRUPT)
            assert_ok(rows[i].call(f->backend));
        must_open(f);
    }
    must_take(f, 5, 10); /* it was raised */
    assert_ok(claim_main(f->backend));
}

/* --- numbers --- */

static void must_distrust(struct fixture *f)
{
    struct seqb_request request;

    assert_status(take(f, ORDER, 10, &request), SEQB_PROTOCOL);
    changes_id = false;
    more_changed = 0;
    must_open(f);
}

TEST_SKIPPABLE(ON_ROW, number_that_cannot_be_is_not_granted)
{
    static const uint64_t ids[] = {0, 9, (uint64_t)LIMIT + 1, UINT64_MAX};
    int64_t last = 5;

    must_take(f, 5, 0);
    for (size_t i = 0; i < COUNT(ids); i++, last += 10) {
        changes_id = true;
        other_id = ids[i];
        must_distrust(f);
    }
    more_changed = 1;
    must_distrust(f);
    must_take(f, 5, last + 10);
}

/* --- lost connections --- */

static int answers;   /* that were waited for */
static int loses_one; /* of them, from 1 on; 0: none */
static bool is_lost;

my_bool __real_mysql_read_query_result(MYSQL *handle);
my_bool __wrap_mysql_read_query_result(MYSQL *handle);
int __real_mysql_next_result(MYSQL *handle);
int __wrap_mysql_next_result(MYSQL *handle);
unsigned __real_mysql_errno(MYSQL *handle);
unsigned __wrap_mysql_errno(MYSQL *handle);

my_bool __wrap_mysql_read_query_result(MYSQL *handle)
{
    is_lost = ++answers == loses_one;
    if (is_lost)
        return 1;
    return __real_mysql_read_query_result(handle);
}

int __wrap_mysql_next_result(MYSQL *handle)
{
    is_lost = ++answers == loses_one;
    return is_lost ? 1 : __real_mysql_next_result(handle);
}

unsigned __wrap_mysql_errno(MYSQL *handle)
{
    return is_lost ? CR_SERVER_LOST : __real_mysql_errno(handle);
}

static enum seqb_status open_again(struct fixture *f)
{
    return fixture_open(f);
}

static enum seqb_status take_order(struct fixture *f)
{
    struct seqb_request request;

    return take(f, ORDER, 10, &request);
}

static enum seqb_status take_new(struct fixture *f)
{
    static int taken;
    struct seqb_request request;
    char name[32];

    (void)text_format(name, sizeof name, "main/0/new-%d", taken++);
    return take(f, name, 1, &request);
}

static enum seqb_status raise_higher(struct fixture *f)
{
    static int64_t floor;
    const struct seqb_raise raise = {
        .counter = ORDER, .floor = floor += 1000, .limit = LIMIT};
    int64_t out;

    return f->ops->raise(f->backend, &raise, &out, NULL);
}

static enum seqb_status claim_new(struct fixture *f)
{
    static int claimed;
    char name[32];

    (void)text_format(name, sizeof name, "claim-%d", claimed++);
    return claim(f, name, "a");
}

static enum seqb_status swap_worker_to_a(struct fixture *f)
{
    return swap_worker(f, f->standing, "a");
}

static enum seqb_status purge_days(struct fixture *f)
{
    int32_t deleted;

    return purge(f, ORDER, 2, 10, &deleted);
}

static enum seqb_status list_all(struct fixture *f)
{
    return list_main(f->backend);
}

static enum seqb_status tell_time(struct fixture *f)
{
    return ask_clock(f->backend);
}

/* Each answer of the call is the lost one once. */
static void lose_each(struct fixture *f,
                      enum seqb_status (*call)(struct fixture *f))
{
    for (int n = 1;; n++) {
        enum seqb_status status;

        answers = 0;
        loses_one = n;
        status = call(f);
        loses_one = 0;
        is_lost = false;
        if (answers < n) {
            assert_ok(status);
            assert_true(n > 1);
            return;
        }
        if (status != SEQB_UNREACHABLE && status != SEQB_UNCERTAIN)
            fail_msg("%s: answer %d", seqb_status_name(status), n);
        if (f->backend != NULL)
            assert_status(call(f), SEQB_UNREACHABLE);
        must_open(f);
    }
}

static void lose_all(struct fixture *f)
{
    static enum seqb_status (*const calls[])(struct fixture * f) = {
        open_again,       take_order, take_new, raise_higher, claim_new,
        swap_worker_to_a, purge_days, list_all, tell_time};

    f->options.needs_incarnation = true;
    for (size_t i = 0; i < COUNT(calls); i++)
        lose_each(f, calls[i]);
}

TEST_SKIPPABLE(ON_ROW, call_whose_answer_is_lost_fails)
{
    lose_all(f);
}

TEST_SKIPPABLE(ON_AUTOINC, autoinc_call_whose_answer_is_lost_fails)
{
    lose_all(f);
}

TEST_BEFORE_ALL(without_sigpipe);
