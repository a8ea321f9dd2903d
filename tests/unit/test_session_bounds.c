/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clients can make the daemon hold: those who ask for much and do not
 * read, and those who do not finish what they say. Meanwhile others are served.
 * The broker is a stub, which holds nothing itself.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "daemon/log/log.h"
#include "daemon/server.h"
#include "support/heap.h"
#include "support/test.h"
#include "unit/session_fixture.h"

#define CROWD        300
#define SEQUENCES    10000
#define MEMORY_BOUND ((size_t)64 << 20) /* bytes */

#define INCR_A "*2\r\n$4\r\nINCR\r\n$1\r\na\r\n"

static int setup(void **state)
{
    server_setup(state);
    snprintf(stub.status.key, sizeof stub.status.key, "a-sequence");
    stub.status_count = SEQUENCES;
    return 0;
}

#define LISTED FIXTURE(struct server *server, setup, server_teardown)

static void assert_number(struct server *server, struct talker *talker)
{
    const size_t before = talker->length;

    talker_say(talker, INCR_A, strlen(INCR_A));
    dialogue_finish(server, talker);
    assert_true(talker->length > before);
    assert_int_equal(talker->heard[before], ':');
}

static void crowd_free(struct talker *crowd)
{
    for (int i = 0; i < CROWD; i++)
        talker_fini(&crowd[i]);
}

/* Each of a crowd says it, and reads nothing. Somebody else takes a number. */
static void check_memory(struct server *server, const char *words)
{
    struct talker crowd[CROWD];
    struct talker *modest = talker_new(server);
    const size_t before = heap_used();

    for (int i = 0; i < CROWD; i++) {
        talker_init(&crowd[i], server);
        talker_say(&crowd[i], words, strlen(words));
    }
    settle_unread(server);
    assert_true(heap_used() <= before + MEMORY_BOUND);
    assert_number(server, modest);
    crowd_free(crowd);
}

TEST_WITH(LISTED, texts_of_those_who_do_not_read_are_bounded)
{
    check_memory(server, "SEQ.NUMBER a COUNT 100000\r\n");
}

TEST_WITH(LISTED, numbers_of_those_who_do_not_read_are_bounded)
{
    check_memory(server, "SEQ.NEXT a COUNT 100000\r\n");
}

TEST_WITH(LISTED, a_status_of_those_who_do_not_read_is_bounded)
{
    check_memory(server, "SEQ.STATUS\r\n");
}

TEST_WITH(LISTED, an_info_of_those_who_do_not_read_is_bounded)
{
    check_memory(server, "INFO\r\n");
}

TEST_WITH(LISTED, lists_of_those_who_do_not_read_are_bounded)
{
    check_memory(server,
                 "COMMAND DOCS\r\nCOMMAND\r\nSEQ.SHOW CONFIG\r\n"
                 "SEQ.SHOW CLIENTS\r\nSEQ.SHOW EVENTS\r\nCLIENT LIST\r\n");
}

/* --- while clients hold all that they may --- */

#define FULL_BYTES 40000 /* max_client_memory */

static int setup_small(void **state)
{
    struct server *server;

    setup(state);
    server = *state;
    server->daemon.limits.options.max_client_memory = FULL_BYTES;
    return 0;
}

#define SMALL FIXTURE(struct server *server, setup_small, server_teardown)

/* One begins a request of so many bytes, which fill the memory. */
static void fill(struct server *server, struct talker *talker, size_t bytes)
{
    static char words[65536];
    const int head =
        snprintf(words, sizeof words, "*2\r\n$4\r\nPING\r\n$60000\r\n");

    memset(words + head, 'x', sizeof words - (size_t)head);
    talker_init(talker, server);
    talker_say(talker, words, bytes);
    settle_unread(server);
}

static void assert_answer(struct server *server, struct talker *talker,
                          const char *words, const char *begin)
{
    const size_t before = talker->length;

    talker_say(talker, words, strlen(words));
    dialogue_finish(server, talker);
    assert_true(talker->length >= before + strlen(begin));
    assert_memory_equal(talker->heard + before, begin, strlen(begin));
}

TEST_WITH(SMALL, a_long_answer_is_refused_before_a_number_is_taken)
{
    struct talker *talker = talker_new(server);

    assert_answer(server, talker, "SEQ.NEXT a COUNT 10000\r\n", "-OOM ");
    assert_int_equal(stub.sequences[0].next, STUB_FIRST);
    assert_int_equal(server->daemon.limits.answers_refused, 1);
    assert_answer(server, talker, "SEQ.NEXT a COUNT 10\r\n", "*10\r\n:95\r\n");
}

TEST_WITH(SMALL, who_asks_for_little_is_served_while_memory_is_used_up)
{
    struct talker full;
    struct talker *modest;

    fill(server, &full, 60000);
    assert_true(limits_are_full(&server->daemon.limits));
    modest = talker_new(server);
    for (int i = 0; i < 100; i++)
        assert_number(server, modest);
    assert_answer(server, modest, "INFO\r\n", "-OOM ");
    assert_answer(server, modest, "CLIENT LIST\r\n", "-OOM ");
    talker_fini(&full);
}

TEST_WITH(SMALL, the_operator_is_answered_while_memory_is_used_up)
{
    struct talker full;
    struct talker *local;

    fill(server, &full, 60000);
    local = talker_new(server);
    TAILQ_LAST(&server->daemon.sessions, session_list)->is_local = true;
    assert_answer(server, local, "INFO\r\n", "$");
    assert_answer(server, local, "SEQ.STATUS\r\n", "*");
    talker_fini(&full);
}

/* Whoever may connect to the unix socket could use up the memory otherwise. */
TEST_WITH(SMALL, others_at_the_unix_socket_are_bounded_as_all_are)
{
    struct talker full;
    struct talker *other;
    struct session *session = NULL;

    fill(server, &full, 60000);
    other = talker_new(server);
    session = TAILQ_LAST(&server->daemon.sessions, session_list);
    session->is_local = true;
    session->identity = (struct identity){.rights = RIGHTS_TAKE};
    assert_answer(server, other, "INFO\r\n", "-OOM ");
    assert_answer(server, other, "SEQ.SHOW EVENTS\r\n", "-OOM ");
    talker_fini(&full);
}

TEST_WITH(SMALL, large_requests_wait_while_memory_is_used_up)
{
    struct talker full;
    struct talker second;
    const struct session *session = NULL;

    fill(server, &full, 60000);
    fill(server, &second, 20000);
    session = TAILQ_LAST(&server->daemon.sessions, session_list);
    assert_true(session->in.length < (size_t)2 * LIMITS_SMALL);
    assert_false(session->is_reading);
    talker_fini(&full);
    while (session->in.length < 20000) /* the sweep sees that there is room */
        dialogue_turn(server);
    talker_fini(&second);
}

TEST_WITH(LISTED, what_was_held_is_given_back)
{
    struct talker talker;

    talker_init(&talker, server);
    talker_say(&talker, "SEQ.NUMBER a COUNT 100000\r\nSEQ.STATUS\r\n", 39);
    settle_unread(server);
    assert_true(server->daemon.limits.client_memory >=
                INT64_C(100000) * STUB_TEXT_SIZE);
    dialogue_finish(server, &talker);
    assert_int_equal(server->daemon.limits.client_memory, 0);
    talker_say(&talker, "SEQ.NUMBER a COUNT 100000\r\n", 27);
    settle_unread(server);
    talker_fini(&talker);
    settle_unread(server);
    assert_int_equal(server->daemon.limits.client_memory, 0);
}

/* SEQ.STATUS and INFO list each of the others. */
TEST_WITH(LISTED, sequences_that_were_removed_hide_no_others)
{
    struct talker *talker;
    const char *at;

    stub.status_count = 2;
    stub.removed_count = 2;
    talker = talker_new(server);
    talker_say(talker, "SEQ.STATUS\r\nINFO\r\n", 18);
    dialogue_finish(server, talker);
    at = talker->heard;
    for (int i = 0; i < 4; i++) {
        at = memmem(at, (size_t)(talker->heard + talker->length - at),
                    "a-sequence", 10);
        assert_non_null(at++);
    }
}

/* --- turns --- */

TEST_WITH(LISTED, a_status_is_written_between_the_turns_of_others)
{
    struct talker *curious = talker_new(server);
    struct talker *modest = talker_new(server);

    talker_say(curious, "SEQ.STATUS\r\n", 12);
    dialogue_turn(server);
    assert_true(TAILQ_FIRST(&server->daemon.sessions)->out.length +
                    (size_t)talker_receive(curious) <
                100000);
    talker_say(modest, INCR_A, strlen(INCR_A));
    dialogue_turn(server);
    assert_true(talker_receive(modest));
    assert_int_equal(server->daemon.commands_processed, 1);
    dialogue_finish(server, curious);
    assert_int_equal(server->daemon.commands_processed, 2);
}

/* The lines of the log are collected, and answered once all are there. */
TEST_WITH(LISTED, events_are_shown_between_the_turns_of_others)
{
    struct talker *curious;
    struct talker *modest;
    size_t turns = 0;

    for (int i = 0; i < LOG_KEPT; i++)
        log_event(SEQB_LOG_DEBUG, "event=test i=%d", i);
    curious = talker_new(server);
    modest = talker_new(server);
    talker_say(curious, "SEQ.SHOW EVENTS\r\n", 17);
    for (; curious->length == 0; turns++) {
        const size_t heard = modest->length;

        talker_say(modest, INCR_A, strlen(INCR_A));
        while (modest->length == heard && curious->length == 0) {
            dialogue_turn(server);
            (void)talker_receive(curious);
            (void)talker_receive(modest);
        }
    }
    assert_true(turns > 5);
    dialogue_finish(server, curious);
    assert_memory_equal(curious->heard, "*1000\r\n", 7);
}

#define GROUPS_OF_A_TURN 128 /* at most */

/* Counted, and then written, group by group. */
TEST_WITH(LISTED, settings_are_shown_between_the_turns_of_others)
{
    struct talker *curious;
    struct talker *modest;
    static const char words[] = "SEQ.SHOW CONFIG\r\n";

    stub.groups = 5000;
    curious = talker_new(server);
    modest = talker_new(server);
    talker_say(curious, words, sizeof words - 1);
    for (size_t visited = 1; visited <= 2 * stub.groups;
         visited = stub.groups_visited + 1) {
        const size_t before = stub.groups_visited;
        const size_t heard = modest->length;

        talker_say(modest, INCR_A, strlen(INCR_A));
        while (modest->length == heard) {
            dialogue_turn(server);
            (void)talker_receive(curious);
            (void)talker_receive(modest);
        }
        assert_true(stub.groups_visited <=
                    before + (size_t)FAIRNESS_TURNS * GROUPS_OF_A_TURN);
    }
    assert_int_equal(stub.groups_visited, 2 * stub.groups);
}

#define HEARD(words)                                                           \
    memmem(talker->heard, talker->length, words, sizeof(words) - 1)

/* The settings have 5000 groups when they are counted, and then `groups`. */
static void reload_before_they_are_written(struct server *server, size_t groups)
{
    static const char words[] = "*3\r\n$8\r\nSEQ.SHOW\r\n$6\r\nCONFIG\r\n"
                                "$6\r\nbroker\r\n";
    struct talker *talker = talker_new(server);

    stub.groups = 5000;
    talker_say(talker, words, sizeof words - 1);
    while (stub.groups_visited <= 5000) {
        dialogue_turn(server);
        (void)talker_receive(talker);
    }
    stub.groups = groups;
    dialogue_finish(server, talker);
    assert_int_equal(server->daemon.commands_processed, 1);
    assert_non_null(HEARD("\r\n*5000\r\n*"));
    assert_int_equal(HEARD("\r\n*0\r\n") != NULL, groups < 5000);
}

TEST_WITH(LISTED, settings_that_a_reload_took_are_empty)
{
    reload_before_they_are_written(server, 4000);
}

TEST_WITH(LISTED, settings_that_a_reload_brought_are_not_written)
{
    reload_before_they_are_written(server, 6000);
}

/* --- time-outs --- */

/* Turns until the daemon has closed it. */
static void assert_closes(struct server *server)
{
    while (server->daemon.session_count > 0)
        dialogue_turn(server);
    assert_int_equal(server->daemon.limits.connections_timed_out, 1);
}

TEST_WITH(LISTED, a_request_that_is_not_finished_is_given_up)
{
    struct talker *talker = talker_new(server);

    server->daemon.limits.options.client_timeout_ms = 1;
    talker_say(talker, INCR_A, 9);
    assert_closes(server);
}

TEST_WITH(LISTED, a_client_that_does_not_read_is_given_up)
{
    struct talker *talker = talker_new(server);

    server->daemon.limits.options.client_timeout_ms = 1;
    talker_say(talker, "SEQ.STATUS\r\n", 12);
    assert_closes(server);
}

TEST_WITH(LISTED, an_idle_connection_is_closed_if_that_is_asked_for)
{
    struct talker *talker = talker_new(server);

    server->daemon.limits.options.client_timeout_ms = 1;
    server->daemon.limits.options.idle_timeout_ms = 1;
    assert_number(server, talker);
    assert_closes(server);
}

/* Neither waits for anything of its client. */
TEST_WITH(LISTED, nobody_else_is_closed)
{
    struct talker *waiting;

    server->daemon.limits.options.client_timeout_ms = 1;
    stub_reset(0, SEQB_AGAIN, MINUTE_MS);
    (void)talker_new(server); /* is idle */
    waiting = talker_new(server);
    talker_say(waiting, INCR_A, strlen(INCR_A));
    settle_unread(server);
    for (int64_t until = daemon_now_ms() + 600; daemon_now_ms() < until;)
        dialogue_turn(server);
    assert_int_equal(server->daemon.session_count, 2);
}

/* Such a count overflowed the sums of a quota, which then began at 0. */
TEST_WITH(SERVER, count_that_no_call_may_have_is_not_charged)
{
    static const char *const counts[] = {"9223372036854775807",
                                         "-9223372036854775808", "-1"};
    static struct quota quota = {.name = "u", .day = INT64_MAX / 2, .today = 5};
    struct talker *talker = talker_new(server);
    struct session *session =
        TAILQ_LAST(&server->daemon.sessions, session_list);
    char line[64];

    quota.connections = 1;
    session->quota = &quota;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        (void)snprintf(line, sizeof line, "INCRBY a %s\r\n", counts[i]);
        assert_answer(server, talker, line, "-ERR ");
        assert_int_equal(quota.today, 5);
        assert_int_equal(quota.taken, 0);
    }
}
