/* SPDX-License-Identifier: Apache-2.0 */
/* Templates from a seeded grammar: fields with options, some of which do not
 * fit, between static texts. Also kinds of sequences for them. */
#pragma once

#include <stdint.h>

#include "unit/round_trip.h"

#define RANDOM_TEMPLATE_SIZE 1200

void random_template(uint64_t *seed, char out[RANDOM_TEMPLATE_SIZE]);

/* One of a few kinds; static. */
const struct round_kind *random_kind(uint64_t *seed);
