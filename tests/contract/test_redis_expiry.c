/* SPDX-License-Identifier: Apache-2.0 */
/* What is peculiar to the redis engine's time: cells that expire in the very
 * script that makes them, and the server's clock. */

#include "contract/redis_fixture.h"
#include "contract/windowed_expiry.h"
#include "platform/text.h"
#include "support/test.h"

#define SLACK_MS 600000 /* a machine may stall, not so long */
#define FOR_EVER (-1)   /* as TTL has it */

static int64_t ask_number(struct fixture *f, const char *command)
{
    redisReply *reply = server_ask(f->server, "%s " KEY, command);
    const int64_t number = reply->integer;

    assert_int_equal(reply->type, REDIS_REPLY_INTEGER);
    freeReplyObject(reply);
    return number;
}

/* The cell expires in `keep_s` from about now; 0: never. */
static void must_be_kept(struct fixture *f, int64_t keep_s)
{
    const int64_t left_ms = ask_number(f, "PTTL");

    if (keep_s == 0) {
        assert_int_equal(left_ms, FOR_EVER);
        return;
    }
    assert_true(left_ms <= keep_s * 1000);
    assert_true(left_ms >= keep_s * 1000 - SLACK_MS);
}

/* --- expiry --- */

TEST_SKIPPABLE(STARTED, cell_is_kept_for_as_long_as_was_said)
{
    static const struct {
        int64_t said;
        int64_t kept;
    } rows[] = {
        {0, 0},
        {3600, 3600},
        {INT64_C(86400) * 365 * 1000, INT64_C(86400) * 365 * 1000},
        {INT64_C(1) << 40, INT64_C(1) << 40},
        {(INT64_C(1) << 40) + 1, 0}, /* longer than the server can hold */
        {INT64_MAX, 0},
    };
    int64_t standing;

    for (size_t i = 0; i < COUNT(rows); i++) {
        redis_execute(f->server, "DEL " KEY);
        assert_ok(install_for(f, (int64_t)i + 1, rows[i].said, &standing));
        must_be_kept(f, rows[i].kept);
        must_grant(f, (int64_t)i + 1, 0, 10);
        must_be_kept(f, rows[i].kept); /* to count changes nothing */
    }
    redis_execute(f->server, "DEL " KEY);
    assert_int_equal(install_for(f, 9, -1, &standing), SEQB_INVALID);
    assert_false(key_exists(f, KEY));
}

TEST_SKIPPABLE(STARTED, term_is_the_cells_that_it_was_made_with)
{
    static const int64_t attributes[] = {7200, 0, 3600};
    int64_t standing;

    for (size_t i = 0; i < COUNT(attributes); i++) {
        const int64_t window = 2 * (int64_t)i + 1;

        assert_ok(install_for(f, window, attributes[i], &standing));
        must_be_kept(f, attributes[i]);
        /* Somebody was faster: it stays as it is. */
        assert_ok(install_for(f, window + 1, 86400, &standing));
        must_be_kept(f, attributes[i]);
        must_grant(f, window, 0, SIZE);
    }
    must_hold(f, "w", "5");
}

TEST_SKIPPABLE(STARTED, expired_cell_is_fenced_and_makes_nothing)
{
    int64_t standing;

    assert_ok(install_for(f, 1, 3600, &standing));
    must_grant(f, 1, 0, 10);
    redis_execute(f->server, "PEXPIREAT " KEY " 1");
    must_answer(f, SEQB_FENCED, SEQB_NO_WINDOW);
    assert_false(key_exists(f, KEY));
    assert_ok(install_for(f, 2, 3600, &standing));
    must_grant(f, 2, 0, 10);
}

static void nearly_over(struct fixture *f)
{
    redis_execute(f->server, "PEXPIRE " KEY " 1");
}

TEST_STATE(ON_SERVER, cells_that_expire_while_counted_in_repeat_nothing)
{
    must_never_repeat(fixture_start(state), 3600, 200, nearly_over);
}

TEST_STATE(ON_SERVER, cells_that_expire_by_themselves_repeat_nothing)
{
    must_never_repeat(fixture_start(state), 1, 2, NULL);
}

/* Else a window that the caller drops, as it must after a failure, would be
 * counted in and stand there for ever. */
TEST_SKIPPABLE(STARTED, server_that_forbids_expiry_is_left_without_a_cell)
{
    int64_t standing;

    redis_execute(f->server, "ACL SETUSER default -expire");
    assert_int_equal(install_for(f, 1, 3600, &standing), SEQB_REFUSED);
    assert_false(key_exists(f, KEY));
    must_answer(f, SEQB_FENCED, SEQB_NO_WINDOW);
    must_install(f, 2); /* without a term it is not needed */
    must_grant(f, 2, 0, 10);
}

/* The dump has the term, but the server another history. */
TEST_SKIPPABLE(STARTED, term_outlives_a_restart_and_is_of_no_use)
{
    int64_t standing = 0;

    assert_ok(install_for(f, 1, 3600, &standing));
    must_grant(f, 1, 0, 10);
    redis_execute(f->server, "SAVE");
    must_grant(f, 1, 10, 10);
    server_kill(f->server);
    server_start(f->server);
    assert_ok(fixture_open(f));
    must_be_kept(f, 3600);
    must_answer(f, SEQB_FENCED, 1);
    assert_int_equal(install_for(f, 1, 3600, &standing), SEQB_FENCED);
    assert_ok(install_for(f, 2, 0, &standing));
    must_be_kept(f, 0);
}

/* --- clock --- */

static int64_t server_ms(struct fixture *f)
{
    redisReply *reply = server_ask(f->server, "TIME");
    int64_t s;
    int64_t us;

    assert_int_equal(reply->elements, 2);
    assert_true(
        text_to_int64(reply->element[0]->str, reply->element[0]->len, &s));
    assert_true(
        text_to_int64(reply->element[1]->str, reply->element[1]->len, &us));
    freeReplyObject(reply);
    return s * 1000 + us / 1000;
}

TEST_SKIPPABLE(STARTED, clock_is_the_servers)
{
    must_tell_time(f, server_ms);
}

TEST_SKIPPABLE(STARTED, clock_may_be_forbidden_and_counting_goes_on)
{
    int64_t now_ms = -7;

    must_install(f, 1);
    redis_execute(f->server, "ACL SETUSER default -time");
    assert_ok(backend_redis.clock(f->backend, &now_ms, &f->err));
    assert_int_equal(now_ms, 0); /* as if there were none */
    must_grant(f, 1, 0, 10);
}

TEST_BEFORE_ALL(without_sigpipe);
