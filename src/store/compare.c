/* SPDX-License-Identifier: Apache-2.0 */
/* The comparisons. claim.c reads and writes the claims. */
#include "store/compare.h"

#include <string.h>

#include "platform/error.h"
#include "platform/text.h"

static void report(const struct compare *compare, int32_t member,
                   const struct seqb_error *why)
{
    compare->report(compare->context, member, why);
}

static int32_t member_of(const struct compare *compare,
                         const struct layout_store *store)
{
    return (int32_t)(store - compare->stores->stores);
}

/* --- places --- */

void compare_place_name(const struct layout *layout, int32_t partition,
                        char *out, size_t size)
{
    char name[LAYOUT_POOL_SIZE];

    layout_internal_name(layout->name, layout->generation, name, sizeof name);
    (void)text_format(out, size, "%s/%d", name, (int)partition);
}

enum seqb_status compare_place(const char *backend, const char *standing,
                               const struct layout *layout, int32_t partition,
                               struct seqb_error *err)
{
    char place[LAYOUT_STORE_SIZE];

    compare_place_name(layout, partition, place, sizeof place);
    if (strcmp(standing, place) == 0)
        return SEQB_OK;
    return error_set(err, SEQB_LAYOUT,
                     "backend %s: its store stands in %s (pool/partition) and "
                     "is configured as %s; nothing was changed; put the "
                     "topology back as it was, another place would issue old "
                     "numbers again",
                     backend, standing, place);
}

enum seqb_status compare_lessee(const char *backend, const char *standing,
                                const struct layout *layout,
                                struct seqb_error *err)
{
    if (standing[0] == '\0' || strcmp(standing, layout->name) == 0)
        return SEQB_OK;
    return error_set(err, SEQB_LAYOUT,
                     "backend %s: the authority leased windows for its store "
                     "to pool %s, and it is configured in pool %s; nothing was "
                     "changed; put the name back, a pool of another name would "
                     "issue old numbers again; or, if pool %s has no part in "
                     "that store any more, give it another prefix or address",
                     backend, standing, layout->name, standing);
}

static enum seqb_status compare_one(const struct compare *compare, int32_t i,
                                    struct seqb_error *err)
{
    const struct layout_store *store = &compare->stores->stores[i];

    if (store->place[0] != '\0' &&
        compare_place(store->backend, store->place, compare->layout, i, err) !=
            SEQB_OK)
        return SEQB_LAYOUT;
    return compare_lessee(store->backend, compare->stores->lessees[i],
                          compare->layout, err);
}

void compare_places(const struct compare *compare)
{
    for (int32_t i = 0; i < compare->stores->partitions; i++) {
        struct seqb_error err;

        if (compare_one(compare, i, &err) != SEQB_OK)
            report(compare, i, &err);
    }
}

/* --- ids --- */

void compare_twins(const struct compare *compare)
{
    const struct layout_store *a;
    const struct layout_store *b;
    struct seqb_error err;

    if (!layout_find_twins(compare->stores, &a, &b))
        return;
    (void)error_set(&err, SEQB_LAYOUT,
                    "pool %s: backends %s and %s lead to the same store; give "
                    "each one of its own",
                    compare->layout->name, a->backend, b->backend);
    report(compare, member_of(compare, a), &err);
    report(compare, member_of(compare, b), &err);
}

enum seqb_status compare_id(const char *backend, const char *standing,
                            const char *expected, struct seqb_error *err)
{
    if (expected[0] == '\0' || strcmp(standing, expected) == 0)
        return SEQB_OK;
    if (standing[0] == '\0')
        return error_set(err, SEQB_LAYOUT,
                         "backend %s is new and empty, but the pool is in use "
                         "and its layout names store '%s'; put the old store "
                         "back",
                         backend, expected);
    return error_set(err, SEQB_LAYOUT,
                     "backend %s: another store stands there: the layout "
                     "names '%s', this one is '%s'; put the right one in its "
                     "place",
                     backend, expected, standing);
}

void compare_strangers(const struct compare *compare,
                       const struct layout_store *claim)
{
    for (int32_t i = 0; i < compare->stores->count; i++) {
        const struct layout_store *store = &compare->stores->stores[i];
        char named[LAYOUT_STORE_SIZE];
        struct seqb_error err;

        if (!layout_is_unclaimed(store))
            continue;
        layout_named(claim->layout, compare->stores, i, named);
        if (compare_id(store->backend, store->id, named, &err) != SEQB_OK)
            report(compare, i, &err);
    }
}

/* --- the layout --- */

enum seqb_status compare_claims(const struct compare *compare,
                                const struct layout_store *claim, char *out,
                                size_t size, struct seqb_error *err)
{
    struct layout_stores *stores = compare->stores;

    if (claim != NULL)
        layout_adopt(claim->layout, stores);
    if (layout_compose(compare->layout, stores, out, size, err) != SEQB_OK)
        return SEQB_LAYOUT;
    for (int32_t i = 0; i < stores->count; i++) {
        const struct layout_store *store = &stores->stores[i];
        struct seqb_error why;

        if (store->is_reached && store->layout[0] != '\0' &&
            layout_compare(store->backend, store->layout, out, &why) != SEQB_OK)
            report(compare, i, &why);
    }
    return SEQB_OK;
}
