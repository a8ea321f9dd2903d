/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a SEQ.NEXT or SEQ.NUMBER asks for: how many, of which kind, in which
 * form, with which parameters; and how many at once are taken. Private to this
 * folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/seqbroker.h>

#include "daemon/commands/commands.h"

struct lane;

/* A template's, and the shard of ids. */
#define PARAMS_MAX (SEQB_PARAM_MAX + 1)

struct param_copy {
    char name[SEQB_PARAM_NAME_MAX + 1];
    char value[SEQB_PARAM_VALUE_MAX + 1];
};

/* Copied out of a request, as words are not ended by a 0 and the library takes
 * strings. For one call of a command: `list` points into `copies`. */
struct params {
    struct seqb_param list[PARAMS_MAX];
    size_t count;
    struct param_copy copies[PARAMS_MAX];
};

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

/* --- batch.c --- */

/* Takes what a wish for many asks for and answers it as an array, after the
 * stamp if that is wished for, a turn's share at a time; to be called again,
 * from where it stood, until it is done. */
enum command_outcome batch_run(struct session *session, struct lane *lane,
                               const struct wish *wish);
