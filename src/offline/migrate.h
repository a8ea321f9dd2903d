/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A migration's parts: its arithmetic, the stores of one pool by one topology,
 * and the steps, whose order is migrate.c's. Private to this folder.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

/* --- migrate_plan.c: what a layout could have issued, and how high the next
 * layout's counters must be raised so as to pass it. Pure. --- */

/* How one sequence's numbers are made in one layout of its pool. */
struct migrate_shape {
    int32_t bits;        /* 2^bits partitions */
    int32_t memory_bits; /* of the sequence */
    int32_t window_bits; /* of the sequence; used where a partition is windowed
                          */
    int64_t margin;      /* counter values that a partition may still grant
                            after its counter was looked at */
    int32_t unused_bits; /* high ones, which its numbers leave 0: 10 if they
                            are js_safe */
    int32_t lessor_bits; /* low ones of a window's number, which say who leased
                            it; 0 with one lessor */
    int64_t useful;      /* numbers above it are too wide for a text; 0: none
                            is */
};

/* The largest counter value of a direct partition; the largest lease of one
 * lessor for a windowed one, and the largest window that is one of these. */
int64_t migrate_limit(const struct migrate_shape *shape, bool is_windowed);
int64_t migrate_window_limit(const struct migrate_shape *shape);

/*
 * The last number that a partition may ever have issued if its counter stood
 * at `v`: the counter's value, or the highest lease, of which the windows of
 * all lessors are taken as issued, whole; and with the margin. `v` is 0 ...
 * migrate_limit.
 */
int64_t migrate_last_number(const struct migrate_shape *shape,
                            int32_t partition, bool is_windowed, int64_t v);

/* What a number has below the counter's value, or below the lease, as bits. */
int32_t migrate_low_bits(const struct migrate_shape *shape, bool is_windowed);

/* How high to raise a partition's counter (of values or of leases) so that
 * each number it issues from then on is above `last`. False if no value would
 * be left. */
bool migrate_floor(const struct migrate_shape *shape, bool is_windowed,
                   int64_t last, int64_t *floor);

/*
 * The largest `v` of an old partition whose last number still fits in the new
 * layout, if it has windowed partitions (some of them); -1 if none does.
 */
int64_t migrate_capacity(const struct migrate_shape *old, bool old_is_windowed,
                         const struct migrate_shape *new_shape,
                         bool new_is_windowed);

/* --- migrate_side.c: each store with a connection of its own, one call after
 * the other, on the thread that migrates, and under the watchdog --- */

struct migrate_side {
    const struct layout *layout;
    struct layout_claim claim;                /* as it is made */
    struct connection *connections;           /* by member */
    struct layout_stores stores;              /* as they were found */
    int32_t lessors[STORE_PARTITIONS_MAX];    /* members that lease windows, but
                                                 for the one that is left out */
    int32_t lessor_ids[STORE_PARTITIONS_MAX]; /* in the names of their marks */
    int32_t lessor_count;
    int32_t lessor_bits; /* of a window's number, of all of them */
    int32_t without;     /* member that is left out; -1: none is */
    bool went_back[STORE_MEMBERS_MAX]; /* by member: see side_compare_key
                                        */
    char name[LAYOUT_POOL_SIZE];       /* internal */
};

/* A counter of values, or a lessor's counter of leases. */
struct migrate_counter {
    struct connection *connection; /* to its store */
    bool is_windowed;
    char name[SEQB_COUNTER_SIZE];
    int64_t limit;    /* the largest value or lease of the layout */
    int64_t gap;      /* if its store changed */
    int64_t base_gap; /* of the base */
    int64_t useful;   /* see struct migrate_shape */
    int32_t low_bits; /* see migrate_low_bits */
    bool went_back;   /* its store did: what it granted since is lost */
};

enum side_stores {
    SIDE_ALL,  /* each must be there */
    SIDE_SOME, /* those that may be made can be missing */
    SIDE_MAKE  /* those that are missing are made */
};

/* For a pool of the options, which must outlive it; not connected. */
enum seqb_status side_new(const struct store_topology *topology, size_t pool,
                          struct watchdog *watchdog, struct migrate_side **out,
                          struct seqb_error *err);

/* Disconnects. Takes NULL and half-built ones. */
void side_free(struct migrate_side *side);

/* Leaves out the backend of that name, a partition's; false if it is none. */
bool side_leave_out(struct migrate_side *side, const char *backend);

/* Opens the stores that are not open and are not left out. */
enum seqb_status side_connect(struct migrate_side *side,
                              enum side_stores stores, struct seqb_error *err);

/* Reads what the open stores claim, and compares it with the topology.
 * SEQB_LAYOUT if they are at odds. Writes nothing. */
enum seqb_status side_read(struct migrate_side *side, struct seqb_error *err);

bool side_is_windowed(const struct migrate_side *side, int32_t member);

/* Whether any partition is windowed, or direct. */
bool side_has(const struct migrate_side *side, bool windowed);

/* What a sequence claims. */
struct migrate_bits {
    int32_t memory_bits; /* -1: nothing */
    int32_t window_bits; /* of its windows, the pool's or its own */
};

/* The bits that the open stores claim for a sequence. SEQB_LAYOUT if two
 * differ, or claim other attributes. */
enum seqb_status side_read_bits(struct migrate_side *side, const char *key,
                                const char *attributes,
                                struct migrate_bits *out,
                                struct seqb_error *err);

/*
 * Whether the open direct stores say that the key was brought along to this
 * generation: all of them do, or some. One that does not even know the key,
 * though another store says so, `went_back` to before the migration, which
 * tells all stores of a key before it says in the first one that it is done.
 */
enum seqb_status side_compare_key(struct migrate_side *side, const char *key,
                                  bool *is_done, struct seqb_error *err);

/* The claim that says so. */
void side_done_name(const struct migrate_side *side, const char *key, char *out,
                    size_t size);

/* A partition has one counter of values, or one of leases at each lessor: how
 * many these are, and the i-th. */
struct side_place {
    int32_t partition;
    int32_t i;
};

int32_t side_counter_count(const struct migrate_side *side, int32_t partition);
void side_counter(struct migrate_side *side, const struct migrate_shape *shape,
                  const char *key, struct side_place place,
                  struct migrate_counter *out);

/* Takes one value, the largest that was granted so far. One of a store that
 * changed is raised first, as by a broker. SEQB_EXHAUSTED if there is none up
 * to `limit`. */
enum seqb_status counter_take(const struct migrate_counter *counter,
                              int64_t limit, int64_t *out,
                              struct seqb_error *err);

/* What may be taken of a counter whose store went back is above `floor` by as
 * much as it may have lost, and by chance, since the same copy may be put back
 * again. */
int64_t counter_floor(const struct migrate_counter *counter, int64_t floor);

/* No later value is at or below `floor`, and none is stored above `limit`. */
enum seqb_status counter_raise(const struct migrate_counter *counter,
                               int64_t floor, int64_t limit,
                               struct seqb_error *err);

/* --- the steps: each may be cut off anywhere and done again --- */

/* One sequence on its way. */
struct migrate_key {
    const char *key;
    const char *attributes; /* see struct offline_key */
    struct migrate_shape was;
    struct migrate_shape is;
    int64_t last; /* the largest number that may have been issued */
    bool is_new;  /* it never was in the old pool */
    bool is_done; /* it was brought along before */
};

/* Both sides of one key (migrate_key.c). */

struct offline_key;

/* Compares what the topologies say of the key with what the stores do; where a
 * topology says nothing, the stores are believed. */
enum seqb_status key_read(struct migrate_side *was, struct migrate_side *is,
                          const struct offline_key *options,
                          struct migrate_key *key, struct seqb_error *err);

/* Keys that were used since (migrate_used.c). */

/* SEQB_LAYOUT if an open store lists a counter of a key that is not among
 * `keys`: in a store that went back, its numbers would begin again. */
enum seqb_status used_check(const struct migrate_side *is,
                            const struct offline_key *keys, size_t count,
                            struct seqb_error *err);

/* Old counters (migrate_old.c). */

/*
 * Whether what is known without the one that is left out is all: SEQB_INVALID
 * if it can be asked, or the pool has no neighbours, SEQB_UNSAFE if one of
 * these is not level. `by` is the generation that takes the pool's place.
 */
enum seqb_status old_check_without(struct migrate_side *was, const char *by,
                                   struct seqb_error *err);

/* Notes in the others that they were found so, for a run after a cut. */
enum seqb_status old_note_without(const struct migrate_side *was,
                                  const char *by, struct seqb_error *err);

/* SEQB_LAYOUT if a store went back to before the migration to the old
 * generation, and no other one knows what it granted since. */
enum seqb_status old_check_back(const struct migrate_side *was,
                                struct seqb_error *err);

/* Takes one value of each old counter, by which `last` is first known. */
enum seqb_status old_ask(struct migrate_side *was, struct migrate_key *key,
                         struct seqb_error *err);

/* Tells the old brokers, in every store, that `by` has taken their place. */
enum seqb_status old_retire(struct migrate_side *was, const char *by,
                            struct seqb_error *err);

/* Notes how far each old counter came and leaves nothing to take of it;
 * `last` is certain then. */
enum seqb_status old_exhaust(struct migrate_side *was, struct migrate_key *key,
                             struct seqb_error *err);

/* New counters (migrate_new.c). */

/* `v` of a partition's counter was granted: `last` is no lower. */
void key_saw(struct migrate_key *key, const struct migrate_shape *shape,
             int32_t partition, const struct migrate_counter *counter,
             int64_t v);

/* Compares the bits with those claimed, and learns whether the key was
 * brought along before. */
enum seqb_status new_read(struct migrate_side *is, struct migrate_key *key,
                          struct seqb_error *err);

/* Whether the layout was claimed everywhere before. */
bool new_is_finished(const struct migrate_side *is);

/* Whether a store may have gone back to before the migration: a key that was
 * read says so, or some stores have the new layout and others do not. */
bool new_went_back(const struct migrate_side *is);

/* SEQB_EXHAUSTED unless all that follows `last` fits in the new layout. */
enum seqb_status new_check(const struct migrate_side *is,
                           const struct migrate_key *key,
                           struct seqb_error *err);

/* If new stores went back to before the migration, what the others granted
 * since is below `last`, too. */
enum seqb_status new_overtake(struct migrate_side *is, struct migrate_key *key,
                              struct seqb_error *err);

/* Raises the new counters above `last`, then claims the key's bits and
 * that it was brought along. */
enum seqb_status new_raise(struct migrate_side *is,
                           const struct migrate_key *key,
                           struct seqb_error *err);

/* Gives each new store its id, so that the layout can be composed; and claims
 * places and layout, with which brokers may start. */
enum seqb_status new_identify(struct migrate_side *is, struct seqb_error *err);
enum seqb_status new_finish(struct migrate_side *is, struct seqb_error *err);
