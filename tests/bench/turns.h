/* SPDX-License-Identifier: Apache-2.0 */
/* What the turn of a second does to a caller that takes as fast as it can from
 * a sequence whose numbers begin afresh with each. */
#pragma once

#include <stdint.h>

#include <seqbroker/seqbroker.h>

#define TURNS        3
#define TURN_NEAR_MS 20 /* before it and after it */

struct turn {
    int64_t numbers;  /* that were of the second which it began */
    int64_t worst_ns; /* of the calls near it */
};

struct turns {
    struct turn turn[TURNS];
    int64_t between_ns; /* the worst call that was near none */
};

/* Takes with one thread, from the middle of a second on, until TURNS whole
 * seconds have passed. A failure, or a stamp that goes back, ends the
 * program. */
void turns_run(struct seqb_sequence *sequence, struct turns *out);
