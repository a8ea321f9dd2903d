/* SPDX-License-Identifier: Apache-2.0 */
/* The keys that were used since a migration, or that a run which was cut off
 * migrated, as listed by the stores. */
#include <stdlib.h>
#include <string.h>

#include "offline/migrate.h"
#include "offline/offline.h"
#include "platform/error.h"
#include "platform/text.h"

struct used {
    const struct migrate_side *side;
    int32_t member;    /* that is listed */
    const char **keys; /* the given keys, sorted */
    size_t key_count;
};

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum seqb_status used_init(struct used *used,
                                  const struct offline_key *keys, size_t count,
                                  struct seqb_error *err)
{
    used->keys = calloc(count + 1, sizeof *used->keys);
    if (used->keys == NULL) {
        (void)error_set(err, SEQB_NO_MEMORY, "out of memory");
        return SEQB_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++)
        used->keys[i] = keys[i].key;
    used->key_count = count;
    qsort(used->keys, count, sizeof *used->keys, compare);
    return SEQB_OK;
}

static enum seqb_status used_error(const struct used *used, const char *key,
                                   struct seqb_error *err)
{
    const struct migrate_side *side = used->side;
    const char *backend = side->stores.stores[used->member].backend;

    if (layout_find_claim(&side->stores) == NULL)
        return error_set(err, SEQB_LAYOUT,
                         "sequence %s was begun by a migration of pool %s to "
                         "generation %d that was cut off, as backend %s says; "
                         "nothing was changed; run seqctl migrate with every "
                         "key of that run in --keys FILE",
                         key, side->layout->name, (int)side->layout->generation,
                         backend);
    return error_set(err, SEQB_LAYOUT,
                     "sequence %s was used in generation %d of pool %s, as "
                     "backend %s says, and another store went back to before "
                     "that; nothing was changed; run seqctl migrate with every "
                     "key that was used since in --keys FILE",
                     key, (int)side->layout->generation, side->layout->name,
                     backend);
}

static enum seqb_status counter_check(void *context, const char *rest,
                                      struct seqb_error *err)
{
    const struct used *used = context;
    char key[SEQB_COUNTER_SIZE];
    const char *find = key;

    side_key_of(rest, key);
    if (key[0] == '\0' || bsearch(&find, used->keys, used->key_count,
                                  sizeof *used->keys, compare) != NULL)
        return SEQB_OK;
    return used_error(used, key, err);
}

enum seqb_status used_check(const struct migrate_side *is,
                            const struct offline_key *keys, size_t count,
                            struct seqb_error *err)
{
    struct used used = {.side = is};
    struct side_names names = {.visit = counter_check, .context = &used};
    enum seqb_status status = used_init(&used, keys, count, err);

    for (int32_t i = 0; i < is->stores.count && status == SEQB_OK; i++) {
        used.member = i;
        if (connection_may_list(&is->connections[i]))
            status = side_list_counters(is, i, &names, err);
    }
    free(used.keys);
    return status;
}
