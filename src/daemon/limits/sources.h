/* SPDX-License-Identifier: Apache-2.0 */
/* How many connections come from one address. Pure counting, on the loop's
 * thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#define SOURCE_NAME_SIZE 64
#define SOURCES_SLOTS    1024 /* of the hash table */

/* An address that somebody is connected from. */
struct source {
    LIST_ENTRY(source) entry; /* in its slot */
    int64_t connections;
    char name[SOURCE_NAME_SIZE];
};

LIST_HEAD(source_list, source);

/* Zeroed knows nobody. */
struct sources {
    struct source_list slots[SOURCES_SLOTS];
};

/* One connection more; false, and none is, if there are `most` already (0: no
 * limit). `*out` is for source_leave; NULL if memory is short: that one is not
 * counted. */
bool source_enter(struct sources *sources, const char *name, int64_t most,
                  struct source **out);

/* One less. Takes NULL. */
void source_leave(struct source *source);
