/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a lease, for the files of this folder alone. */
#pragma once

#include <pthread.h>

#include "lease/lease.h"
#include "lease/rows.h"

#define LEASE_NOBODY     (-1) /* no worker id */
#define LEASE_SWAP_TRIES 4    /* others, or lost answers, may come in between */

/* An id that was asked for: what is known of it if the answer is lost. */
struct lease_attempt {
    int64_t worker;
    int64_t tenure;
    int64_t above_ms;
};

/* What was found on the way through the ids. */
struct lease_search {
    int64_t next;    /* the id to look at next */
    int64_t left_ms; /* until the first one could be taken */
    int64_t ahead;   /* ids whose times are ahead of the clock */
    int64_t damaged;
    char holders[160]; /* the first ones */
};

struct worker_lease {
    /* Constant, but for the origin in `self`, which is the thread's. */
    const struct lease_options *options;
    struct ha *ha;
    struct ha_pool *pool;
    int32_t lessors; /* of the pool; each leases the ids that leave its index
                        when they are divided by that number */
    struct lease_self self;
    pthread_t thread;

    /* The thread's own. */
    int32_t next;     /* the index of the lessor that is asked now ... */
    int32_t lessor;   /* ... and the member of the pool that it is */
    int32_t moved;    /* to so many lessors since an id was had */
    int64_t until_ms; /* by clock_now_ms: no call is waited for longer */
    char origin[SEQB_ORIGIN_SIZE]; /* of the lessor's store; "": not known */
    int64_t latest_ms; /* the later clock, the store's or ours, in a call */
    bool is_claimed;   /* the layout was compared, in this origin */
    int64_t id;        /* whose row is ours, even if the lease has ended */
    struct lease_row row;
    int64_t above_ms; /* what its holder before us may have used */
    int64_t times_ms; /* of neighbours: the last time of the id that is ours; 0:
                         none is yet */
    struct lease_attempt attempt;
    struct lease_search search;
    struct observation origin_observation;
    struct observation *observations; /* by id */
    int64_t observation_count;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    bool is_started;
    bool is_answered; /* something is known: a lease, or why there is none */
    bool is_closing;
    struct worker_id lent; /* worker is LEASE_NOBODY: there is none */
    struct seqb_error why; /* the last turn failed; status OK: it did not */
    int64_t used_ms;       /* the highest time of any id, ms since 1970 */
    uint64_t hurried;      /* the serial of one that was to be renewed early */
    bool is_hurried;       /* and it is to be done still */
};

/* Of turn.c: on the thread, does what is to be done now. Returns how long to
 * wait with the next turn, in ms; 0: there is more to do. */
int64_t lease_tick(struct worker_lease *lease);

/* At the end: gives the id back. */
void lease_give_back(struct worker_lease *lease);

/* Of claim.c. Claims the layout of the pool's snowflakes, or compares it:
 * SEQB_LAYOUT. */
enum seqb_status lease_claim(struct worker_lease *lease,
                             struct seqb_error *err);

/* Of search.c. Whether ids may be had. SEQB_AGAIN: not yet, with the reason;
 * `*rest_ms` is lowered to when. */
enum seqb_status lease_open_origin(struct worker_lease *lease, int64_t *rest_ms,
                                   struct seqb_error *err);

/* Takes the lowest id that is free. SEQB_AGAIN: none is. SEQB_OK, and
 * `*rest_ms` is 0: not all were looked at yet. */
enum seqb_status lease_search(struct worker_lease *lease, int64_t *rest_ms,
                              struct seqb_error *err);
void lease_search_begin(struct worker_lease *lease);

/* Of own_row.c. SEQB_AGAIN: somebody else has it, and we have none. */
enum seqb_status lease_renew(struct worker_lease *lease,
                             struct seqb_error *err);

/* Its row is ours, by a call that was sent then: so is the id from now on. In a
 * pool with neighbours as lease_times says; SEQB_AGAIN: we have none. */
enum seqb_status lease_enter(struct worker_lease *lease, int64_t sent_ms,
                             struct seqb_error *err);

/* Says in its row that the id is nobody's any more, if it is still ours. */
void lease_row_return(struct worker_lease *lease);

/* Of times.c, in a pool with neighbours: leases the times of the id's row from
 * its lessor, so that no other broker has them, ever, whatever the rows say.
 * SEQB_AGAIN: somebody else has later ones; another id will do. */
enum seqb_status lease_times(struct worker_lease *lease,
                             struct seqb_error *err);

/* Of lend.c: there is a lease from now on, reckoned from before it was asked
 * for; the id is not ours; the last turn failed. */
void lease_gain(struct worker_lease *lease, int64_t sent_ms);
void lease_lose(struct worker_lease *lease, const struct seqb_error *why);
void lease_fail(struct worker_lease *lease, const struct seqb_error *why);

/* How long what is lent is still good. */
int64_t lease_left_ms(struct worker_lease *lease);

/* Of store.c. Looks at a text (its new one NULL) or replaces it in a member's
 * store; `standing` has HA_TEXT_SIZE. SEQB_FENCED: it is the lessor's, and its
 * origin is not `origin`; SEQB_CLOSED; else SEQB_UNAVAILABLE. */
enum seqb_status lease_text(struct worker_lease *lease, int32_t member,
                            const struct seqb_swap *about, char *standing,
                            struct seqb_error *err);

/* The same in the lessor's. */
enum seqb_status lease_poll(struct worker_lease *lease, const char *name,
                            char *standing, struct seqb_error *err);

/* SEQB_AGAIN: something else stands there, which is in `standing`. */
enum seqb_status lease_swap(struct worker_lease *lease,
                            const struct seqb_swap *about, char *standing,
                            struct seqb_error *err);

/* "<kind>/<the pool's internal name>", and of an id "worker/<pool>/<id>". */
void lease_claim_name(const struct worker_lease *lease, const char *kind,
                      char *out, size_t size);
void lease_row_name(const struct worker_lease *lease, int64_t id, char *out,
                    size_t size);

/* How many worker ids there are; and the member of the pool that leases one. */
int64_t lease_ids(const struct worker_lease *lease);
int32_t lease_lessor_of(const struct worker_lease *lease, int64_t id);
