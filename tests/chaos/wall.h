/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wall clock that is stepped under all brokers of a scenario, as on one
 * machine, for programs linked with --wrap=clock_gettime. Their other clocks,
 * and those of the servers, stay the machine's: libfaketime cannot step an
 * etcd, which calls the kernel, nor a redis-server, in which it recurses.
 * Numbers without a stamp depend on no wall clock, and neither may deadlines.
 */
#pragma once

#include "chaos.h"

/* Call before the brokers start. The clock is right again. */
void wall_reset(void);

/* Steps it to a second, an hour, a day or a year before or after the machine's.
 */
void wall_step(struct chaos *chaos);
