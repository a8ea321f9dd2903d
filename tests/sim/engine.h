/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engines of the simulator: <seqbroker/backend.h> over a model store and
 * the way to it. A backend's `path` is the number of its site.
 */
#pragma once

#include "net.h"
#include "store.h"

extern const struct seqb_backend_ops engine_direct;
extern const struct seqb_backend_ops engine_windowed;

#define SITE_TEXT_SIZE 16

struct broker;

/* Where one broker reaches one store, and what was seen of its calls. */
struct site {
    struct store *store;
    struct net_server *server;
    int32_t broker; /* bit in the server's masks */
    bool is_gone;   /* the broker was killed: nothing is sent */
    char path[SITE_TEXT_SIZE];
    struct site *first_here; /* of this broker's on the same server */

    struct broker *owner;
    int32_t index; /* of the backend */

    /* Called before a connection is tried, when a reservation is sent that
     * will not be answered in time, and when one was granted. */
    void (*tries)(struct site *site);
    void (*hangs)(struct site *site);
    void (*is_granted)(struct site *site, const struct seqb_request *request);

    /* In first_here alone: the illness of the server in which a connection was
     * refused, and the latest two attempts since then. */
    int64_t refused_ill;
    int64_t tried_us[2];

    struct store_mark marks[STORE_CELLS]; /* what was granted, acknowledged */
    int32_t mark_count;

    int32_t hung;     /* reservations that hung, other than probes ... */
    int64_t hung_ill; /* ... in this illness of the server */
};

/* Gives the site a number, until site_remove. */
void site_add(struct site *site);
void site_remove(struct site *site);
