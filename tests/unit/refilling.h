/* SPDX-License-Identifier: Apache-2.0 */
/* Holds up the refill thread of a broker in its poll of one sequence. */
#pragma once

struct seqb_sequence;

/* Returns when the thread is in that poll; it polls nothing else until
 * refilling_release. One sequence of one test at a time. The sequence is polled
 * no more until the broker is closed. */
void refilling_hold_at(struct seqb_sequence *sequence);
void refilling_release(void);
