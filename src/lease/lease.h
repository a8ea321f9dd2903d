/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker id of a pool's snowflakes: leased from one of the pool's direct
 * stores by a thread of its own, renewed whether it is used or not, given back
 * at the end, and taken note of when it is lost. The front header of this
 * folder; what the rows in the store mean is rows.h's.
 */
#pragma once

#include "ha/ha.h"
#include "period/period.h"

struct worker_lease;

/* The snowflakes of a pool. */
struct lease_options {
    int32_t pool;              /* its index */
    struct bits_layout layout; /* the shard is the datacenter, then the worker
                                  id. All ids are below 2^63 by it */
    int32_t datacenter_bits;
    int64_t datacenter; /* of this site */
    int32_t lease_ms;
    const char *broker; /* its name, for who asks who holds a worker id */
};

/* A worker id that is leased; times in ms since 1970. */
struct worker_id {
    uint64_t serial; /* counts the leases and renewals */
    int64_t worker;
    int64_t above_ms; /* ids have later times ... */
    int64_t upto_ms;  /* ... up to that */
    int64_t until_ms; /* CLOCK_BOOTTIME */
};

/* Makes one that asks for nothing yet; `options` outlive it. `*out` is for
 * worker_lease_free, also after a failure but that of the first memory.
 * SEQB_CONFIG: the pool has no direct store; SEQB_NO_MEMORY. */
enum seqb_status worker_lease_new(struct ha *ha,
                                  const struct lease_options *options,
                                  struct worker_lease **out,
                                  struct seqb_error *err);

/* Takes NULL, and one that was started only after worker_lease_end. */
void worker_lease_free(struct worker_lease *lease);

/* Starts its thread. */
enum seqb_status worker_lease_start(struct worker_lease *lease,
                                    struct seqb_error *err);

/* Waits until something is known, whatever it is, until `until_ms`. SEQB_LAYOUT
 * if the pool's snowflakes are of another layout. */
enum seqb_status worker_lease_await(struct worker_lease *lease,
                                    int64_t until_ms, struct seqb_error *err);

/* From here on no id is made with it. Gives it back, as far as the store
 * answers soon, and ends the thread. Before ha_close. */
void worker_lease_end(struct worker_lease *lease);

/* The rest may be called by any thread. */

/* The pool's name. */
const char *worker_lease_pool(const struct worker_lease *lease);

/* SEQB_UNAVAILABLE: there is no lease that is valid, with the reason.
 * SEQB_CLOSED. */
enum seqb_status worker_lease_get(struct worker_lease *lease,
                                  struct worker_id *out,
                                  struct seqb_error *err);

/* Before ids of that time are given: false if they must not be, since another
 * id is leased by now, or it is being given back. Another holder begins after
 * the times that were used. */
bool worker_lease_use(struct worker_lease *lease, const struct worker_id *id,
                      int64_t time_ms);

/* The clock leapt past what the lease allows: it is renewed early, once. */
void worker_lease_hurry(struct worker_lease *lease, const struct worker_id *id);

/* Adds what the store knows of all worker ids of the pool that were ever taken:
 * `*count` of them are there before, and after it; at most `capacity` are in
 * `out`. Waits for the store. SEQB_UNAVAILABLE, SEQB_NO_MEMORY. */
enum seqb_status worker_lease_list(const struct worker_lease *lease,
                                   struct seqb_worker *out, size_t capacity,
                                   size_t *count, struct seqb_error *err);
