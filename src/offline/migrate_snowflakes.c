/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snowflakes of an old pool that neither topology lists. Their ids are made of
 * the time, and the worker ids in them are leased by the pool's stores for one
 * generation. So a broker that goes on would share its worker id with a broker
 * of the next generation.
 */
#include "offline/migrate.h"
#include "platform/error.h"
#include "platform/text.h"

static enum seqb_status fail_leased(const struct migrate_side *was,
                                    int32_t member, const char *claim,
                                    struct seqb_error *err)
{
    return error_set(err, SEQB_LAYOUT,
                     "pool %s has snowflakes, which neither topology lists, as "
                     "the claim '%s' of backend %s says; nothing was changed; "
                     "they are made of the time and cannot be raised above "
                     "others, so leave the pool as it is; or, if no broker "
                     "makes them any more, stop all brokers and remove that "
                     "claim from each store of the pool",
                     was->layout->name, claim,
                     was->stores.stores[member].backend);
}

/* An earlier version may have migrated a pool with snowflakes. */
static enum seqb_status member_check(struct migrate_side *was, int32_t member,
                                     struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int32_t generation = layout_generations(was->layout);
         generation >= 1 && status == SEQB_OK; generation--) {
        char pool[LAYOUT_POOL_SIZE];
        char claim[SEQB_COUNTER_SIZE];
        char standing[SEQB_CLAIM_SIZE];

        layout_internal_name(was->layout->name, generation, pool, sizeof pool);
        (void)text_format(claim, sizeof claim, "snowflake/%s", pool);
        status = connection_claim(&was->connections[member], claim, NULL,
                                  standing, sizeof standing, err);
        if (status == SEQB_OK && standing[0] != '\0')
            status = fail_leased(was, member, claim, err);
    }
    return status;
}

enum seqb_status old_check_snowflakes(struct migrate_side *was,
                                      struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < was->stores.count && status == SEQB_OK; i++) {
        if (i != was->without && !was->stores.stores[i].forgets)
            status = member_check(was, i, err);
    }
    return status;
}
