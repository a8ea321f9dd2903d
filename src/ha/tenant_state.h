/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a tenant, for the files of tenants alone. */
#pragma once

#include "ha/lease.h"
#include "ha/worker.h"

#define TENANT_NOBODY (-1) /* no worker id */

/* What the local partition's engine is told. */
struct tenant_lease {
    int64_t worker; /* the id; TENANT_NOBODY: there is none */
    int64_t above_ms;
    int64_t upto_ms;
    int64_t until_ms; /* CLOCK_BOOTTIME */
};

/* An id that was asked for: what is known of it if the answer is lost. */
struct tenant_attempt {
    int64_t worker;
    int64_t tenure;
    int64_t above_ms;
};

/* What was found on the way through the ids. */
struct tenant_search {
    int64_t next;    /* the id to look at next */
    int64_t left_ms; /* until the first one could be taken */
    int64_t ahead;   /* ids whose times are ahead of the clock */
    int64_t damaged;
    char holders[160]; /* the first ones */
};

struct tenant {
    struct worker_job job; /* first: it is posted to the authority */
    /* Constant, but for the origin in `self`, which is the authority's
     * thread's. */
    struct ha_pool *pool;
    int32_t partition;
    struct worker *worker; /* the partition's */
    struct worker *authority;
    struct bits_layout layout;
    struct lease_self self;

    /* The authority's thread's own. */
    int64_t id; /* whose row is ours, even if the lease has ended */
    struct lease_row row;
    int64_t above_ms; /* what its holder before us may have used */
    struct tenant_attempt attempt;
    struct tenant_search search;
    struct lease_sight origin_sight;
    struct lease_sight *sights; /* by id */
    int64_t sight_count;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    bool is_started;
    bool is_posted;
    bool is_answered; /* something is known: a lease, or why there is none */
    bool is_closing;
    bool is_closed; /* nothing more will be done */
    int64_t due_ms; /* by clock_now_ms: when to work again */
    struct tenant_lease lease;
    uint64_t serial;       /* counts the leases */
    struct seqb_error why; /* the last turn failed; status OK: it did not */

    /* The highest time granted, ms since 1970. Relaxed: it is read while the
     * partition's worker cannot run. */
    _Atomic int64_t used_ms;

    /* The partition's worker's own. */
    uint64_t installed;    /* the serial of the lease that the engine has ... */
    uint64_t installed_on; /* ... on this connection */
    uint64_t hurried;      /* the serial of one that was to be renewed early */
};

/* On the authority's thread: does what is to be done now. Returns how long to
 * wait with the next turn, in ms; 0: there is more to do. */
int64_t tenant_turn(struct tenant *tenant);

/* Likewise, at the end: gives the id back. */
void tenant_give_back(struct tenant *tenant);

/* The rest of that thread's. */

/* Whether ids may be had. SEQB_AGAIN: not yet, with the reason; `*rest_ms` is
 * lowered to when. */
enum seqb_status tenant_open_origin(struct tenant *tenant, int64_t *rest_ms,
                                    struct seqb_error *err);

/* Takes the lowest id that is free. SEQB_AGAIN: none is. SEQB_OK, and
 * `*rest_ms` is 0: not all were looked at yet. */
enum seqb_status tenant_search(struct tenant *tenant, int64_t *rest_ms,
                               struct seqb_error *err);
void tenant_search_begin(struct tenant *tenant);

/* Of tenant_lend.c: there is a lease from now on, reckoned from
 * before it was asked for; there is none; the last turn failed. */
void tenant_gain(struct tenant *tenant, int64_t sent_ms);
void tenant_lose(struct tenant *tenant, const struct seqb_error *why);
void tenant_fail(struct tenant *tenant, const struct seqb_error *why);
