/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stores of one pool by one topology, as a migration uses them: each with
 * a connection of its own, one call after the other, on the thread that
 * migrates, and under the watchdog.
 */
#pragma once

#include "offline/migrate_plan.h"
#include "store/store.h"

struct migrate_side {
    const struct layout *layout;
    struct layout_claim claim;      /* as it is made */
    struct connection *connections; /* by member */
    struct layout_stores stores;    /* as they were found */
    char name[LAYOUT_POOL_SIZE];    /* internal */
};

/* A counter of values, or the authority's counter of windows. */
struct migrate_counter {
    struct connection *connection; /* to its store */
    bool is_windowed;
    char name[SEQB_COUNTER_SIZE];
    int64_t limit;    /* the largest value or window of the layout */
    int64_t gap;      /* if its store changed */
    int64_t base_gap; /* likewise */
};

enum side_stores {
    SIDE_ALL,  /* each must be there */
    SIDE_SOME, /* those that may be made can be missing */
    SIDE_MAKE  /* those that are missing are made */
};

/* For a pool of the options, which must outlive it; not connected. */
enum seqb_status side_new(const struct store_topology *topology, size_t pool,
                          struct watchdog *watchdog, struct migrate_side **out,
                          struct seqb_error *err);

/* Disconnects. Takes NULL and half-built ones. */
void side_free(struct migrate_side *side);

/* Opens the stores that are not open. */
enum seqb_status side_connect(struct migrate_side *side,
                              enum side_stores stores, struct seqb_error *err);

/* Reads what the open stores claim, and compares it with the topology.
 * SEQB_LAYOUT if they are at odds. Writes nothing. */
enum seqb_status side_look(struct migrate_side *side, struct seqb_error *err);

bool side_is_windowed(const struct migrate_side *side, int32_t member);

/* Whether any partition is windowed, or direct. */
bool side_has(const struct migrate_side *side, bool windowed);

/* The memory bits that the open stores claim for a sequence, -1 if none does.
 * SEQB_LAYOUT if two differ, or claim other terms. */
enum seqb_status side_look_bits(struct migrate_side *side, const char *key,
                                const char *terms, int32_t *out,
                                struct seqb_error *err);

/* The counter of a partition. */
void side_counter(struct migrate_side *side, const struct migrate_shape *shape,
                  const char *key, int32_t partition,
                  struct migrate_counter *out);

/* Takes one value, the largest that was granted so far. One of a store that
 * changed is raised first, as by a broker. SEQB_EXHAUSTED if there is none up
 * to `limit`. */
enum seqb_status counter_take(const struct migrate_counter *counter,
                              int64_t limit, int64_t *out,
                              struct seqb_error *err);

/* No later value is at or below `floor`, and none is stored above `limit`. */
enum seqb_status counter_raise(const struct migrate_counter *counter,
                               int64_t floor, int64_t limit,
                               struct seqb_error *err);
