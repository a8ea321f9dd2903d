/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runs without a broker, with connections alone: the probe of all stores,
 * and the migration of a pool to another layout. This is the front header of
 * the folder.
 */
#pragma once

#include <stdbool.h>

#include <seqbroker/admin.h>

#include "store/store.h"

/* A listed sequence without a period: its direct counters have no stamp in
 * their names. */
struct offline_listed {
    size_t pool;
    const char *key;
};

struct offline_inspection {
    const struct store_topology *topology;
    const struct offline_listed *listed;
    size_t listed_count;
    bool has_automatic;    /* auto_sequences with plain counters */
    size_t automatic_pool; /* read only then */
    const struct seqb_progress *progress; /* may be NULL */
};

/* See seqb_probe_topology. Calls all functions of the listener but
 * `mistake`. */
enum seqb_status offline_probe(const struct offline_inspection *options,
                               const struct seqb_probe_listener *listener,
                               struct seqb_error *err);

/* Reports for each partition how it counts, why, and which stores lease its
 * windows; and for each pool which stores would have to go back for a number to
 * repeat. Pure. */
void offline_explain(const struct store_topology *topology,
                     void (*report)(void *context, const char *line),
                     void *context);

/* One sequence of a pool that is migrated. */
struct offline_key {
    const char *key;
    int32_t was_bits;        /* memory bits; -1: the old topology does not list
                                the sequence, and was_window_bits is unknown
                                too */
    int32_t is_bits;         /* memory bits in the new topology, or -1 */
    int32_t was_window_bits; /* of its windows: its own, or the pool's */
    int32_t is_window_bits;  /* the same in the new topology */
    int32_t is_value_bits;   /* in the new layout its numbers are below
                                2^is_value_bits */
    int64_t was_useful;      /* greater numbers are too wide; 0: there is no
                                limit */
    int64_t is_useful;       /* the same in the new topology */
    const char *attributes;  /* claimed after the bits, in both layouts; NULL:
                                nothing */
};

/* A pool of the old topology, and its next generation in the new one. */
struct offline_pool {
    size_t was;
    size_t is;
    const struct offline_key *keys;
    size_t key_count;
};

struct offline_migration {
    const struct store_topology *was;
    const struct store_topology *is;
    const struct offline_pool *pools;
    size_t pool_count;
    const char *without; /* the backend of an old partition that is lost;
                            NULL: none */
    bool dry_run;
    void (*report)(void *context, const char *line); /* may be NULL */
    void *context;
    const struct seqb_progress *progress; /* may be NULL */
};

/* What becomes of the keys that the stores of the old pools know. `pool` is an
 * index into the pools of the migration. */
struct offline_finder {
    /* Called for each key, perhaps several times. Sets `*is_new` if the key is
     * new to it, and no topology lists it by its name. */
    enum seqb_status (*found)(void *context, size_t pool, const char *key,
                              bool *is_new, struct seqb_error *err);
    /* Called for such a key then. `attributes` is what its claim says behind
     * the bits; NULL if no store claims it. */
    void (*claimed)(void *context, size_t pool, const char *key,
                    const char *attributes);
    /* Called if a store that keeps its data cannot list its keys. */
    enum seqb_status (*mute)(void *context, size_t pool, const char *backend,
                             struct seqb_error *err);
    void *context;
};

/* Asks every store of the old pools but `without`. Errors as for a migration;
 * changes nothing. */
enum seqb_status offline_find_keys(const struct offline_migration *options,
                                   const struct offline_finder *finder,
                                   struct seqb_error *err);

/* See seqb_migrate. `pools` are the pools to migrate; both topologies have
 * them. */
enum seqb_status offline_migrate(const struct offline_migration *options,
                                 struct seqb_error *err);

/* A lessor, the partition of a pool, whose store did not go back by the
 * operator's word. */
struct offline_trust {
    const struct store_topology *topology;
    size_t pool;
    int32_t partition;
    bool dry_run;
    void (*report)(void *context, const char *line); /* may be NULL */
    void *context;
};

/* See seqb_trust. */
enum seqb_status offline_trust(const struct offline_trust *options,
                               struct seqb_error *err);
