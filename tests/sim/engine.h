/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's engines: <seqbroker/backend.h> over a model store and the
 * network to it. A backend's `path` is the number of its site.
 */
#pragma once

#include "net.h"
#include "store.h"

extern const struct seqb_backend_ops engine_direct;
extern const struct seqb_backend_ops engine_windowed;

#define SITE_TEXT_SIZE 16

struct broker;

/* The connection of one broker to one store, and what was observed of its
 * calls. */
struct site {
    struct store *store;
    struct net_server *server;
    int32_t broker; /* its bit in the server's masks */
    bool is_gone;   /* the broker was killed: nothing is sent any more */
    char path[SITE_TEXT_SIZE];
    struct site *first_here; /* this broker's first site on the same server */

    struct broker *owner;
    int32_t index; /* of the backend */

    /* Called before a connection is attempted, when a reservation is sent that
     * will not be answered in time, and when a reservation was granted. */
    void (*tries)(struct site *site);
    void (*hangs)(struct site *site);
    void (*is_granted)(struct site *site, const struct seqb_request *request);

    /* Used only in the site `first_here`: the fault of the server (its `ills`)
     * in which a connection was refused, and the times of the last two attempts
     * since then. */
    int64_t refused_ill;
    int64_t tried_us[2];

    struct store_mark marks[STORE_CELLS]; /* grants that were acknowledged */
    int32_t mark_count;

    int32_t hung;     /* reservations, except probes, that hung ... */
    int64_t hung_ill; /* ... during this fault of the server (its `ills`) */
};

/* site_add registers the site and gives it a number. site_remove unregisters
 * it. */
void site_add(struct site *site);
void site_remove(struct site *site);
