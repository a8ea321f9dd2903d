/* SPDX-License-Identifier: Apache-2.0 */
/* What one take costs of a kind whose ids have a cap: threads take a thousand
 * at once while they are at hand, then rest, so that no cap is met. */
#pragma once

#include <stdbool.h>

#include <seqbroker/seqbroker.h>

#define BURSTS_THREADS_MAX 8

/* The ns of a take, the median over all bursts of all threads, which begin
 * each at one moment. `has_shard`: by seqb_take, else by seqb_next. A
 * failure ends the program. */
double bursts_ns(struct seqb_sequence *sequence, bool has_shard, int threads,
                 double seconds);
