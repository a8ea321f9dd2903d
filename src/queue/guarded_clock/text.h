/* SPDX-License-Identifier: Apache-2.0 */
/* Describes for an operator what is wrong with the clock. Pure, except for the
 * log. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "period/period.h"

#define CLOCK_WORD_SIZE 64 /* bytes; for a span, or a date */

/* Writes a span of time in its two largest units, as "3 h 20 min"; `ms` is not
 * negative. */
void clock_span_text(int64_t ms, char *out, size_t size);

/* Writes ms since 1970 as "2026-11-21T23:59:59Z". `size` is CLOCK_WORD_SIZE, or
 * more. */
void clock_date_text(int64_t ms, char *out, size_t size);

/* The clock and the guard at one moment. */
struct clock_view {
    struct guard_reading now;
    enum guard_verdict verdict;
    int64_t time_ms;
    struct guard guard;
};

/* Writes why the guard does not give the clock's time. */
void clock_explain(const struct clock_view *view, char *out, size_t size);

/* The state of the clock whose changes are logged. */
struct clock_state {
    bool is_set;
    bool is_behind;
    bool is_ahead;
    enum guard_verdict verdict;
};

struct clock_state clock_state_of(const struct clock_view *view);
bool clock_state_is(const struct clock_state *a, const struct clock_state *b);

/* Logs the state. */
void clock_state_log(const struct clock_view *view);
