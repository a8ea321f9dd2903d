/* SPDX-License-Identifier: Apache-2.0 */
/* The keys that were used since a migration, or that a run which was cut off
 * migrated, as listed by the stores. */
#include <stdlib.h>
#include <string.h>

#include "offline/migrate.h"
#include "offline/offline.h"
#include "platform/error.h"
#include "platform/text.h"

#define PAGE_SIZE 512

struct used {
    const struct migrate_side *side;
    const char **keys; /* the given keys, sorted */
    size_t key_count;
    struct seqb_listed *listed; /* PAGE_SIZE elements */
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
    used->listed = calloc(PAGE_SIZE, sizeof *used->listed);
    if (used->keys == NULL || used->listed == NULL) {
        (void)error_set(err, SEQB_NO_MEMORY, "out of memory");
        return SEQB_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++)
        used->keys[i] = keys[i].key;
    used->key_count = count;
    qsort(used->keys, count, sizeof *used->keys, compare);
    return SEQB_OK;
}

static void used_fini(struct used *used)
{
    free(used->keys);
    free(used->listed);
}

/* The key in the counter's name "<prefix><partition>/<key>", which in a period
 * has "@<stamp>" behind it. */
static void key_of(const char *counter, size_t prefix, char out[])
{
    const char *key = strchr(counter + prefix, '/');

    (void)text_copy(out, SEQB_COUNTER_SIZE, key == NULL ? "" : key + 1);
    out[strcspn(out, "@")] = '\0';
}

static enum seqb_status used_error(const struct used *used, int32_t member,
                                   const char *key, struct seqb_error *err)
{
    const struct migrate_side *side = used->side;
    const char *backend = side->stores.stores[member].backend;

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

static enum seqb_status listed_check(const struct used *used, int32_t member,
                                     const char *counter, size_t prefix,
                                     struct seqb_error *err)
{
    char key[SEQB_COUNTER_SIZE];
    const char *find = key;

    key_of(counter, prefix, key);
    if (key[0] == '\0' || bsearch(&find, used->keys, used->key_count,
                                  sizeof *used->keys, compare) != NULL)
        return SEQB_OK;
    return used_error(used, member, key, err);
}

static enum seqb_status prefix_check(const struct used *used, int32_t member,
                                     const char *prefix, struct seqb_error *err)
{
    struct connection *connection = &used->side->connections[member];
    char after[SEQB_COUNTER_SIZE] = "";
    struct seqb_page page = {.prefix = prefix,
                             .after = after,
                             .listed = used->listed,
                             .most = PAGE_SIZE,
                             .count = PAGE_SIZE};

    while (page.count == page.most) {
        if (connection_list(connection, &page, err) != SEQB_OK)
            return err->status;
        for (int32_t i = 0; i < page.count; i++) {
            if (listed_check(used, member, used->listed[i].counter,
                             strlen(prefix), err) != SEQB_OK)
                return err->status;
        }
        if (page.count > 0)
            (void)text_copy(after, sizeof after,
                            used->listed[page.count - 1].counter);
    }
    return SEQB_OK;
}

static enum seqb_status member_check(const struct used *used, int32_t member,
                                     struct seqb_error *err)
{
    static const char *const kinds[] = {"", "window/", SEQB_CELL};
    char prefix[SEQB_COUNTER_SIZE];
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && status == SEQB_OK;
         i++) {
        (void)text_format(prefix, sizeof prefix, "%s%s/", kinds[i],
                          used->side->name);
        status = prefix_check(used, member, prefix, err);
    }
    return status;
}

enum seqb_status used_check(const struct migrate_side *is,
                            const struct offline_key *keys, size_t count,
                            struct seqb_error *err)
{
    struct used used = {.side = is};
    enum seqb_status status = used_init(&used, keys, count, err);

    for (int32_t i = 0; i < is->stores.count && status == SEQB_OK; i++) {
        if (connection_may_list(&is->connections[i]))
            status = member_check(&used, i, err);
    }
    used_fini(&used);
    return status;
}
