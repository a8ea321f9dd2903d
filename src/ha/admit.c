/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claiming the memory bits of sequences before their first number: every
 * worker goes through the list by itself, so that the stores work side by
 * side, however many sequences there are.
 */
#include <stdlib.h>
#include <string.h>

#include "ha/ask.h"
#include "ha/startup.h"
#include "ha/worker_connection.h"
#include "ha/worker_pools.h"
#include "platform/error.h"

#define ADMIT_TIMEOUT_MS 2000 /* without a step forward */

/* Counters whose memory bits are claimed in one go; the workers' list. */
struct admission {
    atomic_size_t holders;  /* who goes on free it; see admission_drop */
    atomic_bool is_refused; /* other bits were found: nobody need go on */
    size_t count;
    struct ha_counter *counters[];
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
    for (size_t i = 0; i < worker->duty_count; i++) {
        if (worker->duties[i].pool == pool)
            return worker->duties[i].member;
    }
    return -1;
}

/* What was compared here need not be so again with its first grant; what the
 * store refuses to this counter alone is told then. */
static enum seqb_status admit_one(struct worker *worker,
                                  struct ha_counter *counter,
                                  struct seqb_error *err)
{
    const int32_t member = member_of(worker, counter->pool);
    const struct claim_terms claimed = counter_claim(counter);
    enum seqb_status status;

    if (member < 0 || !worker_may_work(worker, counter->pool, NULL))
        return SEQB_OK;
    status = worker_connect(worker, err);
    if (status != SEQB_OK)
        return status;
    status = claim_sequence(&worker->connection, &claimed, err);
    if (status == SEQB_OK && member < counter->partitions)
        counter->slots[member].admitted_on =
            (uint32_t)worker->connection.serial;
    if (!connection_was_refused(status))
        worker_fail(worker, err, 0);
    else if (status != SEQB_LAYOUT)
        status = SEQB_OK; /* the others are compared */
    return status;
}

/* A store that fails on the way is asked for the rest when it grants. */
static enum seqb_status admit_run(struct worker *worker, struct ask *ask,
                                  struct seqb_error *err)
{
    struct admission *admission = ((struct admit *)ask)->admission;
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < admission->count && status == SEQB_OK; i++) {
        if (atomic_load_explicit(&admission->is_refused, memory_order_relaxed))
            break;
        status = admit_one(worker, admission->counters[i], err);
        ask_step(ask);
    }
    if (status == SEQB_LAYOUT)
        atomic_store_explicit(&admission->is_refused, true,
                              memory_order_relaxed);
    return status;
}

static struct admission *admission_new(struct ha_counter *const *counters,
                                       size_t count)
{
    const size_t size = count * sizeof(struct ha_counter *);
    struct admission *admission = calloc(1, sizeof *admission + size);

    if (admission == NULL)
        return NULL;
    atomic_init(&admission->holders, 1);
    admission->count = count;
    memcpy(admission->counters, counters, size);
    return admission;
}

/* The last one frees it; the order pairs the others' reads with that. */
static void admission_drop(struct admission *admission)
{
    if (atomic_fetch_sub_explicit(&admission->holders, 1,
                                  memory_order_acq_rel) == 1)
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

/* Whether the worker is to go through the list, and can. */
static bool is_asked(const struct worker *worker,
                     const struct admission *admission)
{
    for (size_t i = 0; i < admission->count; i++) {
        if (member_of(worker, admission->counters[i]->pool) >= 0)
            return !worker->is_silent;
    }
    return false;
}

/* One for each worker that is asked. False if there is no memory. */
static bool admit_make(struct ha *ha, struct admission *admission,
                       struct admit **admits)
{
    for (size_t i = 0; i < ha->options->backend_count; i++) {
        if (!is_asked(&ha->workers[i], admission))
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
        worker->is_silent = true; /* it is stopping */
        admit_free(&admits[i]->ask);
        admits[i] = NULL;
    }
}

/* Waits for the answers. There may be very many counters: a worker that gets
 * on is waited for. SEQB_LAYOUT if one found other bits. */
static enum seqb_status admit_wait(struct ha *ha, struct admit **admits,
                                   struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < ha->options->backend_count; i++) {
        struct worker *worker = &ha->workers[i];
        struct admit *admit = admits[i];

        if (admit == NULL)
            continue;
        worker->is_silent = !ask_wait_steps(&admit->ask, ADMIT_TIMEOUT_MS);
        if (!worker->is_silent && admit->ask.error.status == SEQB_LAYOUT)
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
            ha->workers[i].is_silent = !ask_wait(&admits[i]->ask, INT64_MAX);
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
    if (status != SEQB_OK)
        admit_end(ha, admits);
    for (size_t i = 0; i < ha->options->backend_count; i++) {
        if (admits[i] != NULL)
            ask_release(&admits[i]->ask);
    }
    return status;
}

enum seqb_status ha_admit(struct ha *ha, struct ha_counter *const *counters,
                          size_t count, struct seqb_error *err)
{
    struct admission *admission = admission_new(counters, count);
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
