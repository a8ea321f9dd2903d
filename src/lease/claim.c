/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The claim of the layout of a pool's snowflakes, which every direct store of
 * the pool keeps. A broker with other bits, or one that leases worker ids from
 * another store, would repeat our ids. The first broker writes the claim into
 * all of these stores in one call. If it wrote it into two stores or more,
 * nobody has ever leased an id: only a single store may have lost its data.
 */
#include <string.h>

#include "lease/worker_lease.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"

struct claim {
    char name[SEQB_COUNTER_SIZE];
    char layout[HA_TEXT_SIZE];
    bool is_missing[STORE_MEMBERS_MAX];  /* the member's store has no claim */
    int32_t stores;                      /* the pool's direct stores ... */
    int32_t reached;                     /* ... that were reached ... */
    int32_t holding;                     /* ... and that hold a claim */
    int32_t made;                        /* written by us in this call */
    int64_t noted_ms[STORE_MEMBERS_MAX]; /* the longest lease that the member's
                                            claim notes; 0: none */
    int32_t unnoted; /* stores beside the lessor that do not note our lease */
    struct seqb_error why; /* of a store that was not reached */
};

static size_t layout_length(const char *text)
{
    const char *by = strstr(text, LEASE_CLAIM_BY);

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

/* Keeps what the member's claim notes. */
static void look_at_note(struct worker_lease *lease, struct claim *claim,
                         int32_t member, const char *standing)
{
    claim->noted_ms[member] = lease_note_read(standing);
    lease->self.noted_ms =
        max_of(lease->self.noted_ms, claim->noted_ms[member]);
}

static void not_reached(const struct worker_lease *lease, struct claim *claim,
                        int32_t member, const struct seqb_error *why)
{
    claim->unnoted++;
    (void)error_set(&claim->why, why->status, "backend %s: %s",
                    ha_pool_member_name(lease->pool, member), why->text);
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
        not_reached(lease, claim, member, &why);
        return member == lease->lessor ? error_copy(err, &why) : SEQB_OK;
    }
    claim->reached++;
    claim->is_missing[member] = standing[0] == '\0';
    if (claim->is_missing[member])
        return SEQB_OK;
    claim->holding++;
    look_at_note(lease, claim, member, standing);
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

    (void)text_copy(text, sizeof text, claim->layout);
    if (lease->self.is_exact)
        lease_sign(lease, member, text, sizeof text);
    else
        lease_note_write(lease, member, claim->layout, text, sizeof text);
    status = lease_text(lease, member, &swap, standing, err);
    if (status != SEQB_OK)
        return status;
    claim->made += strcmp(standing, text) == 0;
    return compare(lease, claim, member, standing, err);
}

/* Makes the member's claim, or has it note the longest lease. Among neighbours
 * no lease is waited for. */
static enum seqb_status settle(struct worker_lease *lease, struct claim *claim,
                               int32_t member, struct seqb_error *err)
{
    const bool is_noted =
        lease->self.is_exact ||
        claim->noted_ms[member] >= lease_longest(&lease->self);

    if (claim->is_missing[member])
        return make(lease, claim, member, err);
    return is_noted ? SEQB_OK : lease_note(lease, claim->name, member, err);
}

static enum seqb_status settle_other(struct worker_lease *lease,
                                     struct claim *claim, int32_t member,
                                     struct seqb_error *err)
{
    struct seqb_error why;
    enum seqb_status status;

    if (member == lease->lessor)
        return SEQB_OK;
    status = settle(lease, claim, member, &why);
    if (status == SEQB_LAYOUT || status == SEQB_CLOSED)
        return error_copy(err, &why);
    if (status != SEQB_OK)
        not_reached(lease, claim, member, &why);
    return SEQB_OK;
}

/* The lessor notes a lease last. So if it notes ours, all of the others did. A
 * lessor of an earlier version has a claim that notes none. One without a claim
 * is new, or lost what it noted. */
static enum seqb_status check_noted(const struct worker_lease *lease,
                                    const struct claim *claim,
                                    struct seqb_error *err)
{
    const int64_t noted_ms = claim->noted_ms[lease->lessor];
    const bool is_usual = !claim->is_missing[lease->lessor] &&
                          (noted_ms == 0 || noted_ms >= lease->self.lease_ms);

    if (claim->unnoted == 0 || is_usual || lease->self.is_exact)
        return SEQB_OK;
    return error_set(err, SEQB_UNAVAILABLE,
                     "the first lease of %lld ms, longer than those before or "
                     "than backend %s knows, needs all direct stores of the "
                     "pool to note it; %s",
                     (long long)lease->self.lease_ms,
                     ha_pool_member_name(lease->pool, lease->lessor),
                     claim->why.text);
}

/* Runs `call` for every direct store of the pool. */
static enum seqb_status
visit(struct worker_lease *lease, struct claim *claim,
      enum seqb_status (*call)(struct worker_lease *lease, struct claim *claim,
                               int32_t member, struct seqb_error *err),
      struct seqb_error *err)
{
    const int32_t members = layout_member_count(ha_pool_shape(lease->pool));
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < members && status == SEQB_OK; i++) {
        if (ha_pool_keeps(lease->pool, i))
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
        status = visit(lease, &claim, settle_other, err);
    if (status == SEQB_OK)
        status = check_noted(lease, &claim, err);
    if (status == SEQB_OK)
        status = settle(lease, &claim, lease->lessor, err);
    lease->is_claimed = status == SEQB_OK;
    lease->self.is_founder =
        lease->is_claimed && claim.made > 1 && claim.made == claim.stores;
    return status;
}
