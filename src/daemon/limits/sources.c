/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table of addresses; see sources.h. */
#include "daemon/limits/sources.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct source_list *sources_slot(struct sources *sources,
                                        const char *name)
{
    uint32_t hash = 0x811c9dc5; /* FNV-1a */

    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 0x01000193;
    return &sources->slots[hash % SOURCES_SLOTS];
}

static struct source *source_new(struct source_list *slot, const char *name)
{
    struct source *source = calloc(1, sizeof *source);

    if (source == NULL)
        return NULL;
    snprintf(source->name, sizeof source->name, "%s", name);
    LIST_INSERT_HEAD(slot, source, entry);
    return source;
}

bool source_enter(struct sources *sources, const char *name, int64_t most,
                  struct source **out)
{
    struct source_list *slot = sources_slot(sources, name);
    struct source *source = NULL;

    LIST_FOREACH(source, slot, entry)
        if (strcmp(source->name, name) == 0)
            break;
    *out = NULL;
    if (source != NULL && most > 0 && source->connections >= most)
        return false;
    if (source == NULL)
        source = source_new(slot, name);
    if (source != NULL)
        source->connections++;
    *out = source;
    return true;
}

void source_leave(struct source *source)
{
    if (source == NULL || --source->connections > 0)
        return;
    LIST_REMOVE(source, entry);
    free(source);
}
