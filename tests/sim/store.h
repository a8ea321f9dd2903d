/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of a store: counters with the rules of <seqbroker/backend.h>, and
 * what may become of them. Pure; when and whether a command arrives is
 * net.h's and engine.h's.
 *
 * A store has two sides, as a server and its replica: side 0 serves, side 1
 * is there while brokers are led to it, by a split brain or a wrong address.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#define STORE_PASTS     2
#define STORE_CELLS     1024
#define STORE_CLAIMS    1024 /* each broker comes by addresses of its own */
#define STORE_ROWS      48
#define STORE_NAME_SIZE 64  /* of a row */
#define STORE_TEXT_SIZE 256 /* of a row */

/* What a model may lack, to show that the simulator notices. */
enum store_guard {
    STORE_ORIGIN = 1, /* a cell is compared with the store's origin */
    STORE_REPLID = 2, /* the origin changes when a primary is made again */
    STORE_ROLE = 4,   /* a replica refuses */
    STORE_GAP = 8,    /* a direct counter that is bound anew is raised */
    STORE_BASE = 16,  /* and so is the base */
    STORE_SPREAD = 32 /* the raise has a part by chance */
};

#define STORE_GUARDS 6

extern const struct store_guard_name {
    const char *name;
    enum store_guard guard;
} store_guards[STORE_GUARDS];

struct store_cell {
    char counter[SEQB_COUNTER_SIZE]; /* "": a direct store's base; "@...": no
                                        counter, but a time that is kept */
    int64_t value;   /* last granted; windowed: offsets used; ms since 1970 */
    int64_t skipped; /* direct: of its values, those that were never granted */
    int64_t origin;
    int64_t run;    /* of the server; compared of a cell in a direct store */
    int64_t window; /* windowed only, like the rest */
    int64_t size;
    int64_t until_us; /* it vanishes then; 0: never */
};

/* A claim that was swapped, which goes back with the counters. */
struct store_row {
    char name[STORE_NAME_SIZE];
    char text[STORE_TEXT_SIZE];
};

struct store_content {
    struct store_cell cells[STORE_CELLS];
    int32_t count;
    struct store_row rows[STORE_ROWS];
    int32_t row_count;
};

struct store_side {
    struct store_content content;
    int64_t server;  /* which server, or process, this is */
    int64_t history; /* changes with each promotion */
    int64_t run;     /* its incarnation: changes with each start */
    bool is_replica;
};

/* What a broker was granted last of a counter. */
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
    int without;     /* enum store_guard, those that are missing */
    uint32_t aside;  /* bit b: broker b is led to side 1 */
    int64_t servers; /* names given so far, of servers and histories */
    struct store_side sides[2];
    struct store_content copy;            /* a backup, or what a replica has */
    struct store_side pasts[STORE_PASTS]; /* disks that may be put back */
    struct store_claim claims[STORE_CLAIMS];
    int32_t claim_count;
    bool has_clock;   /* of its own ... */
    int64_t ahead_ms; /* ... which is so far ahead of the world's */
};

void store_init(struct store *store, bool is_windowed, int without);
void store_fini(struct store *store);

/* --- commands, on one side --- */

/* To be called before each: what vanishes by then is gone. */
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
/* SEQB_FENCED if it has another incarnation. */
enum seqb_status store_swap(struct store *store, int32_t side,
                            const struct seqb_swap *swap,
                            const char **standing);
void store_list(struct store *store, int32_t side, struct seqb_page *page);
/* How many were deleted. */
int32_t store_purge(struct store *store, int32_t side,
                    const struct seqb_purge *purge);

/* --- what becomes of it --- */

/* What stands on side 0 now is what a copy, or a replica, has. */
void store_copy(struct store *store);

/* Another server goes on with the copy. */
void store_promote_copy(struct store *store);

/* The same server gets the copy as a replica, for a while ... */
void store_demote(struct store *store);

/* ... and is the primary again, with what it got. */
void store_promote_again(struct store *store);

/* Side 1 goes on with the copy as a second primary; then side 0 gives way. */
void store_split(struct store *store);
void store_join(struct store *store);

/* Side 1 is a replica, with what side 0 has now. */
void store_replicate(struct store *store);

/* All counters are gone, a direct store's base too. */
void store_empty(struct store *store);

/* The process starts again; a windowed store has the copy, or nothing. */
void store_restart(struct store *store, bool has_copy);

/* What side 0 is now may be put back later, in the place of another past. */
void store_keep(struct store *store, int32_t past);

/* The disk of then is put back with all that it says of the store, and the
 * server starts; `is_known`: its history as well. */
void store_put_back(struct store *store, int32_t past, bool is_known);

/* What claims are compared with. */
void store_incarnation(const struct store *store, int32_t side, char *out,
                       size_t size);

/* Whether the claim under that name is its incarnation. */
bool store_is_level(struct store *store, const char *synced);

/* Every counter goes back with the same origin: somebody's surgery. */
void store_go_back(struct store *store, int64_t values);

/* Every counter, or every counter of leases, goes on to that value. */
void store_advance(struct store *store, bool is_lease, int64_t value);

/* Whether that side takes commands: not if it is a replica. */
bool store_serves(const struct store *store, int32_t side);

/* How many values the copy lacks of a counter, at most: those that were
 * granted, or all. */
int64_t store_loss(const struct store *store, bool counts_raises);

/* Whether a broker with those marks would put any counter above what all were
 * granted, if it found it gone: it stands no more than `gap` above its mark. */
bool store_is_known(const struct store *store, const struct store_mark *marks,
                    int32_t count, int64_t gap);

/* The highest value of any counter. */
int64_t store_highest(const struct store *store);
