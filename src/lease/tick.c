/* SPDX-License-Identifier: Apache-2.0 */
/* One turn of the lease's thread: it renews the worker id, or searches for one.
 * The last turn gives it back. */
#include <stdlib.h>
#include <string.h>

#include "lease/worker_lease.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"

#define REST_MIN_MS  20
#define REST_MAX_MS  1000
#define GIVE_BACK_MS 1000 /* a stop waits no longer for the store */

/* The longest time between two renewals where a single store leases. If that
 * store goes back and has another origin, a holder notices it when it renews.
 * Another broker waits for a lease and a quarter before it takes the id, but
 * perhaps by its own, shorter lease: the row with the longer one may be gone.
 * The shortest lease is 1 s, so each holder renews sooner than that. */
#define RENEW_MAX_MS 500

/* The time between two turns while there is no id, or the store fails. */
static int64_t rest_of(const struct worker_lease *lease)
{
    const int64_t rest_ms = lease->self.lease_ms / 12;

    if (rest_ms < REST_MIN_MS)
        return REST_MIN_MS;
    return rest_ms < REST_MAX_MS ? rest_ms : REST_MAX_MS;
}

/* --- the store's origin --- */

/* The origin in the form that a row can keep. */
static void origin_write(char *out, size_t size, const char *origin)
{
    (void)text_copy(out, size, origin[0] == '\0' ? "-" : origin);
    for (char *at = out; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ')
            *at = '_';
    }
}

/* The first call to a store learns its current origin. */
static enum seqb_status learn_origin(struct worker_lease *lease,
                                     struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];
    char standing[HA_TEXT_SIZE];
    enum seqb_status status;

    if (lease->origin[0] != '\0')
        return SEQB_OK;
    lease_claim_name(lease, "workers", name, sizeof name);
    status = lease_poll(lease, name, standing, err);
    if (status == SEQB_OK)
        origin_write(lease->self.origin, sizeof lease->self.origin,
                     lease->origin);
    return status;
}

/* Observations of one history say nothing about another. */
static void forget_origin(struct worker_lease *lease)
{
    struct seqb_error why;

    lease->origin[0] = '\0';
    lease->is_claimed = false;
    lease->origin_observation = (struct observation){.is_seen = false};
    free(lease->observations);
    lease->observations = NULL;
    lease->observation_count = 0;
    lease_search_begin(lease);
    (void)error_set(&why, SEQB_AGAIN, "backend %s is not what it was",
                    ha_pool_member_name(lease->pool, lease->lessor));
    lease_lose(lease, &why);
}

/* --- a turn --- */

static enum seqb_status find_id(struct worker_lease *lease, int64_t *rest_ms,
                                struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    if (!lease->is_claimed)
        status = lease_claim(lease, err);
    /* A neighbour may have lost its rows: the witness still knows the times. */
    if (status == SEQB_OK && !lease->self.is_exact)
        status = lease_open_origin(lease, rest_ms, err);
    lease->self.is_founder = false; /* true only in the turn that made the
                                       claims */
    return status == SEQB_OK ? lease_search(lease, rest_ms, err) : status;
}

/* SEQB_AGAIN, with the reason: there is no id yet. */
static enum seqb_status renew_or_find(struct worker_lease *lease,
                                      int64_t *rest_ms, struct seqb_error *err)
{
    enum seqb_status status = learn_origin(lease, err);

    if (status == SEQB_OK && lease->id != LEASE_NOBODY)
        status = lease_renew(lease, err);
    if (status == SEQB_AGAIN) /* look for another id */
        status = SEQB_OK;
    return status == SEQB_OK && lease->id == LEASE_NOBODY
               ? find_id(lease, rest_ms, err)
               : status;
}

/* --- among neighbours --- */

/* Continues with the next lessor, which leases other ids. The lent id stays
 * valid until its lease ends. Returns how many ms to wait before asking it. */
static int64_t move_on(struct worker_lease *lease)
{
    lease->next = (lease->next + 1) % lease->lessors;
    lease->lessor = ha_pool_lessor(lease->pool, lease->next);
    lease->origin[0] = '\0';
    lease->id = LEASE_NOBODY;
    lease_search_begin(lease);
    return ++lease->moved % lease->lessors == 0 ? rest_of(lease) : 0;
}

/* While more than half of the lease is left, the failed lessor is asked again:
 * to move on gives up the id that we have. */
static int64_t rest_or_move(struct worker_lease *lease, int64_t rest_ms)
{
    const bool has_time = lease_left_ms(lease) > lease->self.lease_ms / 2;

    return lease->lessors == 1 || has_time ? rest_ms : move_on(lease);
}

static int64_t renewal_rest_ms(const struct worker_lease *lease)
{
    const int64_t third_ms = lease->self.lease_ms / 3;

    return lease->lessors > 1 ? third_ms : min_of(third_ms, RENEW_MAX_MS);
}

int64_t lease_tick(struct worker_lease *lease)
{
    int64_t rest_ms = rest_of(lease);
    struct seqb_error err;
    struct seqb_error why;
    const enum seqb_status status = renew_or_find(lease, &rest_ms, &err);

    switch (status) {
    case SEQB_OK:
        break;
    case SEQB_AGAIN:
    case SEQB_LAYOUT:
        lease_fail(lease, &err);
        return rest_or_move(lease, rest_ms);
    case SEQB_FENCED:
        forget_origin(lease);
        return 0;
    default:
        (void)error_set(&why, SEQB_UNAVAILABLE, "no worker id: backend %s: %s",
                        ha_pool_member_name(lease->pool, lease->lessor),
                        err.text);
        lease_fail(lease, &why);
        return rest_or_move(lease, rest_of(lease));
    }
    if (lease->id == LEASE_NOBODY)
        return rest_ms;
    lease->moved = 0;
    return renewal_rest_ms(lease);
}

void lease_give_back(struct worker_lease *lease)
{
    if (lease->id == LEASE_NOBODY)
        return;
    lease->until_ms = clock_now_ms() + GIVE_BACK_MS;
    lease_row_return(lease);
    lease->id = LEASE_NOBODY;
}
