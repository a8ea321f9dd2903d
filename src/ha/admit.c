/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims the memory bits of sequences before their first number. Every worker
 * goes through the list by itself, so that all stores work at the same time,
 * however many sequences there are. A sequence that a store has with other
 * settings is closed, and the others are served. A worker's part is in
 * admission/visit.c. admission/asking.c asks what has to be asked before, if
 * there are several pools.
 */
#include <stdlib.h>

#include "ha/admission/admission.h"
#include "ha/startup.h"
#include "ha/worker_pools.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"

#define ADMIT_TIMEOUT_MS 2000 /* without progress */

/* The question to one worker. */
struct admit {
    struct ask ask; /* first */
    struct admission *admission;
};

static enum seqb_status admit_run(struct worker *worker, struct ask *ask,
                                  struct seqb_error *err)
{
    return visit_all(worker, ((struct admit *)ask)->admission, ask, err);
}

struct admission *admission_new(const struct ha *ha, const struct visit *visit,
                                struct ha_counter *const *counters,
                                size_t count)
{
    const size_t size = count * sizeof(struct admitted);
    struct admission *admission = calloc(1, sizeof *admission + size);

    if (admission == NULL)
        return NULL;
    if (visit == &visit_elsewhere) {
        admission->has_no_such =
            calloc(count + 1, ha->options->backend_count * sizeof(bool));
        if (admission->has_no_such == NULL) {
            free(admission);
            return NULL;
        }
    }
    atomic_init(&admission->holders, 1);
    admission->visit = visit;
    admission->count = count;
    for (size_t i = 0; i < count; i++)
        admission->admitted[i].counter = counters[i];
    return admission;
}

/* The last holder frees it. Acquire-release, so that the reads of the others
 * come before that. */
static void admission_drop(struct admission *admission)
{
    if (atomic_fetch_sub_explicit(&admission->holders, 1,
                                  memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < admission->count; i++) {
        free(admission->admitted[i].reason);
        if (admission->is_owner)
            ha_counter_free(admission->admitted[i].counter);
    }
    free(admission->has_no_such);
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

static bool is_concerned(const struct worker *worker,
                         const struct admission *admission)
{
    for (size_t i = 0; i < admission->count; i++) {
        if (admission->visit->concerns(worker, admission->admitted[i].counter))
            return true;
    }
    return false;
}

/* Makes one for each worker that is asked. False when out of memory. */
static bool admit_make(struct ha *ha, struct admission *admission,
                       struct admit **admits)
{
    for (size_t i = 0; i < ha->options->backend_count; i++) {
        if (!worker_is_usable(&ha->workers[i]) ||
            !is_concerned(&ha->workers[i], admission))
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
        /* The worker is stopping. */
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

/* SEQB_LAYOUT if there are counters and all of them are refused. */
static enum seqb_status check_some_left(const struct admission *admission,
                                        struct seqb_error *err)
{
    struct seqb_error why;

    for (size_t i = 0; i < admission->count; i++) {
        if (!admitted_is_refused(&admission->admitted[i]))
            return SEQB_OK;
    }
    if (admission->count == 0 || admission->is_part)
        return SEQB_OK;
    why = why_of(&admission->admitted[admission->count - 1]);
    return error_copy(err, &why);
}

/* Closes the refused counters, and logs each. Those of ha_known, which only
 * looks, have no sequence that waits. */
static void close_refused(const struct admission *admission)
{
    if (admission->is_owner)
        return;
    for (size_t i = 0; i < admission->count; i++) {
        const struct admitted *admitted = &admission->admitted[i];
        struct seqb_error why;

        if (!admitted_is_refused(admitted) || admitted->counter->is_void)
            continue;
        why = why_of(admitted);
        counter_close(admitted->counter, admitted->partition, &why);
    }
}

/* Waits for the answers. There may be very many counters, so it waits as
 * long as a worker makes progress. SEQB_LAYOUT if a store no longer has
 * this layout. */
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
    close_refused(admission);
    for (size_t i = 0; i < ha->options->backend_count; i++) {
        if (admits[i] != NULL)
            ask_release(&admits[i]->ask);
    }
    return status;
}

static enum seqb_status no_memory(struct seqb_error *err)
{
    return error_set(err, SEQB_NO_MEMORY, "admission: out of memory");
}

enum seqb_status visit_run(struct ha *ha, struct admission *admission,
                           struct seqb_error *err)
{
    struct admit **admits =
        calloc(ha->options->backend_count, sizeof(struct admit *));
    enum seqb_status status;

    if (admission == NULL || admits == NULL)
        status = no_memory(err);
    else
        status = admit_all(ha, admission, admits, err);
    free(admits);
    return status;
}

void visit_end(struct admission *admission)
{
    if (admission != NULL)
        admission_drop(admission);
}

enum seqb_status claim_all(struct ha *ha, struct ha_counter *const *counters,
                           size_t count, struct seqb_error *err)
{
    struct admission *admission =
        admission_new(ha, &visit_claim, counters, count);
    const enum seqb_status status = visit_run(ha, admission, err);

    visit_end(admission);
    return status;
}

/* --- keys without a sequence --- */

/* The counters are the admission's: a worker that hangs may read them for
 * long. NULL if memory is short. */
static struct admission *known_new(struct ha *ha, struct ha_pool *pool,
                                   const char *const *keys, size_t count)
{
    struct ha_counter *none[HA_KNOWN_MAX] = {NULL};
    struct admission *admission = admission_new(ha, &visit_known, none, count);

    if (admission == NULL)
        return NULL;
    admission->is_owner = true;
    for (size_t i = 0; i < count; i++) {
        if (ha_counter_new(pool, keys[i], 0, NULL,
                           &admission->admitted[i].counter, NULL) == SEQB_OK)
            continue;
        admission_drop(admission);
        return NULL;
    }
    return admission;
}

void ha_known(struct ha *ha, struct ha_pool *pool, const char *const *keys,
              size_t count, bool *is_known)
{
    struct admission *admission = known_new(ha, pool, keys, count);

    (void)visit_run(ha, admission, NULL);
    pthread_mutex_lock(&ha->lock);
    for (size_t i = 0; i < count; i++)
        is_known[i] = admission != NULL && admission->admitted[i].is_known;
    pthread_mutex_unlock(&ha->lock);
    visit_end(admission);
}
