/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brokers' clocks that issue stamps as fast as they can, in processes of their
 * own, and are killed: at random moments, and before and after every call of
 * the operating system. Each stamp that one told of is kept at the next start.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "queue/guarded_clock/guarded_clock.h"
#include "support/folder.h"
#include "support/rig.h"
#include "support/test.h"
#include "support/wrap.h"

#define LIVES        (300 / SEQB_TEST_SCALE)
#define CROWD        3
#define CROWD_ROUNDS (50 / SEQB_TEST_SCALE)
#define LIFE_MOST_US 30000
#define FEW_STAMPS   3
#define STEPS_MAX    1000 /* more than a life of a few stamps has */
#define STEP_CAME    64   /* in a life's exit code */

enum life_end { LIFE_DONE, LIFE_REFUSED, LIFE_FAILED };

/* --- the steps, by the linker's --wrap --- */

static _Atomic int64_t left; /* steps until something happens; 0: it does not */
static bool is_deadly;       /* SIGKILL; else the call fails */
static int told_fd = -1;     /* what is written there is no step */

/* Whether the call is to fail. */
static bool step(void)
{
    if (atomic_load(&left) <= 0 || atomic_fetch_sub(&left, 1) != 1)
        return false;
    atomic_store(&left, -1); /* it came */
    if (is_deadly)
        (void)raise(SIGKILL);
    return true;
}

static int fails(void)
{
    errno = EIO;
    return -1;
}

/* Before it is done, and after: then it is, and says that it is not. */
#define WRAP(type, name, parameters, arguments)                                \
    type __real_##name parameters;                                             \
    type __wrap_##name parameters;                                             \
    type __wrap_##name parameters                                              \
    {                                                                          \
        type result = step() ? (type)fails() : __real_##name arguments;        \
                                                                               \
        if (step())                                                            \
            result = (type)fails();                                            \
        return result;                                                         \
    }

WRAP(int, fsync, (int fd), (fd))
WRAP(int, flock, (int fd, int operation), (fd, operation))
WRAP(int, rename, (const char *from, const char *to), (from, to))

WRAPPED(ssize_t, write, int fd, const void *bytes, size_t n)
{
    if (fd != told_fd && step())
        return fails();
    return __real_write(fd, bytes, n);
}

/* The names that it has, by the size that files may have. */
#define WRAP_OPEN(name)                                                        \
    int __real_##name(const char *path, int flags, ...);                       \
    int __wrap_##name(const char *path, int flags, ...);                       \
    int __wrap_##name(const char *path, int flags, ...)                        \
    {                                                                          \
        return step() ? fails() : __real_##name(path, flags, 0600);            \
    }

WRAP_OPEN(open)
WRAP_OPEN(open64)

/* There is no store. */
WRAPPED(int32_t, ha_clocks, struct ha *ha, int64_t *least_ms)
{
    (void)ha;
    (void)least_ms;
    return 0;
}

WRAPPED(void, ha_begun, struct ha *ha, int64_t begins_ms)
{
    (void)ha;
    (void)begins_ms;
}

/* --- a life --- */

struct fixture {
    char folder[32];
    char path[64];
    int64_t told_ms; /* the latest stamp that any life told of */
    int64_t count;   /* of stamps that were told */
};

static bool tell(int64_t ms)
{
    return write(told_fd, &ms, sizeof ms) == sizeof ms;
}

/* A stamp a ms, as long as the clock goes on. */
static enum life_end issue_stamps(struct guarded_clock *clock, int64_t stamps)
{
    int64_t last_ms = 0;
    int64_t time_ms;

    while (stamps > 0) {
        if (guarded_clock_now(clock, &time_ms, NULL) != SEQB_OK)
            return LIFE_FAILED;
        if (time_ms == last_ms) {
            (void)nanosleep(&(struct timespec){0, 50000}, NULL);
            continue;
        }
        if (guarded_clock_issue(clock, time_ms,
                                clock_now_ms() + RIG_PATIENCE_MS,
                                NULL) != SEQB_OK ||
            !tell(time_ms))
            return LIFE_FAILED;
        last_ms = time_ms;
        stamps--;
    }
    return LIFE_DONE;
}

/* First it tells what was kept at its start. */
static enum life_end live(const struct fixture *f, int64_t stamps)
{
    const struct queue_clock_options options = {
        .rules = {GUARD_HOLD, 600000, 300000},
        .broker = "killed",
        .path = f->path,
        .store = -1,
    };
    struct seqb_clock_status status;
    struct guarded_clock *clock;
    enum life_end end = LIFE_FAILED;

    if (guarded_clock_open(&options, NULL, clock_now_ms() + RIG_PATIENCE_MS,
                           &clock, NULL) != SEQB_OK)
        return LIFE_REFUSED;
    (void)guarded_clock_status(clock, &status);
    if (tell(status.issued_ms))
        end = issue_stamps(clock, stamps);
    guarded_clock_close(clock);
    return end;
}

/* --- lives in processes --- */

struct child {
    pid_t pid;
    int fd;
    int64_t told_ms; /* when it was started */
};

static struct child child_start(const struct fixture *f, int64_t stamps,
                                int64_t steps)
{
    struct child child = {.told_ms = f->told_ms};
    enum life_end end;
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    child.pid = fork();
    assert_true(child.pid >= 0);
    if (child.pid == 0) {
        (void)close(ends[0]);
        told_fd = ends[1];
        atomic_store(&left, steps);
        end = live(f, stamps);
        _exit((int)end | (atomic_load(&left) < 0 ? STEP_CAME : 0));
    }
    (void)close(ends[1]);
    child.fd = ends[0];
    return child;
}

/* What was told before it started is kept; what it tells is told. */
static void child_receive(struct fixture *f, const struct child *child)
{
    bool is_first = true;
    int64_t ms;

    while (read(child->fd, &ms, sizeof ms) == sizeof ms) {
        if (is_first && ms < child->told_ms)
            fail_msg("%" PRId64 " is kept, %" PRId64 " was issued", ms,
                     child->told_ms);
        f->count += !is_first;
        if (!is_first && ms > f->told_ms)
            f->told_ms = ms;
        is_first = false;
    }
}

/* True if it was killed, or its step came; else `*end` is how it ended. */
static bool child_end(struct fixture *f, struct child child, enum life_end *end)
{
    int status;

    child_receive(f, &child);
    (void)close(child.fd);
    assert_int_equal(waitpid(child.pid, &status, 0), child.pid);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return true;
    }
    *end = (enum life_end)(WEXITSTATUS(status) & ~STEP_CAME);
    return (WEXITSTATUS(status) & STEP_CAME) != 0;
}

/* A life of a few stamps, which must go well. */
static void must_live(struct fixture *f)
{
    enum life_end end = LIFE_FAILED;

    assert_false(child_end(f, child_start(f, FEW_STAMPS, 0), &end));
    assert_int_equal(end, LIFE_DONE);
}

/* Within `most_us`. */
static void child_kill(const struct child *child, long most_us, unsigned *seed)
{
    const long us = (long)rand_r(seed) % most_us;

    (void)nanosleep(&(struct timespec){0, us * 1000}, NULL);
    (void)kill(child->pid, SIGKILL);
}

/* Lives go on until one that was killed gave a stamp: on a busy machine they
 * are longer then. */
static bool goes_on(const struct fixture *f, int lives, int least)
{
    return lives < least || f->count == 0;
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (f == NULL)
        return -1;
    *state = f;
    is_deadly = true;
    if (!folder_make(f->folder, sizeof f->folder))
        return -1;
    (void)text_format(f->path, sizeof f->path, "%s/clock", f->folder);
    return 0;
}

#define LIVE FIXTURE(struct fixture *f, setup, folder_free)

/* --- the tests --- */

TEST_WITH(LIVE, what_was_issued_is_kept_whenever_it_is_killed)
{
    unsigned seed = 1;
    enum life_end end;

    for (int i = 0; goes_on(f, i, LIVES); i++) {
        const struct child child = child_start(f, INT64_MAX, 0);

        child_kill(&child, LIFE_MOST_US * (1L + i / LIVES), &seed);
        assert_true(child_end(f, child, &end));
    }
    must_live(f);
    print_message("  %" PRId64 " stamps\n", f->count);
}

TEST_WITH(LIVE, what_was_issued_by_several_is_kept)
{
    unsigned seed = 2;
    enum life_end end;

    for (int i = 0; goes_on(f, i, CROWD_ROUNDS); i++) {
        struct child crowd[CROWD];

        for (int j = 0; j < CROWD; j++)
            crowd[j] = child_start(f, INT64_MAX, 0);
        for (int j = 0; j < CROWD; j++)
            child_kill(&crowd[j], LIFE_MOST_US * (1L + i / CROWD_ROUNDS),
                       &seed);
        for (int j = 0; j < CROWD; j++)
            assert_true(child_end(f, crowd[j], &end));
    }
    must_live(f);
}

/* Of a first life without a file, and of one that finds it. */
static void cut_off_everywhere(struct fixture *f, bool is_first_life)
{
    int64_t steps = 1;
    enum life_end end = LIFE_DONE;

    while (steps < STEPS_MAX) {
        if (is_first_life) {
            (void)unlink(f->path);
            f->told_ms = 0;
        }
        if (!child_end(f, child_start(f, FEW_STAMPS, steps), &end))
            break;
        assert_int_not_equal(end, LIFE_FAILED);
        must_live(f);
        steps++;
    }
    assert_in_range(steps, 30, STEPS_MAX - 1);
    assert_int_equal(end, LIFE_DONE);
    print_message("  %" PRId64 " steps\n", steps - 1);
}

TEST_WITH(LIVE, what_was_issued_is_kept_at_whichever_step_it_is_killed)
{
    cut_off_everywhere(f, false);
}

TEST_WITH(LIVE, first_file_is_whole_at_whichever_step_its_maker_is_killed)
{
    cut_off_everywhere(f, true);
}

TEST_WITH(LIVE, what_was_issued_is_kept_whichever_step_fails)
{
    is_deadly = false;
    cut_off_everywhere(f, false);
}
