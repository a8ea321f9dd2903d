/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, conditions, and memory that a forked child finds empty. */

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/thread.h"
#include "support/test.h"

#define HOUR_MS 3600000

/* What a thread finds out, and when it may end. */
struct helper {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_told;
    sigset_t blocked;
    int broken_pipe; /* errno of a write that nobody reads */
};

static int setup(void **state)
{
    static struct helper helper;

    helper = (struct helper){.is_told = false};
    pthread_mutex_init(&helper.lock, NULL);
    condition_init(&helper.changed);
    *state = &helper;
    return 0;
}

static int teardown(void **state)
{
    struct helper *helper = *state;

    pthread_cond_destroy(&helper->changed);
    pthread_mutex_destroy(&helper->lock);
    return 0;
}

#define HELPER FIXTURE(struct helper *helper, setup, teardown)

static void helper_notify(struct helper *helper)
{
    pthread_mutex_lock(&helper->lock);
    helper->is_told = true;
    pthread_cond_signal(&helper->changed);
    pthread_mutex_unlock(&helper->lock);
}

/* Whether it was told before `until_ms`. */
static bool helper_wait(struct helper *helper, int64_t until_ms)
{
    bool in_time = true;

    pthread_mutex_lock(&helper->lock);
    while (!helper->is_told && in_time)
        in_time = condition_wait(&helper->changed, &helper->lock, until_ms);
    pthread_mutex_unlock(&helper->lock);
    return in_time;
}

static pthread_t start(void *(*run)(void *argument), struct helper *helper)
{
    pthread_t thread;

    assert_ok(thread_start(&thread, "seqb:helper", run, helper, NULL));
    return thread;
}

static void *run_report(void *argument)
{
    helper_notify(argument);
    return argument;
}

static void *run_wait(void *argument)
{
    return helper_wait(argument, clock_now_ms() + HOUR_MS) ? argument : NULL;
}

static void *run_look_at_signals(void *argument)
{
    struct helper *helper = argument;

    pthread_sigmask(SIG_BLOCK, NULL, &helper->blocked);
    return NULL;
}

static void *run_write_to_nobody(void *argument)
{
    struct helper *helper = argument;
    int ends[2];

    if (pipe(ends) != 0)
        return NULL;
    close(ends[0]);
    helper->broken_pipe = write(ends[1], "x", 1) < 0 ? errno : 0;
    close(ends[1]);
    return helper;
}

/* By any other clock the hour would be over, or never pass. */
TEST_WITH(HELPER, a_signal_ends_a_wait_before_its_deadline)
{
    pthread_t thread;
    void *result;

    thread = start(run_report, helper);
    assert_true(helper_wait(helper, clock_now_ms() + HOUR_MS));
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, helper);
}

TEST_WITH(HELPER, a_wait_ends_at_its_deadline_and_not_before)
{
    static const int64_t waits_ms[] = {0, 1, 3, 10};

    for (size_t i = 0; i < sizeof waits_ms / sizeof waits_ms[0]; i++) {
        const int64_t until_ms = clock_now_ms() + waits_ms[i];

        assert_false(helper_wait(helper, until_ms));
        assert_true(clock_now_ms() >= until_ms);
    }
}

TEST_WITH(HELPER, a_deadline_in_the_past_does_not_wait)
{
    assert_false(helper_wait(helper, clock_now_ms() - 1));
    assert_false(helper_wait(helper, 0));
}

TEST_WITH(HELPER, a_thread_blocks_every_signal_and_its_starter_none)
{
    sigset_t before;
    sigset_t after;

    pthread_sigmask(SIG_BLOCK, NULL, &before);
    assert_int_equal(pthread_join(start(run_look_at_signals, helper), NULL), 0);
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    for (int signal = 1; signal <= SIGRTMAX; signal++) {
        const bool can_block = signal != SIGKILL && signal != SIGSTOP &&
                               (signal < 32 || signal >= SIGRTMIN);

        if (can_block)
            assert_int_equal(sigismember(&helper->blocked, signal), 1);
        assert_int_equal(sigismember(&after, signal),
                         sigismember(&before, signal));
    }
    assert_int_equal(sigismember(&after, SIGPIPE), 0);
}

/* The signal would end this program. */
TEST_WITH(HELPER, a_broken_pipe_in_a_thread_is_an_error_and_no_signal)
{
    void *result;

    assert_int_equal(pthread_join(start(run_write_to_nobody, helper), &result),
                     0);
    assert_ptr_equal(result, helper);
    assert_int_equal(helper->broken_pipe, EPIPE);
}

TEST_WITH(HELPER, a_thread_goes_by_its_name)
{
    char name[16] = "";
    pthread_t thread;
    void *result;

    thread = start(run_wait, helper);
    assert_int_equal(pthread_getname_np(thread, name, sizeof name), 0);
    assert_string_equal(name, "seqb:helper");
    helper_notify(helper);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, helper);
}

static bool is_all(const unsigned char *memory, size_t size,
                   unsigned char value)
{
    for (size_t i = 0; i < size; i++) {
        if (memory[i] != value)
            return false;
    }
    return true;
}

/* What a child says of memory that it then scribbles over: 0, all zero. */
static int child_finds(unsigned char *memory, size_t size)
{
    const pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        const bool is_wiped = is_all(memory, size, 0);

        memset(memory, 0xee, size);
        _exit(is_wiped ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(fork_wiped_memory_is_zero_in_a_child_and_kept_here)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t sizes[] = {1, 64, page, page + 1, 5 * page - 8};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *memory = fork_wiped_new(sizes[i]);

        assert_non_null(memory);
        assert_true(is_all(memory, sizes[i], 0));
        memset(memory, 0x5a, sizes[i]);
        assert_int_equal(child_finds(memory, sizes[i]), 0);
        assert_int_equal(child_finds(memory, sizes[i]), 0);
        assert_true(is_all(memory, sizes[i], 0x5a));
        fork_wiped_free(memory, sizes[i]);
    }
}

TEST(fork_wiped_memory_may_be_refused)
{
    assert_null(fork_wiped_new((size_t)1 << 62));
    fork_wiped_free(NULL, 64);
}
