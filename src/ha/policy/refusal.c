/* SPDX-License-Identifier: Apache-2.0 */
/* When a refusal is reported, and when it is retried. */
#include "ha/policy/refusal.h"

#include <stdlib.h>

#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"

static int32_t doubled(int32_t rest_ms)
{
    return (int32_t)min_of(2 * (int64_t)rest_ms, REFUSAL_LONGEST_MS);
}

/* --- the list --- */

void refusal_list(struct refusals *refusals, struct refusal *refusal,
                  int64_t now_ms)
{
    if (refusal->is_listed)
        return;
    refusal->previous = refusals->last;
    refusal->next = NULL;
    if (refusals->last == NULL) {
        refusals->first = refusal;
        refusals->rest_ms = REFUSAL_RETRY_MS;
        refusals->retry_ms = now_ms + REFUSAL_RETRY_MS;
    } else {
        refusals->last->next = refusal;
    }
    refusals->last = refusal;
    refusals->count++;
    refusal->is_listed = true;
}

void refusal_unlist(struct refusals *refusals, struct refusal *refusal)
{
    if (!refusal->is_listed)
        return;
    if (refusals->next == refusal)
        refusals->next = refusal->next;
    if (refusal->previous == NULL)
        refusals->first = refusal->next;
    else
        refusal->previous->next = refusal->next;
    if (refusal->next == NULL)
        refusals->last = refusal->previous;
    else
        refusal->next->previous = refusal->previous;
    refusals->count--;
    refusal->is_listed = false;
}

struct refusal *refusals_next(struct refusals *refusals, int64_t now_ms)
{
    struct refusal *refusal =
        refusals->next != NULL ? refusals->next : refusals->first;

    if (refusal == NULL || now_ms < refusals->retry_ms)
        return NULL;
    refusals->next = refusal->next;
    return refusal;
}

/* Lateness is made up for, so that a round does not take longer. */
void refusals_rest(struct refusals *refusals, int32_t turns, int64_t now_ms)
{
    const int64_t share_ms =
        refusals->rest_ms * (int64_t)turns / max_of(refusals->count, turns);
    const int64_t step_ms = max_of(share_ms, REFUSAL_PACE_MS);

    refusals->retry_ms = max_of(refusals->retry_ms, now_ms - step_ms) + step_ms;
    if (refusals_round_is_over(refusals))
        refusals->rest_ms = doubled(refusals->rest_ms);
}

/* --- one refusal --- */

struct refusal *refusal_new(struct slot *slot)
{
    struct refusal *refusal = calloc(1, sizeof *refusal);

    if (refusal != NULL)
        refusal->slot = slot;
    return refusal;
}

void refusal_free(struct refusal *refusal)
{
    if (refusal == NULL)
        return;
    free(refusal->reason);
    free(refusal);
}

const char *refusal_reason(const struct refusal *refusal)
{
    return refusal->reason != NULL ? refusal->reason
                                   : seqb_status_text(refusal->status);
}

/* An operator does not have to act: for example, another session holds a lock,
 * or a clock is behind. */
static bool may_pass(enum seqb_status status)
{
    return status == SEQB_UNREACHABLE || status == SEQB_UNCERTAIN ||
           status_blame(status) == BLAME_NOBODY;
}

static enum refusal_kind kind_after(const struct refusal *refusal,
                                    enum seqb_status status, int64_t now_ms)
{
    if (status == SEQB_EXHAUSTED || status == SEQB_LAYOUT)
        return REFUSAL_FINAL;
    if (refusal->kind == REFUSAL_LASTING || !may_pass(status) ||
        now_ms - refusal->since_ms >= REFUSAL_PATIENCE_MS)
        return REFUSAL_LASTING;
    return REFUSAL_PASSING;
}

/* A failure that may end at any moment is retried after the shortest rest each
 * time. The rest of others doubles, also that of a counter that is FENCED again
 * after each repair. */
static int32_t rest_after(const struct refusal *refusal,
                          enum seqb_status status)
{
    if (refusal->rest_ms == 0 || (may_pass(status) && status != SEQB_FENCED))
        return REFUSAL_FIRST_MS;
    return doubled(refusal->rest_ms);
}

static void reason_set(struct refusal *refusal, const struct seqb_error *why)
{
    free(refusal->reason);
    refusal->reason = text_copy_of(why->text);
}

bool refusal_note(struct refusals *refusals, struct refusal *refusal,
                  const struct seqb_error *why, bool is_own, int64_t now_ms)
{
    const bool was_reported = refusal_is_reported(refusal);
    const enum seqb_status before = refusal->status;

    if (!is_own && was_reported)
        return false;
    reason_set(refusal, why);
    refusal->status = why->status;
    if (!is_own)
        return false;
    if (refusal->kind == REFUSAL_SHARED)
        refusal->since_ms = now_ms;
    refusal->kind = kind_after(refusal, why->status, now_ms);
    refusal->rest_ms = rest_after(refusal, why->status);
    if (!refusal_is_reported(refusal))
        return false;
    refusal_list(refusals, refusal, now_ms);
    return !was_reported ||
           (why->status != before &&
            (!may_pass(why->status) || refusal->kind == REFUSAL_FINAL));
}

void refusal_drop(struct refusals *refusals, struct refusal *refusal)
{
    refusal_unlist(refusals, refusal);
    refusal_free(refusal);
}

bool refusal_end(struct refusals *refusals, struct refusal *refusal,
                 int64_t now_ms)
{
    const bool was_reported = refusal_is_reported(refusal);

    if (was_reported) {
        refusals->rest_ms = REFUSAL_RETRY_MS;
        refusals->retry_ms = now_ms;
    }
    refusal_drop(refusals, refusal);
    return was_reported;
}
