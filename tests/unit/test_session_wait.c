/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a number: how it ends, by a number or by the deadline, and what
 * is left of it then. The broker is a stub, and its threads are the test. */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "daemon/log/log.h"
#include "daemon/server.h"
#include "support/test.h"
#include "unit/session_fixture.h"

#define INCR_A "INCR a\r\n"

/* The daemon's loop turns as soon as it is woken, before the thread that does
 * so goes on; NULL: it does not. */
static struct server *eager;

ssize_t __real_write(int file, const void *bytes, size_t size);
ssize_t __wrap_write(int file, const void *bytes, size_t size);
ssize_t __wrap_write(int file, const void *bytes, size_t size)
{
    const ssize_t written = __real_write(file, bytes, size);
    struct server *server = eager;

    eager = NULL;
    if (server != NULL)
        dialogue_turn(server);
    return written;
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
    talker_say(&scene.talker, words, sizeof words - 1);
    dialogue_turn(scene.server);
    assert_non_null(scene.server->daemon.order_call);
    assert_int_equal(lines_of("order_refused"), 0);
    scene_end(&scene);
    assert_int_equal(lines_of("order_refused"), 1); /* the stub refuses */
}

/* Some stores are raised: who reads the audit must not take it for refused. */
TEST(advance_in_some_stores_is_no_refused_one_in_the_audit)
{
    const int64_t refused = lines_of("order_refused");
    const int64_t in_part = lines_of("order_in_part");
    char words[64];
    struct scene scene;

    scene_begin(&scene, MINUTE_MS);
    snprintf(words, sizeof words, "SEQ.ADVANCE a %d\r\n", STUB_IN_PART);
    talker_say(&scene.talker, words, strlen(words));
    dialogue_turn(scene.server);
    scene_end(&scene);
    assert_int_equal(lines_of("order_refused"), refused);
    assert_int_equal(lines_of("order_in_part"), in_part + 1);
}
