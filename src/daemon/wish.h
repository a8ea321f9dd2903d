/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a SEQ.NEXT asks for: how many numbers, of which kind, in which form.
 * Taking them is the caller's, in whatever steps it likes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/status.h>

struct lane;
struct resp_request;
struct session;

/* The most numbers of one stamp: they have to come while it lasts. */
#define WISH_STAMPED_MAX 1000

struct wish {
    size_t count;
    int64_t shard; /* for ids; only if has_shard */
    bool has_shard;
    bool is_array; /* COUNT was said */
    bool is_text;
    bool is_stamped; /* then all of one stamp, which is told; no shard */
};

/* Reads what stands behind the key; false after answering the error. */
bool wish_parse(struct session *session, const struct resp_request *request,
                struct wish *out);

/* Takes up to `count` numbers of a wish that is not stamped, as
 * seqb_try_next_many does. */
enum seqb_status wish_take(const struct wish *wish, const struct lane *lane,
                           size_t count, int64_t *out, size_t *taken,
                           struct seqb_error *err);
