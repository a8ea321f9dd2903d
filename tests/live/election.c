/* SPDX-License-Identifier: Apache-2.0 */
/* See election.h. */
#include "election.h"

#include <time.h>

#include "platform/clock.h"
#include "platform/thread.h"
#include "support/test.h"

#define MORE 100 /* values of each counter */

static void *election_run(void *argument)
{
    struct election *election = argument;

    election->await();
    election->ended_ms = clock_now_ms();
    return NULL;
}

void election_begin(struct election *election, void (*await)(void))
{
    *election = (struct election){.await = await, .killed_ms = clock_now_ms()};
    assert_ok(thread_start(&election->thread, "election", election_run,
                           election, NULL));
}

void election_end(struct election *election, const char *cluster,
                  int64_t longest_call_ms)
{
    const int64_t back_ms = clock_now_ms();

    pthread_join(election->thread, NULL);
    print_message("%s: away for %lld ms: an election of %lld ms and %lld ms "
                  "more; the longest call took %lld ms\n",
                  cluster, (long long)(back_ms - election->killed_ms),
                  (long long)(election->ended_ms - election->killed_ms),
                  (long long)(back_ms - election->ended_ms),
                  (long long)longest_call_ms);
}

int64_t election_stock(const struct scene *scene)
{
    struct seqb_sequence_status status;
    struct seqb_error err;
    size_t count;

    assert_done(
        seqb_sequences(scene->broker, &status, sizeof status, 1, &count, &err),
        err);
    assert_string_equal(status.key, "order");
    return status.stock;
}

static int64_t granted(const struct scene *scene, int32_t partition)
{
    return scene_partition(scene, partition).granted;
}

/* False if it is refused. */
static bool take_one(struct scene *scene, int64_t *longest_ms)
{
    const int64_t since_ms = clock_now_ms();
    int64_t number;
    const bool was_taken =
        seqb_try_next(scene_sequence(scene, "order"), &number, NULL) == SEQB_OK;
    const int64_t took_ms = clock_now_ms() - since_ms;

    if (was_taken)
        numbers_add(&scene->numbers, &number, 1);
    *longest_ms = took_ms > *longest_ms ? took_ms : *longest_ms;
    return was_taken;
}

int64_t election_take(struct scene *scene, int32_t cluster, int32_t other)
{
    const int64_t until_ms = clock_now_ms() + SCENE_PATIENCE_MS;
    const int64_t clusters = granted(scene, cluster) + MORE;
    const int64_t others = granted(scene, other) + MORE;
    int64_t longest_ms = 0;
    int takes = 0;
    int refused = 0;

    while (granted(scene, cluster) < clusters ||
           granted(scene, other) < others) {
        assert_true(clock_now_ms() < until_ms);
        if (election_stock(scene) > 0) {
            takes++;
            refused += !take_one(scene, &longest_ms);
        }
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    print_message("%d takes without waiting, %d refused\n", takes, refused);
    assert_int_equal(refused, 0);
    return longest_ms;
}
