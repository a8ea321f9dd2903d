/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slot is one counter in one backend: the unit of work, at most one of it
 * under way at any time.
 */
#pragma once

#include "ha/ha.h"
#include "ha/job.h"
#include "ha/policy/policy.h"

/* Where the windows of one slot come from: see window.h. */
struct window_source;

/* One for each partition of every sequence: small things stand together. */
struct slot {
    struct worker_job job;
    struct ha_counter *counter;    /* NULL: of no sequence, see ticket_slot */
    struct window_source *windows; /* NULL: none was taken from it yet */

    /* The question, set by who posts it; then the answer, set by the worker
     * just before it calls done. */
    int64_t want;
    int64_t floor; /* the block, or its window, must lie above it; 0: none */
    struct seqb_block block;
    struct seqb_error *why; /* valid in done only; NULL on success */
    void (*done)(struct slot *slot);

    /* The worker's own. */
    struct fence_mark mark;
    uint32_t history;     /* the worker's, in which the mark was granted; 0: it
                             was noted before this broker was opened */
    uint32_t admitted_on; /* the connection on which the claim was compared */

    /* Guarded by the pool's lock; not used for a lease. */
    int64_t last;  /* the highest value granted; 0: none yet */
    int64_t at_ms; /* busy: when it was asked; else: not to be asked before, as
                      this counter has failed; INT64_MAX: never again */
    struct refusal *refusal; /* NULL: nothing has failed since it was granted */

    int8_t partition; /* constant, as the next two */
    bool is_windowed : 1;
    bool is_lease : 1; /* the counter is that of a window source */
    uint8_t resumed;  /* the pool's, when it was asked, modulo 256: no ask lasts
                         that long; guarded by the pool's lock ... */
    bool is_busy : 1; /* ... as are these two */
    bool is_waiting : 1; /* its store changed: see slot_waits */

    /* Another memory location than those: no lock guards it. */
    uint32_t : 0;

    /* The worker's own: the line that notes the mark, see recall.h; 0: none. */
    uint32_t line : 24;
    bool is_recalled : 1; /* what was noted before is known */
    bool is_alone : 1;    /* the cell is in a window that this broker put there,
                             and no other broker was seen to count in it */

    /* The worker's own, of this answer. */
    bool was_raised : 1; /* to get it */
    bool is_refused : 1; /* `why` is of this counter alone */
    bool is_unlevel : 1; /* of a lease: its lessor is not level */
    bool is_absent : 1;  /* its cell was: no window there bounds the next one */
};

static inline enum seqb_guarantee slot_class(const struct slot *slot)
{
    return slot->is_windowed ? SEQB_WINDOWED : SEQB_DIRECT;
}

/* On the thread of who served it: with its block if `why` is NULL, else it
 * failed, alone if it `is_refused`. It is not to be touched after that. */
static inline void slot_answer(struct slot *slot, bool is_refused,
                               struct seqb_error *why)
{
    slot->is_refused = is_refused;
    slot->why = why;
    slot->done(slot);
}

/* A lease of a counter that belongs to no sequence. */
struct ticket_slot {
    struct slot slot; /* first: it is posted to the worker */
    struct ha_pool *pool;
    const char *key;
    const char *nonce; /* of neighbours: of the lessor's term */
};

/* EXHAUSTED or LAYOUT if it is never to be asked again; else SEQB_OK. */
static inline enum seqb_status slot_closed(const struct slot *slot)
{
    return slot->refusal != NULL && slot->refusal->kind == REFUSAL_FINAL
               ? slot->refusal->status
               : SEQB_OK;
}

void slot_init(struct slot *slot, struct ha_counter *counter,
               int32_t partition);

/* The rest with the pool's lock held. */

/* It is to be asked for `want` values, near the level of its class. */
void slot_ask(struct slot *slot, int64_t want, int64_t now_ms);

/* Whether it may be asked now, if its partition may. */
bool slot_is_open(const struct slot *slot, int64_t now_ms);

/* Whether its counter, or in the authority that of its windows, is not to be
 * raised yet though the store changed: a partition of its class that can be
 * asked was not, of which it may have been ahead. Raised by gap and chance
 * alone it may land below them, and the level would lead it back to what it
 * gave before. Two that wait do not wait for each other. */
bool slot_waits(struct slot *slot);

/* As new as it was when it was made, for another stamp. What was compared in
 * its store, and who it is, stays; so does what its store refuses whatever the
 * stamp, until the next answer. */
void slot_renew(struct slot *slot);

/* A slot of partition `i` that is to be posted, since what it is refused is
 * tried again though nobody asks; or NULL. `*next_ms`: when to look again,
 * INT64_MAX: not by itself. */
struct slot *slot_retry(struct ha_pool *pool, int32_t i, int64_t now_ms,
                        int64_t *next_ms);

/* Appends in words what partition `i` refuses, which must be something. */
void slot_refusals_report(const struct ha_pool *pool, int32_t i, char *out,
                          size_t size);
