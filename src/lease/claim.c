/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The claim of the layout of a pool's snowflakes, which every direct store of
 * the pool keeps. A broker with other bits, or one that leases worker ids from
 * another store, would repeat our ids. The first broker writes the claim into
 * all of these stores in one call. If it wrote it into two stores or more,
 * nobody has ever leased an id: only a single store may have lost its data.
 */
#include <inttypes.h>
#include <string.h>

#include "lease/worker_lease.h"
#include "platform/error.h"
#include "platform/text.h"

#define BY " by=" /* what follows is not part of the layout */

struct claim {
    char name[SEQB_COUNTER_SIZE];
    char layout[HA_TEXT_SIZE];
    bool is_missing[STORE_MEMBERS_MAX]; /* the member's store has no claim */
    int32_t stores;                     /* the pool's direct stores ... */
    int32_t reached;                    /* ... that were reached ... */
    int32_t holding;                    /* ... and that hold a claim */
    int32_t made;                       /* written by us in this call */
    struct seqb_error why;              /* of a store that was not reached */
};

static size_t layout_length(const char *text)
{
    const char *by = strstr(text, BY);

    return by == NULL ? strlen(text) : (size_t)(by - text);
}

static enum seqb_status compare(const struct worker_lease *lease,
                                const struct claim *claim, int32_t member,
                                const char *standing, struct seqb_error *err)
{
    const size_t length = layout_length(standing);

    if (length == strlen(claim->layout) &&
        strncmp(standing, claim->layout, length) == 0)
        return SEQB_OK;
    return error_set(err, SEQB_LAYOUT,
                     "pool %s: backend %s has '%.*s' and the topology '%s': "
                     "nothing was changed; put its snowflakes back as they "
                     "were, others would make old ids again",
                     ha_pool_shape(lease->pool)->name,
                     ha_pool_member_name(lease->pool, member), (int)length,
                     standing, claim->layout);
}

/* The claim names the lessor by its store's id: another store knows nothing of
 * the ids that are held. */
static enum seqb_status layout_write(struct worker_lease *lease,
                                     struct claim *claim,
                                     struct seqb_error *err)
{
    const struct lease_options *options = lease->options;
    char lessor[HA_TEXT_SIZE];
    const enum seqb_status status = lease_poll(lease, CLAIM_STORE, lessor, err);

    if (status != SEQB_OK)
        return status;
    if (lessor[0] == '\0')
        return error_set(err, SEQB_UNAVAILABLE, "its store has no id");
    if (lease->self.is_exact)
        (void)text_copy(lessor, sizeof lessor, "neighbours");
    lease_claim_name(lease, "snowflake", claim->name, sizeof claim->name);
    (void)text_format(
        claim->layout, sizeof claim->layout,
        "snowflake epoch_ms=%lld datacenter=%lld/%d worker_bits=%d "
        "counter_bits=%d lessor=%.64s",
        (long long)options->layout.epoch_ms, (long long)options->datacenter,
        (int)options->datacenter_bits,
        (int)(options->layout.shard - options->datacenter_bits),
        (int)options->layout.counter, lessor);
    return SEQB_OK;
}

/* Reads the member's claim. SEQB_LAYOUT: it has another layout. */
static enum seqb_status look(struct worker_lease *lease, struct claim *claim,
                             int32_t member, struct seqb_error *err)
{
    char standing[HA_TEXT_SIZE];
    struct seqb_error why;
    const enum seqb_status status =
        lease_text(lease, member, &(struct seqb_swap){.name = claim->name},
                   standing, &why);

    claim->stores++;
    if (status != SEQB_OK) {
        (void)error_set(&claim->why, status, "backend %s: %s",
                        ha_pool_member_name(lease->pool, member), why.text);
        return member == lease->lessor ? error_copy(err, &why) : SEQB_OK;
    }
    claim->reached++;
    claim->is_missing[member] = standing[0] == '\0';
    if (claim->is_missing[member])
        return SEQB_OK;
    claim->holding++;
    return compare(lease, claim, member, standing, err);
}

/* The claim says which broker wrote it for which member. So two members that
 * lead to one store do not count as two stores. */
static enum seqb_status make(struct worker_lease *lease, struct claim *claim,
                             int32_t member, struct seqb_error *err)
{
    char text[HA_TEXT_SIZE];
    char standing[HA_TEXT_SIZE];
    const struct seqb_swap swap = {
        .name = claim->name, .expected = "", .text = text};
    enum seqb_status status;

    (void)text_format(text, sizeof text, "%s" BY "%016" PRIx64 "/%d",
                      claim->layout, lease->self.key, (int)member);
    status = lease_text(lease, member, &swap, standing, err);
    if (status != SEQB_OK)
        return member == lease->lessor ? status : SEQB_OK;
    claim->made += strcmp(standing, text) == 0;
    return compare(lease, claim, member, standing, err);
}

/* Runs `call` for every direct store of the pool; `make` only for those without
 * a claim. */
static enum seqb_status
visit(struct worker_lease *lease, struct claim *claim,
      enum seqb_status (*call)(struct worker_lease *lease, struct claim *claim,
                               int32_t member, struct seqb_error *err),
      struct seqb_error *err)
{
    const int32_t members = layout_member_count(ha_pool_shape(lease->pool));
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < members && status == SEQB_OK; i++) {
        if (ha_pool_keeps(lease->pool, i) &&
            (call != make || claim->is_missing[i]))
            status = call(lease, claim, i, err);
    }
    return status;
}

enum seqb_status lease_claim(struct worker_lease *lease, struct seqb_error *err)
{
    struct claim claim = {.stores = 0};
    enum seqb_status status = layout_write(lease, &claim, err);

    if (status == SEQB_OK)
        status = visit(lease, &claim, look, err);
    if (status == SEQB_OK && claim.holding == 0 && claim.reached < claim.stores)
        return error_set(err, SEQB_UNAVAILABLE,
                         "the first snowflake of a pool needs all of its "
                         "direct stores; %s",
                         claim.why.text);
    if (status == SEQB_OK)
        status = visit(lease, &claim, make, err);
    lease->is_claimed = status == SEQB_OK;
    lease->self.is_founder =
        lease->is_claimed && claim.made > 1 && claim.made == claim.stores;
    return status;
}
