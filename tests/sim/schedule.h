/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to the stores and brokers of a run, within the assumptions of
 * docs/guarantees.md: a direct store loses at most failover_gap values, and an
 * authority at most as many windows as it is raised by. A table is emptied only
 * while its counters are below the gap, or while all brokers know the counters
 * to within the gap. Surgery is combined only with faults of the network, and
 * with a single broker that is not killed.
 */
#pragma once

#include "run.h"

/* From now on, for `faulty_us`, faults happen as drawn from the scene's
 * seed. */
void schedule_draw(struct run *run);
