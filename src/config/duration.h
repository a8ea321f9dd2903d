/* SPDX-License-Identifier: Apache-2.0 */
/* Durations as text: "200ms", "60s", "5m", "1h", "1d". */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* False unless it is a whole number and a unit. What exceeds int64 is read as
 * INT64_MAX, which no range allows. */
bool duration_parse(const char *text, int64_t *out_ms);
