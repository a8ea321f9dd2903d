/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every step of every exchange with the spool (each call of the operating
 * system, and the ticket) is the last one before a SIGKILL, or fails, or is
 * done and seems to have failed. Whatever is left behind, and
 * whatever is put back by hand afterwards, no number is issued twice and the
 * next broker works.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ha/ha.h"
#include "platform/error.h"
#include "platform/file.h"
#include "platform/text.h"
#include "spool_life.h"
#include "support/folder.h"
#include "support/numbers.h"
#include "support/test.h"
#include "support/wrap.h"

#define FILE_MAX    ((size_t)1 << 20)
#define STEPS_MAX   1000 /* more than a life has */
#define CROWD       4
#define STEP_CAME   64 /* in a life's exit code */
#define CROWD_LIVES 12

/* Steps until something happens, of the thread that exchanges alone; 0: it
 * never does. */
static _Thread_local int64_t left;
static _Thread_local bool is_armed;
static bool is_deadly; /* SIGKILL; else the call fails */

/* Whether the call is to fail. */
static bool step(void)
{
    if (!is_armed || left == 0 || --left > 0)
        return false;
    if (is_deadly)
        (void)raise(SIGKILL);
    return true;
}

static void arm(bool is_exchanging)
{
    is_armed = is_exchanging;
}

/* --- the steps, by the linker's --wrap --- */

static ssize_t fails(void)
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

WRAP(ssize_t, write, (int fd, const void *bytes, size_t n), (fd, bytes, n))
WRAP(ssize_t, read, (int fd, void *bytes, size_t n), (fd, bytes, n))
WRAP(int, fsync, (int fd), (fd))
WRAP(int, close, (int fd), (fd))
WRAP(int, flock, (int fd, int operation), (fd, operation))
WRAP(int, rename, (const char *from, const char *to), (from, to))
WRAP(int, unlink, (const char *path), (path))

/* The name that files of any size have. */
WRAPPED(int, open64, const char *path, int flags, ...)
{
    int file = step() ? (int)fails() : __real_open64(path, flags, 0600);

    if (step())
        file = (int)fails();
    return file;
}

WRAPPED(enum seqb_status, ha_ticket, struct ha *ha, struct ha_place place,
        const char *name, int64_t until_ms, struct ha_ticket *out,
        struct seqb_error *err)
{
    enum seqb_status status =
        step() ? error_set(err, SEQB_UNAVAILABLE, "no ticket")
               : __real_ha_ticket(ha, place, name, until_ms, out, err);

    if (step())
        status = error_set(err, SEQB_UNAVAILABLE, "the answer was lost");
    return status;
}

/* --- lives in processes --- */

struct fixture {
    char folder[32];
    char path[64];  /* of the spool */
    char aside[64]; /* what a test put away */
    char fresh[64]; /* what an exchange puts in the spool's place: a pattern */
    struct numbers numbers;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (f == NULL)
        return -1;
    (void)text_copy(f->folder, sizeof f->folder, "/tmp/seqb-kill.XXXXXX");
    if (mkdtemp(f->folder) == NULL)
        return -1;
    (void)text_format(f->path, sizeof f->path, "%s/spool", f->folder);
    (void)text_format(f->aside, sizeof f->aside, "%s/aside", f->folder);
    (void)text_format(f->fresh, sizeof f->fresh, "%s/spool.new-*", f->folder);
    numbers_init(&f->numbers);
    is_deadly = true;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    numbers_fini(&f->numbers);
    folder_remove(f->folder);
    free(f);
    return 0;
}

#define LIVE FIXTURE(struct fixture *f, setup, teardown)

struct child {
    pid_t pid;
    int fd;
};

typedef enum life_end life_run(const char *folder, int fd,
                               const struct life_watch *watch);

static struct child child_start(const struct fixture *f, life_run *run,
                                int64_t steps)
{
    const struct life_watch watch = {arm, !is_deadly};
    struct child child;
    enum life_end end;
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    child.pid = fork();
    assert_true(child.pid >= 0);
    if (child.pid == 0) {
        (void)close(ends[0]);
        left = steps;
        end = run(f->folder, ends[1], &watch);
        _exit((int)end | (steps > 0 && left == 0 ? STEP_CAME : 0));
    }
    (void)close(ends[1]);
    child.fd = ends[0];
    return child;
}

/* Collects what it issued. True if its step came; if that did not kill it, as
 * if none came, `*end` is what it ended with. */
static bool child_end(struct fixture *f, struct child child, enum life_end *end)
{
    int64_t number;
    int status;

    while (read(child.fd, &number, sizeof number) == sizeof number)
        numbers_add(&f->numbers, &number, 1);
    (void)close(child.fd);
    assert_int_equal(waitpid(child.pid, &status, 0), child.pid);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return true;
    }
    *end = (enum life_end)(WEXITSTATUS(status) & ~STEP_CAME);
    return (WEXITSTATUS(status) & STEP_CAME) != 0;
}

/* A life to its natural end, which must go well. */
static enum life_end must_run(struct fixture *f, life_run *run)
{
    enum life_end end = LIFE_FAILED;

    assert_false(child_end(f, child_start(f, run, 0), &end));
    assert_int_not_equal(end, LIFE_FAILED);
    return end;
}

static enum life_end live(struct fixture *f)
{
    return must_run(f, spool_live);
}

static void copy(const char *from, const char *to)
{
    struct seqb_error err;
    char *bytes;
    size_t size;

    assert_done(file_load(from, FILE_MAX, &bytes, &size, &err), err);
    if (bytes != NULL && file_save(to, bytes, size, &err) != SEQB_OK)
        fail_msg("%s", err.text);
    free(bytes);
}

/* --- what happens between a kill and the next start --- */

static void nothing(const struct fixture *f)
{
    (void)f;
}

static void put_back_what_was_there_before(const struct fixture *f)
{
    copy(f->aside, f->path);
}

static void put_the_unfinished_file_in_place(const struct fixture *f)
{
    glob_t found;

    if (glob(f->fresh, 0, NULL, &found) != 0)
        return;
    assert_int_equal(found.gl_pathc, 1);
    assert_int_equal(rename(found.gl_pathv[0], f->path), 0);
    globfree(&found);
}

static void lose_the_file(const struct fixture *f)
{
    (void)unlink(f->path);
}

/* A life is cut off at each step in turn, or every so many, until one has no
 * such step. */
static void cut_off_everywhere(struct fixture *f, int64_t every,
                               void (*afterwards)(const struct fixture *f))
{
    int64_t steps = 1;
    enum life_end end = LIFE_FAILED;

    (void)live(f);
    while (steps < STEPS_MAX) {
        copy(f->path, f->aside);
        if (!child_end(f, child_start(f, spool_live, steps), &end))
            break;
        afterwards(f);
        (void)live(f);
        steps += every;
    }
    assert_in_range(steps, 60, STEPS_MAX - 1);
    assert_int_not_equal(end, LIFE_FAILED);
    assert_int_equal(live(f), LIFE_HEIR); /* take-over works as ever */
    assert_int_equal(numbers_repeats(&f->numbers), 0);
    print_message("  %" PRId64 " steps, %zu numbers\n", steps,
                  numbers_count(&f->numbers));
}

TEST_WITH(LIVE, kill_at_every_step_repeats_nothing)
{
    cut_off_everywhere(f, 1, nothing);
}

TEST_WITH(LIVE, kill_and_an_older_file_put_back_repeat_nothing)
{
    cut_off_everywhere(f, 1, put_back_what_was_there_before);
}

TEST_WITH(LIVE, kill_and_the_unfinished_file_in_place_repeat_nothing)
{
    cut_off_everywhere(f, 2, put_the_unfinished_file_in_place);
}

TEST_WITH(LIVE, kill_and_a_lost_file_repeat_nothing)
{
    cut_off_everywhere(f, 3, lose_the_file);
}

TEST_WITH(LIVE, failure_of_every_step_repeats_nothing)
{
    is_deadly = false;
    cut_off_everywhere(f, 1, nothing);
}

TEST_WITH(LIVE, failure_and_an_older_file_put_back_repeat_nothing)
{
    is_deadly = false;
    cut_off_everywhere(f, 3, put_back_what_was_there_before);
}

/* An older file after each life that went well. */
TEST_WITH(LIVE, older_file_put_back_repeats_nothing)
{
    (void)live(f);
    for (int i = 0; i < 10; i++) {
        copy(f->path, f->aside);
        assert_int_equal(live(f), LIFE_HEIR);
        copy(f->aside, f->path);
        assert_int_equal(live(f), LIFE_EMPTY);
    }
    assert_int_equal(numbers_repeats(&f->numbers), 0);
}

/* Each partition's numbers are all those of its first runs. */
static void expect_no_gap(struct fixture *f)
{
    size_t counts[1 << LIFE_BITS] = {0};
    int64_t last[1 << LIFE_BITS] = {0};

    for (size_t i = 0; i < f->numbers.count; i++) {
        const int64_t run = f->numbers.values[i] >> LIFE_MEMORY_BITS;
        const int64_t partition = run & ((1 << LIFE_BITS) - 1);

        counts[partition]++;
        if (run >> LIFE_BITS > last[partition])
            last[partition] = run >> LIFE_BITS;
    }
    for (size_t i = 0; i < 1 << LIFE_BITS; i++)
        assert_int_equal(counts[i], last[i] << LIFE_MEMORY_BITS);
}

TEST_WITH(LIVE, lives_that_follow_each_other_lose_nothing)
{
    (void)live(f);
    for (int i = 0; i < 5; i++)
        assert_int_equal(live(f), LIFE_HEIR);
    assert_int_equal(must_run(f, spool_empty), LIFE_HEIR);
    assert_int_equal(must_run(f, spool_empty), LIFE_EMPTY);
    assert_int_equal(numbers_repeats(&f->numbers), 0);
    expect_no_gap(f);
}

TEST_WITH(LIVE, lives_at_once_lose_nothing)
{
    struct child crowd[CROWD];
    enum life_end end;

    (void)live(f);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < CROWD; j++)
            crowd[j] = child_start(f, spool_live, 0);
        for (int j = 0; j < CROWD; j++) {
            assert_false(child_end(f, crowd[j], &end));
            assert_int_not_equal(end, LIFE_FAILED);
        }
    }
    assert_int_equal(must_run(f, spool_empty), LIFE_HEIR);
    assert_int_equal(numbers_repeats(&f->numbers), 0);
    expect_no_gap(f);
}

/* Some of them killed at random, all on one folder. */
TEST_WITH(LIVE, killed_lives_at_once_repeat_nothing)
{
    struct child crowd[CROWD];
    unsigned seed = 1;
    enum life_end end;

    (void)live(f);
    for (int i = 0; i < CROWD_LIVES; i++) {
        for (int j = 0; j < CROWD; j++)
            crowd[j] = child_start(f, spool_live,
                                   j < CROWD / 2 ? rand_r(&seed) % 200 : 0);
        for (int j = 0; j < CROWD; j++) {
            if (!child_end(f, crowd[j], &end))
                assert_int_not_equal(end, LIFE_FAILED);
        }
    }
    (void)live(f);
    assert_int_equal(live(f), LIFE_HEIR);
    assert_int_equal(numbers_repeats(&f->numbers), 0);
}
