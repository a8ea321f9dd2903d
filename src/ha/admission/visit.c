/* SPDX-License-Identifier: Apache-2.0 */
/* Visits counters in parts: one batch of claims for each part, then one by one
 * those counters whose claims are not as expected. */
#include "ha/admission/admission.h"

#include <stdlib.h>

#include "ha/worker_connection.h"
#include "ha/worker_pools.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/log.h"
#include "platform/text.h"

#define FIRST_LOG_MS 1000 /* progress is logged after this time ... */
#define NEXT_LOG_MS  5000 /* ... and again after each of these */

#define AHEAD 16 /* counters ahead to prefetch */

/* A part of the admission, at one worker. */
struct part {
    struct worker *worker;
    struct admission *admission;
    struct ask *ask;
    struct claim_batch *batch; /* NULL: all counters are visited one by one */
    size_t first;              /* index in the admission */
    size_t count;
    bool is_retired;              /* one of the worker's pools may be */
    bool is_refused[CLAIM_BATCH]; /* the i-th, by another store */
    size_t claims[CLAIM_BATCH +
                  1]; /* [i, i + 1): those of the i-th, in the batch */
    int64_t log_ms;   /* when to log progress next */
};

/* The worker's member index in the pool; -1: it does not serve the pool. */
static int32_t member_of(const struct worker *worker,
                         const struct ha_pool *pool)
{
    for (size_t i = 0; i < worker->membership_count; i++) {
        if (worker->memberships[i].pool == pool)
            return worker->memberships[i].member;
    }
    return -1;
}

/* --- claiming --- */

static bool is_own(const struct worker *worker,
                   const struct ha_counter *counter)
{
    return member_of(worker, counter->pool) >= 0;
}

static void claim_add(const struct worker *worker,
                      const struct ha_counter *counter,
                      struct claim_batch *batch)
{
    const struct claim_attributes claimed = counter_claim(counter);

    if (is_own(worker, counter))
        claim_batch_add(batch, &worker->connection, &claimed);
}

/* Neither the claims nor the pool, see slot_admit, are looked at again before
 * the first grant. */
static void claim_accept(const struct worker *worker,
                         struct admission *admission, size_t i)
{
    struct ha_counter *counter = admission->admitted[i].counter;
    const int32_t member = member_of(worker, counter->pool);

    if (member < 0 || member >= counter->partitions)
        return;
    counter->slots[member].admitted_on = (uint32_t)worker->connection.serial;
    counter->claims_read |= (uint64_t)1 << member;
}

static enum seqb_status claim_one(struct worker *worker,
                                  struct admission *admission, size_t i,
                                  struct seqb_error *err)
{
    const struct ha_counter *counter = admission->admitted[i].counter;
    const struct claim_attributes claimed = counter_claim(counter);
    enum seqb_status status;

    if (!is_own(worker, counter))
        return SEQB_OK;
    status = claim_sequence(&worker->connection, &claimed, err);
    if (status == SEQB_OK)
        status = claim_check_retired(&worker->connection, claimed.layout, err);
    if (status != SEQB_OK)
        return status;
    pthread_mutex_lock(worker->lock);
    admission->visit->accept(worker, admission, i);
    pthread_mutex_unlock(worker->lock);
    return SEQB_OK;
}

const struct visit visit_claim = {true, is_own, claim_add, claim_accept,
                                  claim_one};

static bool is_own_note(const struct worker *worker,
                        const struct ha_counter *counter)
{
    return worker_guarantee(worker) == SEQB_DIRECT && is_own(worker, counter);
}

static void note_accept(const struct worker *worker,
                        struct admission *admission, size_t i)
{
    claim_accept(worker, admission, i);
    admission->admitted[i].is_noted = true;
}

const struct visit visit_note = {true, is_own_note, claim_add, note_accept,
                                 claim_one};

static bool is_own_copy(const struct worker *worker,
                        const struct ha_counter *counter)
{
    return worker_guarantee(worker) != SEQB_DIRECT && is_own(worker, counter);
}

const struct visit visit_copy = {true, is_own_copy, claim_add, claim_accept,
                                 claim_one};

/* --- its own pool --- */

static void known_add(const struct worker *worker,
                      const struct ha_counter *counter,
                      struct claim_batch *batch)
{
    const struct layout *layout = &counter->pool->options->layout;

    if (is_own(worker, counter))
        claim_batch_add_absent(batch, layout, layout->generation, counter->key);
}

/* The store does not know it. */
static void known_accept(const struct worker *worker,
                         struct admission *admission, size_t i)
{
    (void)worker;
    (void)admission;
    (void)i;
}

static enum seqb_status known_one(struct worker *worker,
                                  struct admission *admission, size_t i,
                                  struct seqb_error *err)
{
    struct admitted *admitted = &admission->admitted[i];
    const struct claim_attributes claimed = counter_claim(admitted->counter);
    char standing[CLAIM_SEQUENCE_SIZE];
    enum seqb_status status;

    if (!is_own(worker, admitted->counter))
        return SEQB_OK;
    status = claim_read_sequence(&worker->connection, &claimed,
                                 claimed.layout->generation, standing,
                                 sizeof standing, err);
    if (status != SEQB_OK)
        return status;
    pthread_mutex_lock(worker->lock);
    admitted->is_known = admitted->is_known || standing[0] != '\0';
    pthread_mutex_unlock(worker->lock);
    return SEQB_OK;
}

const struct visit visit_known = {false, is_own, known_add, known_accept,
                                  known_one};

/* --- other pools --- */

/* If another pool of this store was used for the sequence, the sequence would
 * start at 1 again in its own pool. A store that may forget is not asked. */
static bool is_elsewhere(const struct worker *worker,
                         const struct ha_counter *counter)
{
    if (worker_guarantee(worker) != SEQB_DIRECT)
        return false;
    for (size_t i = 0; i < worker->membership_count; i++) {
        if (worker->memberships[i].pool != counter->pool)
            return true;
    }
    return false;
}

static void elsewhere_add(const struct worker *worker,
                          const struct ha_counter *counter,
                          struct claim_batch *batch)
{
    if (!is_elsewhere(worker, counter))
        return;
    for (size_t i = 0; i < worker->membership_count; i++) {
        const struct ha_pool *pool = worker->memberships[i].pool;

        if (pool != counter->pool)
            claim_batch_add_moved(batch, &pool->options->layout, counter->key);
    }
}

static void elsewhere_accept(const struct worker *worker,
                             struct admission *admission, size_t i)
{
    admission_answers(admission, i, worker->all_count)[worker - worker->all] =
        true;
}

static enum seqb_status elsewhere_one(struct worker *worker,
                                      struct admission *admission, size_t i,
                                      struct seqb_error *err)
{
    const struct ha_counter *counter = admission->admitted[i].counter;
    enum seqb_status status = SEQB_OK;

    if (!is_elsewhere(worker, counter))
        return SEQB_OK;
    for (size_t j = 0; j < worker->membership_count && status == SEQB_OK; j++) {
        const struct ha_pool *pool = worker->memberships[j].pool;

        if (pool != counter->pool)
            status = claim_check_moved(
                &worker->connection, &pool->options->layout, counter->key,
                counter->pool->options->layout.name, err);
    }
    if (status != SEQB_OK)
        return status;
    pthread_mutex_lock(worker->lock);
    elsewhere_accept(worker, admission, i);
    pthread_mutex_unlock(worker->lock);
    return SEQB_OK;
}

const struct visit visit_elsewhere = {false, is_elsewhere, elsewhere_add,
                                      elsewhere_accept, elsewhere_one};

/* --- one counter --- */

/* With the lock held. */
static bool is_refused_now(const struct admitted *admitted)
{
    return admitted->is_refused || admitted->counter->is_void;
}

bool admitted_is_refused(const struct admitted *admitted)
{
    pthread_mutex_t *lock = admitted->counter->pool->lock;
    bool is_refused;

    pthread_mutex_lock(lock);
    is_refused = is_refused_now(admitted);
    pthread_mutex_unlock(lock);
    return is_refused;
}

/* Keeps the first reason. */
static void refuse(struct admitted *admitted, int32_t member,
                   const struct seqb_error *why)
{
    pthread_mutex_t *lock = admitted->counter->pool->lock;

    pthread_mutex_lock(lock);
    if (!admitted->is_refused) {
        admitted->is_refused = true;
        admitted->reason = text_copy_of(why->text);
        admitted->partition =
            member >= 0 && member < admitted->counter->partitions ? member : 0;
    }
    pthread_mutex_unlock(lock);
}

/* Other refusals of this counter are reported with its first grant. */
static enum seqb_status visit_one(struct worker *worker,
                                  struct admission *admission, size_t i,
                                  struct seqb_error *err)
{
    struct admitted *admitted = &admission->admitted[i];
    const int32_t member = member_of(worker, admitted->counter->pool);
    enum seqb_status status;

    if (!worker_is_usable(worker) || admitted_is_refused(admitted))
        return SEQB_OK;
    status = worker_connect(worker, err);
    if (status != SEQB_OK)
        return status;
    status = admission->visit->one(worker, admission, i, err);
    if (status == SEQB_LAYOUT)
        refuse(admitted, member, err);
    if (connection_was_refused(status))
        return SEQB_OK; /* continue with the other counters */
    worker_fail(worker, err, 0);
    return status;
}

/* --- one part --- */

/* Logs how many counters are done, now and then. */
static void part_log(struct part *part, size_t done)
{
    const int64_t now_ms = clock_now_ms();

    if (now_ms < part->log_ms)
        return;
    part->log_ms = now_ms + NEXT_LOG_MS;
    log_line(SEQB_LOG_INFO, "event=comparing backend=%s done=%zu sequences=%zu",
             worker_name(part->worker), done, part->admission->count);
}

static struct admitted *part_at(const struct part *part, size_t i)
{
    return &part->admission->admitted[part->first + i];
}

/* The lock is taken once: the workers of all stores visit the same counters, at
 * the same time. Most of the time would be spent waiting for the memory of so
 * many counters, so it is prefetched. */
static void part_look(struct part *part)
{
    pthread_mutex_lock(part->worker->lock);
    for (size_t i = 0; i < part->count; i++) {
        if (i + AHEAD < part->count)
            __builtin_prefetch(&part_at(part, i + AHEAD)->counter->memory_bits);
        part->is_refused[i] = is_refused_now(part_at(part, i));
    }
    pthread_mutex_unlock(part->worker->lock);
}

static void part_fill(struct part *part)
{
    claim_batch_begin(part->batch);
    part_look(part);
    part->claims[0] = 0;
    for (size_t i = 0; i < part->count; i++) {
        const struct ha_counter *counter = part_at(part, i)->counter;

        if (i + AHEAD < part->count)
            __builtin_prefetch(part_at(part, i + AHEAD)->counter->key);
        if (!part->is_refused[i])
            part->admission->visit->add(part->worker, counter, part->batch);
        part->claims[i + 1] = claim_batch_count(part->batch);
    }
}

/* The broker closes: nobody waits for the rest, and the worker has to be free
 * for what the close still asks it. */
static enum seqb_status part_check(const struct part *part,
                                   struct seqb_error *err)
{
    return ask_is_over(part->ask)
               ? error_set(err, SEQB_CLOSED, "the broker is closing")
               : SEQB_OK;
}

/* After the claims, as in slot_admit. */
static enum seqb_status part_check_retired(struct part *part,
                                           struct seqb_error *err)
{
    struct worker *worker = part->worker;

    for (size_t i = 0; i < worker->membership_count; i++) {
        const enum seqb_status status = claim_check_retired(
            &worker->connection, &worker->memberships[i].pool->options->layout,
            err);

        if (status != SEQB_OK)
            return status;
    }
    return SEQB_OK;
}

/* Asks the store. If it refuses the batch, or a pool is retired, the counters
 * are visited one by one. */
static enum seqb_status part_ask(struct part *part, struct seqb_error *err)
{
    struct worker *worker = part->worker;
    enum seqb_status status = worker_connect(worker, err);

    if (status != SEQB_OK)
        return status;
    part_fill(part); /* after connecting: the claims depend on it */
    while (status == SEQB_OK && !claim_batch_is_done(part->batch)) {
        if (part_check(part, err) != SEQB_OK)
            return SEQB_CLOSED;
        status = claim_batch_step(part->batch, &worker->connection, err);
        ask_step(part->ask);
    }
    if (status == SEQB_OK && part->admission->visit->claims) {
        status = part_check_retired(part, err);
        part->is_retired = status != SEQB_OK;
    }
    if (connection_was_refused(status))
        return SEQB_OK;
    worker_fail(worker, err, 0);
    return status;
}

/* Whether claims of counter i were asked for, and all of them are as
 * expected. */
static bool part_stands(const struct part *part, size_t i)
{
    if (part->batch == NULL || part->is_retired ||
        part->claims[i] == part->claims[i + 1])
        return false;
    for (size_t at = part->claims[i]; at < part->claims[i + 1]; at++) {
        if (!claim_batch_stands(part->batch, at))
            return false;
    }
    return true;
}

static void part_accept(const struct part *part)
{
    pthread_mutex_lock(part->worker->lock);
    for (size_t i = 0; i < part->count; i++) {
        if (part_stands(part, i))
            part->admission->visit->accept(part->worker, part->admission,
                                           part->first + i);
    }
    pthread_mutex_unlock(part->worker->lock);
}

static enum seqb_status part_visit(struct part *part, size_t i,
                                   struct seqb_error *err)
{
    enum seqb_status status = part_check(part, err);

    if (status == SEQB_OK)
        status = visit_one(part->worker, part->admission, part->first + i, err);
    ask_step(part->ask);
    part_log(part, part->first + i + 1);
    return status;
}

static enum seqb_status part_run(struct part *part, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    if (part_check(part, err) != SEQB_OK)
        return SEQB_CLOSED;
    if (!worker_is_usable(part->worker))
        return SEQB_OK;
    if (part->batch != NULL)
        status = part_ask(part, err);
    if (status == SEQB_OK)
        part_accept(part);
    for (size_t i = 0; i < part->count && status == SEQB_OK; i++) {
        if (!part_stands(part, i))
            status = part_visit(part, i, err);
    }
    part_log(part, part->first + part->count);
    return status;
}

/* How many counters a part may have, so that their claims fit into the batch;
 * 0: not even one fits. */
static size_t part_size(const struct worker *worker)
{
    size_t claims = 0;

    for (size_t i = 0; i < worker->membership_count; i++) {
        const struct ha_pool *pool = worker->memberships[i].pool;

        claims += (size_t)layout_generations(&pool->options->layout);
    }
    return CLAIM_BATCH / (claims > 0 ? claims : 1);
}

enum seqb_status visit_all(struct worker *worker, struct admission *admission,
                           struct ask *ask, struct seqb_error *err)
{
    const size_t fit = part_size(worker);
    const bool is_one = admission->count == 1 || fit == 0;
    const size_t size = is_one ? 1 : fit;
    struct part *part = calloc(1, sizeof *part);
    enum seqb_status status = SEQB_OK;

    if (part == NULL)
        return error_set(err, SEQB_NO_MEMORY, "admission: out of memory");
    part->worker = worker;
    part->admission = admission;
    part->ask = ask;
    part->log_ms = clock_now_ms() + FIRST_LOG_MS;
    part->batch = is_one ? NULL : claim_batch_new(); /* slower without */
    for (; part->first < admission->count && status == SEQB_OK;
         part->first += part->count) {
        const size_t left = admission->count - part->first;

        part->count = left < size ? left : size;
        status = part_run(part, err);
    }
    free(part->batch);
    free(part);
    return status;
}
