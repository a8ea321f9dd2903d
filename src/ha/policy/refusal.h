/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a partition gave a counter nothing when it was asked last. If the
 * partition failed, its state says so. If this counter alone failed while the
 * connection is well, the partition refuses it: that is told once, shown, and
 * tried again at a bounded pace until it ends.
 *
 * Pure: no lock, no clock, no I/O. The pool's lock guards all of it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/status.h>

struct slot;

/* A counter rests after one refusal, then twice as long each time. */
#define REFUSAL_FIRST_MS   100
#define REFUSAL_LONGEST_MS 30000

/* What may pass by itself is told when it has lasted so long. */
#define REFUSAL_PATIENCE_MS 3000

/* Between two tries that nobody asked for, at first; then it doubles as well.
 */
#define REFUSAL_RETRY_MS 1000

enum refusal_kind {
    REFUSAL_SHARED,  /* none: the partition failed, for every counter */
    REFUSAL_PASSING, /* it may pass by itself soon: not told yet */
    REFUSAL_LASTING, /* told, and tried again */
    REFUSAL_FINAL    /* told, and never asked again: EXHAUSTED, LAYOUT */
};

/* Of one counter in one partition, from the first failure to the next grant. */
struct refusal {
    struct slot *slot;        /* constant */
    struct refusal *previous; /* in the partition's list, as the next one */
    struct refusal *next;
    bool is_listed;   /* else both are not to be read */
    int64_t since_ms; /* the first in a row that was of this counter alone */
    int32_t rest_ms;  /* before the counter is asked again */
    enum seqb_status status; /* of the last one */
    enum refusal_kind kind;
    char *reason; /* its text; NULL: there was no memory for it */
};

/* What one partition refuses: those that were told and still matter, the oldest
 * first. Zeroed is empty. */
struct refusals {
    struct refusal *first;
    struct refusal *last;
    struct refusal *next; /* the one to be tried next; NULL: the first */
    int64_t count;
    int64_t retry_ms; /* none is tried unasked before; read if not empty */
    int32_t rest_ms;  /* from one such try to the next */
};

/* NULL when out of memory: then nothing is known of why. */
struct refusal *refusal_new(struct slot *slot);

/*
 * The counter was given nothing, for `why`; `is_own`: this counter alone. True
 * if that is to be told: the refusal begins or has another status. A failure
 * of the partition leaves a refusal that was told as it is.
 */
bool refusal_note(struct refusals *refusals, struct refusal *refusal,
                  const struct seqb_error *why, bool is_own, int64_t now_ms);

/* The counter was granted: frees it, and has the others tried soon, which may
 * have had the same cause. True if it had been told. */
bool refusal_end(struct refusals *refusals, struct refusal *refusal,
                 int64_t now_ms);

/* It matters no more, unless it is noted once more: takes it out of the list.
 */
void refusal_unlist(struct refusals *refusals, struct refusal *refusal);

/* The same, and frees it. */
void refusal_drop(struct refusals *refusals, struct refusal *refusal);

/* Frees it when the list is gone. Takes NULL. */
void refusal_free(struct refusal *refusal);

/* Whether it was told. Takes NULL. */
static inline bool refusal_is_reported(const struct refusal *refusal)
{
    return refusal != NULL && refusal->kind >= REFUSAL_LASTING;
}

/* The text, or the status's. */
const char *refusal_reason(const struct refusal *refusal);

/*
 * The refusal whose turn it is to be looked at, or NULL before retry_ms; the
 * next one has the next turn. FINAL ones have theirs as well.
 */
struct refusal *refusals_next(struct refusals *refusals, int64_t now_ms);

/* A round of turns is over; the next one comes after the rest. */
void refusals_rest(struct refusals *refusals, int64_t now_ms);
