/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed runs, not drawn from a seed, to measure the bounds. */
#pragma once

#include "run.h"

/* One of four partitions is down for `away_us`, under a steady load, and then
 * up for half an hour. */
void scenario_away(bool is_windowed, int64_t away_us, struct score *out);

/* One of four partitions refuses and serves in turn, half a second each, for
 * `for_us`. */
void scenario_flap(int64_t for_us, struct score *out);

/* No faults for `for_us`, but each minute has counters of its own. `*counters`
 * is the number of counters at the end, in the store that has most. */
void scenario_minutes(bool is_windowed, int64_t for_us, struct score *out,
                      int32_t *counters);

/* Four stores lease to each other. One is down from some time on for `for_us`,
 * and at that moment another one is put back. The score's longest wait and
 * errors, and `*served` numbers, count from 2 s later on. */
void scenario_neighbours(int64_t for_us, struct score *out, int64_t *served);

/* Stores, and the authority, go back with their origin, `times` times, always
 * while the broker is down: it is killed, and starts again. `noted` is the file
 * in which it notes its grants; NULL: none. The run fails at the first
 * repeat. */
void scenario_noted(bool is_windowed, int32_t times, const char *noted,
                    struct score *out);

/* All four stores die at some moment `after_us` within the broker's looks,
 * while nobody calls: they refuse connections, or accept them and do not
 * answer. The time until health says that it cannot serve; WORLD_NEVER: not
 * within a minute. The interval of looks and the time-outs are the defaults. */
int64_t scenario_idle(bool is_hung, int64_t after_us);

/* All four partitions refuse for `for_us` while callers wait. */
void scenario_outage(int64_t for_us, struct score *out);

/* Four stores lease to each other, with counters for each second. One of them
 * is `times` times slower for `for_us`. */
void scenario_slow_neighbour(int32_t times, int64_t for_us, struct score *out);
