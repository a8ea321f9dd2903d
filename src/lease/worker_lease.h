/* SPDX-License-Identifier: Apache-2.0 */
/* The internals of a lease, for the files of this folder alone. */
#pragma once

#include <pthread.h>

#include "lease/lease.h"
#include "lease/rows.h"

#define LEASE_NOBODY     (-1) /* no worker id */
#define LEASE_SWAP_TRIES 4    /* other swaps, or lost answers, may interfere */

/* In the claim of the layout: what follows is not part of the layout. */
#define LEASE_CLAIM_BY " by="

/* A note of a longer lease than a topology can have is damaged. */
#define LEASE_NOTED_MAX_MS INT64_C(3600000)

/* The id that was asked for last. If the answer is lost, this is what is known
 * of the id. */
struct lease_attempt {
    int64_t worker;
    int64_t tenure;
    int64_t above_ms;
};

/* The state of the search through the ids. */
struct lease_search {
    int64_t next;    /* the next id to read */
    int64_t left_ms; /* until the first id could be taken */
    int64_t ahead;   /* ids whose times are ahead of the clock */
    int64_t damaged;
    char holders[160]; /* of the lowest ids, for the error text */
};

struct worker_lease {
    /* Constant, except for the origin, `is_founder` and `noted_ms` in `self`,
     * which belong to the thread. */
    const struct lease_options *options;
    struct ha *ha;
    struct ha_pool *pool;
    int32_t lessors; /* of the pool. Lessor i leases the ids whose remainder is
                        i when divided by this number */
    struct lease_self self;
    pthread_t thread;

    /* Used by the thread alone. */
    int32_t next;     /* the index of the current lessor ... */
    int32_t lessor;   /* ... and its member of the pool */
    int32_t moved;    /* how often the lessor changed since an id was last
                         leased */
    int64_t until_ms; /* by clock_now_ms: no call waits longer than this */
    char origin[SEQB_ORIGIN_SIZE]; /* of the lessor's store; "": unknown */
    int64_t latest_ms; /* in the last call: the later one of the store's clock
                          and ours */
    bool is_claimed;   /* the layout was compared with the store of this
                          origin */
    int64_t id;        /* the row of this id is ours, even if the lease has
                          ended */
    struct lease_row row;
    int64_t above_ms; /* the holder before us may have used times up to this */
    int64_t times_ms; /* with neighbours: the last leased time of the id; 0:
                         none was leased yet */
    struct lease_attempt attempt;
    struct lease_search search;
    struct observation origin_observation;
    struct observation *observations; /* indexed by id */
    int64_t observation_count;

    pthread_mutex_t lock; /* guards the fields below */
    pthread_cond_t changed;
    bool is_started;
    bool is_answered; /* the first result is known: a lease, or why there is
                         none */
    bool is_closing;
    struct worker_id lent; /* `worker` is LEASE_NOBODY: none is lent */
    struct seqb_error why; /* why the last turn failed; SEQB_OK: it succeeded */
    int64_t used_ms;       /* ms since 1970: the highest time of an issued id */
    uint64_t hurried;      /* the serial for which an early renewal was asked */
    bool is_hurried;       /* that renewal is still to be done */
};

/* Of tick.c. Runs one turn on the thread: renews the id, or searches for one.
 * Returns how many ms to wait before the next turn; 0: call it again at
 * once. */
int64_t lease_tick(struct worker_lease *lease);

/* Gives the id back. Called once, when the lease ends. */
void lease_give_back(struct worker_lease *lease);

/* Of claim.c. Claims the layout of the pool's snowflakes, or compares it with
 * the stored claims. SEQB_LAYOUT: they differ. */
enum seqb_status lease_claim(struct worker_lease *lease,
                             struct seqb_error *err);

/* Of search.c. Says whether ids may be taken from this store. SEQB_AGAIN, with
 * the reason: not yet; `*rest_ms` is lowered to the time until then. */
enum seqb_status lease_open_origin(struct worker_lease *lease, int64_t *rest_ms,
                                   struct seqb_error *err);

/* Takes the lowest free id. SEQB_AGAIN: no id is free. SEQB_OK with `*rest_ms`
 * = 0 and no id: some ids were not read yet; call it again. */
enum seqb_status lease_search(struct worker_lease *lease, int64_t *rest_ms,
                              struct seqb_error *err);
void lease_search_begin(struct worker_lease *lease);

/* Of note.c. Appends to the text of the layout's claim which broker wrote it
 * for which member. */
void lease_sign(const struct worker_lease *lease, int32_t member, char *out,
                size_t size);

/* Of note.c, too. The longest lease that the text of the layout's claim notes;
 * 0: none. lease_note_write makes the text that notes the longest one that we
 * know of. lease_note has the member's store do so; `name` is that of the
 * claim. */
int64_t lease_note_read(const char *claim);
void lease_note_write(const struct worker_lease *lease, int32_t member,
                      const char *claim, char *out, size_t size);
enum seqb_status lease_note(struct worker_lease *lease, const char *name,
                            int32_t member, struct seqb_error *err);

/* Of own_row.c. Renews our row. SEQB_AGAIN: another broker took the id, and we
 * have none. */
enum seqb_status lease_renew(struct worker_lease *lease,
                             struct seqb_error *err);

/* Begins to use the id whose row is ours, by a call that was sent at `sent_ms`.
 * In a pool with neighbours its times are leased first (lease_times).
 * SEQB_AGAIN: those times are ahead of the clock; the id was returned. */
enum seqb_status lease_enter(struct worker_lease *lease, int64_t sent_ms,
                             struct seqb_error *err);

/* Marks the id in its row as free, if the row is still ours. */
void lease_row_return(struct worker_lease *lease);

/* Of times.c, in a pool with neighbours: leases the times of the id's row from
 * the id's lessor. No other broker ever gets these times, whatever the rows
 * say. SEQB_AGAIN: another broker has later ones; take another id. */
enum seqb_status lease_times(struct worker_lease *lease,
                             struct seqb_error *err);

/* Of lend.c. lease_gain: a lease begins, counted from `sent_ms`, before the
 * call that asked for it. lease_lose: the id is not ours. lease_fail: the last
 * turn failed. */
void lease_gain(struct worker_lease *lease, int64_t sent_ms);
void lease_lose(struct worker_lease *lease, const struct seqb_error *why);
void lease_fail(struct worker_lease *lease, const struct seqb_error *why);

/* For how many ms the lent worker id is still valid; 0: none is. */
int64_t lease_left_ms(struct worker_lease *lease);

/* Of store.c. Reads a text of a member's store (`about->text` is NULL), or
 * replaces it. `standing` gets the stored text; it has HA_TEXT_SIZE.
 * SEQB_FENCED: the member is the lessor, and its origin is not `origin`.
 * SEQB_CLOSED. Any other failure is SEQB_UNAVAILABLE. */
enum seqb_status lease_text(struct worker_lease *lease, int32_t member,
                            const struct seqb_swap *about, char *standing,
                            struct seqb_error *err);

/* Reads a text of the lessor's store. */
enum seqb_status lease_poll(struct worker_lease *lease, const char *name,
                            char *standing, struct seqb_error *err);

/* Replaces a text of the lessor's store. SEQB_AGAIN: the store has another text
 * than expected; it is in `standing`. */
enum seqb_status lease_swap(struct worker_lease *lease,
                            const struct seqb_swap *about, char *standing,
                            struct seqb_error *err);

/* "<kind>/<the pool's internal name>"; for the row of an id
 * "worker/<pool>/<id>". */
void lease_claim_name(const struct worker_lease *lease, const char *kind,
                      char *out, size_t size);
void lease_row_name(const struct worker_lease *lease, int64_t id, char *out,
                    size_t size);

/* The number of worker ids; and the member of the pool that leases an id. */
int64_t lease_ids(const struct worker_lease *lease);
int32_t lease_lessor_of(const struct worker_lease *lease, int64_t id);
