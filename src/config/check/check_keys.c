/* SPDX-License-Identifier: Apache-2.0 */
/* That each sequence has a key of its own. There may be very many: a table
 * finds those that come twice, in the order of the topology. */
#include "config/check/check.h"

#include <string.h>

#include "config/settings/settings.h"
#include "config/source/source.h"
#include "platform/hash.h"

/* Keys by their hash, of which at most half of the places are taken. */
struct key_table {
    const char **keys;
    uint32_t *hashes; /* compared first: most keys that meet differ there */
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

/* False: it is there already. */
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
