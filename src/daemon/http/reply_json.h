/* SPDX-License-Identifier: Apache-2.0 */
/* Replies of the Redis protocol as JSON: a list or a map of texts and integers.
 * Private to this folder. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <event2/buffer.h>
#include <jansson.h>

/* Returns the object of a map; NULL if memory is short or the reply is none.
 * The reply must be complete, and in RESP3. */
json_t *reply_json(const char *reply, size_t length);

/* Adds the items of a part of a reply, which is a list, to a JSON array: the
 * part has whole items, and if `*is_first` the head of the list before them.
 * Clears `*is_first`. False if memory is short. */
bool reply_json_add(struct evbuffer *out, const char *part, size_t length,
                    bool *is_first);
