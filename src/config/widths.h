/* SPDX-License-Identifier: Apache-2.0 */
/* How many numbers fit the width of a template, and how many of these its pool
 * can give. */
#pragma once

#include "config/config.h"
#include "config/mistakes.h"
#include "config/schema.h"

/* Fills in what the options say of it, whose pool and template are known; a
 * note if the width ends, and a warning if the numbers may end before. */
void widths_weigh(const struct config_topology *topology,
                  const struct draft_sequence *sequence,
                  struct mistakes *mistakes,
                  struct queue_sequence_options *out);
