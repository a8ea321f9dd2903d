/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lessors of a pool with neighbours, as one broker knows them: which one is
 * asked for a lease, who witnesses it, and when they are looked at. Pure; the
 * pool's lock guards it. The protocol is in docs/decisions/0024-neighbours.md.
 *
 * All of it is only a matter of whom to ask: what this broker believes of a
 * lessor is compared by the stores, in the statements that lease and note.
 */
#pragma once

#include "ha/ha.h"
#include "ha/policy/pool.h"

#define LESSORS_MAX HA_PARTITIONS_MAX

/* Between two looks, while one of them does not help: doubles. */
#define LESSORS_FIRST_MS   50
#define LESSORS_LONGEST_MS 3000

/* At least from one connection that is made for a doubt to the next. */
#define LESSORS_FRESH_MS 1000

struct lessor {
    int32_t member;      /* partition whose store it is; constant */
    int32_t waits_for;   /* lessor that cannot be asked; read if it waits */
    int64_t since_ms;    /* of the state */
    int64_t minute_ms;   /* begin of the minute in which `leased` counts */
    int64_t leased;      /* leases so far in that minute */
    int64_t leased_last; /* in the minute before */
    enum ha_lessor_state state;
    bool is_doubted;  /* its store, or the mark that it left, is not what this
                         broker believes: it is to be connected again */
    int64_t fresh_ms; /* when it was, for that, last */
    uint32_t run; /* counts the incarnations seen: a mark of another one says
                     nothing */
    char incarnation[SEQB_INCARNATION_SIZE]; /* as connected last; "": never */
    char nonce[TERM_NONCE_SIZE]; /* of its term, as looked at last */
};

struct lessors {
    int32_t count; /* 0: the pool has no neighbours */
    int32_t bits;  /* low bits of a window's number that say who leased it */
    int32_t next;  /* the lessor whose turn is next */
    struct lessor lessor[LESSORS_MAX];

    /* When they are to be looked at. */
    int64_t poll_ms; /* INT64_MAX: not by itself */
    int64_t rest_ms; /* before the next look, if this one does not help */
    uint64_t random; /* of the rests' jitter */
};

/* Who may not be chosen, bit i is lessor i; and who is chosen last. */
struct lessors_lock_out {
    uint64_t away;  /* its store may not be asked now: see lessors_away */
    uint64_t tried; /* it was asked for this lease already */
    int32_t own;    /* the lessor in the partition that needs the window, asked
                       only if there is no other; -1: it is none */
    int32_t level;  /* the lessor whose turn it is, as it has the last lease of
                       the counter: another one may have to be raised first,
                       and asked once more; -1: any */
    int64_t wait_us[LESSORS_MAX]; /* what a call of it takes, about: one that is
                                     far slower than others is chosen after
                                     them */
};

void lessors_init(struct lessors *lessors, const int32_t *members,
                  int32_t count, uint64_t seed, int64_t now_ms);

/* The window of a lease, the lease of a window, and the highest lease whose
 * window is not above `window`. */
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

/* Who is asked for a lease, turn by turn, or from `level` on: one that is
 * level, else one of which nothing is known; or -1. Of these, none that takes
 * longer than the patience with the quickest one. */
int32_t lessors_pick(struct lessors *lessors,
                     const struct lessors_lock_out *locked_out);

/* Who witnesses a lease of lessor i: the next one that may be asked and is not
 * far slower than another; or -1. */
int32_t lessors_witness(const struct lessors *lessors, int32_t i,
                        const struct lessors_lock_out *locked_out);

/* Whether any lease could be made and noted while those are away. */
bool lessors_can_lease(const struct lessors *lessors, uint64_t away);

/* --- what was seen --- */

/* Its store was connected. All are to be looked at: it may have been waited
 * for, or may have forgotten its marks. */
void lessors_connected(struct lessors *lessors, int32_t i,
                       const char *incarnation, int64_t now_ms);

/* True if that is a change. */
bool lessors_set(struct lessors *lessors, int32_t i, enum ha_lessor_state state,
                 int64_t now_ms);

/* It is level in the term of that nonce. */
void lessors_enter(struct lessors *lessors, int32_t i, const char *nonce);

/* A lease was made. */
void lessors_leased(struct lessors *lessors, int32_t i, int64_t now_ms);

/* Leases in the last minute, about. */
int64_t lessors_rate(const struct lessor *lessor, int64_t now_ms);

/* --- when to look --- */

/* They are to be looked at soon. */
void lessors_want(struct lessors *lessors, int64_t now_ms);

/* A guard failed: lessor i is not level (or else a mark of it is missing). */
void lessors_doubt(struct lessors *lessors, int32_t i, bool is_level,
                   int64_t now_ms);

/* True if its store is to be connected once more, for a doubt that this
 * settles. */
bool lessors_take_doubt(struct lessors *lessors, int32_t i, int64_t now_ms);

/* A look begins; what is wanted from now on is for the next one. */
void lessors_poll(struct lessors *lessors);

/* The look is over. Unless all is well, there is another one after a rest. */
void lessors_polled(struct lessors *lessors, bool all_well, int64_t now_ms);
