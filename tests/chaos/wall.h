/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wall clock that is stepped under all brokers of a scenario, as on one
 * machine, for programs linked with --wrap=clock_gettime. Their other clocks,
 * and those of the servers, stay the machine's: libfaketime cannot step an
 * etcd, which calls the kernel, nor a redis-server, which it recurses in. A
 * number without a stamp depends on no wall clock; deadlines and leases must
 * not, either.
 */
#pragma once

#include "chaos.h"

/* Call before the brokers start. The clock is right again. */
void wall_reset(void);

/* Steps it to a second, an hour, a day or a year before or after the machine's.
 */
void wall_step(struct chaos *chaos);
