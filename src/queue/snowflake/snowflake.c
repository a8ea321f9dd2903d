/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source that makes ids from the time when they are taken. All snowflakes
 * of a pool share its generator. The ring stays empty.
 */
#include "queue/snowflake/snowflake.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/thread.h"
#include "queue/sequence_take.h"

#define LEASE_REST_MS 5 /* between two checks while there is no lease */
#define RATE_MS       1000

struct snowflake {
    struct seqb_sequence front; /* must be first */
    struct generator *generator;
    /* Only counted if the generator is shared. Relaxed, because it is only a
     * statistic. */
    _Alignas(RING_LINE) _Atomic int64_t taken;

    pthread_mutex_t lock; /* guards what follows */
    int64_t rate;         /* ids per second, in the last full RATE_MS */
    int64_t rate_ms;      /* begin of the present RATE_MS, and ... */
    int64_t rate_taken;   /* ... the ids that were taken before it */
};

static struct snowflake *snowflake_of(struct seqb_sequence *front)
{
    return (struct snowflake *)front;
}

/* --- opening and closing --- */

static enum seqb_status snowflake_open(const struct source_setup *setup,
                                       struct seqb_sequence **out,
                                       struct seqb_error *err)
{
    const enum seqb_status status = sequence_new(
        setup, &source_snowflake, sizeof(struct snowflake), out, err);

    if (status != SEQB_OK)
        return status;
    pthread_mutex_init(&snowflake_of(*out)->lock, NULL);
    snowflake_of(*out)->rate_ms = clock_now_ms();
    snowflake_of(*out)->generator =
        &setup->context->generators[setup->options->snowflake -
                                    setup->context->snowflakes];
    return SEQB_OK;
}

static void snowflake_free(struct seqb_sequence *front)
{
    pthread_mutex_destroy(&snowflake_of(front)->lock);
    sequence_free(front);
}

static enum seqb_status snowflake_permits(const struct seqb_sequence *front,
                                          enum source_use use,
                                          struct seqb_error *err)
{
    static const char *const reasons[] = {
        [SOURCE_SPOOL] = "none is unused",
        [SOURCE_CURSOR] = "a cursor would hold ids of a time that is over",
        [SOURCE_ADVANCE] = "there is no counter to advance",
    };

    return error_set(err, SEQB_INVALID,
                     "sequence %s makes its numbers of the time: %s",
                     front->key, reasons[use]);
}

/* --- taking --- */

static inline void count_taken(struct snowflake *snowflake, size_t count)
{
    if (snowflake->generator->is_shared)
        atomic_fetch_add_explicit(&snowflake->taken, (int64_t)count,
                                  memory_order_relaxed);
}

static enum seqb_status take_some(struct snowflake *snowflake, size_t count,
                                  int64_t *out, size_t *taken,
                                  struct seqb_error *err)
{
    const enum seqb_status status =
        generator_take(snowflake->generator, count, out, taken, err);

    count_taken(snowflake, *taken);
    return status;
}

static enum seqb_status take_run(struct snowflake *snowflake, size_t count,
                                 int64_t *first, struct seqb_error *err)
{
    const enum seqb_status status =
        generator_take_run(snowflake->generator, count, first, err);

    if (status == SEQB_OK)
        count_taken(snowflake, count);
    return status;
}

static bool is_run(const struct queue_take *take)
{
    return take->is_contiguous && take->count != 1;
}

/* SEQB_UNAVAILABLE: it is not admitted yet. */
static enum seqb_status check_admitted(const struct seqb_sequence *front,
                                       struct seqb_error *err)
{
    if (LIKELY(sequence_admission(front) == SEQUENCE_ADMITTED))
        return SEQB_OK;
    return sequence_is_removed(front)
               ? sequence_unlisted(front, err)
               : sequence_admitting(front, SEQB_UNAVAILABLE, err);
}

/* Takes what there is of the ids still wanted, or the whole run. */
static enum seqb_status take_there(struct snowflake *snowflake,
                                   const struct queue_take *take, size_t have,
                                   size_t *taken, struct seqb_error *err)
{
    enum seqb_status status = check_admitted(&snowflake->front, err);

    *taken = 0;
    if (status != SEQB_OK)
        return status;
    if (!is_run(take))
        return take_some(snowflake, take->count - have, take->out + have, taken,
                         err);
    status = take_run(snowflake, take->count, take->out, err);
    *taken = status == SEQB_OK ? take->count : 0;
    return status;
}

/* Waits for the next ms. Without a lease, waits LEASE_REST_MS, or until the
 * sequence is closed. */
static void rest(struct seqb_sequence *front, enum seqb_status status)
{
    if (status == SEQB_AGAIN) {
        thread_rest_us(1000 - clock_wall_us() % 1000);
        return;
    }
    pthread_mutex_lock(&front->lock);
    if (!front->is_closed)
        (void)condition_wait(&front->filled, &front->lock,
                             clock_now_ms() + LEASE_REST_MS);
    pthread_mutex_unlock(&front->lock);
}

static bool passes(enum seqb_status status)
{
    return status == SEQB_AGAIN || status == SEQB_UNAVAILABLE;
}

/* Takes the ids after the first `have`, and waits for them. */
static enum seqb_status take_waiting(struct snowflake *snowflake,
                                     const struct queue_take *take, size_t have,
                                     struct seqb_error *err)
{
    struct seqb_sequence *front = &snowflake->front;
    const int64_t until_ms =
        take->until_ms != 0 ? take->until_ms : sequence_until(front);
    enum seqb_status status = SEQB_OK;
    size_t n;

    sequence_wait_begin(front);
    while (have < take->count) {
        status = take_there(snowflake, take, have, &n, err);
        have += n;
        if (status != SEQB_OK &&
            (!passes(status) || clock_now_ms() >= until_ms))
            break;
        if (status != SEQB_OK)
            rest(front, status);
    }
    sequence_wait_end(front);
    if (status != SEQB_AGAIN)
        return status;
    return error_set(err, SEQB_TIMEOUT,
                     "sequence %s: every id of its ms was taken until the "
                     "deadline (its own is %d ms)",
                     front->key, (int)front->settings->deadline_ms);
}

static enum seqb_status snowflake_take(struct seqb_sequence *front,
                                       const struct queue_take *take,
                                       struct seqb_error *err)
{
    struct snowflake *snowflake = snowflake_of(front);
    size_t have;
    enum seqb_status status;

    if (sequence_is_removed(front))
        return sequence_unlisted(front, err);
    status = take_there(snowflake, take, 0, &have, err);
    if (have == take->count)
        return SEQB_OK;
    if (status != SEQB_OK && !passes(status))
        return status;
    return take_waiting(snowflake, take, have, err);
}

/* Takes all ids that are wanted, or what the present ms has left. Ids cost
 * nothing: too few for an all-or-none take are discarded. */
static enum seqb_status try_some(struct snowflake *snowflake,
                                 const struct queue_take *take,
                                 struct seqb_error *err)
{
    size_t have = 0;
    enum seqb_status status = SEQB_OK;

    while (have < take->count && status == SEQB_OK) {
        size_t n;

        status =
            take_some(snowflake, take->count - have, take->out + have, &n, err);
        have += n;
    }
    if (take->taken != NULL)
        *take->taken = have;
    return status;
}

static enum seqb_status snowflake_try_take(struct seqb_sequence *front,
                                           const struct queue_take *take,
                                           struct seqb_error *err)
{
    struct snowflake *snowflake = snowflake_of(front);
    enum seqb_status status;

    if (sequence_is_removed(front))
        return sequence_unlisted(front, err);
    if (sequence_is_unasked(front))
        status = sequence_admitting(front, SEQB_UNAVAILABLE, err);
    else if (sequence_admission(front) != SEQUENCE_ADMITTED)
        status = SEQB_AGAIN;
    else
        status = is_run(take) ? take_run(snowflake, take->count, take->out, err)
                              : try_some(snowflake, take, err);
    if (!passes(status))
        return status;
    atomic_fetch_add_explicit(&front->ring->waits, 1, memory_order_relaxed);
    atomic_store(&front->is_armed, true);
    sequence_wake(front);
    if (status == SEQB_AGAIN && err != NULL) {
        err->status = SEQB_AGAIN;
        err->text[0] = '\0';
    }
    return status;
}

/* --- looking --- */

/* There is nothing to fetch. Calls an armed ready function in the next ms, or
 * once there is a lease and the sequence is admitted, which wakes it. */
static bool snowflake_refill(struct seqb_sequence *front, int64_t now_ms,
                             int64_t *next_ms)
{
    enum seqb_status status;

    *next_ms = INT64_MAX;
    if (!atomic_load(&front->is_armed) ||
        sequence_admission(front) == SEQUENCE_ADMITTING)
        return false;
    status = generator_poll(snowflake_of(front)->generator, NULL);
    if (passes(status)) {
        *next_ms = now_ms + (status == SEQB_AGAIN ? 1 : LEASE_REST_MS);
        return true;
    }
    sequence_notify_ready(front);
    return false;
}

static bool snowflake_warm(struct seqb_sequence *front, int64_t until_ms)
{
    struct generator *generator = snowflake_of(front)->generator;
    enum seqb_status status = generator_poll(generator, NULL);

    while (passes(status) && clock_now_ms() < until_ms) {
        rest(front, status);
        status = generator_poll(generator, NULL);
    }
    return status == SEQB_OK;
}

/* With the lock held. */
static void rate_count(struct snowflake *snowflake, int64_t taken,
                       int64_t now_ms)
{
    const int64_t passed_ms = now_ms - snowflake->rate_ms;

    if (passed_ms < RATE_MS)
        return;
    snowflake->rate = (taken - snowflake->rate_taken) * 1000 / passed_ms;
    snowflake->rate_ms = now_ms;
    snowflake->rate_taken = taken;
}

static void snowflake_counts(struct seqb_sequence *front, int64_t now_ms,
                             struct seqb_sequence_counts *out)
{
    struct snowflake *snowflake = snowflake_of(front);

    sequence_counts(front, now_ms, out);
    out->taken =
        snowflake->generator->is_shared
            ? atomic_load_explicit(&snowflake->taken, memory_order_relaxed)
            : generator_taken(snowflake->generator);
    pthread_mutex_lock(&snowflake->lock);
    rate_count(snowflake, out->taken, now_ms);
    out->rate = snowflake->rate;
    pthread_mutex_unlock(&snowflake->lock);
    out->runs_out_ms =
        max_of(generator_end_ms(snowflake->generator) - clock_wall_ms(), 0);
}

static void snowflake_status(struct seqb_sequence *front, int64_t now_ms,
                             struct seqb_sequence_status *out)
{
    struct seqb_sequence_counts counts;

    sequence_status(front, now_ms, out);
    snowflake_counts(front, now_ms, &counts);
    out->window_bits = 0; /* it uses no windows */
    out->taken = counts.taken;
    out->rate = counts.rate;
    out->runs_out_ms = counts.runs_out_ms;
}

const struct source source_snowflake = {
    .open = snowflake_open,
    .take = snowflake_take,
    .try_take = snowflake_try_take,
    .permits = snowflake_permits,
    .refill = snowflake_refill,
    .warm = snowflake_warm,
    .status = snowflake_status,
    .counts = snowflake_counts,
    .on_ready = sequence_on_ready,
    .close = sequence_close,
    .free = snowflake_free,
};
