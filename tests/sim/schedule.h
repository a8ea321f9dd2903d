/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to the stores and brokers of a run. Within the assumptions of
 * docs/guarantees.md: a direct store loses no more than failover_gap, an
 * authority no more windows than it is raised by; a table is emptied while its
 * counters are below the gap, or all brokers know them but for that. Surgery
 * comes alone with faults of the network, and to one broker that is not killed.
 */
#pragma once

#include "run.h"

/* Faults as the scene's seed draws them, from now on for `faulty_us`. */
void schedule_draw(struct run *run);
