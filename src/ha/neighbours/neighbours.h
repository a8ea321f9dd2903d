/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes lessors level. One thread of a broker looks at the lessors of its pools
 * when one was connected or a guard failed. It leaves marks, reads, raises and
 * writes `synced`, as docs/decisions/0024-neighbours.md says. Any number of
 * brokers may do so at once, and each may be interrupted anywhere. The front
 * header of this folder.
 */
#pragma once

#include <seqbroker/status.h>

struct ha;
struct neighbours;

/* Call it after the start. Starts the thread, and waits until each lessor was
 * looked at once, or for open_timeout at most. `*out` stays NULL if no pool has
 * neighbours. SEQB_NO_MEMORY. */
enum seqb_status neighbours_open(struct ha *ha, struct neighbours **out,
                                 struct seqb_error *err);

/* Call the first before the workers are stopped, and the second after they are
 * joined. NULL is allowed. */
void neighbours_stop(struct neighbours *neighbours);
void neighbours_close(struct neighbours *neighbours);
