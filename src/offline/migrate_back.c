/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the stores that went back to before a migration, or into its middle,
 * by what other stores know of it. */
#include <string.h>

#include "offline/migrate.h"
#include "platform/minmax.h"
#include "platform/text.h"

/* --- the layout --- */

/* Generation 1 is not migrated to: its first start may have been cut off. */
void side_compare_layouts(struct migrate_side *side)
{
    if (side->layout->generation <= 1 ||
        layout_find_claim(&side->stores) == NULL)
        return;
    for (int32_t i = 0; i < side->stores.count; i++)
        side->went_back[i] |= layout_is_unclaimed(&side->stores.stores[i]);
}

/* --- migrated keys --- */

void side_done_name(const struct migrate_side *side, const char *key, char *out,
                    size_t size)
{
    (void)text_format(out, size, "migrated/%s/%s", side->name, key);
}

/* Adds what the store says of the key, "above <number>". */
static enum seqb_status read_done(struct connection *connection,
                                  const char *name, struct migrate_done *done,
                                  struct seqb_error *err)
{
    char standing[64];
    const enum seqb_status status = connection_claim(
        connection, name, NULL, standing, sizeof standing, err);
    int64_t last;

    if (status != SEQB_OK)
        return status;
    done->by_any |= standing[0] != '\0';
    done->by_all &= standing[0] != '\0';
    if (strncmp(standing, MIGRATE_ABOVE, strlen(MIGRATE_ABOVE)) == 0 &&
        text_to_int64(standing + strlen(MIGRATE_ABOVE),
                      strlen(standing + strlen(MIGRATE_ABOVE)), &last))
        done->last = max_of(done->last, last);
    return SEQB_OK;
}

/* The key was migrated: a store that does not know it went back. */
static enum seqb_status find_back(struct migrate_side *side, const char *key,
                                  struct seqb_error *err)
{
    const struct claim_attributes attributes = {.layout = side->layout,
                                                .key = key};

    for (int32_t i = 0; i < side->stores.count; i++) {
        char claim[CLAIM_SEQUENCE_SIZE];

        if (side->stores.stores[i].forgets ||
            !connection_is_open(&side->connections[i]))
            continue;
        if (claim_read_sequence(&side->connections[i], &attributes,
                                side->layout->generation, claim, sizeof claim,
                                err) != SEQB_OK)
            return err->status;
        side->went_back[i] |= claim[0] == '\0';
    }
    return SEQB_OK;
}

enum seqb_status side_compare_key(struct migrate_side *side, const char *key,
                                  struct migrate_done *out,
                                  struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];

    *out = (struct migrate_done){.by_any = false, .by_all = true};
    side_done_name(side, key, name, sizeof name);
    for (int32_t i = 0; i < side->stores.count; i++) {
        if (side->stores.stores[i].forgets)
            continue;
        if (!connection_is_open(&side->connections[i]))
            out->by_all = false;
        else if (read_done(&side->connections[i], name, out, err) != SEQB_OK)
            return err->status;
    }
    return out->by_any && !out->by_all ? find_back(side, key, err) : SEQB_OK;
}
