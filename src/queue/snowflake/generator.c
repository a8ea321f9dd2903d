/* SPDX-License-Identifier: Apache-2.0 */
/* The first taker of each ms reads the clocks and the lease. */
#include "queue/snowflake/snowflake.h"

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/fork_wiped.h"
#include "queue/guarded_clock/guarded_clock.h"

enum seqb_status generator_init(struct generator *generator, struct ha *ha,
                                const struct lease_options *options,
                                struct fork_wiped *memory,
                                struct seqb_error *err)
{
    generator->options = options;
    pthread_mutex_init(&generator->lock, NULL);
    generator->gate = fork_wiped_take(memory, sizeof *generator->gate);
    if (generator->gate == NULL)
        return error_set(err, SEQB_NO_MEMORY, "snowflakes: out of memory");
    flake_init(&generator->flake, &options->layout, generator->gate);
    return worker_lease_new(ha, options, &generator->lease, err);
}

void generator_fini(struct generator *generator, struct fork_wiped *memory)
{
    if (generator->options == NULL)
        return;
    worker_lease_free(generator->lease);
    fork_wiped_give(memory, generator->gate, sizeof *generator->gate);
    pthread_mutex_destroy(&generator->lock);
}

void generator_shut(struct generator *generator)
{
    if (generator->lease == NULL)
        return;
    pthread_mutex_lock(&generator->lock);
    generator->is_closed = true;
    flake_shut(&generator->flake);
    pthread_mutex_unlock(&generator->lock);
}

void generator_close(struct generator *generator)
{
    generator_shut(generator);
    if (generator->lease != NULL)
        worker_lease_end(generator->lease);
}

/* --- the present ms --- */

static const char *pool_of(const struct generator *generator)
{
    return worker_lease_pool(generator->lease);
}

static enum seqb_status refuse(const struct generator *generator,
                               enum flake_verdict verdict, int64_t behind_ms,
                               struct seqb_error *err)
{
    switch (verdict) {
    case FLAKE_BEHIND:
        return error_set(err, SEQB_UNAVAILABLE,
                         "pool %s: the machine's clock is %lld ms behind the "
                         "last time of its worker id: set it right, or wait",
                         pool_of(generator), (long long)behind_ms);
    case FLAKE_OVER:
        return error_set(err, SEQB_EXHAUSTED,
                         "pool %s: the time of its snowflakes does not fit "
                         "their bits any more",
                         pool_of(generator));
    case FLAKE_FENCED:
        return error_set(err, SEQB_UNAVAILABLE,
                         "pool %s: the lease of its worker id has ended",
                         pool_of(generator));
    default:
        return SEQB_AGAIN;
    }
}

/* If the guarded clock does not believe a jump of the machine's clock, the ids
 * use the guarded time. flake_next handles a clock that is behind, within the
 * times of the lease. */
static void read_clocks(const struct generator *generator,
                        struct flake_reading *out)
{
    struct guarded_clock *clock = generator->clock;
    int64_t guarded_ms;

    out->ticks = ticks_now();
    out->wall_us = clock_wall_us();
    out->boot_us = clock_boot_us();
    out->time_ms = out->wall_us / 1000;
    if (clock != NULL &&
        guarded_clock_now(clock, &guarded_ms, NULL) == SEQB_OK &&
        guarded_ms < out->time_ms)
        out->time_ms = guarded_ms;
}

/* With the lock held: what the present ms depends on. */
struct present {
    struct worker_id id;
    struct flake_lease lease;
    struct flake_reading now;
};

static enum seqb_status present_read(const struct generator *generator,
                                     struct present *out,
                                     struct seqb_error *err)
{
    const enum seqb_status status =
        worker_lease_get(generator->lease, &out->id, err);

    if (status != SEQB_OK)
        return status;
    read_clocks(generator, &out->now);
    out->lease = (struct flake_lease){out->id.above_ms, out->id.upto_ms,
                                      out->id.until_ms};
    return SEQB_OK;
}

/* With the lock held: opens the present ms, unless it is open. */
static enum seqb_status open_ms(struct generator *generator,
                                struct seqb_error *err)
{
    struct flake *flake = &generator->flake;
    const struct lease_options *options = generator->options;
    struct present at;
    struct flake_block block;
    enum flake_verdict verdict;
    const enum seqb_status status = present_read(generator, &at, err);
    int64_t shard;

    if (status != SEQB_OK)
        return status;
    shard =
        options->datacenter *
            (INT64_C(1) << (options->layout.shard - options->datacenter_bits)) +
        at.id.worker;
    if (flake_go_on(flake, shard, &at.lease, &at.now))
        return SEQB_OK;
    verdict = flake_poll(flake, &at.lease, &at.now, &block);
    if (verdict == FLAKE_GIVE &&
        !worker_lease_use(generator->lease, &at.id, block.time_ms))
        verdict = FLAKE_AGAIN;
    if (verdict == FLAKE_AGAIN && at.now.time_ms > at.id.upto_ms)
        worker_lease_hurry(generator->lease, &at.id);
    if (verdict != FLAKE_GIVE)
        return refuse(generator, verdict, block.time_ms - at.now.time_ms, err);
    flake_open(flake, shard, &at.lease, &at.now, &block);
    return SEQB_OK;
}

/* With the lock held. */
static enum seqb_status open_unless_closed(struct generator *generator,
                                           struct seqb_error *err)
{
    return generator->is_closed
               ? error_set(err, SEQB_CLOSED, "the broker is closing")
               : open_ms(generator, err);
}

/* --- taking --- */

enum seqb_status generator_take(struct generator *generator, size_t count,
                                int64_t *out, size_t *taken,
                                struct seqb_error *err)
{
    enum seqb_status status;

    *taken = flake_take(generator->gate, count, out);
    if (*taken > 0)
        return SEQB_OK;
    /* In a forked child the gate is zero, and a lock may be held by a thread
     * that does not exist there. */
    if (!*generator->is_alive)
        return queue_forked(err);
    pthread_mutex_lock(&generator->lock);
    status = open_unless_closed(generator, err);
    if (status == SEQB_OK)
        *taken = flake_take_locked(&generator->flake, count, out);
    pthread_mutex_unlock(&generator->lock);
    return status == SEQB_OK && *taken == 0 ? SEQB_AGAIN : status;
}

enum seqb_status generator_take_run(struct generator *generator, size_t count,
                                    int64_t *first, struct seqb_error *err)
{
    const int64_t most = bits_counter_max(&generator->options->layout) + 1;
    enum seqb_status status;

    if (count < 1 || count > (uint64_t)most)
        return error_set(err, SEQB_INVALID,
                         "pool %s: a run of %zu: it must be 1 ... %lld, as "
                         "many ids as a ms has",
                         pool_of(generator), count, (long long)most);
    if (!*generator->is_alive)
        return queue_forked(err);
    pthread_mutex_lock(&generator->lock);
    status = open_unless_closed(generator, err);
    if (status == SEQB_OK && !flake_take_run(&generator->flake, count, first))
        status = SEQB_AGAIN;
    pthread_mutex_unlock(&generator->lock);
    return status;
}

enum seqb_status generator_poll(struct generator *generator,
                                struct seqb_error *err)
{
    enum seqb_status status;

    pthread_mutex_lock(&generator->lock);
    status = open_unless_closed(generator, err);
    pthread_mutex_unlock(&generator->lock);
    return status;
}

/* With the lock held. What open_ms would say. */
static enum seqb_status look(const struct generator *generator,
                             struct seqb_error *err)
{
    struct present at;
    struct flake_block block;
    enum flake_verdict verdict;
    enum seqb_status status;

    if (generator->is_closed)
        return error_set(err, SEQB_CLOSED, "the broker is closing");
    status = present_read(generator, &at, err);
    if (status != SEQB_OK)
        return status;
    verdict = flake_poll(&generator->flake, &at.lease, &at.now, &block);
    return verdict == FLAKE_GIVE ? SEQB_OK
                                 : refuse(generator, verdict,
                                          block.time_ms - at.now.time_ms, err);
}

enum seqb_status generator_look(struct generator *generator,
                                struct seqb_error *err)
{
    enum seqb_status status;

    pthread_mutex_lock(&generator->lock);
    status = look(generator, err);
    pthread_mutex_unlock(&generator->lock);
    return status;
}

int64_t generator_taken(struct generator *generator)
{
    int64_t taken;

    pthread_mutex_lock(&generator->lock);
    taken = flake_taken(&generator->flake);
    pthread_mutex_unlock(&generator->lock);
    return taken;
}

int64_t generator_end_ms(const struct generator *generator)
{
    return generator->flake.rules.end_ms; /* constant */
}
