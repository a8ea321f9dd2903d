/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slot is one counter in one backend. It is the unit of work: at most one ask
 * of it is under way at any time.
 */
#pragma once

#include "ha/ha.h"
#include "ha/job.h"
#include "ha/policy/policy.h"

/* Where the windows of one slot come from: see window.h. */
struct window_source;

/* There is one for each partition of every sequence, so it is kept small: bit
 * fields share a word. */
struct slot {
    struct worker_job job;
    struct ha_counter *counter;    /* NULL: no sequence's, see ticket_slot */
    struct window_source *windows; /* NULL: no window was needed yet */

    /* The question, set by the poster, and the answer, set by the worker just
     * before it calls `done`. */
    int64_t want;
    int64_t floor; /* the block, or its window, must lie above it; 0: none */
    struct seqb_block block;
    struct seqb_error *why; /* valid only in `done`; NULL on success */
    void (*done)(struct slot *slot);

    /* The worker's own. */
    struct fence_mark mark;
    uint32_t history; /* the worker's `history` when the mark was granted; 0:
                         the mark was noted before this broker was opened */
    uint32_t admitted_on; /* the connection on which the claim was compared */

    /* Guarded by the pool's lock. Not used for a lease. */
    int64_t last;  /* the highest value granted; 0: none yet */
    int64_t at_ms; /* busy: when it was asked; else not to be asked before this,
                      because this counter failed; INT64_MAX: never again */
    struct refusal *refusal; /* NULL: no failure since the last grant */

    int8_t partition; /* constant, like the next two */
    bool is_windowed : 1;
    bool is_lease : 1;   /* the counter is that of a window source */
    uint8_t resumed;     /* the pool's `resumed` when it was asked, modulo 256,
                            since no ask lasts that long; guarded by the pool's
                            lock */
    bool is_busy : 1;    /* guarded by the pool's lock */
    bool was_final : 1;  /* a refusal that was to be final ended with its stamp,
                            and its end was not reported yet; guarded by the
                            pool's lock */
    bool is_waiting : 1; /* its store changed: see slot_waits; guarded by the
                            pool's lock */
    bool is_reporting : 1; /* a refusal of it is being reported by the worker;
                              guarded by the pool's lock */
    bool end_is_due : 1;   /* meanwhile it was taken off the list, so the worker
                              reports the end, too; guarded by the pool's lock */

    /* Starts another memory location: what follows is not guarded by the
     * lock. */
    uint32_t : 0;

    /* The worker's own: the line that holds the note of the mark, see recall.h;
     * 0: none. */
    uint32_t line : 24;
    bool is_recalled : 1; /* the notes of before were read */
    bool is_alone : 1; /* this broker installed the cell's window, and no other
                          broker was seen to count in it */

    /* The worker's own, about the present answer. */
    bool was_raised : 1; /* the counter was raised */
    bool is_refused : 1; /* `why` applies to this counter only */
    bool is_unlevel : 1; /* of a lease: its lessor is not level */
};

static inline enum seqb_guarantee slot_class(const struct slot *slot)
{
    return slot->is_windowed ? SEQB_WINDOWED : SEQB_DIRECT;
}

/* On the thread that served it: the slot is answered, with its block if `why`
 * is NULL. Else it failed; only this counter did if `is_refused`. Do not touch
 * the slot afterwards. */
static inline void slot_answer(struct slot *slot, bool is_refused,
                               struct seqb_error *why)
{
    slot->is_refused = is_refused;
    slot->why = why;
    slot->done(slot);
}

/* A lease from a counter that belongs to no sequence. */
struct ticket_slot {
    struct slot slot; /* first: posted to the worker */
    struct ha_pool *pool;
    const char *key;
    const char *nonce; /* pool with neighbours: nonce of the lessor's term */
};

/* EXHAUSTED or LAYOUT if the slot must never be asked again; else SEQB_OK. */
static inline enum seqb_status slot_closed(const struct slot *slot)
{
    return slot->refusal != NULL && slot->refusal->kind == REFUSAL_FINAL
               ? slot->refusal->status
               : SEQB_OK;
}

void slot_init(struct slot *slot, struct ha_counter *counter,
               int32_t partition);

/* Hold the pool's lock for the following functions. */

/* Prepares the ask for `want` values, near the level of its class. */
void slot_ask(struct slot *slot, int64_t want, int64_t now_ms);

/* Whether the slot may be asked now, provided that its partition may. */
bool slot_is_open(const struct slot *slot, int64_t now_ms);

/* Whether the raise of a counter whose store changed (in the authority: the
 * counter of its windows) has to wait. It has to while another usable partition
 * of its class was not asked yet, because the level is only known afterwards. A
 * raise by gap and chance alone could end below the level, and a later raise to
 * the level could then grant old values again. Two slots that wait do not wait
 * for each other. */
bool slot_waits(struct slot *slot);

/* Resets it as if it were new, for another stamp. What was claimed and the
 * identity of the store remain valid. So does a refusal that does not depend on
 * the stamp, until the next answer. */
void slot_renew(struct slot *slot);

/* The topology no longer lists the slot's sequence: what is refused is neither
 * shown nor retried. True if it was reported, so that its end has to be. While
 * its begin is being reported, the worker reports the end. */
bool slot_unlist(struct slot *slot);

/* It lists the sequence again. What closed the sequence for good is shown
 * again: true, and then that has to be reported. Anything else is forgotten, so
 * that the next answer decides. */
bool slot_list(struct slot *slot, int64_t now_ms);

/* The period is over, so its numbers are useless. */
bool slot_is_over(const struct slot *slot);

/* A slot of partition `i` to be posted, because a refusal is retried although
 * nobody asks; or NULL. `*next_ms`: when to call again; INT64_MAX: no time is
 * known. */
struct slot *slot_retry(struct ha_pool *pool, int32_t i, int64_t now_ms,
                        int64_t *next_ms);

/* The key of a counter that partition `i`, which may be asked, refuses, and all
 * others as well; NULL: there is none among the oldest refusals. */
const char *slot_refusals_unserved(const struct ha_pool *pool, int32_t i);

/* Appends in words what partition `i` refuses. It must refuse something. */
void slot_refusals_report(const struct ha_pool *pool, int32_t i, char *out,
                          size_t size);
