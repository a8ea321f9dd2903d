/* SPDX-License-Identifier: Apache-2.0 */
/* Each call is timed by itself; one reading of the clock lies between two. */
#include "bench/turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/die.h"
#include "bench/now.h"
#include "support/take.h"

#define SECOND_NS INT64_C(1000000000)
#define NEAR_NS   (TURN_NEAR_MS * INT64_C(1000000))

/* What the wall clock is ahead of the one that times the calls. */
static int64_t wall_ahead_ns(void)
{
    struct timespec wall;

    clock_gettime(CLOCK_REALTIME, &wall);
    return (int64_t)wall.tv_sec * SECOND_NS + wall.tv_nsec - now_ns();
}

/* The second that the number is of, s since 1970. */
static int64_t take(struct seqb_sequence *sequence)
{
    struct seqb_stamp stamp;
    struct seqb_error err;
    int64_t value;

    if (take_stamped(sequence, 1, &value, &stamp, &err) != SEQB_OK)
        die(err.text);
    return stamp.begins_ms / 1000;
}

static void worst_of(int64_t *worst_ns, int64_t ns)
{
    if (ns > *worst_ns)
        *worst_ns = ns;
}

/* A call that took from `from_ns` to `to_ns` by the wall clock. The turns are
 * at first, first + 1, ... s. */
static void turns_time(struct turns *turns, int64_t first, int64_t from_ns,
                       int64_t to_ns)
{
    const int64_t turn = (to_ns + NEAR_NS) / SECOND_NS;
    const int64_t begin_ns = turn * SECOND_NS;

    if (from_ns > begin_ns + NEAR_NS)
        worst_of(&turns->between_ns, to_ns - from_ns);
    else if (turn >= first && turn < first + TURNS)
        worst_of(&turns->turn[turn - first].worst_ns, to_ns - from_ns);
}

void turns_run(struct seqb_sequence *sequence, struct turns *out)
{
    const int64_t ahead_ns = wall_ahead_ns();
    int64_t before_ns = now_ns() + ahead_ns;
    int64_t first;
    int64_t last = 0;

    /* A second to get up to speed, and the rest of the one after it. */
    first = before_ns / SECOND_NS + 2;
    *out = (struct turns){.between_ns = 0};
    while (last < first + TURNS) {
        const int64_t second = take(sequence);
        const int64_t after_ns = now_ns() + ahead_ns;

        if (second < last)
            die("a number of a second that was over");
        last = second;
        if (second >= first && second < first + TURNS)
            out->turn[second - first].numbers++;
        if (before_ns > first * SECOND_NS - SECOND_NS / 2)
            turns_time(out, first, before_ns, after_ns);
        before_ns = after_ns;
    }
}
