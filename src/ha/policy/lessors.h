/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lessors of a pool with neighbours, as one broker knows them: which lessor
 * is asked for a lease, which one witnesses the lease, and when to look at the
 * lessors. Pure; the pool's lock guards it. The protocol is in
 * docs/decisions/0024-neighbours.md.
 *
 * What this broker believes of a lessor decides only which one it asks. The
 * stores compare that belief in the statements that lease and note, so a wrong
 * one repeats no number.
 */
#pragma once

#include "ha/ha.h"
#include "ha/policy/pool.h"

#define LESSORS_MAX HA_PARTITIONS_MAX

/* The rest between two looks while they do not succeed: doubles. */
#define LESSORS_FIRST_MS   50
#define LESSORS_LONGEST_MS 3000

/* At least this between two reconnects of a store that was doubted. */
#define LESSORS_FRESH_MS 1000

struct lessor {
    int32_t member;    /* partition whose store it is; constant */
    int32_t waits_for; /* lessor that cannot be asked; valid in state WAITING */
    int64_t since_ms;  /* when `state` began */
    int64_t minute_ms; /* begin of the minute in which `leased` counts */
    int64_t leased;    /* leases so far in that minute */
    int64_t leased_last; /* in the minute before */
    enum ha_lessor_state state;
    bool is_doubted;  /* a guard failed: its store, or the mark in it, is not
                         what this broker believes. Reconnect the store */
    int64_t fresh_ms; /* when it was last reconnected for a doubt; 0: never */
    uint32_t run; /* counts the incarnations seen; a lease_mark of another run
                     says nothing */
    char incarnation[SEQB_INCARNATION_SIZE]; /* of the last connect; "": none */
    char nonce[TERM_NONCE_SIZE];             /* of its term, at the last look */
};

struct lessors {
    int32_t count; /* 0: the pool has no neighbours */
    int32_t bits;  /* low bits of a window's number: the index of its lessor */
    int32_t next;  /* the lessor whose turn is next */
    struct lessor lessor[LESSORS_MAX];

    /* When to look next, and the rest between looks. */
    int64_t poll_ms; /* INT64_MAX: none is planned */
    int64_t rest_ms; /* before the next look, if this one does not succeed */
    uint64_t random; /* for the jitter of the rests */
};

/* The lessors that may not be chosen (bit i: lessor i), and those that are
 * chosen last. */
struct lessors_lock_out {
    uint64_t away;  /* its store may not be asked now: see lessors_away */
    uint64_t tried; /* it was asked for this lease already */
    int32_t own;    /* the lessor in the partition that needs the window. It is
                       asked only if there is no other one; -1: that partition has
                       no lessor */
    int32_t level; /* the lessor to begin with, as its store knows the counter's
                      last lease: another one may have to be raised first and
                      asked again; -1: the next in turn */
    int64_t wait_us[LESSORS_MAX]; /* about how long a call of each takes. One
                                     that is far slower than the others is
                                     chosen after them */
};

void lessors_init(struct lessors *lessors, const int32_t *members,
                  int32_t count, uint64_t seed, int64_t now_ms);

/* The window of a lease of lessor i, and the lease of a window. */
static inline int64_t lessors_window(const struct lessors *lessors,
                                     int64_t lease, int32_t i)
{
    return lease << lessors->bits | i;
}

static inline int64_t lessors_lease(const struct lessors *lessors,
                                    int64_t window)
{
    return window >> lessors->bits;
}

/* Lessors whose stores may not be asked. */
uint64_t lessors_away(const struct lessors *lessors, const struct pool *pool);

/* The lessor in a partition, or -1. */
int32_t lessors_find(const struct lessors *lessors, int32_t member);

/* The lessor to ask for a lease, or -1. The search starts with the next in
 * turn, or with `level`. It prefers lessors that are level, then those of which
 * nothing is known, then `own`. It skips one that takes longer than the
 * patience with the quickest one. */
int32_t lessors_pick(struct lessors *lessors,
                     const struct lessors_lock_out *locked_out);

/* The `level` for the next ask of a lease whose notes were refused so often.
 * After a refusal it is one at random: two brokers that each lease from the
 * witness of the other would refuse each other in step. */
int32_t lessors_level(struct lessors *lessors, int32_t level, int32_t refusals);

/* The witness of a lease of lessor i, or -1: the next one that may be asked and
 * is not far slower than another. */
int32_t lessors_witness(const struct lessors *lessors, int32_t i,
                        const struct lessors_lock_out *locked_out);

/* Whether a lease could be made and noted while the lessors in `away` cannot be
 * asked. */
bool lessors_can_lease(const struct lessors *lessors, uint64_t away);

/* --- what was observed --- */

/* Its store was connected. Schedules a look at all lessors: others may be
 * waiting for this one, and its store may have lost their marks. */
void lessors_connected(struct lessors *lessors, int32_t i,
                       const char *incarnation, int64_t now_ms);

/* True if the state changed. */
bool lessors_set(struct lessors *lessors, int32_t i, enum ha_lessor_state state,
                 int64_t now_ms);

/* The lessor is level in the term of that nonce. */
void lessors_enter(struct lessors *lessors, int32_t i, const char *nonce);

/* Counts a lease that lessor i made. */
void lessors_leased(struct lessors *lessors, int32_t i, int64_t now_ms);

/* About how many leases it made in the last minute. */
int64_t lessors_rate(const struct lessor *lessor, int64_t now_ms);

/* --- when to look --- */

/* Makes the next look due at once. */
void lessors_want(struct lessors *lessors, int64_t now_ms);

/* A guard failed: lessor i is not level or, if `is_level`, a mark of it is
 * missing. Schedules a reconnect and a look. */
void lessors_doubt(struct lessors *lessors, int32_t i, bool is_level,
                   int64_t now_ms);

/* True if its store has to be reconnected because of a doubt. The doubt is then
 * cleared. */
bool lessors_take_doubt(struct lessors *lessors, int32_t i, int64_t now_ms);

/* A look begins. A look that is scheduled from now on is the next one. */
void lessors_poll(struct lessors *lessors);

/* The look is over. Unless `all_well`, another one is due after a rest. */
void lessors_polled(struct lessors *lessors, bool all_well, int64_t now_ms);
