/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A daemon whose clock is stepped, the clients that take its numbers, and the
 * judge: whether what is answered is what the clock's rules say. What the
 * daemon reads is known up to the moment of its reading, which is between two
 * looks at the real clock; no verdict depends on how far they are apart.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "stepped.h"
#include "taker.h"

#define TRIAL_MAX_ROLLBACK_MS 2000
#define TRIAL_MAX_AHEAD_MS    10000

enum trial_key { TRIAL_TICK, TRIAL_LOCAL, TRIAL_DAILY, TRIAL_ID, TRIAL_KEYS };

struct trial {
    struct stepped daemon;
    bool refuses;      /* on_rollback = "refuse"; else "hold" */
    bool is_witnessed; /* a store has a clock, which is the real one */

    /* What the daemon believes is the real clock and this, ms. */
    int64_t believed_ms;
    /* No clock that was believed was later, before the last step. */
    int64_t ceiling_ms;
    int64_t kept_ms; /* nothing later is kept by earlier runs */
    int64_t seen_ms; /* the latest begin of a stamp that was told */

    int64_t steps;
    int64_t starts;
    int64_t starts_refused;
    int64_t answers;
    int64_t held;       /* of these: of a stamp that was ahead of the clock */
    int64_t refusals;   /* errors instead of them */
    int64_t unbelieved; /* answers while the clock was too far ahead */

    struct taker probes[TRIAL_KEYS];  /* the judge's */
    struct taker clients[TRIAL_KEYS]; /* take all the time */
};

/* `backends` and `partitions` as in a topology. Starts the daemon; numbers are
 * taken from then on. */
void trial_begin(struct trial *trial, const char *stores);

/* Ends it; no number may have come twice, no stamp have gone back. */
void trial_end(struct trial *trial, const char *name);

/* Whatever has become of it. */
void trial_fini(struct trial *trial);

/* Steps the clock to what is so far ahead of the real one. */
void trial_step(struct trial *trial, int64_t offset_ms);

/* Steps it to where all is well: past what was issued, and believed. */
void trial_mend(struct trial *trial);

void trial_stop(struct trial *trial, int signal);

/* Starts it; if the clock forbids that, mends the clock and starts it. */
void trial_start(struct trial *trial);

/* Takes numbers of each sequence, and judges the answers. */
void trial_probe(struct trial *trial);

/* The offset at which the clock reads so. */
int64_t trial_offset_of(int64_t wall_ms);
