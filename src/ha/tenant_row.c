/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of worker ids in the authority's store. Every change is a swap of
 * exactly what was seen, so that of two who want the same one gets it; one
 * whose answer is lost is found again by its key.
 */
#include <string.h>

#include "ha/tenant.h"
#include "ha/tenant_row.h"
#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/error.h"

/* --- calls --- */

enum seqb_status tenant_look(struct tenant *tenant, const char *name,
                             char *standing, struct seqb_error *err)
{
    return connection_claim(&tenant->authority->connection, name, NULL,
                            standing, LEASE_TEXT_SIZE, err);
}

enum seqb_status tenant_swap(struct tenant *tenant,
                             const struct seqb_swap *about, char *standing,
                             struct seqb_error *err)
{
    const enum seqb_status status = connection_swap(
        &tenant->authority->connection, about, standing, LEASE_TEXT_SIZE, err);

    if (status != SEQB_OK)
        return status;
    return strcmp(standing, about->text) == 0 ? SEQB_OK : SEQB_AGAIN;
}

/* --- what is ours --- */

/* Replaces our row. SEQB_LAYOUT: it is ours no more, `standing` says whose. */
static enum seqb_status
row_replace(struct tenant *tenant,
            struct lease_row (*next)(const struct tenant *tenant),
            char *standing, struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];
    enum seqb_status status = SEQB_AGAIN;

    tenant_row_name(tenant->pool, tenant->id, name, sizeof name);
    for (int i = 0; i < TENANT_SWAP_TRIES && status == SEQB_AGAIN; i++) {
        const struct lease_row row = next(tenant);
        char expected[LEASE_TEXT_SIZE];
        char text[LEASE_TEXT_SIZE];
        struct lease_row seen;

        lease_write(&tenant->row, expected, sizeof expected);
        lease_write(&row, text, sizeof text);
        status =
            tenant_swap(tenant,
                        &(struct seqb_swap){
                            .name = name, .expected = expected, .text = text},
                        standing, err);
        if (status == SEQB_OK)
            tenant->row = row;
        if (status != SEQB_AGAIN)
            return status;
        if (!lease_read(standing, &seen) || !seen.is_held ||
            !tenant_owns(tenant, seen.key))
            return SEQB_LAYOUT;
        tenant->row = seen; /* by a swap whose answer was lost */
    }
    return error_set(err, SEQB_UNAVAILABLE, "%s never stands still", name);
}

static struct lease_row next_renewed(const struct tenant *tenant)
{
    return lease_renewed(&tenant->row, &tenant->self, clock_wall_ms());
}

static struct lease_row next_given_back(const struct tenant *tenant)
{
    const int64_t used_ms =
        atomic_load_explicit(&tenant->used_ms, memory_order_relaxed);

    return lease_given_back(
        &tenant->row, used_ms > tenant->above_ms ? used_ms : tenant->above_ms,
        clock_wall_ms());
}

/* Reckoned from before the call: who waits for its end began to later. */
enum seqb_status tenant_renew(struct tenant *tenant, struct seqb_error *err)
{
    const int64_t sent_ms = clock_boot_ms();
    char standing[LEASE_TEXT_SIZE];
    struct lease_row row;
    enum seqb_status status = row_replace(tenant, next_renewed, standing, err);

    if (status == SEQB_OK)
        tenant_gain(tenant, sent_ms);
    if (status != SEQB_LAYOUT)
        return status;
    (void)lease_read(standing, &row);
    (void)error_set(err, SEQB_AGAIN, "worker id %lld was taken by %s",
                    (long long)tenant->id,
                    row.holder[0] == '\0' ? "nobody that can be told"
                                          : row.holder);
    tenant_lose(tenant, err);
    return SEQB_AGAIN;
}

void tenant_row_return(struct tenant *tenant)
{
    char standing[LEASE_TEXT_SIZE];
    struct seqb_error err;

    (void)row_replace(tenant, next_given_back, standing, &err);
}
