/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with the clock, in words for an operator. Pure, but for the
 * log. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "period/period.h"

#define CLOCK_WORD_SIZE 64 /* for a span, or for a date */

/* A span of time in its two largest units, "3 h 20 min"; not negative. */
void clock_span_text(int64_t ms, char *out, size_t size);

/* ms since 1970 as "2026-11-21T23:59:59Z". */
void clock_date_text(int64_t ms, char *out, size_t size);

/* The clock at one moment, and the guard as it was then. */
struct clock_view {
    struct guard_reading now;
    enum guard_verdict verdict;
    int64_t time_ms;
    struct guard guard;
};

/* Why the guard does not give the clock's time. */
void clock_explain(const struct clock_view *view, char *out, size_t size);

/* What is told of the clock when it changes. */
struct clock_state {
    bool is_set;
    bool is_behind;
    bool is_ahead;
    enum guard_verdict verdict;
};

struct clock_state clock_state_of(const struct clock_view *view);
bool clock_state_is(const struct clock_state *a, const struct clock_state *b);

/* Logs it. */
void clock_state_log(const struct clock_view *view);
