/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims the memory bits of sequences before their first number. Every worker
 * goes through the list by itself, so that all stores work at the same time,
 * however many sequences there are. A sequence that a store has with other
 * settings is closed, and the others are served. So is one that another pool
 * was used for; if a store of that pool cannot be asked, nothing is claimed for
 * the sequence. A worker's part is in admission/visit.c.
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

static struct admission *admission_new(const struct ha *ha,
                                       const struct visit *visit,
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
    for (size_t i = 0; i < admission->count; i++)
        free(admission->admitted[i].reason);
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

/* Closes the refused counters, and logs each. */
static void close_refused(const struct admission *admission)
{
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

static enum seqb_status visit_run(struct ha *ha, struct admission *admission,
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

static void visit_end(struct admission *admission)
{
    if (admission != NULL)
        admission_drop(admission);
}

/* `is_part`: other counters are neither refused nor claimed. */
static enum seqb_status claim_all(struct ha *ha,
                                  struct ha_counter *const *counters,
                                  size_t count, bool is_part,
                                  struct seqb_error *err)
{
    struct admission *admission =
        admission_new(ha, &visit_claim, counters, count);
    enum seqb_status status;

    if (admission != NULL)
        admission->is_part = is_part;
    status = visit_run(ha, admission, err);
    visit_end(admission);
    return status;
}

/* --- other pools --- */

/* The questions that have to be asked before sequences are claimed. */
struct asking {
    struct ha *ha;
    bool *is_needed;             /* by backend, of one counter */
    struct admission *elsewhere; /* all counters */
    struct admission *known;     /* those of `late`; NULL: there are none */
    struct ha_counter **late;    /* some store did not answer about them */
    size_t late_count;
    struct ha_counter **admitted; /* to be claimed */
    size_t admitted_count;
    bool has_unasked; /* some counter waits */
};

/* The worker that the i-th counter waits for; NULL: none. */
static struct worker *asking_awaits(const struct asking *asking, size_t i,
                                    bool is_known)
{
    struct ha *ha = asking->ha;
    const size_t count = ha->options->backend_count;
    const struct ha_counter *counter = asking->elsewhere->admitted[i].counter;
    struct elsewhere elsewhere = {
        .is_needed = asking->is_needed,
        .has_no_such = admission_answers(asking->elsewhere, i, count),
        .count = count,
        .is_known = is_known};
    int32_t missing;

    for (size_t j = 0; j < count; j++)
        asking->is_needed[j] =
            visit_elsewhere.concerns(&ha->workers[j], counter);
    pthread_mutex_lock(&ha->lock);
    missing = elsewhere_awaits(&elsewhere);
    pthread_mutex_unlock(&ha->lock);
    return missing < 0 ? NULL : &ha->workers[missing];
}

/* Whether a store of its pool has the claim of a counter of `late`. */
static bool asking_is_known(const struct asking *asking, size_t late)
{
    bool is_known;

    pthread_mutex_lock(&asking->ha->lock);
    is_known = asking->known->admitted[late].is_known;
    pthread_mutex_unlock(&asking->ha->lock);
    return is_known;
}

static void counter_set_awaited(struct ha_counter *counter,
                                const struct worker *awaited)
{
    pthread_mutex_lock(counter->pool->lock);
    counter->awaited =
        awaited == NULL
            ? 0
            : (uint16_t)min_of(awaited - awaited->all + 1, UINT16_MAX);
    pthread_mutex_unlock(counter->pool->lock);
}

/* Finds the counters about which some store did not answer. A store that
 * refused a counter just now counts as one of these: no one has closed the
 * counter, so it is asked about again. */
static void asking_find_late(struct asking *asking)
{
    for (size_t i = 0; i < asking->elsewhere->count; i++) {
        struct ha_counter *counter = asking->elsewhere->admitted[i].counter;

        if (!counter_is_closed(counter) &&
            asking_awaits(asking, i, false) != NULL)
            asking->late[asking->late_count++] = counter;
    }
}

/* Each counter that is not closed either is admitted or waits for a store. One
 * that is late may have been refused since, so the claim in its own pool does
 * not count then. */
static void asking_settle(struct asking *asking)
{
    size_t late = 0;

    for (size_t i = 0; i < asking->elsewhere->count; i++) {
        const struct admitted *admitted = &asking->elsewhere->admitted[i];
        struct ha_counter *counter = admitted->counter;
        const bool is_late =
            late < asking->late_count && asking->late[late] == counter;
        bool is_known = is_late && asking_is_known(asking, late++);
        struct worker *awaited = NULL;

        is_known = is_known && !admitted_is_refused(admitted);
        if (is_late)
            awaited = asking_awaits(asking, i, is_known);
        counter_set_awaited(counter, awaited);
        asking->has_unasked |= awaited != NULL;
        if (awaited == NULL && !counter_is_closed(counter))
            asking->admitted[asking->admitted_count++] = counter;
    }
}

static enum seqb_status asking_run(struct asking *asking,
                                   struct ha_counter *const *counters,
                                   size_t count, struct seqb_error *err)
{
    struct ha *ha = asking->ha;
    enum seqb_status status;

    asking->elsewhere = admission_new(ha, &visit_elsewhere, counters, count);
    status = visit_run(ha, asking->elsewhere, err);
    if (status == SEQB_OK)
        asking_find_late(asking);
    if (status == SEQB_OK && asking->late_count > 0) {
        asking->known =
            admission_new(ha, &visit_known, asking->late, asking->late_count);
        status = visit_run(ha, asking->known, err);
    }
    if (status == SEQB_OK)
        asking_settle(asking);
    visit_end(asking->elsewhere);
    visit_end(asking->known);
    return status;
}

/* Nothing is claimed before the other pools were asked: the claim says to every
 * later start that the sequence has begun in this pool. */
static enum seqb_status ask_and_claim(struct ha *ha,
                                      struct ha_counter *const *counters,
                                      size_t count, struct seqb_error *err)
{
    struct asking asking = {
        .ha = ha,
        .is_needed = calloc(ha->options->backend_count, sizeof(bool)),
        .late = calloc(count + 1, sizeof(struct ha_counter *)),
        .admitted = calloc(count + 1, sizeof(struct ha_counter *))};
    enum seqb_status status;

    if (asking.is_needed == NULL || asking.late == NULL ||
        asking.admitted == NULL)
        status = no_memory(err);
    else
        status = asking_run(&asking, counters, count, err);
    if (status == SEQB_OK && asking.admitted_count > 0)
        status = claim_all(ha, asking.admitted, asking.admitted_count,
                           asking.has_unasked, err);
    free(asking.is_needed);
    free(asking.late);
    free(asking.admitted);
    return status;
}

enum seqb_status ha_admit(struct ha *ha, struct ha_counter *const *counters,
                          size_t count, struct seqb_error *err)
{
    return ha->options->pool_count > 1
               ? ask_and_claim(ha, counters, count, err)
               : claim_all(ha, counters, count, false, err);
}
