/* SPDX-License-Identifier: Apache-2.0 */
/* What redis.lua answers, taken apart and checked: {word, text, ...}, or an
 * error whose first word is a code; and the answer to TIME. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <hiredis/hiredis.h>
#include <seqbroker/backend.h>

/* It is an error, and its first word is `code`. */
bool reply_is_error(const redisReply *reply, const char *code);

/* The word as a status: SEQB_OK, SEQB_FENCED, SEQB_EXHAUSTED, SEQB_LAYOUT, or
 * SEQB_PROTOCOL if it is no word of the script. */
enum seqb_status reply_status(const redisReply *reply);

/* The text after the word; NULL if there is none. */
const redisReply *reply_text(const redisReply *reply);

/* The text as a window or a floor: 0 or more. `*out` may be touched on
 * failure. */
bool reply_window(const redisReply *reply, int64_t *out);

/* The block after the text, which must be what `request` may be granted. */
bool reply_block(const redisReply *reply, const struct seqb_request *request,
                 struct seqb_block *out);

/* The answer to TIME as ms since 1970. */
bool reply_time(const redisReply *reply, int64_t *out_ms);
