/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making lessors level: one thread of a broker looks at the lessors of its
 * pools when one was connected or a guard failed, and leaves marks, reads,
 * raises and writes `synced` as docs/decisions/0024-neighbours.md says. Any
 * number of brokers may do so at once; each may be cut off anywhere. The front
 * header of this folder.
 */
#pragma once

#include <seqbroker/status.h>

struct ha;
struct neighbours;

/* After the start: begins, and waits until each lessor was looked at once, or
 * no longer than stores may take to answer. `*out` stays NULL if no pool has
 * neighbours. SEQB_NO_MEMORY. */
enum seqb_status neighbours_open(struct ha *ha, struct neighbours **out,
                                 struct seqb_error *err);

/* Before the workers are stopped; and after they are joined. Both take NULL. */
void neighbours_stop(struct neighbours *neighbours);
void neighbours_close(struct neighbours *neighbours);
