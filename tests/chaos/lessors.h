/* SPDX-License-Identifier: Apache-2.0 */
/* What scenarios of pools of neighbours have in common: one store goes back at
 * a time, and the next one when all are level. */
#pragma once

#include "chaos.h"

/* Around a fault: it happens under brokers, between brokers, or shortly before
 * their end, in turn; or always between brokers. All run at the end. */
void lessors_fault_begin(struct chaos *chaos, bool is_resting);
void lessors_fault_end(struct chaos *chaos, bool is_resting);

/* Waits until the pool's `count` lessors are level. */
void lessors_await(struct chaos *chaos, size_t count);
