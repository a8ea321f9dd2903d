/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that a correct server does not give, and those that do not come: this
 * program changes how many columns an answer has, or a number in it, or says
 * that the connection is lost. Nothing may be made of it, and the connection
 * must not be used again. */
#include <string.h>

#include "contract/postgres_fixture.h"
#include "support/test.h"

static int counted;         /* answers whose columns were counted */
static int changes_columns; /* of this one of them, from 1 on; 0: of none */

static int changes_width; /* the columns of the answers whose values change */
static const char *other; /* instead of a value of theirs */
static int changes_value; /* this one; -1: none */

int __real_PQnfields(const PGresult *result);
int __wrap_PQnfields(const PGresult *result);
char *__real_PQgetvalue(const PGresult *result, int row, int column);
char *__wrap_PQgetvalue(const PGresult *result, int row, int column);
int __real_PQgetlength(const PGresult *result, int row, int column);
int __wrap_PQgetlength(const PGresult *result, int row, int column);

int __wrap_PQnfields(const PGresult *result)
{
    return __real_PQnfields(result) + (++counted == changes_columns);
}

static bool is_changed(const PGresult *result, int column)
{
    return column == changes_value && __real_PQnfields(result) == changes_width;
}

char *__wrap_PQgetvalue(const PGresult *result, int row, int column)
{
    return is_changed(result, column) ? (char *)(uintptr_t)other
                                      : __real_PQgetvalue(result, row, column);
}

int __wrap_PQgetlength(const PGresult *result, int row, int column)
{
    return is_changed(result, column) ? (int)strlen(other)
                                      : __real_PQgetlength(result, row, column);
}

/* --- columns --- */

static enum seqb_status take_order(struct fixture *f)
{
    struct seqb_request request;

    return take(f, ORDER, 1, &request);
}

static enum seqb_status raise_order(struct fixture *f)
{
    const struct seqb_raise raise = {.counter = ORDER, .limit = LIMIT};
    int64_t out;

    return backend_postgres.raise(f->backend, &raise, &out, NULL);
}

static enum seqb_status claim_main(struct fixture *f)
{
    char standing[SEQB_CLAIM_SIZE];

    return backend_postgres.claim(f->backend, "main", "a", standing,
                                  sizeof standing, NULL);
}

static enum seqb_status swap_main(struct fixture *f)
{
    const struct seqb_swap swap = {"main", "a", "a", NULL};
    char standing[SEQB_CLAIM_SIZE];

    return backend_postgres.swap(f->backend, &swap, standing, sizeof standing,
                                 NULL);
}

static enum seqb_status purge_order(struct fixture *f)
{
    const struct seqb_purge purge = {ORDER, ORDER "@20261121", 1, 1};
    int32_t deleted;

    return backend_postgres.purge(f->backend, &purge, &deleted, NULL);
}

static enum seqb_status list_main(struct fixture *f)
{
    struct seqb_listed listed[2];
    struct seqb_page page = {
        .prefix = "main/", .after = "", .listed = listed, .most = 2};

    return backend_postgres.list(f->backend, &page, NULL);
}

static const struct {
    enum seqb_status (*call)(struct fixture *f);
    int answers; /* with columns */
} calls[] = {{take_order, 2}, {raise_order, 5}, {claim_main, 2},
             {swap_main, 2},  {purge_order, 2}, {list_main, 2}};

/* Each answer of each call, one after the other. */
TEST_SKIPPABLE(STARTED, columns_that_were_not_asked_for_make_no_sense)
{
    assert_ok(take_order(f));
    assert_ok(claim_main(f));
    for (size_t i = 0; i < COUNT(calls); i++) {
        counted = 0;
        assert_ok(calls[i].call(f));
        assert_int_equal(counted, calls[i].answers);
        for (int answer = 1; answer <= calls[i].answers; answer++) {
            counted = 0;
            changes_columns = answer;
            assert_int_equal(calls[i].call(f), SEQB_PROTOCOL);
            changes_columns = 0;
            assert_int_equal(calls[i].call(f), SEQB_UNREACHABLE);
            must_open(f);
        }
    }
}

/* --- lost connections --- */

static int answers;   /* that were waited for */
static int loses_one; /* of them, from 1 on; 0: none */
static bool is_lost;

PGresult *__real_PQgetResult(PGconn *conn);
PGresult *__wrap_PQgetResult(PGconn *conn);
ConnStatusType __real_PQstatus(const PGconn *conn);
ConnStatusType __wrap_PQstatus(const PGconn *conn);

PGresult *__wrap_PQgetResult(PGconn *conn)
{
    if (++answers != loses_one)
        return __real_PQgetResult(conn);
    is_lost = true;
    return PQmakeEmptyPGresult(conn, PGRES_FATAL_ERROR);
}

ConnStatusType __wrap_PQstatus(const PGconn *conn)
{
    return is_lost ? CONNECTION_BAD : __real_PQstatus(conn);
}

static enum seqb_status open_again(struct fixture *f)
{
    return fixture_open(f);
}

static enum seqb_status raise_higher(struct fixture *f)
{
    static int64_t floor;
    const struct seqb_raise raise = {
        .counter = ORDER, .floor = floor += 1000, .limit = LIMIT};
    int64_t out;

    return backend_postgres.raise(f->backend, &raise, &out, NULL);
}

static enum seqb_status tell_time(struct fixture *f)
{
    int64_t ms;

    return backend_postgres.clock(f->backend, &ms, NULL);
}

TEST_SKIPPABLE(STARTED, call_whose_answer_is_lost_fails)
{
    static enum seqb_status (*const losers[])(struct fixture * f) = {
        open_again, take_order,  raise_higher, claim_main,
        swap_main,  purge_order, list_main,    tell_time};

    f->options.needs_incarnation = true;
    for (size_t i = 0; i < COUNT(losers); i++) {
        for (int n = 1;; n++) {
            enum seqb_status status;

            answers = 0;
            loses_one = n;
            status = losers[i](f);
            loses_one = 0;
            is_lost = false;
            if (answers < n)
                break;
            if (status != SEQB_UNREACHABLE && status != SEQB_UNCERTAIN)
                fail_msg("%zu: %s: answer %d", i, seqb_status_name(status), n);
            if (f->backend != NULL)
                assert_status(losers[i](f), SEQB_UNREACHABLE);
            must_open(f);
        }
        assert_ok(losers[i](f));
    }
}

/* --- numbers --- */

/* The counter is at 5, and 10 are wanted. */
TEST_SKIPPABLE(STARTED, number_that_cannot_be_is_not_granted)
{
    static const struct {
        int column; /* the value before the grant, or behind it */
        const char *value;
    } rows[] = {{0, "-1"}, {0, "x"}, {0, "15"}, {0, "4"},
                {1, "5"},  {1, ""},  {1, "16"}, {1, "1099511627777"}};
    struct seqb_request request;

    for (size_t i = 0; i < COUNT(rows); i++) {
        TELL(f, "DELETE FROM seqb_counters WHERE name <> ''");
        must_take(f, 5, 0);
        other = rows[i].value;
        changes_width = 2;
        changes_value = rows[i].column;
        assert_int_equal(take(f, ORDER, 10, &request), SEQB_PROTOCOL);
        changes_value = -1;
        must_open(f);
    }
}

/* What the begin of a transaction says of the server. */
TEST_SKIPPABLE(STARTED, server_that_changed_amid_a_session_grants_nothing)
{
    static const struct {
        int column;
        const char *value;
        enum seqb_status status;
    } rows[] = {{2, "off", SEQB_UNSAFE}, /* synchronous_commit */
                {3, "", SEQB_ROLE},      /* the store's origin */
                {3, "other", SEQB_UNREACHABLE},
                {4, "fsync = off", SEQB_UNSAFE}};

    must_take(f, 5, 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        other = rows[i].value;
        changes_width = 7;
        changes_value = rows[i].column;
        assert_int_equal(take_order(f), rows[i].status);
        changes_value = -1;
        must_open(f);
    }
    must_take(f, 5, 5 + (int64_t)COUNT(rows)); /* what was committed is lost */
}

static int values_begin(void **state)
{
    (void)state;
    changes_value = -1;
    return 0;
}

TEST_BEFORE_ALL(values_begin);

/* --- rows that are not written --- */

/* A trigger that was made for AFTER may return NULL: BEFORE that leaves the row
 * as it is, and the server reports no error. */
TEST_SKIPPABLE(STARTED, block_whose_row_a_trigger_kept_is_not_granted)
{
    struct seqb_request request;

    must_take(f, 5, 0);
    TELL(f, "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS "
            "'BEGIN RETURN NULL; END'");
    TELL(f, "CREATE TRIGGER keep BEFORE UPDATE ON seqb_counters "
            "FOR EACH ROW EXECUTE FUNCTION keep()");
    assert_status(take(f, ORDER, 5, &request), SEQB_PROTOCOL);
    assert_non_null(strstr(request.error.text, "trigger"));
    TELL(f, "DROP TRIGGER keep ON seqb_counters");
    must_open(f);
    must_take(f, 5, 5);
}
