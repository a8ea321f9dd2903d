/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admits sequences. If there are several pools, they are asked first. A
 * sequence that another pool was used for is closed. If a store of another pool
 * cannot be asked, nothing is claimed for the sequence: it waits, and all pools
 * are asked again.
 */
#include <stdlib.h>

#include "ha/admission/admission.h"
#include "ha/startup.h"
#include "ha/worker_pools.h"
#include "platform/error.h"
#include "platform/minmax.h"

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

/* A worker may set it meanwhile. */
static bool is_set(struct ha *ha, const bool *answer)
{
    bool value;

    pthread_mutex_lock(&ha->lock);
    value = *answer;
    pthread_mutex_unlock(&ha->lock);
    return value;
}

/* Whether a store of its pool has the claim of a counter of `late`. */
static bool asking_is_known(const struct asking *asking, size_t late)
{
    return is_set(asking->ha, &asking->known->admitted[late].is_known);
}

static void counter_set_awaited(struct ha_counter *counter, uint16_t awaited)
{
    pthread_mutex_lock(counter->pool->lock);
    counter->awaited = awaited;
    pthread_mutex_unlock(counter->pool->lock);
}

/* As in the counter's `awaited`. */
static uint16_t number_of(const struct worker *awaited)
{
    return awaited == NULL ? 0
                           : (uint16_t)min_of(awaited - awaited->all + 1,
                                              AWAITS_OWN_POOL - 1);
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
        counter_set_awaited(counter, number_of(awaited));
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

/* --- claims after that --- */

/* Of a call that claims `asking->admitted`: other counters wait, or are
 * refused. */
static struct admission *claims_new(const struct asking *asking,
                                    const struct visit *visit)
{
    struct admission *admission = admission_new(
        asking->ha, visit, asking->admitted, asking->admitted_count);

    if (admission != NULL)
        admission->is_part = asking->has_unasked;
    return admission;
}

/* Finds the counters that no store notes which keeps its claims. */
static void claims_find_late(struct asking *asking,
                             const struct admission *notes)
{
    asking->late_count = 0;
    for (size_t i = 0; i < notes->count; i++) {
        const struct admitted *admitted = &notes->admitted[i];
        struct ha_counter *counter = admitted->counter;

        if (!is_set(asking->ha, &admitted->is_noted) &&
            !counter_is_closed(counter))
            asking->late[asking->late_count++] = counter;
    }
}

/* Those that no store of their pool knows wait. The others are left in
 * `asking->admitted`, in the same order. One that was refused since waits, too,
 * and is closed the next time. */
static void claims_settle(struct asking *asking, const struct admission *notes)
{
    size_t late = 0;

    asking->admitted_count = 0;
    for (size_t i = 0; i < notes->count; i++) {
        const struct admitted *admitted = &notes->admitted[i];
        struct ha_counter *counter = admitted->counter;
        const bool is_late =
            late < asking->late_count && asking->late[late] == counter;
        const bool is_known = !is_late || (asking_is_known(asking, late++) &&
                                           !admitted_is_refused(admitted));
        const bool is_left = is_known && !counter_is_closed(counter);

        if (!is_known)
            counter_set_awaited(counter, AWAITS_OWN_POOL);
        if (is_left)
            asking->admitted[asking->admitted_count++] = counter;
        asking->has_unasked |= !is_left;
    }
}

/* Other brokers ask the stores that keep their claims. Until one of these has
 * the claim, a broker of another topology may begin the sequence in another
 * pool, which has answered here that it does not know the sequence. */
static enum seqb_status claims_note(struct asking *asking,
                                    struct seqb_error *err)
{
    struct ha *ha = asking->ha;
    struct admission *notes = claims_new(asking, &visit_note);
    enum seqb_status status = visit_run(ha, notes, err);

    asking->known = NULL;
    if (status == SEQB_OK)
        claims_find_late(asking, notes);
    if (status == SEQB_OK && asking->late_count > 0) {
        asking->known =
            admission_new(ha, &visit_known, asking->late, asking->late_count);
        status = visit_run(ha, asking->known, err);
    }
    if (status == SEQB_OK)
        claims_settle(asking, notes);
    visit_end(notes);
    visit_end(asking->known);
    return status;
}

/* In the stores that may forget. Their claim says to a later start that the
 * sequence has begun. */
static enum seqb_status claims_copy(const struct asking *asking,
                                    struct seqb_error *err)
{
    struct admission *copies = claims_new(asking, &visit_copy);
    const enum seqb_status status = visit_run(asking->ha, copies, err);

    visit_end(copies);
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
        status = error_set(err, SEQB_NO_MEMORY, "admission: out of memory");
    else
        status = asking_run(&asking, counters, count, err);
    if (status == SEQB_OK && asking.admitted_count > 0)
        status = claims_note(&asking, err);
    if (status == SEQB_OK && asking.admitted_count > 0)
        status = claims_copy(&asking, err);
    free(asking.is_needed);
    free(asking.late);
    free(asking.admitted);
    return status;
}

enum seqb_status ha_admit(struct ha *ha, struct ha_counter *const *counters,
                          size_t count, struct seqb_error *err)
{
    return ha->options->pool_count > 1 ? ask_and_claim(ha, counters, count, err)
                                       : claim_all(ha, counters, count, err);
}
