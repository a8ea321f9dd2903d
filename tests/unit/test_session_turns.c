/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has its turn when many ask, what becomes of a client that does not read,
 * and how the daemon ends. The broker is a stub, so that the order of numbers
 * is the order of events.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/server.h"
#include "daemon/session.h"
#include "daemon/wire/wire.h"
#include "support/test.h"
#include "unit/session_fixture.h"

#define TURN 1024 /* a session's share of a turn */
#define SLICE                                                                  \
    (INT64_C(1) * FAIRNESS_TURNS * TURN) /* the queue's share, at most */
#define HEAVY 10                         /* clients that ask for much */
#define COUNT INT64_C(100000)            /* at once */

#define INCR_A "*2\r\n$4\r\nINCR\r\n$1\r\na\r\n"

/* What is unsent is bounded, and no number is lost over it. */
TEST_WITH(SERVER, a_pipeline_stops_for_a_client_that_does_not_read)
{
    const size_t requests = 200000;
    struct script script = {0};
    struct script expected = {0};
    int64_t before = -1;
    size_t said = 0;
    size_t more = 1;
    struct talker *talker = talker_new(server);

    script_add(&script, "INCR a\n", requests);
    while (more > 0 || server->daemon.commands_processed > before) {
        before = server->daemon.commands_processed;
        more = talker_say(talker, script.data + said, script.length - said);
        said += more;
        dialogue_turn(server);
        assert_true(TAILQ_FIRST(&server->daemon.sessions)->out.length <=
                    SESSION_UNSENT_MAX + REPLY_NUMBER_MAX);
    }
    assert_true(server->daemon.commands_processed < (int64_t)requests);
    dialogue_finish(server, talker);
    dialogue_say(server, talker, script.data + said, script.length - said,
                 WHOLE);
    script_add_numbers(&expected, STUB_FIRST, (int64_t)requests);
    talker_expect_script(talker, &expected);
    script_fini(&script);
    script_fini(&expected);
}

/* --- who asks for much, and who for little --- */

/* Turns the loop until the talker hears something. */
static void answer_await(struct server *server, struct talker *talker)
{
    talker->length = 0;
    while (talker->length == 0) {
        dialogue_turn(server);
        talker_receive(talker);
    }
}

TEST_WITH(SERVER, a_long_pipeline_is_interrupted_after_a_turn)
{
    struct script script = {0};
    struct script expected = {0};
    struct talker *greedy = talker_new(server);
    struct talker *modest = talker_new(server);

    script_add(&script, "INCR a\n", 5000);
    assert_int_equal(talker_say(greedy, script.data, script.length),
                     script.length);
    talker_say(modest, INCR_A, strlen(INCR_A));
    dialogue_finish(server, greedy);
    dialogue_finish(server, modest);
    script_add_numbers(&expected, STUB_FIRST + TURN, 1);
    talker_expect_script(modest, &expected);
    script_fini(&script);
    script_fini(&expected);
}

/* The last line that was heard, a number. */
static int64_t last_number(const struct talker *talker)
{
    char text[32] = "";
    size_t at = talker->length - 2;

    while (at > 0 && talker->heard[at - 1] != '\n')
        at--;
    assert_true(talker->heard[at] == ':' && talker->length - at < sizeof text);
    memcpy(text, talker->heard + at + 1, talker->length - at - 1);
    return strtoll(text, NULL, 10);
}

/* Asks for one number and turns the loop until it is there; meanwhile the
 * others read. Returns the number; no more than one slice of the queue may lie
 * between two of them. */
static int64_t number_beside(struct server *server, struct talker *modest,
                             struct talker *heavy)
{
    talker_say(modest, INCR_A, strlen(INCR_A));
    do {
        dialogue_turn(server);
        for (int i = 0; i < HEAVY; i++)
            talker_receive(&heavy[i]);
    } while (!talker_receive(modest));
    return last_number(modest);
}

TEST_WITH(SERVER, who_asks_for_much_does_not_stall_who_asks_for_one)
{
    const char request[] = "SEQ.NEXT a COUNT 100000\r\n";
    struct talker heavy[HEAVY];
    int64_t last = STUB_FIRST;
    int numbers = 0;
    struct talker *modest = talker_new(server);

    for (int i = 0; i < HEAVY; i++) {
        talker_init(&heavy[i], server);
        talker_say(&heavy[i], request, strlen(request));
    }
    dialogue_turn(server); /* each of them has its first turn */
    while (stub.sequences[0].next < STUB_FIRST + (int64_t)HEAVY * COUNT) {
        const int64_t number = number_beside(server, modest, heavy);

        assert_true(number - last <=
                    (numbers == 0 ? (int64_t)HEAVY * TURN : 0) +
                        INT64_C(2) * SLICE);
        last = number;
        numbers++;
    }
    assert_true(numbers >= (int64_t)HEAVY * COUNT / SLICE / 2);
    for (int i = 0; i < HEAVY; i++) {
        dialogue_finish(server, &heavy[i]);
        assert_memory_equal(heavy[i].heard, "*100000\r\n", 9);
        talker_fini(&heavy[i]);
    }
}

/* Two errors make it heavy, whatever time they take. */
static void talker_annoy(struct server *server, struct talker *talker)
{
    static const char wrong[] = "DECR a\r\nDECR a\r\n";

    talker_say(talker, wrong, strlen(wrong));
    dialogue_finish(server, talker);
    talker->length = 0;
}

/* A long answer keeps the queue busy: without others, a heavy one is served at
 * once. `waiting_us`: since when others wait. */
static void answer_before_heavy_ones(int64_t waiting_us)
{
    static const char much[] = "SEQ.NEXT a COUNT 100000\r\n";
    struct talker heavy[HEAVY];
    int64_t number = 0;
    struct server *server = server_over_stub(PLENTY, SEQB_AGAIN, MINUTE_MS);
    struct talker greedy = talker_of(server);
    struct talker modest;

    for (int i = 0; i < HEAVY; i++) {
        talker_init(&heavy[i], server);
        talker_annoy(server, &heavy[i]);
    }
    talker_init(&modest, server);
    talker_say(&modest, INCR_A, strlen(INCR_A));
    dialogue_finish(server, &modest);
    talker_say(&greedy, much, strlen(much));
    dialogue_turn(server);
    for (int i = 0; i < HEAVY; i++)
        talker_say(&heavy[i], INCR_A, strlen(INCR_A));
    talker_say(&modest, INCR_A, strlen(INCR_A));
    server->connections.fairness.waiting_us = waiting_us;
    dialogue_turn(server);
    if (waiting_us > 0) /* or it would be answered first in any case */
        assert_int_equal(server->connections.delayed_count, 1);
    answer_await(server, &modest);
    number = last_number(&modest);
    for (int i = 0; i < HEAVY; i++) {
        dialogue_finish(server, &heavy[i]);
        assert_true(last_number(&heavy[i]) > number);
        talker_fini(&heavy[i]);
    }
    dialogue_finish(server, &greedy);
    server_close(server);
    talker_fini(&greedy);
    talker_fini(&modest);
}

TEST(a_light_client_is_answered_before_all_heavy_ones)
{
    answer_before_heavy_ones(0);
}

/* It queues, too, but not behind them. */
TEST(so_is_one_that_queues_since_others_have_waited_for_long)
{
    answer_before_heavy_ones(1);
}

/* A queue would cost system calls for nothing. */
TEST_WITH(SERVER, a_light_client_does_not_queue_when_nobody_else_waits)
{
    struct talker *talker = talker_new(server);

    server->connections.fairness.waiting_us = 1;
    talker_say(talker, INCR_A, strlen(INCR_A));
    dialogue_turn(server);
    assert_int_equal(server->connections.delayed_count, 0);
    answer_await(server, talker);
}

/* What it sends must not hold up addresses, HTTP, signals, and the queue. */
TEST_WITH(SERVER, input_of_a_client_that_lingers_is_read_after_all_else)
{
    struct talker *talker = talker_new(server);
    const struct connection *connection =
        (struct connection *)TAILQ_FIRST(&server->daemon.sessions);

    assert_int_equal(event_get_priority(&connection->readable), LOOP_CLIENTS);
    talker_say(talker, "QUIT\r\n", 6);
    dialogue_turn(server);
    assert_int_equal(connection->session.state, SESSION_LINGERING);
    assert_int_equal(event_get_priority(&connection->readable), LOOP_OTHERS);
}

/* --- an end --- */

TEST(a_drain_answers_what_has_arrived_and_ends)
{
    struct script script = {0};
    struct script expected = {0};
    struct server *server = server_over_stub(PLENTY, SEQB_AGAIN, MINUTE_MS);
    struct talker operator= talker_of(server);
    struct talker client = talker_of(server);

    script_add(&script, INCR_A, 70);
    talker_say(&operator, "SEQ.DRAIN\r\nSEQ.HEALTH\r\n", 23);
    talker_say(&client, script.data, script.length);
    server_run(server);
    assert_true(server->daemon.is_stopping);
    assert_true(talker_receive(&client));
    assert_true(talker_receive(&client) && client.fd < 0);
    script_add_numbers(&expected, STUB_FIRST, 70);
    talker_expect_script(&client, &expected);
    assert_true(talker_receive(&operator));
    assert_memory_equal(operator.heard, "+OK\r\n", 5);
    assert_false(talker_receive(&operator)); /* it is open until the end */
    server_close(server);
    assert_true(talker_receive(&operator) && operator.fd<0);
    talker_fini(&operator);
    talker_fini(&client);
    script_fini(&script);
    script_fini(&expected);
}

static int64_t durations_of(const struct counts *counts)
{
    int64_t all = 0;

    for (size_t i = 0; i <= COUNTS_BOUNDS; i++)
        all += counts->durations[i];
    return all;
}

TEST_WITH(SERVER, commands_that_only_a_stop_reads_are_in_the_histogram)
{
    struct talker *client = talker_new(server);

    talker_say(client, INCR_A INCR_A, 2 * strlen(INCR_A));
    connections_finish(&server->connections, 0);
    assert_int_equal(durations_of(&server->daemon.counts), 2);
}

TEST_WITH(SERVER, health_of_one_that_is_stopping_is_not_serving)
{
    const char script[] = "INCR a\r\nSEQ.HEALTH\r\n";
    struct talker operator= talker_of(server);
    struct talker *client = talker_new(server);

    stub_reset(0, SEQB_AGAIN, MINUTE_MS);
    talker_say(client, script, strlen(script));
    talker_say(&operator, "SEQ.DRAIN\r\n", 11);
    dialogue_finish(server, &operator);
    assert_true(server->daemon.is_stopping);
    stub_refill(1);
    server_run(server);
    assert_true(talker_receive(client));
    talker_receive(client);
    assert_non_null(memmem(client->heard, client->length, "not serving", 11));
    talker_fini(&operator);
}

TEST_WITH(SERVER, a_turn_that_ends_with_the_last_number_repeats_no_head)
{
    static const char line[] = "SEQ.NEXT a COUNT 1024\r\n";
    struct script expected = {0};
    struct talker *talker = talker_new(server);

    talker_say(talker, line, strlen(line));
    dialogue_finish(server, talker);
    script_add(&expected, "*1024\r\n", 1);
    script_add_numbers(&expected, STUB_FIRST, TURN);
    talker_expect_script(talker, &expected);
    script_fini(&expected);
}
