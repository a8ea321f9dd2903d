/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A migration as two topologies and the stores describe it: which pools change,
 * and which keys go with them. Private to migrate.c and migrate_keys.c.
 */
#pragma once

#include <seqbroker/admin.h>

#include "config/config.h"
#include "offline/offline.h"

#define NO_POOL (-1)

/* What one topology says about a key. */
struct place {
    int32_t pool; /* NO_POOL: the topology does not list the key */
    int32_t memory_bits;
    int32_t window_bits;    /* of its windows: its own, or the pool's */
    int32_t value_bits;     /* its numbers are below 2^value_bits */
    int64_t useful;         /* greater ones are too wide; 0: no limit */
    const char *attributes; /* claimed after the bits; NULL: nothing */
};

/* A key from one of the topologies, from the caller, or from a store. */
struct key_entry {
    const char *key;
    int32_t found_in; /* the old pool whose stores know it; NO_POOL: they were
                         not asked */
    struct place was;
    struct place is;
};

/* A key that the stores of an old pool know. */
struct found_key {
    int32_t pool;     /* of the old topology */
    bool is_left_out; /* and that was reported */
    char key[SEQB_KEY_MAX + 1];
};

struct request {
    const struct config_topology *was;
    const struct config_topology *is;
    const struct seqb_migrate_options *options;
    const struct seqb_progress *progress; /* NULL: progress is not shown */
    struct found_key **found;             /* once for each pool */
    size_t found_count;
    void *found_tree;          /* the same, for tsearch */
    struct key_entry *entries; /* sorted, each key once */
    size_t entry_count;
    struct offline_pool *pools; /* the pools to migrate */
    struct offline_key *keys;   /* of all these pools, one after the other */
    size_t pool_count;
};

/* Makes the entries: the keys of both topologies, of the caller, and those that
 * were found. SEQB_INVALID if the caller names one that is no key. */
enum seqb_status request_make_entries(struct request *request,
                                      struct seqb_error *err);

/* Finds the keys that the stores of the old pools know. Reports those that are
 * left out. `*has_more` if any is not among the entries.
 * SEQB_INVALID if a store cannot list the keys of auto_sequences, and the
 * caller names none.
 */
enum seqb_status request_find_keys(struct request *request,
                                   const struct offline_migration *migration,
                                   bool *has_more, struct seqb_error *err);

/* Gives each pool its keys. */
enum seqb_status request_share_keys(struct request *request,
                                    struct seqb_error *err);

/* Frees what is in it. */
void request_free(struct request *request);
