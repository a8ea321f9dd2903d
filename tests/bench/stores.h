/* SPDX-License-Identifier: Apache-2.0 */
/* One private, durable store an engine, ready for a broker, for an engine
 * alone and for a direct client. */
#pragma once

#include <stddef.h>

#include <seqbroker/backend.h>

#include "bench/direct.h"

#define STORES_MAX 7

/* Places of a pool in each store: "d0" ... "d3", and so on. */
#define STORE_PLACES  4
#define STORE_LETTERS "dsl"

struct store {
    const struct seqb_backend_ops *ops;
    const struct direct_kind *direct;
    struct seqb_backend_options options;
    char settings[256];   /* of the backend in a topology file, but for: */
    const char *place;    /* the setting that tells stores on a server apart */
    const char *suffix;   /* of its value, which begins "b<memory bits>", or
                             as STORE_PLACES says */
    char folder[64];      /* for files, shared by all */
    char path[96];        /* sqlite: the engine's own file ... */
    char direct_path[96]; /* ... and the direct client's */
    int32_t port;         /* 0: no server */
};

/* Starts what is needed, which ends with the program; files are in `folder`,
 * which SEQBROKER_STATE_DIR is set to. How many there are. */
size_t stores_start(struct store stores[STORES_MAX], const char *folder);

/* The same for etcd, where it is built: one store, behind those. */
size_t stores_add_etcd(struct store *out, const char *folder);
