/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that are set, not drawn: what a bound is measured with. */
#pragma once

#include "run.h"

/* One of four partitions is away for so long, under a steady load, and then
 * there for half an hour. */
void scenario_away(bool is_windowed, int64_t away_us, struct score *out);

/* One of four refuses and serves in turn, half a second each, for so long. */
void scenario_flap(int64_t for_us, struct score *out);

/* Nothing happens for so long, but that each minute has counters of its own. Of
 * the stores, the one that has most of them at the end has `*counters`. */
void scenario_minutes(bool is_windowed, int64_t for_us, struct score *out,
                      int32_t *counters);

/* Four stores lease to each other: one is down from some time on, for so long,
 * and another one is put back just then. The longest wait is of what comes
 * after that; `served` are the numbers of then. */
void scenario_neighbours(int64_t for_us, struct score *out, int64_t *served);

/* Stores, and the one that leases, go back with their origin, so many times,
 * and always while the broker is away: it is killed, and starts again. `noted`
 * is what it notes in; NULL: nothing. The run fails at the first repeat. */
void scenario_noted(bool is_windowed, int32_t times, const char *noted,
                    struct score *out);

/* All four refuse for so long while callers wait. */
void scenario_outage(int64_t for_us, struct score *out);

/* Four stores lease to each other, with counters for each second: one is so
 * many times slower for so long. */
void scenario_slow_neighbour(int32_t times, int64_t for_us, struct score *out);
