/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which connections are served at once, and which ones queue. A connection is
 * light or heavy by what it cost the loop lately. In each turn of the loop
 * light ones are served first; heavy ones share a slice of the turn, in the
 * order of their queue. Pure. Times are in us of any clock that never goes
 * back.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How many turns of connections the queue has in one turn of the loop; fewer if
 * the time is over before. */
#define FAIRNESS_SLICE_US INT64_C(100)
#define FAIRNESS_TURNS    32

/* How long light connections may hold back all else. Then they queue, too,
 * until the others have had their turn. Shortly before, the loop looks whether
 * there are any others: a queue costs each light one two system calls. */
#define FAIRNESS_LOOK_US     INT64_C(4000)
#define FAIRNESS_PATIENCE_US INT64_C(5000)

/* A connection is heavy while it owes more than that, and never owes more than
 * the maximum. What it owes shrinks by 50 us a ms: a connection may use 5 % of
 * the loop, and is light again 4 s after it has stopped at the latest. */
#define LOAD_ALLOWED_US INT64_C(50000)
#define LOAD_MOST_US    INT64_C(250000)
#define LOAD_PART       20 /* 1 / 5 % */

/* What is added to the time that a turn took. A well-behaved client does these
 * things seldom. A thousand others that do them use little of the loop each,
 * and all of it together. */
#define LOAD_ERROR_US      INT64_C(50000) /* an error */
#define LOAD_OTHER_US      INT64_C(10000) /* a status, a look-up, an order */
#define LOAD_LONG_US       INT64_C(20000) /* an answer of several turns */
#define LOAD_UNFINISHED_US INT64_C(5000)  /* a part of a request */

/* The most that the time of one turn counts: while it ran, the loop may have
 * waited for a processor. */
#define LOAD_TURN_MOST_US INT64_C(5000)

/* What a connection owes. A zeroed struct owes nothing. */
struct load {
    int64_t owed_us;
    int64_t counted_us; /* when it was counted last */
};

/* What a connection did in one turn. */
struct load_turn {
    int64_t us;             /* it took so long */
    int64_t errors;         /* answers that were errors */
    int64_t other_commands; /* than those that take numbers or log in */
    bool is_long;           /* more of the answer is to come */
    bool is_unfinished; /* it brought a part of a request, and nothing else */
};

void load_add(struct load *load, const struct load_turn *turn, int64_t now_us);

bool load_is_heavy(const struct load *load, int64_t now_us);

/* One turn of the loop. A zeroed struct has just begun. */
struct fairness {
    int64_t used_us;    /* of the slice, before the queue has had its turn */
    int64_t waiting_us; /* since when others may wait; 0: none do */
};

/* Whether a connection whose socket is readable is served now. Otherwise it has
 * to queue. `is_queue_empty`: no connection is queued. */
bool fairness_admits(const struct fairness *fairness, const struct load *load,
                     bool is_queue_empty, int64_t now_us);

/* Whether it is time to look if others wait at all. If none do, `waiting_us` is
 * set to now. */
bool fairness_looks(const struct fairness *fairness, int64_t now_us);

/* A heavy connection was served without queueing. */
void fairness_use(struct fairness *fairness, int64_t us);

/* Whether the queue's next connection is served in this turn of the loop, which
 * has served `turns` of them since `begun_us`. */
bool fairness_goes_on(int turns, int64_t begun_us, int64_t now_us);
