/* SPDX-License-Identifier: Apache-2.0 */
/* What is peculiar to the memcached engine's time: terms above 30 days, which
 * the server takes for dates, and its clock. */
#include <string.h>

#include "contract/memcached_fixture.h"
#include "contract/windowed_expiry.h"
#include "platform/text.h"
#include "support/test.h"

#define DAY   ((int64_t)24 * 3600)
#define SLACK 600 /* s; a machine may stall, not so long */

/* The number after `head` in what the server answers. */
static int64_t ask_number(struct server *server, const char *command,
                          const char *head)
{
    char answer[16384];
    const char *at;
    int64_t number;

    memcached_execute(server, command, answer, sizeof answer);
    at = strstr(answer, head);
    assert_non_null(at);
    at += strlen(head);
    assert_true(text_to_int64(at, strcspn(at, " \r"), &number));
    return number;
}

static int64_t server_s(struct server *server)
{
    return ask_number(server, "stats", "STAT time ");
}

/* The cell expires within so many seconds from about now; 0: never. */
static void must_be_kept(struct fixture *f, int64_t keep_s)
{
    const int64_t left = ask_number(f->server, "mg " KEY " t", "HD t");

    if (keep_s == 0) {
        assert_int_equal(left, -1);
        return;
    }
    assert_true(left <= keep_s);
    assert_true(left >= keep_s - SLACK);
}

/* --- expiry --- */

TEST_SKIPPABLE(STARTED, cell_is_kept_for_as_long_as_was_said)
{
    static const int64_t attributes[] = {
        0, 3600, 30 * DAY, 30 * DAY + 1, 31 * DAY, 400 * DAY};
    int64_t standing;

    for (size_t i = 0; i < COUNT(attributes); i++) {
        const int64_t window = (int64_t)i + 1;

        assert_ok(install_for(f, window, attributes[i], &standing));
        must_be_kept(f, attributes[i]);
        must_grant(f, window, 0, 10);
        must_be_kept(f, attributes[i]); /* to count changes nothing */
        must_execute(f, "md " KEY, "HD\r\n");
    }
    assert_int_equal(install_for(f, 9, -1, &standing), SEQB_INVALID);
    must_hold(f, NULL);
}

/* Dates are 32 bits in the server: a later one would be one of long ago, and
 * the cell gone as soon as it is made. */
TEST_SKIPPABLE(STARTED, term_past_the_last_date_is_shortened_to_it)
{
    static const int64_t attributes[] = {36500 * DAY, INT64_MAX};
    int64_t standing;

    for (size_t i = 0; i < COUNT(attributes); i++) {
        const int64_t window = (int64_t)i + 1;
        const int64_t rest = INT32_MAX - server_s(f->server);

        assert_ok(install_for(f, window, attributes[i], &standing));
        must_be_kept(f, rest > 30 * DAY ? rest : 30 * DAY);
        must_grant(f, window, 0, 10);
        must_execute(f, "md " KEY, "HD\r\n");
    }
}

TEST_SKIPPABLE(STARTED, term_is_the_cells_that_it_was_made_with)
{
    static const int64_t attributes[] = {7200, 0, 40 * DAY};
    int64_t standing;

    for (size_t i = 0; i < COUNT(attributes); i++) {
        const int64_t window = 2 * (int64_t)i + 1;

        assert_ok(install_for(f, window, attributes[i], &standing));
        must_be_kept(f, attributes[i]);
        /* Somebody was faster: it stays as it is. */
        assert_ok(install_for(f, window + 1, DAY, &standing));
        must_be_kept(f, attributes[i]);
        must_grant(f, window, 0, SIZE);
    }
}

TEST_SKIPPABLE(STARTED, expired_cell_is_fenced_and_makes_nothing)
{
    int64_t standing;

    assert_ok(install_for(f, 1, 3600, &standing));
    must_grant(f, 1, 0, 10);
    must_execute(f, "mg " KEY " T-1", "HD\r\n");
    must_answer(f, SEQB_FENCED, SEQB_NO_WINDOW);
    must_hold(f, NULL);
    assert_ok(install_for(f, 2, 3600, &standing));
    must_grant(f, 2, 0, 10);
}

static void over(struct fixture *f)
{
    memcached_execute(f->server, "mg " KEY " T-1", f->answer, sizeof f->answer);
}

TEST_STATE(ON_SERVER, cells_that_expire_while_counted_in_repeat_nothing)
{
    must_never_repeat(fixture_start(state, NULL), 3600, 200, over);
}

TEST_STATE(ON_SERVER, cells_that_expire_by_themselves_repeat_nothing)
{
    must_never_repeat(fixture_start(state, NULL), 1, 2, NULL);
}

/* --- clock --- */

static int64_t server_ms(struct fixture *f)
{
    return server_s(f->server) * 1000;
}

TEST_SKIPPABLE(STARTED, clock_is_the_servers)
{
    must_tell_time(f, server_ms);
    must_install(f, 1); /* the connection goes on */
    must_tell_time(f, server_ms);
    must_grant(f, 1, 0, 10);
}
