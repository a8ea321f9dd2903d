/* SPDX-License-Identifier: Apache-2.0 */
/* The only code that reads clocks. Logic takes the results as `now_ms`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* ms on CLOCK_MONOTONIC: for time-outs and ages, never for dates. */
int64_t clock_now_ms(void);

/* us on CLOCK_MONOTONIC: for measuring latencies. */
int64_t clock_now_us(void);

/* ms since 1970 on CLOCK_REALTIME: for dates; it may jump, and go back. */
int64_t clock_wall_ms(void);

/* Whether CLOCK_REALTIME is in `begin_ms` ... `end_ms` - 1. It is cheap while
 * the end is not near: it reads a coarse clock that a timer of the kernel
 * advances 100 to 1000 times a second. If that timer is late by more than 40
 * ms, the end is noticed that much later. */
bool clock_wall_is_within(int64_t begin_ms, int64_t end_ms);

/* ms on CLOCK_BOOTTIME, which advances while the machine sleeps: for leases. */
int64_t clock_boot_ms(void);

/* The wall clock, between two readings of the boot clock; all in ms. */
struct clock_pair {
    int64_t before_ms;
    int64_t wall_ms;
    int64_t after_ms;
};

struct clock_pair clock_read_pair(void);

/* The same two clocks in us, for what happens within one ms. */
int64_t clock_wall_us(void);
int64_t clock_boot_us(void);

/* Whether a file that was written at `written`, by its status, would get
 * another time if it were written now. The clock of file systems ticks 100 to
 * 1000 times a second. */
bool clock_has_ticked_since(struct timespec written);
