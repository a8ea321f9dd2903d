/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that a correct server does not give, and those that do not come: this
 * program changes how many columns an answer has, or a number in it, or says
 * that the connection is lost, or that the server refused. Nothing may be made
 * of it, and the error says what came first. */
#include <string.h>

#include "contract/postgres_fixture.h"
#include "platform/text.h"
#include "support/test.h"
#include "support/wrap.h"

static int counted;         /* answers whose columns were counted */
static int changes_columns; /* of this one of them, from 1 on; 0: of none */

static int changes_width; /* the columns of the answers whose values change */
static const char *other; /* instead of a value of theirs */
static int changes_value; /* this one; -1: none */

#define PRELUDE_WIDTH 7 /* columns of the begin of a transaction ... */
#define STORE         3 /* ... the store's origin among them */
static char store[SEQB_ORIGIN_SIZE]; /* the last one */

WRAPPED(int, PQnfields, const PGresult *result)
{
    return __real_PQnfields(result) + (++counted == changes_columns);
}

static bool is_changed(const PGresult *result, int column)
{
    return column == changes_value && __real_PQnfields(result) == changes_width;
}

WRAPPED(char *, PQgetvalue, const PGresult *result, int row, int column)
{
    char *value = __real_PQgetvalue(result, row, column);

    if (is_changed(result, column))
        return (char *)(uintptr_t)other;
    if (column == STORE && __real_PQnfields(result) == PRELUDE_WIDTH)
        (void)text_copy(store, sizeof store, value);
    return value;
}

WRAPPED(int, PQgetlength, const PGresult *result, int row, int column)
{
    return is_changed(result, column) ? (int)strlen(other)
                                      : __real_PQgetlength(result, row, column);
}

/* --- calls --- */

static enum seqb_status open_again(struct fixture *f)
{
    return fixture_open(f);
}

static enum seqb_status take_order(struct fixture *f)
{
    struct seqb_request request;
    const enum seqb_status status = take(f, ORDER, 1, &request);

    if (status != SEQB_OK)
        f->err = request.error;
    return status;
}

static enum seqb_status raise_higher(struct fixture *f)
{
    static int64_t floor;
    const struct seqb_raise raise = {
        .counter = ORDER, .floor = floor += 1000, .limit = LIMIT};
    int64_t out;

    return backend_postgres.raise(f->backend, &raise, &out, &f->err);
}

/* The guard's claim stands. */
static enum seqb_status raise_guarded(struct fixture *f)
{
    struct seqb_guard guard = {"known", "", false};
    const struct seqb_raise raise = {.counter = "window/" ORDER,
                                     .floor = 10,
                                     .limit = LIMIT,
                                     .guard = &guard};
    int64_t out;

    return backend_postgres.raise(f->backend, &raise, &out, &f->err);
}

static enum seqb_status install_next(struct fixture *f)
{
    static int64_t next;
    const struct seqb_window window = {
        .counter = SEQB_CELL ORDER, .window = ++next, .size = 100};
    int64_t standing;

    return backend_postgres.install(f->backend, &window, &standing, &f->err);
}

static enum seqb_status claim_main(struct fixture *f)
{
    return claim(f, "main", "a");
}

static enum seqb_status claim_many(struct fixture *f)
{
    struct seqb_claim one = {.name = "main", .text = "a"};
    size_t done;

    return backend_postgres.claim_many(f->backend, &one, 1, &done, &f->err);
}

static enum seqb_status swap_main(struct fixture *f)
{
    const struct seqb_swap swap = {"main", "a", "a", NULL};

    return backend_postgres.swap(f->backend, &swap, f->standing,
                                 sizeof f->standing, &f->err);
}

static enum seqb_status purge_days(struct fixture *f)
{
    int32_t deleted;

    return purge(f, ORDER, 2, 10, &deleted);
}

static enum seqb_status list_main(struct fixture *f)
{
    struct seqb_listed listed[2];
    struct seqb_page page = {
        .prefix = "main/", .after = "", .listed = listed, .most = 2};

    return backend_postgres.list(f->backend, &page, &f->err);
}

static enum seqb_status tell_time(struct fixture *f)
{
    int64_t ms;

    return backend_postgres.clock(f->backend, &ms, &f->err);
}

static enum seqb_status describe(struct fixture *f)
{
    struct seqb_details details = {.node = ""};

    return backend_postgres.describe(f->backend, &details, &f->err);
}

static enum seqb_status permit(struct fixture *f)
{
    return backend_postgres.permits(f->backend, ORDER, &f->err);
}

/* The counters and claims that the calls need. */
static void stand(struct fixture *f)
{
    f->options.needs_incarnation = true;
    must_open(f);
    assert_ok(take_order(f));
    assert_ok(claim_main(f));
    assert_ok(claim(f, "known", f->backend->incarnation));
}

/* What came first, and not that the connection was lost before. */
static void must_say_why(struct fixture *f)
{
    if (strstr(f->err.text, "lost before") != NULL ||
        strstr(f->err.text, "NULL") != NULL)
        fail_msg("%s", f->err.text);
}

/* --- columns --- */

static const struct {
    enum seqb_status (*call)(struct fixture *f);
    int answers; /* with columns */
} calls[] = {{take_order, 2},   {raise_higher, 5}, {raise_guarded, 6},
             {install_next, 5}, {claim_main, 2},   {claim_many, 2},
             {swap_main, 2},    {purge_days, 2},   {list_main, 2}};

/* Each answer of each call, one after the other. */
TEST_SKIPPABLE(STARTED, columns_that_were_not_asked_for_make_no_sense)
{
    stand(f);
    for (size_t i = 0; i < COUNT(calls); i++) {
        counted = 0;
        assert_ok(calls[i].call(f));
        assert_int_equal(counted, calls[i].answers);
        for (int answer = 1; answer <= calls[i].answers; answer++) {
            counted = 0;
            changes_columns = answer;
            assert_int_equal(calls[i].call(f), SEQB_PROTOCOL);
            must_say_why(f);
            changes_columns = 0;
            assert_int_equal(calls[i].call(f), SEQB_UNREACHABLE);
            must_open(f);
        }
    }
}

/* --- answers that do not come --- */

static int answers;   /* that were waited for */
static int fails_one; /* of them, from 1 on; 0: none */
static bool refuses;  /* the server does; else the connection is lost */
static bool is_lost;
static PGresult *refused; /* what says so */

/* The server refuses statements, and nothing else that libpq has an answer
 * for. */
static bool answer_counts(const PGresult *answer)
{
    return !refuses ||
           (answer != NULL && PQresultStatus(answer) != PGRES_PIPELINE_SYNC);
}

WRAPPED(PGresult *, PQgetResult, PGconn *conn)
{
    PGresult *answer = NULL;

    if (refuses || answers + 1 != fails_one)
        answer = __real_PQgetResult(conn);
    if (!answer_counts(answer) || ++answers != fails_one)
        return answer;
    PQclear(answer);
    answer = PQmakeEmptyPGresult(conn, PGRES_FATAL_ERROR);
    is_lost = !refuses;
    refused = refuses ? answer : NULL;
    return answer;
}

WRAPPED(ConnStatusType, PQstatus, const PGconn *conn)
{
    return is_lost ? CONNECTION_BAD : __real_PQstatus(conn);
}

WRAPPED(char *, PQresultErrorField, const PGresult *result, int field)
{
    static char severity[] = "ERROR";
    static char state[] = "42501";
    static char message[] = "scripted";

    if (result == NULL || result != refused)
        return __real_PQresultErrorField(result, field);
    return field == PG_DIAG_SQLSTATE          ? state
           : field == PG_DIAG_MESSAGE_PRIMARY ? message
                                              : severity;
}

static enum seqb_status
call_and_fail(struct fixture *f, int n,
              enum seqb_status (*call)(struct fixture *f))
{
    enum seqb_status status;

    answers = 0;
    fails_one = n;
    status = call(f);
    fails_one = 0;
    is_lost = false;
    refused = NULL;
    return status;
}

static void lose_each(struct fixture *f,
                      enum seqb_status (*call)(struct fixture *f))
{
    for (int n = 1;; n++) {
        const enum seqb_status status = call_and_fail(f, n, call);

        if (answers < n)
            break;
        if (status != SEQB_UNREACHABLE && status != SEQB_UNCERTAIN)
            fail_msg("%s: answer %d", seqb_status_name(status), n);
        must_say_why(f);
        if (f->backend != NULL) {
            assert_status(call(f), SEQB_UNREACHABLE);
            assert_non_null(strstr(f->err.text, "open it again"));
        }
        must_open(f);
    }
    assert_ok(call(f));
}

/* A description says what it can, and a window that stands has no use for the
 * end of its transaction. A backend is opened again after a reserve that failed
 * as a whole. */
static void refuse_each(struct fixture *f,
                        enum seqb_status (*call)(struct fixture *f))
{
    for (int n = 1;; n++) {
        const enum seqb_status status = call_and_fail(f, n, call);

        if (answers < n)
            break;
        if (status == SEQB_OK)
            assert_true(call == describe || call == install_next);
        else if (call == describe || strstr(f->err.text, "42501") == NULL)
            fail_msg("%s: answer %d", seqb_status_name(status), n);
        if (call == take_order)
            must_open(f);
        assert_ok(call(f));
    }
}

static void fail_all(struct fixture *f,
                     void (*each)(struct fixture *f,
                                  enum seqb_status (*call)(struct fixture *f)))
{
    static enum seqb_status (*const all[])(struct fixture * f) = {
        open_again, take_order, raise_higher, raise_guarded, install_next,
        claim_main, claim_many, swap_main,    purge_days,    list_main,
        tell_time,  describe,   permit};

    stand(f);
    for (size_t i = 0; i < COUNT(all); i++)
        each(f, all[i]);
}

TEST_SKIPPABLE(STARTED, call_whose_answer_is_lost_fails)
{
    fail_all(f, lose_each);
}

TEST_SKIPPABLE(STARTED, call_after_a_refused_one_goes_on)
{
    refuses = true;
    fail_all(f, refuse_each);
    refuses = false;
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
                {STORE, "", SEQB_ROLE},
                {STORE, "other", SEQB_UNREACHABLE},
                {4, "fsync = off", SEQB_UNSAFE}};

    must_take(f, 5, 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        other = rows[i].value;
        changes_width = PRELUDE_WIDTH;
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
 * as it is, and the server reports no error. It is made here just after the
 * transaction asked whether there is one. */
TEST_SKIPPABLE(STARTED, block_whose_row_a_trigger_kept_is_not_granted)
{
    struct seqb_request request;

    must_take(f, 5, 0);
    TELL(f, "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS "
            "'BEGIN RETURN NULL; END'");
    TELL(f, "CREATE TRIGGER keep BEFORE UPDATE ON seqb_counters "
            "FOR EACH ROW EXECUTE FUNCTION keep()");
    changes_width = PRELUDE_WIDTH;
    changes_value = STORE;
    other = store;
    assert_status(take(f, ORDER, 5, &request), SEQB_PROTOCOL);
    changes_value = -1;
    assert_non_null(strstr(request.error.text, "trigger"));
    TELL(f, "DROP TRIGGER keep ON seqb_counters");
    must_open(f);
    must_take(f, 5, 5);
}
