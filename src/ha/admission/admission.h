/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each worker does of an admission, on its own thread: it asks its store
 * of all the counters, many in one call, and notes which ones the store knows
 * otherwise. Who posts that and waits is ha/admit.c.
 */
#pragma once

#include "ha/ask.h"

struct claim_batch;

/* A counter, and what the first store said that knows it otherwise; the
 * pool's lock guards that. */
struct admitted {
    struct ha_counter *counter;
    char *reason; /* NULL: there was no memory for it */
    int32_t partition;
    bool is_refused;
};

/* What a store is asked of a counter. */
struct visit {
    /* Adds it to the batch: nothing, or fewer claims than the worker has
     * memberships and one. */
    void (*add)(const struct worker *worker, const struct ha_counter *counter,
                struct claim_batch *batch);
    /* All that was added stands as it ought to. */
    void (*accept)(const struct worker *worker, struct ha_counter *counter);
    /* The same for a counter alone, which says why it is refused. */
    enum seqb_status (*one)(struct worker *worker, struct ha_counter *counter,
                            struct seqb_error *err);
};

/* Claims the bits of a sequence, and compares them. */
extern const struct visit visit_claim;

/* Whether another pool of the store was used for it. Changes nothing. */
extern const struct visit visit_elsewhere;

/* Counters that are visited in one go; the workers' list. */
struct admission {
    const struct visit *visit;
    atomic_size_t holders; /* who goes on free it; see admission_drop */
    size_t count;
    struct admitted admitted[];
};

bool admitted_is_refused(const struct admitted *admitted);

/*
 * Visits all of them; a store that fails on the way is asked for the rest when
 * it grants, and the call returns why. Each call to the store is a step of
 * `ask`.
 */
enum seqb_status visit_all(struct worker *worker, struct admission *admission,
                           struct ask *ask, struct seqb_error *err);
