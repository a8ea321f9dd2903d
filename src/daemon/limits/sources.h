/* SPDX-License-Identifier: Apache-2.0 */
/* How many connections come from one address. Pure counting, on the loop's
 * thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#define SOURCE_NAME_SIZE 64
#define SOURCES_SLOTS    1024 /* of the hash table */

/* An address from which clients are connected. */
struct source {
    LIST_ENTRY(source) entry; /* in its slot */
    int64_t connections;
    char name[SOURCE_NAME_SIZE];
};

LIST_HEAD(source_list, source);

/* A zeroed table is empty. */
struct sources {
    struct source_list slots[SOURCES_SLOTS];
};

/* Counts a connection from the address. False, and not counted, if it has
 * `most` already (0: no limit). `*out` is for source_leave; it is NULL if
 * memory is short, and the connection is not counted then. */
bool source_enter(struct sources *sources, const char *name, int64_t most,
                  struct source **out);

/* A connection has ended. NULL is allowed. */
void source_leave(struct source *source);
