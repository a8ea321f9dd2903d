/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runs without a broker, on connections alone: looking at all stores, and
 * moving a pool to another layout. The front header of this folder.
 */
#pragma once

#include <stdbool.h>

#include <seqbroker/admin.h>

#include "store/store.h"

/* A listed sequence whose direct counters are plain ones: of no period. */
struct offline_listed {
    size_t pool;
    const char *key;
};

struct offline_inspection {
    const struct store_topology *topology;
    const struct offline_listed *listed;
    size_t listed_count;
    const struct seqb_progress *progress; /* may be NULL */
};

/* See seqb_probe_topology. All of the listener but `mistake` are
 * told. */
enum seqb_status offline_probe(const struct offline_inspection *options,
                               const struct seqb_probe_listener *listener,
                               struct seqb_error *err);

/* Tells of each partition how it counts, why, and who leases its windows; and
 * of each pool what would have to go back for a number to repeat. Pure. */
void offline_explain(const struct store_topology *topology,
                     void (*report)(void *context, const char *line),
                     void *context);

/* One sequence of a pool that is migrated. */
struct offline_key {
    const char *key;
    int32_t was_bits;        /* memory bits; -1: the old topology does not say,
                                nor of its windows */
    int32_t is_bits;         /* the same of the new one */
    int32_t was_window_bits; /* of its windows, its own or the pool's */
    int32_t is_window_bits;  /* the same of the new one */
    int32_t is_value_bits;   /* its numbers are below 2^is_value_bits there */
    int64_t was_useful;      /* numbers above it are too wide; 0: none is */
    int64_t is_useful;       /* the same of the new one */
    const char *attributes;  /* claimed after them, in both; NULL: nothing */
};

/* A pool of the old options and its next generation in the new ones. */
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
    const char *without; /* an old backend that is gone; NULL: none */
    bool dry_run;
    void (*report)(void *context, const char *line); /* may be NULL */
    void *context;
    const struct seqb_progress *progress; /* may be NULL */
};

/* See seqb_migrate. The pools are those of both that are to be migrated. */
enum seqb_status offline_migrate(const struct offline_migration *options,
                                 struct seqb_error *err);

/* A lessor that the operator believes: the partition of a pool. */
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
