/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease of a pool's worker id for its snowflakes. A thread of its own takes
 * the worker id from one of the pool's direct stores, renews it whether it is
 * used or not, notices its loss, and gives it back at the end. This is the
 * front header of the folder. rows.h says what the rows in the store mean.
 */
#pragma once

#include "ha/ha.h"
#include "period/period.h"

struct worker_lease;

/* The snowflakes of a pool. */
struct lease_options {
    int32_t pool;              /* its index */
    struct bits_layout layout; /* the field `shard` holds the datacenter, then
                                  the worker id. The layout keeps all ids below
                                  2^63 */
    int32_t datacenter_bits;
    int64_t datacenter; /* of this site */
    int32_t lease_ms;
    const char *broker; /* the broker's name: rows show it as the holder */
};

/* A worker id that is leased; times in ms since 1970. */
struct worker_id {
    uint64_t serial; /* counts the leases and renewals */
    int64_t worker;
    int64_t above_ms; /* ids have times later than this ... */
    int64_t upto_ms;  /* ... and at most this */
    int64_t until_ms; /* CLOCK_BOOTTIME */
};

/* Makes a lease that asks for nothing yet. `options` must outlive it. The
 * caller frees `*out` with worker_lease_free, after a failure too; it is not
 * set only if the first allocation fails. SEQB_CONFIG: the pool has no direct
 * store. SEQB_NO_MEMORY. */
enum seqb_status worker_lease_new(struct ha *ha,
                                  const struct lease_options *options,
                                  struct worker_lease **out,
                                  struct seqb_error *err);

/* NULL is allowed. A lease that was started has to be ended first
 * (worker_lease_end). */
void worker_lease_free(struct worker_lease *lease);

/* Starts its thread. */
enum seqb_status worker_lease_start(struct worker_lease *lease,
                                    struct seqb_error *err);

/* Waits until the first result, a lease or a failure, but not past `until_ms`.
 * SEQB_LAYOUT if the pool's snowflakes have another layout. */
enum seqb_status worker_lease_await(struct worker_lease *lease,
                                    int64_t until_ms, struct seqb_error *err);

/* From here on no id is made with this lease. It gives the worker id back, if
 * the store answers in time, and ends the thread. Call it before ha_close. */
void worker_lease_end(struct worker_lease *lease);

/* Any thread may call the functions below. */

/* The pool's name. */
const char *worker_lease_pool(const struct worker_lease *lease);

/* SEQB_UNAVAILABLE, with the reason: no lease is valid. SEQB_CLOSED. */
enum seqb_status worker_lease_get(struct worker_lease *lease,
                                  struct worker_id *out,
                                  struct seqb_error *err);

/* Call it before ids of `time_ms` are issued. False if they must not be issued,
 * since another worker id is leased by now, or this one is being given back.
 * The next holder of the worker id begins after the times that were used. */
bool worker_lease_use(struct worker_lease *lease, const struct worker_id *id,
                      int64_t time_ms);

/* Renews a lease early, once for each lease: the clock jumped past the times
 * that it allows. */
void worker_lease_hurry(struct worker_lease *lease, const struct worker_id *id);

/* Appends what the stores know of all worker ids of the pool that were ever
 * taken. `*count` is the number of entries before the call and after it; `out`
 * holds at most `capacity` of them. Waits for the stores. SEQB_UNAVAILABLE,
 * SEQB_NO_MEMORY. */
enum seqb_status worker_lease_list(const struct worker_lease *lease,
                                   struct seqb_worker *out, size_t capacity,
                                   size_t *count, struct seqb_error *err);
