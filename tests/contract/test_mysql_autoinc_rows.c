/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of mysql-autoinc that have no table: what is leased, kept over a
 * stop, or counts in windows, and those whose table may not be made. Those of
 * periods are in test_mysql_period.c. */
#include "contract/mysql_fixture.h"
#include "support/failure.h"
#include "support/test.h"

static struct seqb_request request_of(const char *counter)
{
    return (struct seqb_request){.counter = counter, .want = 1, .limit = LIMIT};
}

/* Whatever users count has its table; what the broker keeps beside it does
 * not, and takes no more rights than in mysql-row. */
TEST_SKIPPABLE(ON_AUTOINC, what_is_leased_or_kept_is_a_row_alone)
{
    static const char *const rows[] = {"window/" ORDER, "ticket/" ORDER,
                                       "window/" ORDER "@20261101"};
    struct seqb_request request;

    f->options.auto_create = false;
    must_open(f);
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_ok(take(f, rows[i], 1, &request));
        assert_int_equal(request.block.first, 1);
    }
    must_answer(f, ORDER, SEQB_REFUSED);
    assert_int_equal(number(f, "SELECT COUNT(*) FROM seqb_claims "
                               "WHERE name LIKE 'table/%'"),
                     1);
}

/* The table that an earlier version made of it is no more looked at. */
TEST_SKIPPABLE(ON_AUTOINC, lease_counter_goes_on_at_its_row)
{
    struct seqb_request request;

    assert_ok(take(f, "window/" ORDER, 1, &request));
    TELL(f,
         "UPDATE seqb_counters SET value = 41 WHERE name = 'window/" ORDER "';"
         "DELETE FROM seqb_counters WHERE name = '@@window/" ORDER "'");
    assert_ok(take(f, "window/" ORDER, 1, &request));
    assert_int_equal(request.block.first, 42);
}

/* In whatever order: each is answered for itself, and what stops the one kind
 * does not stop the other. */
TEST_SKIPPABLE(ON_AUTOINC, tables_and_rows_share_a_call)
{
    struct seqb_request requests[] = {
        request_of(ORDER), request_of("window/main/0/b"),
        request_of("main/0/a"), request_of("cell:main/0/c"),
        request_of("window/main/0/a")};

    for (int64_t i = 1; i <= 3; i++) {
        assert_ok(
            f->ops->reserve(f->backend, requests, COUNT(requests), &f->err));
        for (size_t j = 0; j < COUNT(requests); j++) {
            assert_status(requests[j].status, j == 3             ? SEQB_FENCED
                                              : j == 2 && i == 3 ? SEQB_FENCED
                                                                 : SEQB_OK);
            if (requests[j].status == SEQB_OK)
                assert_int_equal(requests[j].block.first, i);
        }
        if (i == 2)
            TELL(f, "DROP TABLE a_code_0");
    }
}

TEST_SKIPPABLE(ON_AUTOINC, call_that_is_cut_off_answers_tables_and_rows)
{
    struct seqb_request requests[] = {request_of(ORDER),
                                      request_of("window/" ORDER)};

    mariadb_execute(f->server, "KILL USER seq");
    for (int i = 0; i < 2; i++) {
        assert_int_not_equal(f->ops->reserve(f->backend, requests, 2, &f->err),
                             SEQB_OK);
        for (size_t j = 0; j < 2; j++) {
            assert_status(requests[j].status, f->err.status);
            assert_status(requests[j].error.status, f->err.status);
            requests[j] = request_of(requests[j].counter);
        }
    }
}

TEST_BEFORE_ALL(without_sigpipe);

/* --- rights --- */

static enum seqb_status permit(struct fixture *f, const char *counter)
{
    return f->ops->permits(f->backend, counter, &failure);
}

/* Nothing is made by asking. */
TEST_SKIPPABLE(ON_AUTOINC, table_that_may_not_be_made_is_not_permitted)
{
    assert_ok(permit(f, ORDER));
    mariadb_execute(f->server, "REVOKE CREATE ON %s.* FROM seq", f->database);
    must_open(f);
    assert_fails(permit(f, ORDER), SEQB_REFUSED,
                 "has no table: mysql-a (mysql");
    f->options.auto_create = false;
    must_open(f);
    assert_fails(permit(f, ORDER), SEQB_REFUSED,
                 "has no table: auto_create is off");
    TELL(f, "CREATE TABLE order_code_0 (id BIGINT PRIMARY KEY) ENGINE=MyISAM");
    assert_fails(permit(f, ORDER), SEQB_REFUSED, "ends its ids early (MyISAM");
}

TEST_SKIPPABLE(ON_AUTOINC, name_without_room_is_refused)
{
    char name[SEQB_COUNTER_SIZE + 1] = ORDER;
    const struct seqb_raise raise = {.counter = name, .limit = LIMIT};
    struct seqb_request request;
    int64_t out;

    memset(name + strlen(ORDER), 'a', sizeof name - strlen(ORDER) - 1);
    name[SEQB_COUNTER_SIZE] = '\0';
    assert_status(take(f, name, 1, &request), SEQB_INVALID);
    assert_status(permit(f, name), SEQB_INVALID);
    assert_status(f->ops->raise(f->backend, &raise, &out, &failure),
                  SEQB_INVALID);
    must_take(f, 1, 0);
}
