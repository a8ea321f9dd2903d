/* SPDX-License-Identifier: Apache-2.0 */
/* What scenarios of pools with neighbours share: one store goes back at a time,
 * and the next one only when all lessors are level again. */
#pragma once

#include "chaos.h"

/* Call these before and after a fault. With `is_resting`, the brokers are
 * stopped during the fault. Otherwise it happens in turn while brokers run,
 * while they are stopped, or shortly before they are killed. All brokers run at
 * the end. */
void lessors_fault_begin(struct chaos *chaos, bool is_resting);
void lessors_fault_end(struct chaos *chaos, bool is_resting);

/* Waits until the pool's `count` lessors are level. */
void lessors_await(struct chaos *chaos, size_t count);
