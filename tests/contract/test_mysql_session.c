/* SPDX-License-Identifier: Apache-2.0 */
/* What a session of the mysql engines is set to, as the server says it. */
#include "contract/mysql_fixture.h"

#include "backends/mysql/mysql.h"
#include "support/test.h"

static struct mysql_link *link_of(const struct fixture *f)
{
    return &((struct mysql *)f->backend)->link;
}

/* Whole seconds, rounded up: a lock is not waited for without end. */
TEST_STATE(ON_SERVER, locks_are_waited_for_as_long_as_a_call_takes)
{
    static const int32_t cases[][2] = {
        {119001, 120}, {120000, 120}, {120001, 121}};
    struct fixture *f = fixture_prepare(state, &backend_mysql_row);

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct mysql_link *link;

        f->options.timeout_ms = cases[i][0];
        must_open(f);
        link = link_of(f);
        assert_ok(mysql_link_begin(link, &f->err));
        mysql_link_add(link, "SELECT @@SESSION.innodb_lock_wait_timeout, "
                             "@@SESSION.lock_wait_timeout");
        assert_ok(mysql_link_run(link, SEQB_UNREACHABLE, &f->err));
        assert_true(mysql_link_row(link));
        for (unsigned column = 0; column < 2; column++) {
            int64_t seconds;

            assert_true(mysql_link_int64(link, column, &seconds));
            assert_int_equal(seconds, cases[i][1]);
        }
    }
}

TEST_STATE(ON_SERVER, server_is_given_none_of_our_files)
{
    struct fixture *f = fixture_prepare(state, &backend_mysql_row);
    struct mysql_link *link;

    TELL(f, "SET GLOBAL local_infile = 1");
    must_open(f);
    link = link_of(f);
    assert_ok(mysql_link_begin(link, &f->err));
    mysql_link_add(link, "LOAD DATA LOCAL INFILE '/proc/self/comm' "
                         "INTO TABLE seqb_claims (name)");
    assert_status(mysql_link_run(link, SEQB_UNREACHABLE, &f->err),
                  SEQB_REFUSED);
    assert_int_equal(number(f, "SELECT COUNT(*) FROM seqb_claims "
                               "WHERE name LIKE 'test_mysql%'"),
                     0);
}

TEST_SKIPPABLE(ON_ROW, server_says_what_it_is_like)
{
    struct seqb_details details = {.node = ""};

    assert_ok(f->ops->describe(f->backend, &details, &f->err));
    assert_string_equal(details.node, f->backend->domain);
    assert_string_equal(details.role, "primary");
    assert_string_equal(details.replicas, "none");
    assert_string_equal(details.quorum, "");
}

TEST_BEFORE_ALL(without_sigpipe);
