/* SPDX-License-Identifier: Apache-2.0 */
/* Renews the row of our worker id, and gives it back. If the answer to a swap
 * was lost, the key in the row shows that the swap was ours. */
#include "lease/worker_lease.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"

/* Replaces our row. SEQB_LAYOUT: it is not ours any more; `standing` shows the
 * new holder. */
static enum seqb_status
row_replace(struct worker_lease *lease,
            struct lease_row (*next)(struct worker_lease *lease),
            char *standing, struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];
    enum seqb_status status = SEQB_AGAIN;

    lease_row_name(lease, lease->id, name, sizeof name);
    for (int i = 0; i < LEASE_SWAP_TRIES && status == SEQB_AGAIN; i++) {
        const struct lease_row row = next(lease);
        char expected[LEASE_TEXT_SIZE];
        char text[LEASE_TEXT_SIZE];
        struct lease_row seen;

        lease_write(&lease->row, expected, sizeof expected);
        lease_write(&row, text, sizeof text);
        status =
            lease_swap(lease,
                       &(struct seqb_swap){
                           .name = name, .expected = expected, .text = text},
                       standing, err);
        if (status == SEQB_OK)
            lease->row = row;
        if (status != SEQB_AGAIN)
            return status;
        if (!lease_read(standing, &seen) || !seen.is_held ||
            seen.key != lease->self.key)
            return SEQB_LAYOUT;
        lease->row = seen; /* written by a swap whose answer was lost */
    }
    return error_set(err, SEQB_UNAVAILABLE, "%s never stands still", name);
}

/* A row of another history may not say up to when the id was used before us.
 * The next holder sees nothing but the row. */
static struct lease_row next_renewed(struct worker_lease *lease)
{
    struct lease_row row =
        lease_renewed(&lease->row, &lease->self, clock_wall_ms());

    if (!lease->self.is_exact)
        row.upto_ms = max_of(row.upto_ms, lease->above_ms);
    return row;
}

static struct lease_row next_given_back(struct worker_lease *lease)
{
    int64_t used_ms;

    pthread_mutex_lock(&lease->lock);
    used_ms = lease->used_ms;
    pthread_mutex_unlock(&lease->lock);
    used_ms = max_of(used_ms, lease->above_ms);
    if (lease->self.is_exact) /* leased times cannot be given back */
        used_ms = max_of(lease->times_ms, lease->row.upto_ms);
    return lease_given_back(&lease->row, used_ms, clock_wall_ms());
}

void lease_row_return(struct worker_lease *lease)
{
    char standing[HA_TEXT_SIZE];
    struct seqb_error err;

    (void)row_replace(lease, next_given_back, standing, &err);
}

/* The row is ours, but its times may belong to another broker that also took
 * the id. */
enum seqb_status lease_enter(struct worker_lease *lease, int64_t sent_ms,
                             struct seqb_error *err)
{
    const enum seqb_status status = lease_times(lease, err);

    if (status == SEQB_OK)
        lease_gain(lease, sent_ms);
    if (status != SEQB_AGAIN)
        return status;
    lease_row_return(lease);
    lease->id = LEASE_NOBODY; /* the lent id stays valid until its lease ends */
    return SEQB_AGAIN;
}

/* The lease counts from before the call. A broker that waits for its end began
 * to count later. */
enum seqb_status lease_renew(struct worker_lease *lease, struct seqb_error *err)
{
    const int64_t sent_ms = clock_boot_ms();
    char standing[HA_TEXT_SIZE];
    struct lease_row row;
    enum seqb_status status = row_replace(lease, next_renewed, standing, err);

    if (status == SEQB_OK)
        return lease_enter(lease, sent_ms, err);
    if (status != SEQB_LAYOUT)
        return status;
    (void)lease_read(standing, &row);
    (void)error_set(
        err, SEQB_AGAIN, "worker id %lld was taken by %s", (long long)lease->id,
        row.holder[0] == '\0' ? "nobody that can be told" : row.holder);
    lease_lose(lease, err);
    return SEQB_AGAIN;
}
