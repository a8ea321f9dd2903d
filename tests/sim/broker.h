/* SPDX-License-Identifier: Apache-2.0 */
/* Starts, kills and stops the brokers of a run. */
#pragma once

#include "run.h"

/* Starts the machine's broker after `after_us`, and again after each kill,
 * until the run is over. */
void machine_start(struct machine *machine, int64_t after_us);

/* SIGKILL: what was sent still arrives, but the broker does nothing more. The
 * next one starts after `rest_us`. */
void machine_kill(struct machine *machine, int64_t rest_us);

/* Ends the broker in order. The next one starts `rest_us` after its end. */
void machine_halt(struct machine *machine, int64_t rest_us);

/* The run is over: stops the broker normally. */
void machine_stop(struct machine *machine);
