/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts of takes, timed as a whole: a clock within would cost more than what
 * it measures. */
#include "bench/bursts.h"

#include <stdint.h>
#include <string.h>

#include "bench/die.h"
#include "bench/now.h"
#include "bench/sorted.h"
#include "support/race.h"
#include "support/take.h"

#define BURST      1024
#define WARM       64    /* takes before it, that are not timed */
#define REST_S     0.008 /* 128,000 takes a second and thread */
#define BURSTS_MAX 4096  /* of a thread */
#define SHARD      37

struct crowd {
    struct seqb_sequence *sequence;
    bool has_shard;
    int bursts;
};

struct taker {
    const struct crowd *crowd;
    int64_t used; /* of the ids: so that none is left out by a compiler */
    double ns[BURSTS_MAX];
};

static int64_t take_next(const struct crowd *crowd, int takes)
{
    struct seqb_sequence *const sequence = crowd->sequence;
    struct seqb_error err;
    int64_t used = 0;
    int64_t value;

    for (int i = 0; i < takes; i++) {
        if (seqb_next(sequence, &value, &err) != SEQB_OK)
            die(err.text);
        used ^= value;
    }
    return used;
}

static int64_t take_sharded(const struct crowd *crowd, int takes)
{
    struct seqb_sequence *const sequence = crowd->sequence;
    struct seqb_error err;
    int64_t used = 0;
    int64_t value;

    for (int i = 0; i < takes; i++) {
        if (take_shard(sequence, SHARD, &value, &err) != SEQB_OK)
            die(err.text);
        used ^= value;
    }
    return used;
}

static void taker_run(void *racer)
{
    struct taker *taker = racer;
    const struct crowd *crowd = taker->crowd;
    int64_t (*const take)(const struct crowd *, int) =
        crowd->has_shard ? take_sharded : take_next;

    for (int i = 0; i < crowd->bursts; i++) {
        int64_t start_ns;

        pause_s(REST_S);
        race_meet_closely();
        taker->used ^= take(crowd, WARM);
        start_ns = now_ns();
        taker->used ^= take(crowd, BURST);
        taker->ns[i] = (double)(now_ns() - start_ns) / BURST;
    }
}

double bursts_ns(struct seqb_sequence *sequence, bool has_shard, int threads,
                 double seconds)
{
    static struct taker takers[BURSTS_THREADS_MAX];
    static double all[BURSTS_THREADS_MAX * BURSTS_MAX];
    struct crowd crowd = {.sequence = sequence,
                          .has_shard = has_shard,
                          .bursts = 1 + (int)(seconds / REST_S)};
    size_t each;

    if (threads > BURSTS_THREADS_MAX || crowd.bursts > BURSTS_MAX)
        die("too many threads, or too long");
    for (int i = 0; i < threads; i++)
        takers[i].crowd = &crowd;
    each = (size_t)crowd.bursts;
    race_run(takers, (size_t)threads, sizeof takers[0], taker_run);
    for (int i = 0; i < threads; i++)
        memcpy(&all[(size_t)i * each], takers[i].ns, each * sizeof all[0]);
    return samples_median(all, (size_t)threads * each);
}
