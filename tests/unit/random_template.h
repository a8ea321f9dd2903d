/* SPDX-License-Identifier: Apache-2.0 */
/* Templates of a seeded grammar: fields with options that fit, and now and then
 * one that does not, between pieces of text; and kinds of sequences for them.
 */
#pragma once

#include <stdint.h>

#include "unit/round_trip.h"

#define RANDOM_TEMPLATE_SIZE 1200

void random_template(uint64_t *seed, char out[RANDOM_TEMPLATE_SIZE]);

/* One of some kinds, static. */
const struct round_kind *random_kind(uint64_t *seed);
