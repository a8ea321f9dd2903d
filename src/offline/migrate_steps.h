/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a migration: what is done to the old counters and to the new
 * ones. Each may be cut off anywhere and done again. Their order is
 * migrate.c's.
 */
#pragma once

#include "offline/migrate_side.h"

/* One sequence on its way. */
struct migrate_key {
    const char *key;
    const char *terms; /* see struct offline_key */
    struct migrate_shape was;
    struct migrate_shape is;
    int64_t last; /* the largest number that may have been issued */
    bool is_new;  /* it never was in the old pool */
    bool is_done; /* it was brought along before */
};

/* Old counters (migrate_old.c). */

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

/* Compares the memory bits with those claimed, and learns whether the key was
 * brought along before. */
enum seqb_status new_look(struct migrate_side *is, struct migrate_key *key,
                          struct seqb_error *err);

/* Whether the layout was claimed everywhere before. */
bool new_is_settled(const struct migrate_side *is);

/* SEQB_EXHAUSTED unless all that follows `last` fits in the new layout. */
enum seqb_status new_check(const struct migrate_side *is,
                           const struct migrate_key *key,
                           struct seqb_error *err);

/* Raises the new counters above `last`, then claims the key's memory bits and
 * that it was brought along. */
enum seqb_status new_raise(struct migrate_side *is,
                           const struct migrate_key *key,
                           struct seqb_error *err);

/* Gives each new store its id, so that the layout can be composed; and claims
 * places and layout, with which brokers may start. */
enum seqb_status new_identify(struct migrate_side *is, struct seqb_error *err);
enum seqb_status new_settle(struct migrate_side *is, struct seqb_error *err);
