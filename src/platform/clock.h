/* SPDX-License-Identifier: Apache-2.0 */
/* The only reader of a clock; logic takes what it returns as `now_ms`. */
#pragma once

#include <stdint.h>

/* ms on CLOCK_MONOTONIC: for time-outs and ages, never for dates. */
int64_t clock_now_ms(void);

/* us on CLOCK_MONOTONIC: for measuring latencies. */
int64_t clock_now_us(void);

/* ms since 1970 on CLOCK_REALTIME: for dates; it may leap, and go back. */
int64_t clock_wall_ms(void);

/* ms on CLOCK_BOOTTIME, which goes on while the machine sleeps: for leases. */
int64_t clock_boot_ms(void);
