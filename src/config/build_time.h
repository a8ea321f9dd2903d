/* SPDX-License-Identifier: Apache-2.0 */
/* What of a checked draft has to do with time: periods, ids, the guarded
 * clock, a snowflake's bits. For build.c. */
#pragma once

#include "config/build.h"

/* Fills what the options say of the sequence's period, if it has one. */
void build_period(struct arena *arena, const struct draft_sequence *sequence,
                  struct queue_sequence_options *out);

/* Of the broker's clock, after its sequences; NULL if none has a period. */
const struct queue_clock_options *build_clock(const struct build *build);

void build_snowflake(const struct draft_backend *backend,
                     struct store_options *out);
