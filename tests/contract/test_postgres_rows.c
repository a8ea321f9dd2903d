/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that a correct server does not give, and those that do not come: this
 * program changes how many columns an answer has, or a number in it, or says
 * that the connection is lost. Nothing may be made of it, and the connection
 * must not be used again. And what makes a correct server do so: triggers,
 * rules, policies. */
#include <string.h>

#include "contract/postgres_fixture.h"
#include "platform/text.h"
#include "support/test.h"

static int counted;         /* answers whose columns were counted */
static int changes_columns; /* of this one of them, from 1 on; 0: of none */

static int changes_width; /* the columns of the answers whose values change */
static const char *other; /* instead of a value of theirs */
static int changes_value; /* this one; -1: none */

#define PRELUDE_WIDTH 7 /* columns of the begin of a transaction ... */
#define STORE         3 /* ... the store's origin among them */
static char store[SEQB_ORIGIN_SIZE]; /* the last one */

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
    char *value = __real_PQgetvalue(result, row, column);

    if (is_changed(result, column))
        return (char *)(uintptr_t)other;
    if (column == STORE && __real_PQnfields(result) == PRELUDE_WIDTH)
        (void)text_copy(store, sizeof store, value);
    return value;
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

/* --- what may change or hide rows --- */

/* Changes nothing that is granted. */
#define KEEP                                                                   \
    "CREATE TRIGGER keep BEFORE DELETE ON seqb_counters "                      \
    "FOR EACH ROW EXECUTE FUNCTION low()"

static void low_make(struct fixture *f)
{
    TELL(f, "CREATE FUNCTION low() RETURNS trigger LANGUAGE plpgsql AS "
            "'BEGIN RETURN NEW; END'");
}

TEST_SKIPPABLE(STARTED, what_may_change_or_hide_rows_is_refused)
{
    static const struct {
        const char *make;
        const char *words;
        const char *end;
    } cases[] = {
        {"CREATE TRIGGER low BEFORE UPDATE ON seqb_counters "
         "FOR EACH ROW EXECUTE FUNCTION low()",
         "trigger low on seqb_counters", "DROP TRIGGER low ON seqb_counters"},
        {"CREATE TRIGGER low BEFORE INSERT ON seqb_claims "
         "FOR EACH ROW EXECUTE FUNCTION low()",
         "trigger low on seqb_claims", "DROP TRIGGER low ON seqb_claims"},
        {"CREATE TRIGGER low AFTER UPDATE ON seqb_counters "
         "FOR EACH STATEMENT EXECUTE FUNCTION low()",
         "trigger low on seqb_counters", "DROP TRIGGER low ON seqb_counters"},
        {"CREATE RULE no AS ON UPDATE TO seqb_counters DO INSTEAD NOTHING",
         "rule no on seqb_counters", "DROP RULE no ON seqb_counters"},
        {"ALTER TABLE seqb_claims ENABLE ROW LEVEL SECURITY, "
         "FORCE ROW LEVEL SECURITY",
         "row-level security of seqb_claims",
         "ALTER TABLE seqb_claims DISABLE ROW LEVEL SECURITY"},
    };

    low_make(f);
    for (size_t i = 0; i < COUNT(cases); i++) {
        TELL(f, "%s", cases[i].make);
        must_not_open(f, SEQB_UNSAFE, cases[i].words);
        TELL(f, "%s", cases[i].end);
        must_open(f);
    }
    TELL(f, "CREATE TRIGGER low BEFORE UPDATE ON seqb_counters "
            "FOR EACH ROW EXECUTE FUNCTION low(); "
            "ALTER TABLE seqb_counters DISABLE TRIGGER low; " KEEP);
    must_open(f);
}

/* KEEP marks the tables at open, and must not hide the next trigger. */
TEST_SKIPPABLE(STARTED, what_is_made_while_connected_changes_nothing)
{
    static const struct {
        const char *make;
        const char *end;
    } cases[] = {
        {"CREATE TRIGGER low AFTER UPDATE ON seqb_counters "
         "FOR EACH ROW EXECUTE FUNCTION low()",
         "DROP TRIGGER low ON seqb_counters"},
        {"CREATE RULE no AS ON UPDATE TO seqb_counters DO INSTEAD NOTHING",
         "DROP RULE no ON seqb_counters"},
        {"ALTER TABLE seqb_counters ENABLE ROW LEVEL SECURITY, "
         "FORCE ROW LEVEL SECURITY",
         "ALTER TABLE seqb_counters DISABLE ROW LEVEL SECURITY"},
    };
    struct seqb_request request;
    int64_t taken = 0;

    low_make(f);
    for (size_t i = 0; i < 2 * COUNT(cases); i++) {
        if (i == COUNT(cases))
            TELL(f, KEEP);
        TELL(f, "VACUUM seqb_counters");
        must_open(f);
        must_take(f, 5, taken);
        taken += 5;
        TELL(f, "%s", cases[i % COUNT(cases)].make);
        assert_status(take(f, ORDER, 1, &request), SEQB_UNREACHABLE);
        assert_non_null(strstr(f->err.text, "open them again"));
        must_not_open(f, SEQB_UNSAFE, " o");
        TELL(f, "%s", cases[i % COUNT(cases)].end);
    }
    must_open(f);
    must_take(f, 5, taken);
}

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
