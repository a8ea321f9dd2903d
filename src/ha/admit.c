/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claiming the memory bits of sequences before their first number: every
 * worker goes through the list by itself, so that the stores work side by
 * side, however many sequences there are. One that a store knows otherwise
 * is closed, and the others are served.
 */
#include <stdlib.h>

#include "ha/ask.h"
#include "ha/startup.h"
#include "ha/worker_connection.h"
#include "ha/worker_pools.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/log.h"
#include "platform/text.h"

#define ADMIT_TIMEOUT_MS 2000 /* without a step forward */
#define FIRST_TELL_MS    1000 /* what takes longer tells how far it is ... */
#define NEXT_TELL_MS     5000 /* ... and again after each of these */

/* What a worker does for a counter, connected. */
typedef enum seqb_status (*admit_visit)(struct worker *worker,
                                        struct ha_counter *counter,
                                        struct seqb_error *err);

/* A counter, and what the first store said that knows it otherwise; the
 * pool's lock guards that. */
struct admitted {
    struct ha_counter *counter;
    char *reason; /* NULL: there was no memory for it */
    int32_t partition;
    bool is_refused;
};

/* Counters that are visited in one go; the workers' list. */
struct admission {
    admit_visit visit;
    atomic_size_t holders; /* who goes on free it; see admission_drop */
    size_t count;
    struct admitted admitted[];
};

/* What one worker is asked. */
struct admit {
    struct ask ask; /* first */
    struct admission *admission;
};

/* Which member of the pool the worker is; -1: it does not serve it. */
static int32_t member_of(const struct worker *worker,
                         const struct ha_pool *pool)
{
    for (size_t i = 0; i < worker->membership_count; i++) {
        if (worker->memberships[i].pool == pool)
            return worker->memberships[i].member;
    }
    return -1;
}

/* What was compared here need not be so again with its first grant. */
static enum seqb_status claim_here(struct worker *worker,
                                   struct ha_counter *counter,
                                   struct seqb_error *err)
{
    const int32_t member = member_of(worker, counter->pool);
    const struct claim_attributes claimed = counter_claim(counter);
    enum seqb_status status;

    if (member < 0)
        return SEQB_OK;
    status = claim_sequence(&worker->connection, &claimed, err);
    if (status == SEQB_OK && member < counter->partitions) {
        counter->slots[member].admitted_on =
            (uint32_t)worker->connection.serial;
        pthread_mutex_lock(counter->pool->lock);
        counter->heard |= (uint64_t)1 << member;
        pthread_mutex_unlock(counter->pool->lock);
    }
    return status;
}

/* A sequence that another pool of this store was used for would begin at 1
 * again in its own. A store that may forget is no witness. */
static enum seqb_status read_elsewhere(struct worker *worker,
                                       struct ha_counter *counter,
                                       struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    if (worker_guarantee(worker) != SEQB_DIRECT)
        return SEQB_OK;
    for (size_t i = 0; i < worker->membership_count && status == SEQB_OK; i++) {
        const struct ha_pool *pool = worker->memberships[i].pool;

        if (pool != counter->pool)
            status = claim_check_moved(
                &worker->connection, &pool->options->layout, counter->key,
                counter->pool->options->layout.name, err);
    }
    return status;
}

static bool is_refused(const struct admitted *admitted)
{
    const struct ha_counter *counter = admitted->counter;
    bool is_refused;

    pthread_mutex_lock(counter->pool->lock);
    is_refused = admitted->is_refused || counter->is_void;
    pthread_mutex_unlock(counter->pool->lock);
    return is_refused;
}

/* The first reason stands. */
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

/* What else the store refuses to this counter alone is reported with its first
 * grant. */
static enum seqb_status admit_one(struct worker *worker, admit_visit visit,
                                  struct admitted *admitted,
                                  struct seqb_error *err)
{
    const int32_t member = member_of(worker, admitted->counter->pool);
    enum seqb_status status;

    if (!worker_is_usable(worker) || is_refused(admitted))
        return SEQB_OK;
    status = worker_connect(worker, err);
    if (status != SEQB_OK)
        return status;
    status = visit(worker, admitted->counter, err);
    if (status == SEQB_LAYOUT)
        refuse(admitted, member, err);
    if (connection_was_refused(status))
        return SEQB_OK; /* the others are compared */
    worker_fail(worker, err, 0);
    return status;
}

/* Logs how many are done, now and then. */
static void admit_tell(const struct worker *worker, size_t done, size_t count,
                       int64_t *tell_ms)
{
    const int64_t now_ms = clock_now_ms();

    if (now_ms < *tell_ms)
        return;
    *tell_ms = now_ms + NEXT_TELL_MS;
    log_line(SEQB_LOG_INFO, "event=comparing backend=%s done=%zu sequences=%zu",
             worker_name(worker), done, count);
}

/* A store that fails on the way is asked for the rest when it grants. */
static enum seqb_status admit_run(struct worker *worker, struct ask *ask,
                                  struct seqb_error *err)
{
    struct admission *admission = ((struct admit *)ask)->admission;
    int64_t tell_ms = clock_now_ms() + FIRST_TELL_MS;
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < admission->count && status == SEQB_OK; i++) {
        status =
            admit_one(worker, admission->visit, &admission->admitted[i], err);
        ask_step(ask);
        admit_tell(worker, i + 1, admission->count, &tell_ms);
    }
    return status;
}

static struct admission *admission_new(admit_visit visit,
                                       struct ha_counter *const *counters,
                                       size_t count)
{
    const size_t size = count * sizeof(struct admitted);
    struct admission *admission = calloc(1, sizeof *admission + size);

    if (admission == NULL)
        return NULL;
    atomic_init(&admission->holders, 1);
    admission->visit = visit;
    admission->count = count;
    for (size_t i = 0; i < count; i++)
        admission->admitted[i].counter = counters[i];
    return admission;
}

/* The last one frees it; the order pairs the others' reads with that. */
static void admission_drop(struct admission *admission)
{
    if (atomic_fetch_sub_explicit(&admission->holders, 1,
                                  memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < admission->count; i++)
        free(admission->admitted[i].reason);
    free(admission);
}

static void admit_free(struct ask *ask)
{
    struct admit *admit = (struct admit *)ask;

    ask_fini(ask);
    admission_drop(admit->admission);
    free(admit);
}

static struct admit *admit_new(struct admission *admission)
{
    struct admit *admit = calloc(1, sizeof *admit);

    if (admit == NULL)
        return NULL;
    ask_init(&admit->ask, admit_run, admit_free);
    admit->admission = admission;
    atomic_fetch_add_explicit(&admission->holders, 1, memory_order_relaxed);
    return admit;
}

/* One for each worker that is asked. False if there is no memory. */
static bool admit_make(struct ha *ha, struct admission *admission,
                       struct admit **admits)
{
    for (size_t i = 0; i < ha->options->backend_count; i++) {
        if (!worker_is_usable(&ha->workers[i]))
            continue;
        admits[i] = admit_new(admission);
        if (admits[i] == NULL)
            return false;
    }
    return true;
}

static void admit_post(struct ha *ha, struct admit **admits)
{
    for (size_t i = 0; i < ha->options->backend_count; i++) {
        struct worker *worker = &ha->workers[i];

        if (admits[i] == NULL || ask_post(worker, &admits[i]->ask))
            continue;
        /* It is stopping. */
        admit_free(&admits[i]->ask);
        admits[i] = NULL;
    }
}

static struct seqb_error why_of(const struct admitted *admitted)
{
    struct seqb_error why;

    (void)error_set(&why, SEQB_LAYOUT, "%s",
                    admitted->reason != NULL ? admitted->reason
                                             : seqb_status_text(SEQB_LAYOUT));
    return why;
}

/* SEQB_LAYOUT if there are counters, and all are refused. */
static enum seqb_status check_some_left(const struct admission *admission,
                                        struct seqb_error *err)
{
    struct seqb_error why;

    for (size_t i = 0; i < admission->count; i++) {
        if (!is_refused(&admission->admitted[i]))
            return SEQB_OK;
    }
    if (admission->count == 0)
        return SEQB_OK;
    why = why_of(&admission->admitted[admission->count - 1]);
    return error_copy(err, &why);
}

/* Closes those that are refused, and logs each. */
static void close_refused(const struct admission *admission)
{
    for (size_t i = 0; i < admission->count; i++) {
        const struct admitted *admitted = &admission->admitted[i];
        struct seqb_error why;

        if (!is_refused(admitted) || admitted->counter->is_void)
            continue;
        why = why_of(admitted);
        counter_close(admitted->counter, admitted->partition, &why);
    }
}

/* Waits for the answers. There may be very many counters: a worker that gets
 * on is waited for. SEQB_LAYOUT if a store is not of this layout any more. */
static enum seqb_status admit_wait(struct ha *ha, struct admit **admits,
                                   struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < ha->options->backend_count; i++) {
        struct admit *admit = admits[i];

        if (admit != NULL && ask_wait_steps(&admit->ask, ADMIT_TIMEOUT_MS) &&
            admit->ask.error.status == SEQB_LAYOUT)
            status = error_copy(err, &admit->ask.error);
    }
    return status;
}

/* What is refused may be freed next: waits for those that still look at it,
 * which they do no longer than a call takes. */
static void admit_end(struct ha *ha, struct admit **admits)
{
    for (size_t i = 0; i < ha->options->backend_count; i++) {
        if (admits[i] != NULL)
            (void)ask_wait(&admits[i]->ask, INT64_MAX);
    }
}

static enum seqb_status admit_all(struct ha *ha, struct admission *admission,
                                  struct admit **admits, struct seqb_error *err)
{
    enum seqb_status status;

    if (!admit_make(ha, admission, admits)) {
        for (size_t i = 0; i < ha->options->backend_count; i++) {
            if (admits[i] != NULL)
                admit_free(&admits[i]->ask);
        }
        return error_set(err, SEQB_NO_MEMORY, "admission: out of memory");
    }
    admit_post(ha, admits);
    status = admit_wait(ha, admits, err);
    if (status == SEQB_OK)
        status = check_some_left(admission, err);
    if (status == SEQB_OK)
        close_refused(admission);
    else
        admit_end(ha, admits);
    for (size_t i = 0; i < ha->options->backend_count; i++) {
        if (admits[i] != NULL)
            ask_release(&admits[i]->ask);
    }
    return status;
}

static enum seqb_status admit_visit_all(struct ha *ha, admit_visit visit,
                                        struct ha_counter *const *counters,
                                        size_t count, struct seqb_error *err)
{
    struct admission *admission = admission_new(visit, counters, count);
    struct admit **admits =
        calloc(ha->options->backend_count, sizeof(struct admit *));
    enum seqb_status status;

    if (admission == NULL || admits == NULL)
        status = error_set(err, SEQB_NO_MEMORY, "admission: out of memory");
    else
        status = admit_all(ha, admission, admits, err);
    if (admission != NULL)
        admission_drop(admission);
    free(admits);
    return status;
}

/* What another pool's stores say is known before anything is claimed. */
enum seqb_status ha_admit(struct ha *ha, struct ha_counter *const *counters,
                          size_t count, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    if (ha->options->pool_count > 1)
        status = admit_visit_all(ha, read_elsewhere, counters, count, err);
    if (status == SEQB_OK)
        status = admit_visit_all(ha, claim_here, counters, count, err);
    return status;
}
