/* SPDX-License-Identifier: Apache-2.0 */
/* Starting, killing and stopping the brokers of a run. */
#pragma once

#include "run.h"

/* Has the machine's broker started after so long, and again when it is killed,
 * until the run is over. */
void machine_start(struct machine *machine, int64_t after_us);

/* SIGKILL: what was sent arrives, nothing more is done. */
void machine_kill(struct machine *machine, int64_t rest_us);

/* The run is over: the broker is to be stopped in order. */
void machine_stop(struct machine *machine);
