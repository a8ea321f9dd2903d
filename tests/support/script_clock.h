/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wall clock that the test sets, for programs linked with
 * --wrap=clock_wall_ms and --wrap=clock_wall_is_within. Other clocks stay the
 * machine's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* From now on the wall clock is `wall_ms` (ms since 1970). After
 * script_clock_set it stands still; after script_clock_run it advances with the
 * machine's clock. Thread-safe. */
void script_clock_set(int64_t wall_ms);
void script_clock_run(int64_t wall_ms);

/* Steps the clock, whether it advances or not. */
void script_clock_step(int64_t by_ms);

/* Replace clock_wall_ms and clock_wall_is_within. */
int64_t __wrap_clock_wall_ms(void);
bool __wrap_clock_wall_is_within(int64_t begin_ms, int64_t end_ms);
