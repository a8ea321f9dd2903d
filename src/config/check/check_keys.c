/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that no two sequences have the same key. A hash table finds repeated
 * keys, because there may be very many. They are reported in the topology's
 * order. */
#include "config/check/check.h"

#include <string.h>

#include "config/settings/settings.h"
#include "config/source/source.h"
#include "platform/hash.h"

/* An open-addressing hash table of keys, at most half full. */
struct key_table {
    const char **keys;
    uint32_t *hashes; /* compared first, because most keys of a collision differ
                         there */
    size_t mask;
};

static bool table_init(struct key_table *table, struct arena *arena,
                       size_t count)
{
    size_t size = 16;

    while (size < 2 * count)
        size *= 2;
    table->keys = arena_take(arena, size, sizeof(const char *));
    table->hashes = arena_take(arena, size, sizeof *table->hashes);
    table->mask = size - 1;
    return table->keys != NULL && table->hashes != NULL;
}

/* False if the key is in the table already. */
static bool table_add(struct key_table *table, const char *key)
{
    const uint32_t hash = (uint32_t)hash_text(key);
    size_t at = hash & table->mask;

    for (; table->keys[at] != NULL; at = (at + 1) & table->mask) {
        if (table->hashes[at] == hash && strcmp(table->keys[at], key) == 0)
            return false;
    }
    table->keys[at] = key;
    table->hashes[at] = hash;
    return true;
}

void check_keys(const struct draft *draft, struct diagnostics *diagnostics)
{
    struct key_table table;

    if (!table_init(&table, diagnostics->arena, draft->listed_count))
        return;
    for (size_t i = 0; i < draft->listed_count; i++) {
        const struct draft_listed *at = &draft->listed[i];

        if (at->key != NULL && !table_add(&table, at->key))
            diagnostics_add(
                diagnostics, draft->sequences[at->of].key.line + at->lines,
                "there is another sequence with the key '%s'", at->key);
    }
}
