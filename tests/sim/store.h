/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of a store: counters with the rules of <seqbroker/backend.h>, and
 * what may happen to them. Pure. net.h and engine.h decide whether and when a
 * command arrives.
 *
 * A store has two sides, like a server and its replica. Side 0 serves. Side 1
 * is used while brokers are led to it, by a split brain or a wrong address.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#define STORE_PASTS     2
#define STORE_CELLS     1024
/* Each broker reaches the store by other addresses. */
#define STORE_CLAIMS    1024
#define STORE_ROWS      48
#define STORE_NAME_SIZE 64  /* of a row */
#define STORE_TEXT_SIZE 256 /* of a row */

/* Guards that a model may lack, to show that the simulator notices it. */
enum store_guard {
    STORE_ORIGIN = 1, /* a cell's origin is compared with the store's */
    STORE_REPLID = 2, /* the origin changes when a replica is promoted again */
    STORE_ROLE = 4,   /* a replica refuses commands */
    STORE_GAP = 8,    /* a direct counter with a foreign origin is raised */
    STORE_BASE = 16,  /* the base of direct counters is raised, too */
    STORE_SPREAD = 32 /* a raise includes a random part */
};

#define STORE_GUARDS 6

extern const struct store_guard_name {
    const char *name;
    enum store_guard guard;
} store_guards[STORE_GUARDS];

struct store_cell {
    /* "": a direct store's base; "@...": not a counter, but a time. */
    char counter[SEQB_COUNTER_SIZE];
    int64_t value;   /* last value granted; windowed: offsets used; a time: ms
                        since 1970 */
    int64_t skipped; /* direct: number of its values that were never granted */
    int64_t origin;
    int64_t run;    /* of the server; compared only in a direct store's cells */
    int64_t window; /* windowed only, like the members below */
    int64_t size;
    int64_t until_us; /* when it expires; 0: never */
};

/* A text stored by swap. */
struct store_row {
    char name[STORE_NAME_SIZE];
    char text[STORE_TEXT_SIZE];
};

/* What goes back together. */
struct store_content {
    struct store_cell cells[STORE_CELLS];
    int32_t count;
    bool has_claim[STORE_CLAIMS]; /* indexed as the store's `claims` */
    struct store_row rows[STORE_ROWS];
    int32_t row_count;
};

struct store_side {
    struct store_content content;
    int64_t server;  /* identifies the server, or process */
    int64_t history; /* changes with each promotion */
    int64_t run;     /* its incarnation: changes with each start */
    bool is_replica;
};

/* The last value of a counter that a broker was granted. */
struct store_mark {
    char counter[SEQB_COUNTER_SIZE];
    int64_t value;
};

struct store_claim {
    char *name;
    char *text;
};

struct store {
    bool is_windowed;
    int without;     /* missing guards (enum store_guard) */
    uint32_t aside;  /* bit b: broker b is led to side 1 */
    int64_t servers; /* last number given to a server, history or run */
    struct store_side sides[2];
    struct store_content copy;               /* a backup, or a replica's data */
    struct store_side pasts[STORE_PASTS];    /* disks that may be put back */
    struct store_claim claims[STORE_CLAIMS]; /* ever made */
    bool has_claim[STORE_CLAIMS];            /* those that are there ... */
    bool claims_go_back; /* ... or the content says which are there */
    int32_t claim_count;
    bool went_back;   /* to an earlier state; reset by who looks at it */
    bool has_clock;   /* it has a clock of its own ... */
    int64_t ahead_ms; /* ... which is this far ahead of the world's */
};

/* Its clock stays as it is set. */
void store_init(struct store *store, bool is_windowed, int without);
void store_fini(struct store *store);

/* --- commands, on one side --- */

/* Call it before each command: removes what has expired. */
void store_expire(struct store *store, int32_t side, int64_t now_us);

void store_reserve(struct store *store, int32_t side,
                   struct seqb_request *request);
enum seqb_status store_raise(struct store *store, int32_t side,
                             const struct seqb_raise *raise, int64_t *out);
enum seqb_status store_install(struct store *store, int32_t side,
                               const struct seqb_window *window, int64_t now_us,
                               int64_t *standing);
const char *store_claim(struct store *store, int32_t side, const char *name,
                        const char *text);
/* SEQB_FENCED if the store has another incarnation. */
enum seqb_status store_swap(struct store *store, int32_t side,
                            const struct seqb_swap *swap,
                            const char **standing);
void store_list(struct store *store, int32_t side, struct seqb_page *page);
/* Returns the number of counters deleted. */
int32_t store_purge(struct store *store, int32_t side,
                    const struct seqb_purge *purge);

/* --- what happens to a store --- */

/* The copy (or the replica) becomes equal to side 0. */
void store_copy(struct store *store);

/* Another server continues with the copy. */
void store_promote_copy(struct store *store);

/* The server becomes a replica for a while, with the copy's content ... */
void store_demote(struct store *store);

/* ... and is promoted again, with that content. */
void store_promote_again(struct store *store);

/* store_split: side 1 continues with the copy, as a second primary. store_join:
 * side 1 replaces side 0. */
void store_split(struct store *store);
void store_join(struct store *store);

/* Side 1 becomes a replica with side 0's present content. */
void store_replicate(struct store *store);

/* Removes all counters, and a direct store's base. */
void store_empty(struct store *store);

/* Starts the process again. A windowed store has the copy's content then, or
 * nothing. */
void store_restart(struct store *store, bool has_copy);

/* Saves side 0 as the past number `past`, replacing the one saved before. */
void store_keep(struct store *store, int32_t past);

/* Puts a saved disk back, with everything on it, and starts the server as a
 * primary. If `is_known`, the history is put back, too. */
void store_put_back(struct store *store, int32_t past, bool is_known);

/* The incarnation that swaps and claims are compared with. */
void store_incarnation(const struct store *store, int32_t side, char *out,
                       size_t size);

/* Whether the claim `synced` names the store's present incarnation. */
bool store_is_level(struct store *store, const char *synced);

/* Lowers every counter without changing the origin, as an operator may do. */
void store_go_back(struct store *store, int64_t values);

/* Raises every counter (or every counter of leases) to `value`. */
void store_advance(struct store *store, bool is_lease, int64_t value);

/* Whether nothing was claimed: such a store is refused if its pool is in use.
 */
bool store_is_new(const struct store_content *content);

/* Whether the content has a claim of that name. Valid if `claims_go_back`. */
bool store_has_claim(const struct store *store,
                     const struct store_content *content, const char *name);

/* Whether that side accepts commands: a replica does not. */
bool store_serves(const struct store *store, int32_t side);

/* The largest number of values that a copy lacks of a counter: granted values
 * or, with `counts_raises`, all. */
int64_t store_lacks(const struct store *store, const struct store_content *copy,
                    bool counts_raises);

/* The same of the store's copy. */
int64_t store_loss(const struct store *store, bool counts_raises);

/* Whether a broker with those marks would set each counter above all values
 * granted, if the counter were gone: the counter is at most `gap` above the
 * broker's mark. */
bool store_is_known(const struct store *store, const struct store_mark *marks,
                    int32_t count, int64_t gap);

/* The highest value of all counters. */
int64_t store_highest(const struct store *store);
