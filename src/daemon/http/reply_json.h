/* SPDX-License-Identifier: Apache-2.0 */
/* Replies of the Redis protocol as JSON: a list or a map of texts and integers.
 * Private to this folder. */
#pragma once

#include <stddef.h>

#include <jansson.h>

/* Returns an array or an object; NULL if memory is short or the reply is
 * neither. The reply must be complete, and in RESP3. */
json_t *reply_json(const char *reply, size_t length);
