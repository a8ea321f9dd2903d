/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wall clock that the test sets: for programs that are linked with
 * --wrap=clock_wall_ms and --wrap=clock_wall_is_within. The other clocks stay
 * the machine's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* From now on it says that, ms since 1970, and goes on with the machine's if
 * it runs. Any thread. */
void script_clock_set(int64_t wall_ms);
void script_clock_run(int64_t wall_ms);

/* Moves it, running or not. */
void script_clock_step(int64_t by_ms);

/* In place of clock_wall_ms and clock_wall_is_within. */
int64_t __wrap_clock_wall_ms(void);
bool __wrap_clock_wall_is_within(int64_t begin_ms, int64_t end_ms);
