/* SPDX-License-Identifier: Apache-2.0 */
/* What a request's line, headers and body take in memory while libevent reads
 * them. Private to this folder. */
#pragma once

#include <stddef.h>

#include <event2/buffer.h>

/* The most that the last `added` bytes of the input will take, in bytes.
 * libevent stores each header in three blocks of memory, so that very short
 * headers take many times their length. */
size_t head_cost(struct evbuffer *input, size_t added);
