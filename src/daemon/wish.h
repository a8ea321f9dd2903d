/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a SEQ.NEXT or SEQ.NUMBER asks for: how many, of which kind, in which
 * form.
 * Taking them is the caller's, in whatever steps it likes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/status.h>

struct lane;
struct params;
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
    const struct params *params; /* of texts; NULL: numbers are asked for */
};

/* Reads what stands behind the key of a SEQ.NEXT; false after answering the
 * error. */
bool wish_parse(struct session *session, const struct resp_request *request,
                struct wish *out);

/* The same of a SEQ.NUMBER, whose parameters are read into `params`. */
bool wish_parse_texts(struct session *session,
                      const struct resp_request *request, struct params *params,
                      struct wish *out);

/* Takes up to `count` numbers of a wish that is not stamped, as
 * seqb_try_next_many does. */
enum seqb_status wish_take(const struct wish *wish, const struct lane *lane,
                           size_t count, int64_t *out, size_t *taken,
                           struct seqb_error *err);
