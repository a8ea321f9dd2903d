/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that do the same at once. */
#pragma once

#include <stddef.h>

#include "support/test.h"

/* Runs `run` once for each racer of an array, on a thread of its own; all begin
 * at once. Returns when all have ended. One race at a time. */
#define RACE(racers, run)                                                      \
    race_run((racers), COUNT_OF(racers), sizeof(racers)[0], (run))

void race_run(void *racers, size_t n, size_t size, void (*run)(void *racer));

/* Of a racer: waits until all have called it as often. */
void race_meet(void);

/* The same, but all return at once: waking them takes some time after each
 * other, so the last steps are spun. */
void race_meet_closely(void);
