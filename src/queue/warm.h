/* SPDX-License-Identifier: Apache-2.0 */
/* Filling rings before the first caller comes. Private to this folder. */
#pragma once

#include "queue/catalog.h"

/*
 * Has the warm sequences filled, side by side, and waits until each holds what
 * a refill would not add to, at most until `until_ms`: whose ring is not
 * filled then is logged. Refilling must have been started.
 */
void warm_wait(const struct catalog *catalog, int64_t until_ms);
