/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean", for keys that are unknown. Private to this folder. */
#pragma once

#include "queue/queue.h"

/* A listed key that differs by two letters at most, or NULL. Of very many,
 * only the first are looked at: wrong keys may come in a stream. */
const char *hint_near(const struct queue_options *options, const char *key);
