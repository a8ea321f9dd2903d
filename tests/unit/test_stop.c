/* SPDX-License-Identifier: Apache-2.0 */
/* What clients see of a stop, and what makes a restart in place a stop. The
 * broker is a stub, and the daemon's loop runs in the test. */
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "daemon/log/log.h"
#include "daemon/restart.h"
#include "daemon/server.h"
#include "daemon/signals.h"
#include "daemon/stop/stop.h"
#include "support/test.h"
#include "support/users.h"
#include "support/wrap.h"
#include "unit/session_fixture.h"

#define DRAIN "SEQ.DRAIN\r\n"
#define CROWD (DAEMON_DRAINS_MAX + 1)

static void say(struct server *server, struct talker *talker, const char *words)
{
    talker->length = 0;
    (void)dialogue_say(server, talker, words, strlen(words), WHOLE);
}

static void expect_begin(const struct talker *talker, const char *expected)
{
    assert_true(talker->length >= strlen(expected));
    assert_memory_equal(talker->heard, expected, strlen(expected));
}

/* --- a drain --- */

/* The close says that the broker has stopped, to each of them. */
TEST(each_drain_ends_when_the_broker_has_stopped)
{
    struct server *server = server_over_stub(PLENTY, SEQB_AGAIN, MINUTE_MS);
    struct talker first = talker_of(server);
    struct talker second = talker_of(server);

    talker_say(&first, DRAIN, strlen(DRAIN));
    talker_say(&second, DRAIN, strlen(DRAIN));
    dialogue_finish(server, &first);
    dialogue_finish(server, &second);
    assert_int_equal(server->daemon.session_count, 0);
    talker_expect(&first, "+OK\r\n");
    talker_expect(&second, "+OK\r\n");
    assert_true(first.fd >= 0 && second.fd >= 0);
    server_close(server);
    (void)talker_receive(&first);
    (void)talker_receive(&second);
    assert_true(first.fd < 0 && second.fd < 0);
    talker_fini(&first);
    talker_fini(&second);
}

/* No more wait for it than there are places, and who left has none. */
TEST(drains_are_refused_if_nothing_can_say_when_they_end)
{
    struct server *server = server_over_stub(PLENTY, SEQB_AGAIN, MINUTE_MS);
    struct talker crowd[CROWD];

    server->daemon.stop.delay_ms = MINUTE_MS;
    for (int i = 0; i < CROWD; i++) {
        talker_init(&crowd[i], server);
        say(server, &crowd[i], DRAIN DRAIN);
        expect_begin(&crowd[i], i < DAEMON_DRAINS_MAX ? "+OK\r\n+OK\r\n"
                                                      : "-ERR the broker");
    }
    talker_fini(&crowd[0]);
    dialogue_finish(server, &crowd[1]);
    say(server, &crowd[CROWD - 1], DRAIN);
    talker_expect(&crowd[CROWD - 1], "+OK\r\n");
    server_close(server);
    for (int i = 1; i < CROWD; i++)
        talker_fini(&crowd[i]);
}

/* --- its bound, and a restart in place --- */

static const char *listen_at; /* NULL: nowhere */

static struct server *server_opened(void (*on_open)(void))
{
    static char name[] = "seqbrokerd";
    static char *argv[] = {name, NULL};
    const struct server_options options = {
        .places = {.state_dir = "",
                   .listen = {listen_at},
                   .listen_count = listen_at != NULL},
        .stop_timeout_ms = MINUTE_MS,
        .limits = limits_defaults,
        .argv = argv};
    struct server *server = NULL;
    struct seqb_error err;

    stub_reset(PLENTY, SEQB_AGAIN, MINUTE_MS);
    stub.on_open = on_open;
    assert_done(server_open(&options, &server, &err), err);
    return server;
}

static void ask_by_signal(struct server *server)
{
    (void)server;
    raise(SIGTERM);
}

static void end_delay(struct server *server)
{
    stop_on_delay(-1, 0, server);
}

static bool is_bounded(void)
{
    struct itimerval left;

    assert_int_equal(getitimer(ITIMER_REAL, &left), 0);
    return left.it_value.tv_sec > 0 &&
           left.it_value.tv_sec * 1000 < MINUTE_MS + STOP_CLOSE_MS;
}

/* The loop may be blocked before it handles a signal, and before it ends. */
TEST(a_stop_is_bounded_before_the_loop_has_ended)
{
    static void (*const ways[])(struct server *) = {ask_by_signal, end_delay};

    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        struct server *server = server_opened(NULL);

        assert_false(is_bounded());
        ways[i](server);
        assert_true(is_bounded());
        server_close(server);
        assert_false(is_bounded());
    }
}

static bool is_asked_in_time; /* while a name is looked up */

WRAPPED(int, getaddrinfo, const char *host, const char *port,
        const struct addrinfo *hints, struct addrinfo **out)
{
    if (signals_asked_ms() == 0)
        raise(SIGTERM);
    is_asked_in_time = signals_asked_ms() > 0 && is_bounded();
    return __real_getaddrinfo(host, port, hints, out);
}

/* As by servers of names that do not answer. */
TEST(a_stop_is_bounded_while_a_start_looks_up_a_name)
{
    listen_at = "127.0.0.1:0";
    server_close(server_opened(NULL));
    listen_at = NULL;
    assert_true(is_asked_in_time);
}

static struct server *server_that_restarts(void)
{
    return server_opened(NULL);
}

static void ask_for_restart(void)
{
    raise(SIGUSR2);
}

/* The program of this test cannot be executed, so that each is refused. */
TEST(a_restart_is_not_begun_by_a_signal_before_the_broker_is_open)
{
    struct talker nobody = {.fd = -1};
    struct server *server;
    struct log_entry entry;

    signal(SIGUSR2, SIG_IGN); /* as main.c has it */
    server = server_opened(ask_for_restart);
    dialogue_finish(server, &nobody);
    assert_false(log_find_last("event=restart", SEQB_LOG_DEBUG, &entry));
    ask_for_restart();
    dialogue_finish(server, &nobody);
    assert_true(log_find_last("event=restart_refused", SEQB_LOG_DEBUG, &entry));
    free(entry.line);
    server_close(server);
}

/* A further signal is not held for the next program. */
static void expect_stop(struct server *server)
{
    struct inherited sockets = {.count = 0};
    sigset_t held;

    assert_false(server_release(server, &sockets));
    pthread_sigmask(SIG_BLOCK, NULL, &held);
    assert_false(sigismember(&held, SIGTERM));
    server_close(server);
}

TEST(a_drain_makes_a_restart_a_stop)
{
    struct server *server = server_that_restarts();
    struct talker talker = talker_of(server);

    stop_for_restart(server);
    say(server, &talker, DRAIN);
    talker_expect(&talker, "+OK\r\n");
    expect_stop(server);
    talker_fini(&talker);
}

/* Also when the loop has ended. */
TEST(a_signal_makes_a_restart_a_stop)
{
    struct server *server = server_that_restarts();

    stop_for_restart(server);
    raise(SIGTERM);
    expect_stop(server);
}

/* It came before the restart began, and the loop has not handled it yet. */
TEST(a_signal_just_before_a_restart_makes_it_a_stop)
{
    struct server *server = server_that_restarts();

    raise(SIGTERM);
    stop_for_restart(server);
    expect_stop(server);
}

TEST(nothing_else_does)
{
    struct server *server = server_that_restarts();
    struct inherited sockets = {.count = 0};

    stop_for_restart(server);
    assert_true(server_release(server, &sockets));
    server_close(server);
    assert_false(stop_is_asked());
    assert_false(restart_is_overtaken());
}

/* Also one that comes while the stores are closed, or behind that. */
TEST(a_signal_keeps_a_restart_from_the_next_program)
{
    struct server *server = server_that_restarts();
    struct inherited sockets = {.count = 0};
    sigset_t signals;
    int number = 0;

    stop_for_restart(server);
    assert_true(server_release(server, &sockets));
    raise(SIGTERM);
    server_close(server);
    assert_true(stop_is_asked());
    raise(SIGTERM);
    assert_true(restart_is_overtaken());
    signals = signals_that_stop();
    assert_int_equal(sigwait(&signals, &number), 0);
}

/* --- what has arrived --- */

/* Each command that had arrived is answered, and then the connection ends. */
static void expect_all_answered(struct server *server, struct talker *talker,
                                size_t count)
{
    size_t answers = 0;

    while (server->daemon.session_count > 0) {
        dialogue_turn(server);
        (void)talker_receive(talker);
    }
    for (size_t i = 0; i < talker->length; i++)
        answers += talker->heard[i] == ':';
    assert_int_equal(answers, count);
    server_close(server);
    talker_fini(talker);
}

TEST(what_arrived_while_a_client_waits_is_answered)
{
    static const char words[] = "INCR b\r\nINCR c\r\n";
    struct server *server = server_over_stub(0, SEQB_AGAIN, MINUTE_MS);
    struct talker talker = talker_of(server);

    say(server, &talker, "INCR a\r\n");
    talker_say(&talker, words, sizeof words - 1);
    dialogue_finish(server, &talker);
    connections_finish(&server->connections, MINUTE_MS);
    stub_refill(1);
    expect_all_answered(server, &talker, 3);
}

/* More than is read at once, and it is not executed in one turn. */
TEST(what_arrived_behind_a_pipeline_is_answered)
{
    struct server *server = server_over_stub(PLENTY, SEQB_AGAIN, MINUTE_MS);
    struct talker talker = talker_of(server);
    struct script script = {.length = 0};
    size_t said = 0;

    script_add(&script, "INCR a\r\n", 2 * CONNECTION_INPUT_SIZE / 8);
    said = talker_say(&talker, script.data, script.length);
    dialogue_turn(server);
    said += talker_say(&talker, script.data + said, script.length - said);
    assert_true(said > CONNECTION_INPUT_SIZE);
    connections_finish(&server->connections, MINUTE_MS);
    expect_all_answered(server, &talker, said / 8);
    script_fini(&script);
}

/* --- clients that come during a stop --- */

TEST(a_client_that_comes_during_a_stop_is_ended_after_its_first_command)
{
    struct server *server = server_over_stub(PLENTY, SEQB_AGAIN, MINUTE_MS);
    struct talker talker = talker_of(server);

    connections_finish(&server->connections, MINUTE_MS);
    talker_fini(&talker);
    talker_init(&talker, server);
    talker_say(&talker, "INCR a\r\n", 8);
    expect_all_answered(server, &talker, 1);
}

/* One whose user has all its connections is refused. Another one that reads its
 * last answer is not closed for that. */
TEST(a_client_that_is_refused_during_a_stop_ends_no_other_one)
{
    char uid[32];
    const char *const settings[] = {"users.name",
                                    "me",
                                    "users.role",
                                    "take",
                                    "users.uids",
                                    uid,
                                    "users.max_connections",
                                    "1",
                                    NULL};
    struct server *server = server_over_stub(PLENTY, SEQB_AGAIN, MINUTE_MS);
    struct users *users = NULL;
    struct talker talker;
    struct talker refused;

    snprintf(uid, sizeof uid, "%lu", (unsigned long)geteuid());
    users = users_of(settings);
    access_swap(&server->daemon.access, users);
    talker_init(&talker, server);
    talker_say(&talker, "INCR a\r\n", 8);
    connections_finish(&server->connections, MINUTE_MS);
    assert_int_equal(server->daemon.session_count, 1);
    talker_init(&refused, server);
    assert_int_equal(server->daemon.session_count, 1);
    talker_fini(&refused);
    server_close(server);
    talker_fini(&talker);
    users_free(users);
}
