/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a partition granted a counter nothing when it was asked last. If the
 * partition failed, its state says so. If only this counter failed while the
 * connection works, the partition refuses the counter: a refusal is reported
 * once, shown in the status, and retried at a bounded pace until it ends.
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

/* What may pass by itself is reported when it has lasted this long. */
#define REFUSAL_PATIENCE_MS 3000

/* How long the first round of retries that no caller asked for takes. It
 * doubles, too. In a round, each refusal has one turn. */
#define REFUSAL_RETRY_MS 1000

/* Between two of these retries, at least: so many counters may be refused that
 * a round takes longer than it should. */
#define REFUSAL_PACE_MS 10

enum refusal_kind {
    REFUSAL_SHARED,  /* no refusal: the partition failed, for every counter */
    REFUSAL_PASSING, /* it may soon pass by itself: not reported yet */
    REFUSAL_LASTING, /* reported, and retried */
    REFUSAL_FINAL    /* reported, and never asked again: EXHAUSTED, LAYOUT */
};

/* The failures of one counter in one partition since its last grant. */
struct refusal {
    struct slot *slot;        /* constant */
    struct refusal *previous; /* in the partition's list; so is `next` */
    struct refusal *next;
    bool is_listed;   /* else `previous` and `next` are not valid */
    int64_t since_ms; /* begin of the failures in a row that only this counter
                         had */
    int32_t rest_ms;  /* before the counter is asked again */
    enum seqb_status status; /* of the last failure */
    enum refusal_kind kind;
    char *reason; /* text of the last failure; NULL: no memory for it */
};

/* What one partition refuses: the refusals that were reported and still matter,
 * the oldest first. Zeroed is empty. */
struct refusals {
    struct refusal *first;
    struct refusal *last;
    struct refusal *next; /* the next one to retry; NULL: start at the first */
    int64_t count;
    int64_t retry_ms; /* no unasked retry before this; read only if the list is
                         not empty */
    int32_t rest_ms;  /* of a round of unasked retries */
};

/* NULL when out of memory: then the reason of the failure is not kept. */
struct refusal *refusal_new(struct slot *slot);

/*
 * The counter was granted nothing, because of `why`. `is_own`: only this
 * counter failed. True if the failure has to be reported: the refusal begins or
 * has another status. A failure of the whole partition leaves a reported
 * refusal unchanged.
 */
bool refusal_note(struct refusals *refusals, struct refusal *refusal,
                  const struct seqb_error *why, bool is_own, int64_t now_ms);

/* The counter was granted: frees the refusal, and makes the retry of the others
 * due now, which may have had the same cause. True if the refusal had been
 * reported. */
bool refusal_end(struct refusals *refusals, struct refusal *refusal,
                 int64_t now_ms);

/* Takes the refusal out of the list, because it no longer matters. It stays
 * valid, and refusal_note may list it again. */
void refusal_unlist(struct refusals *refusals, struct refusal *refusal);

/* Lists it again, if it is not listed. It must have been reported. */
void refusal_list(struct refusals *refusals, struct refusal *refusal,
                  int64_t now_ms);

/* Takes the refusal out of the list and frees it. */
void refusal_drop(struct refusals *refusals, struct refusal *refusal);

/* Frees a refusal whose list is gone. NULL is allowed. */
void refusal_free(struct refusal *refusal);

/* Whether the refusal was reported. NULL is allowed. */
static inline bool refusal_is_reported(const struct refusal *refusal)
{
    return refusal != NULL && refusal->kind >= REFUSAL_LASTING;
}

/* The text of the last failure or, without one, that of its status. */
const char *refusal_reason(const struct refusal *refusal);

/*
 * The refusal to retry next, or NULL before retry_ms. The call moves on to the
 * following one. FINAL refusals have turns as well.
 */
struct refusal *refusals_next(struct refusals *refusals, int64_t now_ms);

/* So many turns were used. The next one comes after their share of the round.
 * If the round is over, the next round takes twice as long. */
void refusals_rest(struct refusals *refusals, int32_t turns, int64_t now_ms);

/* Whether the next turn is the first one of a round. */
static inline bool refusals_round_is_over(const struct refusals *refusals)
{
    return refusals->next == NULL;
}
