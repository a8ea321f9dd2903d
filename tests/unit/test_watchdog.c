/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watchdog over real sockets: what it ends, and what it leaves alone. What
 * a broker does with a call that was ended is in test_hung.c.
 */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/thread.h"
#include "store/watchdog.h"
#include "support/failure.h"
#include "support/rig.h"
#include "support/test.h"

#define SOON_MS 5
#define HOUR_MS 3600000

/* A connection under a watchdog. */
struct line {
    struct watch watch;
    int fd;
    int peer;
};

static struct watchdog *start(void)
{
    struct watchdog *watchdog = NULL;

    assert_ok(watchdog_open(NULL, NULL, &watchdog, NULL));
    return watchdog;
}

/* A call that the watchdog should end, and does not, ends all the same. */
static void sockets_make(int ends[2])
{
    const struct timeval patience = {RIG_PATIENCE_MS / 1000, 0};

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(setsockopt(ends[0], SOL_SOCKET,
                                    i == 0 ? SO_RCVTIMEO : SO_SNDTIMEO,
                                    &patience, sizeof patience),
                         0);
}

static void line_open(struct line *line, struct watchdog *watchdog)
{
    int ends[2];

    sockets_make(ends);
    *line = (struct line){.fd = ends[0], .peer = ends[1]};
    assert_ok(watch_open(watchdog, line->fd, &line->watch, NULL));
}

static void line_close(struct line *line)
{
    close(line->fd);
    watch_close(&line->watch);
    close(line->peer);
}

static int setup(void **state)
{
    static struct line line;

    line_open(&line, start());
    *state = &line;
    return 0;
}

static int teardown(void **state)
{
    struct line *line = *state;
    struct watchdog *watchdog = line->watch.watchdog;

    line_close(line);
    watchdog_close(watchdog);
    return 0;
}

#define WATCHED FIXTURE(struct line *line, setup, teardown)

/* Whether what the peer sends still arrives. */
static bool is_alive(int fd, int peer)
{
    char byte = 0;

    return send(peer, "x", 1, MSG_NOSIGNAL) == 1 &&
           recv(fd, &byte, 1, MSG_DONTWAIT) == 1 && byte == 'x';
}

/* A blocking call that nobody answers: 0 if a shutdown ended it. */
static ssize_t call(int fd)
{
    char byte;

    return recv(fd, &byte, 1, 0);
}

/* Waits until `due_ms` has passed, and until the watchdog has looked for it:
 * it ends a call on another connection that is due later. */
static void let_pass(struct watchdog *watchdog, int64_t due_ms)
{
    struct line other;

    line_open(&other, watchdog);
    watch_begin(&other.watch, due_ms + 1);
    assert_int_equal(call(other.fd), 0);
    assert_true(watch_end(&other.watch));
    line_close(&other);
}

TEST_WITH(WATCHED, a_call_that_hangs_is_ended_at_its_deadline)
{
    const int64_t due_ms = clock_now_ms() + SOON_MS;

    watch_begin(&line->watch, due_ms);
    assert_int_equal(call(line->fd), 0);
    assert_true(clock_now_ms() >= due_ms);
    assert_true(watch_end(&line->watch));
}

TEST_WITH(WATCHED, a_deadline_in_the_past_ends_the_call_at_once)
{
    watch_begin(&line->watch, clock_now_ms() - HOUR_MS);
    assert_int_equal(call(line->fd), 0);
    assert_true(watch_end(&line->watch));
}

/* A peer that sends nothing and one that takes nothing hold a caller alike. */
TEST_WITH(WATCHED, a_write_that_hangs_is_ended_too)
{
    static const char much[1 << 16];

    watch_begin(&line->watch, clock_now_ms() + SOON_MS);
    while (send(line->fd, much, sizeof much, MSG_NOSIGNAL) > 0)
        continue;
    assert_int_equal(errno, EPIPE);
    assert_true(watch_end(&line->watch));
}

/* Where this machine stalls past the deadline itself, it is tried again. */
TEST(a_call_that_is_over_in_time_is_left_alone)
{
    struct watchdog *watchdog = start();
    struct line line;
    int64_t due_ms;
    bool was_ended;

    line_open(&line, watchdog);
    for (int32_t wait_ms = SOON_MS;; wait_ms *= 2) {
        due_ms = clock_now_ms() + wait_ms;
        watch_begin(&line.watch, due_ms);
        was_ended = watch_end(&line.watch);
        if (!was_ended || wait_ms > RIG_PATIENCE_MS)
            break;
        line_close(&line);
        line_open(&line, watchdog);
    }
    assert_false(was_ended);
    let_pass(watchdog, due_ms);
    assert_true(is_alive(line.fd, line.peer));
    line_close(&line);
    watchdog_close(watchdog);
}

/* It waits for the later deadline when the earlier one comes to be. */
TEST(a_call_that_is_due_before_the_others_is_not_made_to_wait)
{
    struct watchdog *watchdog = start();
    struct line late;
    struct line soon;

    line_open(&late, watchdog);
    line_open(&soon, watchdog);
    watch_begin(&late.watch, clock_now_ms() + HOUR_MS);
    let_pass(watchdog, clock_now_ms());
    watch_begin(&soon.watch, clock_now_ms() + SOON_MS);
    assert_int_equal(call(soon.fd), 0);
    assert_true(watch_end(&soon.watch));
    assert_false(watch_end(&late.watch));
    assert_true(is_alive(late.fd, late.peer));
    line_close(&late);
    line_close(&soon);
    watchdog_close(watchdog);
}

TEST(one_connection_may_be_closed_while_others_are_watched)
{
    struct watchdog *watchdog = start();
    struct line lines[3];

    for (size_t gone = 0; gone < 3; gone++) {
        for (size_t i = 0; i < 3; i++)
            line_open(&lines[i], watchdog);
        line_close(&lines[gone]);
        for (size_t i = 0; i < 3; i++) {
            if (i == gone)
                continue;
            watch_begin(&lines[i].watch, clock_now_ms() + SOON_MS);
            assert_int_equal(call(lines[i].fd), 0);
            assert_true(watch_end(&lines[i].watch));
            line_close(&lines[i]);
        }
    }
    watchdog_close(watchdog);
}

/* As libpq and the MySQL client do when a connection breaks: the number may
 * be another socket's before the call returns. */
TEST_WITH(WATCHED, a_socket_that_got_the_number_of_a_closed_one_is_left_alone)
{
    const int64_t due_ms = clock_now_ms() + SOON_MS;
    int ends[2];

    watch_begin(&line->watch, due_ms);
    sockets_make(ends);
    assert_int_equal(dup2(ends[0], line->fd), line->fd);
    let_pass(line->watch.watchdog, due_ms);
    assert_true(watch_end(&line->watch));
    assert_true(is_alive(line->fd, ends[1]));
    close(ends[0]);
    close(ends[1]);
}

TEST_WITH(WATCHED, a_watch_ends_one_call_and_not_the_next)
{
    watch_begin(&line->watch, clock_now_ms());
    assert_int_equal(call(line->fd), 0);
    assert_true(watch_end(&line->watch));
    watch_begin(&line->watch, clock_now_ms() + HOUR_MS);
    assert_false(watch_end(&line->watch));
}

TEST(nothing_is_watched_without_a_socket)
{
    struct watchdog *watchdog = start();
    struct watch watch = {.watchdog = NULL};

    assert_ok(watch_open(watchdog, -1, &watch, NULL));
    watch_begin(&watch, 0);
    let_pass(watchdog, clock_now_ms());
    assert_false(watch_end(&watch));
    watch_close(&watch);
    watch_close(&watch);
    watchdog_close(watchdog);
    watchdog_close(NULL);
}

TEST(a_descriptor_that_is_none_is_refused)
{
    struct watchdog *watchdog = start();
    struct watch watch = {.watchdog = NULL};
    int ends[2];

    sockets_make(ends);
    close(ends[0]);
    close(ends[1]);
    assert_fails(watch_open(watchdog, ends[0], &watch, &failure),
                 SEQB_UNREACHABLE, "cannot watch its connection");
    watch_close(&watch);
    watchdog_close(watchdog);
}

/* Its thread is not there in the child, which has nothing but to go on. */
TEST_WITH(WATCHED, a_child_goes_on_without_it_and_the_parent_with_it)
{
    pid_t child;
    int status;

    watch_begin(&line->watch, clock_now_ms() + SOON_MS);
    child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(call(line->fd), 0);
    assert_true(watch_end(&line->watch));
}

/* --- many at once --- */

#define CROWD 8

/* One thread's connections, one after the other. */
struct member {
    struct watchdog *watchdog;
    pthread_t thread;
    int wrong;   /* what must stay 0 */
    int ended;   /* calls that hung, and were ended */
    int in_time; /* calls that were answered, and left alone */
};

/* A call that hangs, or one answered close to its deadline: it is either left
 * alone or ended, and says which. */
static void member_call(struct member *member, bool hangs, int32_t wait_ms)
{
    struct line line;
    ssize_t got;
    bool was_ended;

    line_open(&line, member->watchdog);
    if (!hangs)
        member->wrong += send(line.peer, "x", 1, MSG_NOSIGNAL) != 1;
    watch_begin(&line.watch, clock_now_ms() + wait_ms);
    got = call(line.fd);
    was_ended = watch_end(&line.watch);
    if (hangs) {
        member->wrong += got != 0 || !was_ended;
        member->ended += was_ended;
    } else if (!was_ended) {
        member->wrong += got != 1 || !is_alive(line.fd, line.peer);
        member->in_time++;
    }
    line_close(&line);
}

static void *member_run(void *argument)
{
    struct member *member = argument;

    for (int32_t i = 0; i < (int32_t)rig_scaled(1000); i++)
        member_call(member, i % 7 == 0, i % 3);
    return NULL;
}

TEST(many_calls_at_once_are_each_ended_or_left_alone)
{
    struct watchdog *watchdog = start();
    struct member members[CROWD] = {{.watchdog = NULL}};
    int in_time = 0;

    for (size_t i = 0; i < CROWD; i++) {
        members[i].watchdog = watchdog;
        assert_ok(thread_start(&members[i].thread, "member", member_run,
                               &members[i], NULL));
    }
    for (size_t i = 0; i < CROWD; i++) {
        pthread_join(members[i].thread, NULL);
        assert_int_equal(members[i].wrong, 0);
        assert_true(members[i].ended > 0);
        in_time += members[i].in_time;
    }
    assert_true(in_time > 0);
    watchdog_close(watchdog);
}
