/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claiming the memory bits of sequences before their first number: every
 * worker goes through the list by itself, so that the stores work side by
 * side, however many sequences there are.
 */
#include <stdlib.h>
#include <string.h>

#include "ha/startup.h"
#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "store/store.h"

#define ADMIT_TIMEOUT_MS 2000 /* without a step forward */

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

/* What was compared here need not be so again with its first grant. */
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
    if (status != SEQB_OK && status != SEQB_LAYOUT)
        worker_fail(worker, err, 0);
    return status;
}

/* A store that fails on the way is asked for the rest when it grants. */
static void step_admit(struct worker *worker, struct worker_job *job)
{
    struct worker_startup *startup = (struct worker_startup *)job;
    struct admission *admission = startup->admission;
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < admission->count && status == SEQB_OK; i++) {
        if (atomic_load_explicit(&admission->is_refused, memory_order_relaxed))
            break;
        status = admit_one(worker, admission->counters[i], &startup->error);
        atomic_store_explicit(&startup->admitted, i + 1, memory_order_relaxed);
    }
    startup->error.status = status;
    if (status == SEQB_LAYOUT)
        atomic_store_explicit(&admission->is_refused, true,
                              memory_order_relaxed);
    startup_done(worker);
}

static struct admission *admission_new(struct ha_counter *const *counters,
                                       size_t count)
{
    const size_t size = count * sizeof(struct ha_counter *);
    struct admission *admission = calloc(1, sizeof *admission + size);

    if (admission == NULL)
        return NULL;
    admission->count = count;
    memcpy(admission->counters, counters, size);
    return admission;
}

/* Whether the worker is to go through the list, and can. */
static bool is_asked(const struct worker *worker,
                     const struct admission *admission)
{
    for (size_t i = 0; i < admission->count; i++) {
        if (member_of(worker, admission->counters[i]->pool) >= 0)
            return !worker->startup.is_abandoned;
    }
    return false;
}

static size_t admitted(const struct worker *worker)
{
    return atomic_load_explicit(&worker->startup.admitted,
                                memory_order_relaxed);
}

/* There may be very many: one that gets on is waited for. */
static void admit_wait(struct worker *worker)
{
    size_t before;

    if (worker->startup.is_abandoned)
        return; /* it is stopping */
    do {
        before = admitted(worker);
        worker->startup.is_abandoned = false;
        startup_wait(worker, clock_now_ms() + ADMIT_TIMEOUT_MS);
    } while (worker->startup.is_abandoned && admitted(worker) != before);
}

static void admit_post(struct ha *ha, struct admission *admission)
{
    for (size_t i = 0; i < ha->options->backend_count; i++) {
        struct worker *worker = &ha->workers[i];

        worker->startup.is_admitting = is_asked(worker, admission);
        if (!worker->startup.is_admitting)
            continue;
        worker->startup.admission = admission;
        atomic_store_explicit(&worker->startup.admitted, 0,
                              memory_order_relaxed);
        startup_post(worker, step_admit);
    }
}

/* Waits for the answers. Who found other bits, or NULL; `*is_over`: nobody
 * looks at the list any more. */
static const struct worker *admit_judge(struct ha *ha, bool *is_over)
{
    const struct worker *refusing = NULL;

    *is_over = true;
    for (size_t i = 0; i < ha->options->backend_count; i++) {
        struct worker *worker = &ha->workers[i];

        if (!worker->startup.is_admitting)
            continue;
        admit_wait(worker);
        if (worker->startup.is_abandoned)
            *is_over = false;
        else if (worker->startup.error.status == SEQB_LAYOUT)
            refusing = worker;
    }
    return refusing;
}

/* What is refused may be freed next: waits for those that still look at it,
 * which they do no longer than a call takes. */
static void admit_end(struct ha *ha)
{
    for (size_t i = 0; i < ha->options->backend_count; i++) {
        struct worker *worker = &ha->workers[i];

        if (!worker->startup.is_admitting || !worker->startup.is_abandoned)
            continue;
        worker->startup.is_abandoned = false;
        startup_wait(worker, INT64_MAX);
    }
}

enum seqb_status ha_admit(struct ha *ha, struct ha_counter *const *counters,
                          size_t count, struct seqb_error *err)
{
    struct admission *admission = admission_new(counters, count);
    const struct worker *refusing;
    bool is_over;

    if (admission == NULL)
        return error_set(err, SEQB_NO_MEMORY, "admission: out of memory");
    admit_post(ha, admission);
    refusing = admit_judge(ha, &is_over);
    if (refusing != NULL) {
        (void)error_copy(err, &refusing->startup.error);
        admit_end(ha);
    }
    if (is_over || refusing != NULL) {
        free(admission);
    } else {
        admission->next = ha->admissions;
        ha->admissions = admission;
    }
    return refusing == NULL ? SEQB_OK : SEQB_LAYOUT;
}

void admit_forget(struct ha *ha)
{
    while (ha->admissions != NULL) {
        struct admission *admission = ha->admissions;

        ha->admissions = admission->next;
        free(admission);
    }
}
