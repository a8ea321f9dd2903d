/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a migration: its arithmetic, the stores of one pool by one
 * topology, and the steps. migrate.c decides the order of the steps. Private to
 * this folder.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

/* --- migrate_plan.c: which numbers a layout could have issued, and how high
 * the next layout's counters must be raised to be above them. Pure. --- */

/* How one sequence's numbers are made in one layout of its pool. */
struct migrate_shape {
    int32_t bits;        /* 2^bits partitions */
    int32_t memory_bits; /* of the sequence */
    int32_t window_bits; /* of the sequence; used where a partition is windowed
                          */
    int64_t margin;      /* counter values that a partition may still grant
                            after its counter was read */
    int32_t unused_bits; /* high bits that are 0 in its numbers: 10 if they are
                            js_safe */
    int32_t lessor_bits; /* low bits of a window's number that identify its
                            lessor; 0 with one lessor */
    int64_t useful;      /* greater numbers are too wide for a text; 0: there is
                            no limit */
};

/* migrate_limit: the largest counter value of a direct partition, or for a
 * windowed one the largest lease of one lessor. migrate_window_limit: the
 * largest window of such a lease. */
int64_t migrate_limit(const struct migrate_shape *shape, bool is_windowed);
int64_t migrate_window_limit(const struct migrate_shape *shape);

/*
 * The last number that a partition may ever have issued if its counter was read
 * as `v`, with the margin. `v` is the counter's value, or the highest lease;
 * then all windows of all lessors up to it count as issued. `v` is 0 ...
 * migrate_limit.
 */
int64_t migrate_last_number(const struct migrate_shape *shape,
                            int32_t partition, bool is_windowed, int64_t v);

/* The number of bits of a number below the counter's value, or below the
 * lease. */
int32_t migrate_low_bits(const struct migrate_shape *shape, bool is_windowed);

/* How high a partition's counter (of values or of leases) must be raised so
 * that each number it issues from then on is above `last`. False if no value
 * would be left. */
bool migrate_floor(const struct migrate_shape *shape, bool is_windowed,
                   int64_t last, int64_t *floor);

/*
 * The largest `v` of an old partition whose last number still fits in the new
 * layout, if the new layout has partitions of the given kind; -1 if none fits.
 */
int64_t migrate_capacity(const struct migrate_shape *old, bool old_is_windowed,
                         const struct migrate_shape *new_shape,
                         bool new_is_windowed);

/* --- migrate_side.c: one connection to each store. The calls run one after the
 * other on the thread that migrates, under the watchdog --- */

struct migrate_side {
    const struct layout *layout;
    struct layout_claim claim;                /* composed from what was read */
    struct connection *connections;           /* indexed by member */
    struct store_options *options;            /* the same, with a time-out of
                                                 their own */
    struct layout_stores stores;              /* as they were read */
    int32_t lessors[STORE_PARTITIONS_MAX];    /* members that lease windows,
                                                 without the one that is left
                                                 out */
    int32_t lessor_ids[STORE_PARTITIONS_MAX]; /* as in the names of their
                                                 marks */
    int32_t lessor_count;
    int32_t lessor_bits; /* bits of a window's number that identify one of all
                            lessors */
    int32_t without;     /* the member that is left out; -1: none */
    bool went_back[STORE_MEMBERS_MAX]; /* indexed by member: see
                                          migrate_back.c */
    int64_t failover_gap;     /* the largest of the topology and of all brokers,
                                 as the stores say */
    const char *granted_path; /* of struct store_topology */
    struct granted *granted;  /* what brokers noted; NULL: nothing */
    char name[LAYOUT_POOL_SIZE]; /* the pool's internal name */
};

/* A counter of values, or a lessor's counter of leases. */
struct migrate_counter {
    struct connection *connection; /* to its store */
    bool is_windowed;
    char name[SEQB_COUNTER_SIZE];
    int64_t limit;    /* the largest value or lease of the layout */
    int64_t gap;      /* added if its store changed */
    int64_t base_gap; /* the same for the base */
    int64_t useful;   /* see struct migrate_shape */
    int32_t low_bits; /* see migrate_low_bits */
    bool went_back;   /* its store went back: what the counter granted since is
                         lost */
};

enum side_stores {
    SIDE_ALL,  /* each store must be there */
    SIDE_SOME, /* stores that may be created can be missing */
    SIDE_MAKE  /* missing stores are created */
};

/* Makes the side of a pool of `topology`, which must outlive it. It is not
 * connected yet. */
enum seqb_status side_new(const struct store_topology *topology, size_t pool,
                          struct watchdog *watchdog, struct migrate_side **out,
                          struct seqb_error *err);

/* Disconnects and frees. NULL and a half-built side are allowed. */
void side_free(struct migrate_side *side);

/* Leaves out the partition whose backend has this name. False if there is
 * none. */
bool side_leave_out(struct migrate_side *side, const char *backend);

/* Opens the stores that are not open and are not left out. */
enum seqb_status side_connect(struct migrate_side *side,
                              enum side_stores stores, struct seqb_error *err);

/* Reads the claims of the open stores, and compares them with the topology.
 * SEQB_LAYOUT if they differ. Writes nothing. Raises `failover_gap` of the
 * side, and finds stores that `went_back`. */
enum seqb_status side_read(struct migrate_side *side, struct seqb_error *err);

bool side_is_windowed(const struct migrate_side *side, int32_t member);

/* Whether any partition is windowed, or any is direct. */
bool side_has(const struct migrate_side *side, bool windowed);

/* The claimed bits of a sequence. */
struct migrate_bits {
    int32_t memory_bits; /* -1: nothing is claimed */
    int32_t window_bits; /* of its windows: the pool's, or the sequence's own */
    bool by_all;         /* each open store that does not forget claims them */
};

/* SEQB_LAYOUT if an open store knows the sequence of an earlier generation, and
 * not of this one. A store that `went_back` is not asked. */
enum seqb_status side_check_history(struct migrate_side *side, const char *key,
                                    struct seqb_error *err);

/* Reads the bits that the open stores claim for a sequence. SEQB_LAYOUT if two
 * stores differ, or claim other attributes. */
enum seqb_status side_read_bits(struct migrate_side *side, const char *key,
                                const char *attributes,
                                struct migrate_bits *out,
                                struct seqb_error *err);

/* What a sequence's claim says behind its bits; "" if nothing. */
void side_attributes_of(const struct migrate_side *side, const char *claim,
                        char *out, size_t size);

/* Names that a store lists (migrate_list.c). */

struct side_names {
    char prefix[SEQB_COUNTER_SIZE];
    bool are_claims; /* not counters */
    /* Called with what follows the prefix. A failure ends the list. */
    enum seqb_status (*visit)(void *context, const char *rest,
                              struct seqb_error *err);
    void *context;
};

/* Lists the names with that prefix of a member that may list. */
enum seqb_status side_list(const struct migrate_side *side, int32_t member,
                           const struct side_names *names,
                           struct seqb_error *err);

/* Lists the counters of the pool, their leases and cells; sets the prefix. The
 * rest is "<partition>/<key>", in a period with "@<stamp>" behind it. */
enum seqb_status side_list_counters(const struct migrate_side *side,
                                    int32_t member, struct side_names *names,
                                    struct seqb_error *err);

/* The key in such a rest; "" if there is none. `out` has SEQB_COUNTER_SIZE
 * bytes. */
void side_key_of(const char *rest, char out[]);

/* Finding stores that went back (migrate_back.c). */

/* A reached store without the layout of this generation, which another one has,
 * `went_back` to before the end of the migration: a migration claims the layout
 * last. Or that last step was cut off, and only some stores were claimed. */
void side_compare_layouts(struct migrate_side *side);

/* Which open direct stores say that a key was migrated to this generation. */
struct migrate_done {
    bool by_any;
    bool by_all;
    int64_t last; /* the last number of before, as they say; 0: unknown */
};

/*
 * Which of them say so of the key. A store that does not even know
 * the key, though another one says so, `went_back` to before the migration. For
 * a migration claims a key in all stores before it notes in the first store
 * that the key is done.
 */
enum seqb_status side_compare_key(struct migrate_side *side, const char *key,
                                  struct migrate_done *out,
                                  struct seqb_error *err);

/* The name of the claim that a key was migrated. Its text is MIGRATE_ABOVE and
 * the last number that may have been issued before. */
#define MIGRATE_ABOVE "above "
void side_done_name(const struct migrate_side *side, const char *key, char *out,
                    size_t size);

/* A partition has one counter of values, or one of leases at each lessor.
 * side_counter_count says how many; side_counter gives the i-th. */
struct side_place {
    int32_t partition;
    int32_t i;
};

int32_t side_counter_count(const struct migrate_side *side, int32_t partition);
void side_counter(struct migrate_side *side, const struct migrate_shape *shape,
                  const char *key, struct side_place place,
                  struct migrate_counter *out);

/* Takes one value. It is the largest that was granted so far. If the store
 * changed, the counter is raised first, as a broker does. SEQB_EXHAUSTED if no
 * value up to `limit` is left. */
enum seqb_status counter_take(const struct migrate_counter *counter,
                              int64_t limit, int64_t *out,
                              struct seqb_error *err);

/* The floor for a counter whose store went back: above `floor` by as much as
 * the store may have lost, and by a random amount, since the same copy may be
 * restored again. For any other counter it is `floor`. */
int64_t counter_floor(const struct migrate_counter *counter, int64_t floor);

/* Raises the counter: no later value is at or below `floor`. No value above
 * `limit` is stored. */
enum seqb_status counter_raise(const struct migrate_counter *counter,
                               int64_t floor, int64_t limit,
                               struct seqb_error *err);

/* --- the steps: each may be interrupted anywhere and run again --- */

/* One sequence that is being migrated. */
struct migrate_key {
    const char *key;
    const char *attributes; /* see struct offline_key */
    struct migrate_shape was;
    struct migrate_shape is;
    int64_t last;     /* the largest number that may have been issued */
    bool is_claimed;  /* an old store has its bits, which never change then */
    bool is_new;      /* the old pool never had it */
    bool is_done;     /* an earlier run migrated it; see new_has_key */
    bool is_noted;    /* the same, but a store may have gone back since */
    bool is_unnoted;  /* an old counter is at its end, and no store knows how
                         far it came */
    int64_t was_last; /* `last` of that run: old counters were at their ends
                         then; 0: unknown */
};

/* The key in the old and the new pool (migrate_key.c). */

struct offline_key;

/* Compares the key's settings in the topologies with the claims of the stores.
 * If a topology does not list the key, the claims decide. */
enum seqb_status key_read(struct migrate_side *was, struct migrate_side *is,
                          const struct offline_key *options,
                          struct migrate_key *key, struct seqb_error *err);

/* Keys that were used since the migration, or that a run which was cut off
 * migrated (migrate_used.c). */

/* SEQB_LAYOUT if an open store lists a counter of a key that is not in `keys`:
 * in a store that went back, or in another layout than that of the run that
 * raised the counter, this key's numbers would begin again. */
enum seqb_status used_check(const struct migrate_side *is,
                            const struct offline_key *keys, size_t count,
                            struct seqb_error *err);

/* Old counters (migrate_old.c). */

/*
 * Checks that the other stores know enough without the one that is left out.
 * SEQB_INVALID: that store answers, or the pool has no neighbours. SEQB_UNSAFE:
 * a neighbour is not level. `by` is the generation that replaces the pool.
 */
enum seqb_status old_check_without(struct migrate_side *was, const char *by,
                                   struct seqb_error *err);

/* Notes in the other stores that this check succeeded, for a run after an
 * interruption. */
enum seqb_status old_note_without(const struct migrate_side *was,
                                  const char *by, struct seqb_error *err);

/* SEQB_LAYOUT if a store went back to before the migration to the old
 * generation, and no other store knows what it granted since. To be asked of
 * each key that no earlier run has done: of the others, the new counters are
 * above that, unless an authority has them all. */
enum seqb_status old_check_back(const struct migrate_side *was,
                                struct seqb_error *err);

/* SEQB_LAYOUT if brokers of this generation, or of an earlier one, have leased
 * worker ids for snowflakes (migrate_snowflakes.c). */
enum seqb_status old_check_snowflakes(struct migrate_side *was,
                                      struct seqb_error *err);

/* Takes one value of each old counter. They give the first estimate of
 * `last`. */
enum seqb_status old_ask(struct migrate_side *was, struct migrate_key *key,
                         struct seqb_error *err);

/* Reads what the brokers of a state directory noted of the old counters: a
 * store may have gone back since. */
enum seqb_status old_read_notes(struct migrate_side *was,
                                struct seqb_error *err);

/* Claims in every store that generation `by` has replaced this one. Old brokers
 * read it. */
enum seqb_status old_retire(struct migrate_side *was, const char *by,
                            struct seqb_error *err);

/* Whether no earlier run began to give the new stores another layout than this
 * one. Such a store may not be among the new ones any more, and a broker may
 * have issued numbers of it. With `is_begun`, notes in the old stores that this
 * run begins. SEQB_LAYOUT if there was another layout. */
enum seqb_status old_note_layout(const struct migrate_side *was,
                                 const struct migrate_side *is, bool is_begun,
                                 struct seqb_error *err);

/* Notes the value of each old counter, and leaves nothing to take from it.
 * After that `last` is final. */
enum seqb_status old_exhaust(struct migrate_side *was, struct migrate_key *key,
                             struct seqb_error *err);

/* New counters (migrate_new.c). */

/* Notes that a partition's counter granted `v`: `last` becomes at least the
 * last number of it. */
void key_saw(struct migrate_key *key, const struct migrate_shape *shape,
             int32_t partition, const struct migrate_counter *counter,
             int64_t v);

/* Compares the bits with the claimed ones, and reads whether the key was
 * migrated before, to a layout that a store has. */
enum seqb_status new_read(struct migrate_side *is, struct migrate_key *key,
                          struct seqb_error *err);

/* Whether all stores had the layout's claim before. */
bool new_is_finished(const struct migrate_side *is);

/* Whether the numbers of a key that is left out may begin again, though stores
 * know the key. */
bool new_may_repeat(const struct migrate_side *is);

/* Whether an earlier run migrated the key, and no store went back since. A
 * store that did may know that the key was migrated, and nothing of what it
 * granted then. */
bool new_has_key(const struct migrate_side *is, const struct migrate_key *key);

/* SEQB_EXHAUSTED unless all numbers after `last` fit in the new layout. */
enum seqb_status new_check(const struct migrate_side *is,
                           const struct migrate_key *key,
                           struct seqb_error *err);

/* If new stores went back to before the migration, it raises `last` above what
 * the others have granted since. */
enum seqb_status new_overtake(struct migrate_side *is, struct migrate_key *key,
                              struct seqb_error *err);

/* Raises the new counters above `last`. Then it claims the key's bits, and that
 * the key was migrated. */
enum seqb_status new_raise(struct migrate_side *is,
                           const struct migrate_key *key,
                           struct seqb_error *err);

/* new_identify gives each new store its id, so that the layout can be composed.
 * new_finish claims places and layout; after it brokers may start. */
enum seqb_status new_identify(struct migrate_side *is, struct seqb_error *err);
enum seqb_status new_finish(struct migrate_side *is, struct seqb_error *err);
