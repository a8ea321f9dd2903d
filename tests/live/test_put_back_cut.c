/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store is put back while a broker is cut off after each of its calls in
 * turn: between a lease and its note, a mark and what is read after it, a raise
 * and what is granted above it. It is killed, or stopped and goes on after
 * another broker has served.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <seqbroker/backend.h>

#include "file_pool.h"
#include "kill_after.h"
#include "support/take.h"
#include "support/test.h"

#define CALLS_MAX 2000
#define FINE      60   /* calls of a start: many are cut */
#define COARSE    31   /* the step after them */
#define MANY      3000 /* of a broker; they fit into a pipe */
#define POOL      "window_bits = 8; rescue_after = \"400ms\";"

struct pool {
    const char *path;
    const char *killable;
};

static const char *write_topology(const struct scene *scene, const char *name,
                                  const char *engine, const char *authority)
{
    const struct file_pool pool = {
        .partitions = "abcd",
        .engine = engine,
        .settings = authority[0] == 'a' ? "windows = \"all\"; " POOL : POOL,
        .authority = authority,
        .order = "max_unused = 64;",
        .more = "broker = { spool = false; };"};

    return file_pool_write(scene, name, &pool);
}

static void save(const struct scene *scene)
{
    scene_copy(scene_state_path(scene, "a.db"),
               scene_state_path(scene, "a.copy"));
}

/* As another file, and without the log of the one before. */
static void put_back(const struct scene *scene)
{
    (void)unlink(scene_state_path(scene, "a.db-wal"));
    (void)unlink(scene_state_path(scene, "a.db-shm"));
    scene_copy(scene_state_path(scene, "a.copy"),
               scene_state_path(scene, "a.db"));
}

/* --- the broker that is cut off --- */

struct victim {
    pid_t pid;
    int fd;
};

/* In the child: what it takes it writes at once. */
static void victim_run(const char *topology, int fd)
{
    struct seqb_broker *broker;
    struct seqb_sequence *sequence;
    struct seqb_error err = {SEQB_OK, ""};
    int64_t number;

    if (seqb_open_with(topology, killable_engines, &broker, &err) != SEQB_OK ||
        seqb_get_sequence(broker, "order", &sequence, &err) != SEQB_OK) {
        print_error("victim: %s\n", err.text);
        _exit(1);
    }
    for (int i = 0; i < MANY; i++) {
        if (take_numbers(sequence, 1, &number, &err) != SEQB_OK) {
            print_error("victim: %s\n", err.text);
            _exit(1);
        }
        if (write(fd, &number, sizeof number) != sizeof number)
            _exit(1);
    }
    seqb_close(broker);
    _exit(0);
}

static struct victim victim_start(const struct pool *pool,
                                  void (*set)(int64_t calls), int64_t calls)
{
    struct victim victim;
    int fds[2];

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    victim.fd = fds[0];
    victim.pid = fork();
    assert_true(victim.pid >= 0);
    if (victim.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        set(calls);
        victim_run(pool->killable, fds[1]);
    }
    close(fds[1]);
    return victim;
}

/* Until it has ended, or is stopped. */
static int victim_wait(const struct victim *victim)
{
    int status;

    while (waitpid(victim->pid, &status, WUNTRACED) < 0)
        assert_int_equal(errno, EINTR);
    if (WIFEXITED(status))
        assert_int_equal(WEXITSTATUS(status), 0);
    return status;
}

static void victim_read(const struct victim *victim, struct scene *scene)
{
    int64_t number;

    while (read(victim->fd, &number, sizeof number) == sizeof number)
        numbers_add(&scene->numbers, &number, 1);
    close(victim->fd);
}

/* --- the tests --- */

/* True if it was cut off. */
static bool cut_after(struct scene *scene, const struct pool *pool,
                      void (*set)(int64_t calls), int64_t calls)
{
    struct victim victim;
    int status;

    put_back(scene);
    victim = victim_start(pool, set, calls);
    status = victim_wait(&victim);
    put_back(scene);
    scene_use(scene, pool->path, MANY);
    if (WIFSTOPPED(status)) {
        assert_int_equal(kill(victim.pid, SIGCONT), 0);
        assert_true(WIFEXITED(victim_wait(&victim)));
    }
    victim_read(&victim, scene);
    scene_use(scene, pool->path, MANY);
    if (numbers_repeats(&scene->numbers) != 0)
        fail_msg("%zu numbers came again after %lld calls",
                 numbers_repeats(&scene->numbers), (long long)calls);
    return !WIFEXITED(status);
}

static void cut_everywhere(struct scene *scene, const char *authority,
                           void (*set)(int64_t calls), int64_t step)
{
    const struct pool pool = {
        write_topology(scene, "pool.conf", "", authority),
        write_topology(scene, "killable.conf", "killable-", authority)};
    int64_t calls = 1;

    scene_use(scene, pool.path, MANY);
    save(scene);
    scene_use(scene, pool.path, MANY);
    while (cut_after(scene, &pool, set, calls)) {
        calls += calls < FINE ? step : COARSE;
        assert_true(calls < CALLS_MAX);
    }
    assert_true(calls > FINE);
}

TEST_WITH(SCENE, neighbours_that_are_killed_repeat_nothing)
{
    cut_everywhere(scene, "neighbours", kill_after, 1);
}

TEST_WITH(SCENE, neighbours_that_are_stopped_repeat_nothing)
{
    cut_everywhere(scene, "neighbours", stop_after, 2);
}

TEST_WITH(SCENE, leased_windows_of_one_that_is_killed_repeat_nothing)
{
    cut_everywhere(scene, "a", kill_after, 5);
}

TEST_WITH(SCENE, leased_windows_of_one_that_is_stopped_repeat_nothing)
{
    cut_everywhere(scene, "a", stop_after, 5);
}

TEST_WITH(SCENE, direct_counters_of_one_that_is_killed_repeat_nothing)
{
    cut_everywhere(scene, "none", kill_after, 5);
}

TEST_WITH(SCENE, direct_counters_of_one_that_is_stopped_repeat_nothing)
{
    cut_everywhere(scene, "none", stop_after, 5);
}
