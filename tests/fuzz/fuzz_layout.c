/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as the layout, the place and the id that a store claims. The first
 * byte says what the pool is like. What must hold: a claim adds the ids of
 * stores that are not known and changes no other one; the layout that is
 * composed then is its own claim; each difference is reported with a text, and
 * a store with another layout is always reported.
 */
#include "fuzz/fuzz.h"
#include "store/compare.h"
#include "store/layout.h"

#define BITS       2
#define PARTITIONS (1 << BITS)
#define MEMBERS    (PARTITIONS + 1)

enum { CLAIMS, UNREACHED, UNCLAIMED, FORGETS, AUTHORITY }; /* the members */

struct pool {
    struct layout layout;
    struct layout_stores stores;
    struct layout_store members[MEMBERS];
    bool is_reported[MEMBERS];
};

static void report(void *context, int32_t member, const struct seqb_error *why)
{
    struct pool *pool = context;

    require(member >= 0 && member < pool->stores.count);
    require(why->status == SEQB_LAYOUT);
    require(memchr(why->text, '\0', sizeof why->text) != NULL);
    require(why->text[0] != '\0');
    pool->is_reported[member] = true;
}

static void members_init(struct pool *pool, const char *text)
{
    static const struct layout_store members[MEMBERS] = {
        [CLAIMS] = {.backend = "a", .is_reached = true, .id = "0a"},
        [UNREACHED] = {.backend = "b"},
        [UNCLAIMED] = {.backend = "c", .is_reached = true, .id = "0c"},
        [FORGETS] = {.backend = "d",
                     .is_reached = true,
                     .forgets = true,
                     .is_windowed = true,
                     .id = "d"},
        [AUTHORITY] = {.backend = "e", .is_reached = true, .id = "0e"}};

    memcpy(pool->members, members, sizeof members);
    (void)text_copy(pool->members[CLAIMS].layout, SEQB_CLAIM_SIZE, text);
    (void)text_copy(pool->members[CLAIMS].place, LAYOUT_STORE_SIZE, text);
    (void)text_copy(pool->stores.lessees[FORGETS], LAYOUT_STORE_SIZE, text);
}

static void pool_init(struct pool *pool, unsigned kind, const char *text)
{
    const bool has_authority = (kind & 1) != 0;

    *pool = (struct pool){
        .layout = {.name = "main",
                   .partitions = {0, 1, 2, 3},
                   .bits = BITS,
                   .generation = (kind & 4) != 0 ? 2 : 1,
                   .authority = has_authority ? AUTHORITY : -1,
                   .window_bits = 10,
                   .neighbours = !has_authority && (kind & 2) != 0},
        .stores = {.stores = pool->members,
                   .count = has_authority ? MEMBERS : PARTITIONS,
                   .partitions = PARTITIONS,
                   .authority = has_authority ? AUTHORITY : -1}};
    members_init(pool, text);
}

static void check_members(const struct pool *pool)
{
    for (size_t i = 0; i < MEMBERS; i++)
        require(memchr(pool->members[i].id, '\0', LAYOUT_STORE_SIZE) != NULL);
    require(strcmp(pool->members[CLAIMS].id, "0a") == 0);
    require(strcmp(pool->members[FORGETS].id, "d") == 0);
    require(pool->members[UNCLAIMED].id[0] != '\0');
}

static void check(unsigned kind, const char *text)
{
    struct pool pool;
    struct seqb_error err;
    char composed[SEQB_CLAIM_SIZE];
    char again[SEQB_CLAIM_SIZE];
    const struct compare compare = {&pool.layout, &pool.stores, report, &pool};
    const struct layout_store *claim;

    pool_init(&pool, kind, text);
    claim = layout_find_claim(&pool.stores);
    require((claim == NULL) == (text[0] == '\0'));
    compare_places(&compare);
    compare_twins(&compare);
    if (claim != NULL)
        compare_strangers(&compare, claim);
    memset(pool.is_reported, 0, sizeof pool.is_reported);
    require(compare_claims(&compare, claim, composed, sizeof composed, &err) ==
            SEQB_OK);
    check_members(&pool);
    require(pool.is_reported[CLAIMS] ==
            (claim != NULL && strcmp(claim->layout, composed) != 0));
    layout_adopt(composed, &pool.stores);
    require(layout_compose(&pool.layout, &pool.stores, again, sizeof again,
                           &err) == SEQB_OK);
    require(strcmp(again, composed) == 0);
    (void)layout_is_earlier(&pool.layout, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text;

    if (size == 0)
        return 0;
    text = malloc(size);
    require(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    check(data[0], text);
    free(text);
    return 0;
}
