/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many runs of redis.lua in one call: the runs of each server in one round
 * trip, then, one by one, the runs that a cluster redirected. The caller makes
 * the runs and interprets their answers.
 */
#pragma once

#include "backends/redis/script.h"

#define BATCH_MAX 1024 /* runs, the limit of backend.h */

/* A script, and the memory of its number arguments. */
struct run {
    struct script script;
    char numbers[2][REDIS_NUMBER_SIZE];
};

struct batch {
    struct redis *redis;
    size_t count;  /* number of runs, at most BATCH_MAX */
    void *context; /* the caller's */

    /* Makes the i-th run; false if there is none. May be called several times
     * for the same run. */
    bool (*make)(const struct batch *batch, size_t i, struct run *out);

    /* Takes the answer to the i-th run, which may be an error. SEQB_OK if the
     * connection may be used again. */
    enum seqb_status (*take)(const struct batch *batch, size_t i,
                             const struct script *script,
                             const redisReply *reply, struct seqb_error *err);

    struct redis_node *nodes[BATCH_MAX]; /* private to batch.c: the server that
                                            each run was sent to */
};

/* SEQB_OK, or the first failure after which a connection must not be used;
 * every answer that could be read has been taken. SEQB_UNREACHABLE: no answer
 * was lost, and what was not answered was not done. */
enum seqb_status batch_send(struct batch *batch, struct seqb_error *err);
