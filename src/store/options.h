/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a topology that is about stores: how each is reached, and the
 * layouts of the pools that they form. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#define STORE_BITS_MAX       6 /* 2^6 partitions at most */
#define STORE_PARTITIONS_MAX (1 << STORE_BITS_MAX)

/* An authority that is no partition included. */
#define STORE_MEMBERS_MAX (STORE_PARTITIONS_MAX + 1)

struct store_options {
    const struct seqb_backend_ops *ops;
    const char *password_file; /* read at each open; NULL: `options` has the
                                  password, or there is none */
    const char *sentinel_password_file; /* the same for the sentinels */
    /* `create` is set by the connection. */
    struct seqb_backend_options options;
};

bool store_options_equal(const struct store_options *a,
                         const struct store_options *b);

/* A deep copy, to be freed with store_options_free; NULL when out of memory. */
struct store_options *store_options_copy(const struct store_options *from);

/* NULL is allowed. Overwrites the texts, since some are secrets. */
void store_options_free(struct store_options *options);

/* The layout of a pool: what its numbers mean. */
struct layout {
    const char *name;                         /* the pool's */
    int32_t partitions[STORE_PARTITIONS_MAX]; /* indexes of backends */
    int32_t bits;                             /* 2^bits partitions */
    int32_t generation;   /* counts the pool's layouts from 1; 0 means 1 */
    int32_t authority;    /* index of a direct backend; -1: none */
    int32_t window_bits;  /* a window holds 2^window_bits counter values */
    bool neighbours;      /* every partition counts in windows, which the other
                             direct partitions lease; there is no authority */
    bool all_windowed;    /* every partition but the authority's counts in
                             windows, even if its store does not forget */
    int64_t failover_gap; /* counter values by which a changed store is raised;
                             not claimed */
};

/* All stores of a topology. The arrays are the caller's. */
struct store_topology {
    const struct store_options *backends;
    size_t backend_count;
    const struct layout *const *layouts; /* one for each pool */
    size_t pool_count;
    /* See granted_open. NULL: brokers keep no notes. */
    const char *granted_path;
};
