/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a number: how it ends, by a number or by the deadline, and what
 * is left of it then. The broker is a stub, and its threads are the test. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/log/log.h"
#include "daemon/server.h"
#include "support/test.h"
#include "support/wrap.h"
#include "unit/session_fixture.h"

#define INCR_A "INCR a\r\n"

#define LONG "a-key.of-64-bytes-which-is-as-long-as-any.key-may-be-in-seqbroke"

/* The daemon's loop turns as soon as it is woken, before the thread that does
 * so goes on; NULL: it does not. */
static struct server *eager;

WRAPPED(ssize_t, write, int file, const void *bytes, size_t size)
{
    const ssize_t written = __real_write(file, bytes, size);
    struct server *server = eager;

    eager = NULL;
    if (server != NULL)
        dialogue_turn(server);
    return written;
}

static bool is_out_of_threads;

WRAPPED(int, pthread_create, pthread_t *out, const pthread_attr_t *attributes,
        void *(*run)(void *), void *argument)
{
    return is_out_of_threads
               ? EAGAIN
               : __real_pthread_create(out, attributes, run, argument);
}

struct scene {
    struct server *server;
    struct talker talker;
    size_t heard; /* so much of it was looked at */
};

static void scene_begin(struct scene *scene, int64_t deadline_ms)
{
    stub_reset(0, SEQB_AGAIN, deadline_ms);
    scene->server = dialogue_server();
    scene->heard = 0;
    talker_init(&scene->talker, scene->server);
}

static void scene_end(struct scene *scene)
{
    server_close(scene->server);
    talker_fini(&scene->talker);
}

static void ask(struct scene *scene)
{
    assert_int_equal(talker_say(&scene->talker, INCR_A, strlen(INCR_A)),
                     strlen(INCR_A));
    dialogue_finish(scene->server, &scene->talker);
}

/* What was answered since the last look begins so; "" is nothing. */
static void expect_answer(struct scene *scene, const char *expected)
{
    const size_t length = strlen(expected);
    const size_t news = scene->talker.length - scene->heard;

    if (length == 0)
        assert_int_equal(news, 0);
    assert_true(news >= length);
    assert_memory_equal(scene->talker.heard + scene->heard, expected, length);
    scene->heard = scene->talker.length;
}

static bool is_anybody_waiting(const struct scene *scene)
{
    return !TAILQ_EMPTY(&scene->server->daemon.waitlists.waiting);
}

/* Else the second one would be in it twice. */
TEST(who_is_late_has_left_the_line)
{
    struct scene scene;

    scene_begin(&scene, 0);
    for (int i = 0; i < 3; i++) {
        ask(&scene);
        expect_answer(&scene, "-TIMEOUT a: ");
        assert_false(is_anybody_waiting(&scene));
    }
    stub_refill(1);
    ask(&scene);
    expect_answer(&scene, ":95\r\n");
    scene_end(&scene);
}

TEST(next_command_waits_for_its_own_deadline)
{
    struct scene scene;

    scene_begin(&scene, 0);
    ask(&scene);
    expect_answer(&scene, "-TIMEOUT a: ");
    stub.deadline_ms = MINUTE_MS;
    ask(&scene);
    expect_answer(&scene, "");
    assert_true(is_anybody_waiting(&scene));
    stub_refill(1);
    dialogue_finish(scene.server, &scene.talker);
    expect_answer(&scene, ":95\r\n");
    assert_false(is_anybody_waiting(&scene));
    scene_end(&scene);
}

/* The waitlist is marked before the loop is woken: it looks once. */
TEST(loop_that_is_woken_finds_the_waitlist_ready)
{
    struct scene scene;

    scene_begin(&scene, MINUTE_MS);
    ask(&scene);
    expect_answer(&scene, "");
    eager = scene.server;
    stub_refill(1);
    assert_null(eager); /* it was woken */
    dialogue_finish(scene.server, &scene.talker);
    expect_answer(&scene, ":95\r\n");
    scene_end(&scene);
}

static int64_t lines_of(const char *event)
{
    struct log_tally tallies[LOG_EVENTS_MAX];

    log_tallies(tallies);
    for (size_t i = 0; i < LOG_EVENTS_MAX; i++)
        if (strcmp(tallies[i].event, event) == 0)
            return tallies[i].lines[SEQB_LOG_INFO] +
                   tallies[i].lines[SEQB_LOG_WARN];
    return 0;
}

/* Its client is disconnected; the stores may carry it out all the same. */
TEST(an_advance_that_outlasts_a_stop_is_in_the_audit)
{
    const char words[] = "SEQ.ADVANCE a 5\r\n";
    struct scene scene;

    scene_begin(&scene, MINUTE_MS);
    pthread_mutex_lock(&stub_advance);
    talker_say(&scene.talker, words, sizeof words - 1);
    dialogue_turn(scene.server);
    assert_non_null(scene.server->daemon.order_call);
    assert_int_equal(lines_of("order_refused"), 0);
    pthread_mutex_unlock(&stub_advance);
    scene_end(&scene);
    assert_int_equal(lines_of("order_refused"), 1); /* the stub refuses */
}

TEST(orders_that_are_not_begun_are_in_the_audit)
{
    const char advance[] = "SEQ.ADVANCE a 5\r\n";
    const char drain[] = "SEQ.PARTITION DRAIN nowhere\r\n";
    const int64_t refused = lines_of("order_refused");
    struct talker other;
    struct scene scene;

    scene_begin(&scene, MINUTE_MS);
    pthread_mutex_lock(&stub_advance);
    talker_init(&other, scene.server);
    dialogue_say(scene.server, &other, drain, sizeof drain - 1, WHOLE);
    assert_int_equal(lines_of("order_refused"), refused + 1);
    talker_say(&scene.talker, advance, sizeof advance - 1);
    dialogue_turn(scene.server);
    assert_non_null(scene.server->daemon.order_call);
    other.length = 0;
    talker_say(&other, advance, sizeof advance - 1);
    dialogue_turn(scene.server);
    (void)talker_receive(&other);
    assert_memory_equal(other.heard, "-ERR another order is waiting", 29);
    pthread_mutex_unlock(&stub_advance);
    scene_end(&scene);
    assert_int_equal(lines_of("order_refused"), refused + 3);
    talker_fini(&other);
}

/* The last refused order's line has these words. */
static void expect_refused(const char *words)
{
    struct log_entry entry;

    assert_true(log_find_last("event=order_refused", SEQB_LOG_DEBUG, &entry));
    assert_non_null(strstr(entry.line, words));
    free(entry.line);
}

static void say_all(struct scene *scene, const char *words)
{
    (void)dialogue_say(scene->server, &scene->talker, words, strlen(words),
                       WHOLE);
}

TEST(a_refused_advance_is_in_the_audit_with_its_key_and_reason)
{
    struct scene scene;

    scene_begin(&scene, MINUTE_MS);
    say_all(&scene, "SEQ.ADVANCE unknown 5\r\n");
    expect_refused("target=unknown reason=UNKNOWN_KEY");
    say_all(&scene, "SEQ.ADVANCE " LONG "x 5\r\n");
    expect_refused("target=" LONG " reason=\"not a sequence key: ");
    scene_end(&scene);
}

TEST(an_order_without_a_thread_is_in_the_audit)
{
    struct scene scene;

    scene_begin(&scene, MINUTE_MS);
    is_out_of_threads = true;
    say_all(&scene, "SEQ.ADVANCE a 5\r\n");
    expect_answer(&scene, "-ERR out of memory\r\n");
    expect_refused("command=SEQ.ADVANCE target=a reason=\"out of memory\"");
    say_all(&scene, "SEQ.RELOAD\r\n");
    expect_refused("command=SEQ.RELOAD target=\"\" reason=\"out of memory\"");
    is_out_of_threads = false;
    scene_end(&scene);
}

static int64_t begun_first; /* lines when the stores were asked */

static void on_advance(void)
{
    begun_first = lines_of("order_begun");
}

/* The process may end while they are. One that is refused before does not
 * begin. */
TEST(advance_is_in_the_audit_before_the_stores_are_asked)
{
    const int64_t begun = lines_of("order_begun");
    struct log_entry entry;
    struct scene scene;

    scene_begin(&scene, MINUTE_MS);
    stub.on_advance = on_advance;
    say_all(&scene, "SEQ.ADVANCE a x\r\n");
    say_all(&scene, "SEQ.ADVANCE a 9000000000000000000\r\n");
    while (scene.server->daemon.order_call != NULL)
        dialogue_turn(scene.server);
    assert_int_equal(lines_of("order_begun"), begun);
    say_all(&scene, "SEQ.ADVANCE a 500\r\n");
    scene_end(&scene);
    assert_int_equal(begun_first, begun + 1);
    assert_true(log_find_last("event=order_begun", SEQB_LOG_DEBUG, &entry));
    assert_non_null(strstr(entry.line, "command=SEQ.ADVANCE target=a "
                                       "before=95 after=500"));
    free(entry.line);
}

/* Some stores are raised: who reads the audit must not take it for refused. */
TEST(advance_in_some_stores_is_no_refused_one_in_the_audit)
{
    const int64_t refused = lines_of("order_refused");
    const int64_t in_part = lines_of("order_in_part");
    char words[64];
    struct scene scene;

    scene_begin(&scene, MINUTE_MS);
    pthread_mutex_lock(&stub_advance);
    snprintf(words, sizeof words, "SEQ.ADVANCE a %d\r\n", STUB_IN_PART);
    talker_say(&scene.talker, words, strlen(words));
    dialogue_turn(scene.server);
    pthread_mutex_unlock(&stub_advance);
    scene_end(&scene);
    assert_int_equal(lines_of("order_refused"), refused);
    assert_int_equal(lines_of("order_in_part"), in_part + 1);
}
