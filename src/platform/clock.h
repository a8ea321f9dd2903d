/* SPDX-License-Identifier: Apache-2.0 */
/* The only reader of a clock; logic takes what it returns as `now_ms`. */
#pragma once

#include <stdint.h>

/* ms on CLOCK_MONOTONIC: for time-outs and ages, never for dates. */
int64_t clock_now_ms(void);

/* us on CLOCK_MONOTONIC: for measuring latencies. */
int64_t clock_now_us(void);
