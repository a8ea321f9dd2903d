/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes of threads: no two that live have the same one of their own. */

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/thread_index.h"
#include "support/test.h"

#define SHARING 20 /* threads more than have an index of their own */
#define THREADS (THREAD_INDEX_OWN + SHARING)

struct crowd {
    pthread_barrier_t chosen; /* all threads have an index */
    uint32_t indexes[THREADS];
    pthread_t threads[THREADS];
};

struct member {
    struct crowd *crowd;
    uint32_t *index;
};

static void *choose(void *argument)
{
    const struct member *member = argument;

    *member->index = thread_index_choose();
    pthread_barrier_wait(&member->crowd->chosen);
    if (thread_index_choose() != *member->index)
        *member->index = 0;
    return NULL;
}

/* So many threads that live at the same time. */
static void crowd_run(struct crowd *crowd, size_t count)
{
    struct member members[THREADS];

    assert_int_equal(
        pthread_barrier_init(&crowd->chosen, NULL, (unsigned)count), 0);
    for (size_t i = 0; i < count; i++) {
        members[i] = (struct member){crowd, &crowd->indexes[i]};
        assert_int_equal(
            pthread_create(&crowd->threads[i], NULL, choose, &members[i]), 0);
    }
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_join(crowd->threads[i], NULL), 0);
    pthread_barrier_destroy(&crowd->chosen);
}

/* How many of them have one of their own; which no two have. */
static size_t count_owners(const struct crowd *crowd, size_t count)
{
    uint64_t owned = 0;
    size_t owners = 0;

    for (size_t i = 0; i < count; i++) {
        const uint32_t index = crowd->indexes[i];

        assert_in_range(index, 1, THREAD_INDEXES - 1);
        if (thread_index_is_shared(index))
            continue;
        assert_int_equal(owned >> index & 1, 0);
        owned |= (uint64_t)1 << index;
        owners++;
    }
    return owners;
}

/* The main thread has one, too, or none. Again and again: those of threads that
 * ended are given to others. */
TEST(as_many_as_can_have_their_own)
{
    struct crowd crowd;

    for (int i = 0; i < 4; i++) {
        const size_t others = THREAD_INDEX_OWN - thread_index_mine.is_free;

        crowd_run(&crowd, 8);
        assert_int_equal(count_owners(&crowd, 8), 8);
        crowd_run(&crowd, THREADS);
        assert_int_equal(count_owners(&crowd, THREADS), others);
        (void)thread_index_choose();
    }
}

/* Those of the parent's threads are free. The child asks for each as if it were
 * another thread: the thread sanitizer lets it start none. */
static int expect_of_child(uint32_t mine)
{
    struct crowd crowd;

    if (thread_index_choose() != mine)
        return 1;
    for (size_t i = 0; i < THREADS; i++) {
        thread_index_mine.any = 0;
        crowd.indexes[i] = thread_index_choose();
    }
    return count_owners(&crowd, THREADS) == THREAD_INDEX_OWN - 1 ? 0 : 2;
}

static void *fork_once(void *argument)
{
    const uint32_t mine = thread_index_choose();
    const pid_t child = fork();

    if (child == 0)
        _exit(expect_of_child(mine));
    (void)waitpid(child, argument, 0);
    return NULL;
}

TEST(forked_child_has_those_of_the_other_threads)
{
    pthread_t thread;
    int status = -1;

    (void)thread_index_choose();
    assert_int_equal(pthread_create(&thread, NULL, fork_once, &status), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}
