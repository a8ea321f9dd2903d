/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many runs of redis.lua in one call: those of each server in one round trip,
 * then, one by one, those that a cluster has redirected. What a run asks, and
 * what its answer means, is the caller's.
 */
#pragma once

#include "backends/redis/script.h"

#define BATCH_MAX 1024 /* runs, as backend.h has it */

/* A script, and what its words are kept in. */
struct run {
    struct script script;
    char numbers[2][REDIS_NUMBER_SIZE];
};

struct batch {
    struct redis *redis;
    size_t count;  /* of runs, at most BATCH_MAX */
    void *context; /* the caller's */

    /* Makes the i-th run; false if there is none to be made. Called several
     * times. */
    bool (*make)(const struct batch *batch, size_t i, struct run *out);

    /* Takes the answer to the i-th run, which may be an error. SEQB_OK if the
     * connection is fit for another call. */
    enum seqb_status (*take)(const struct batch *batch, size_t i,
                             const struct script *script,
                             const redisReply *reply, struct seqb_error *err);

    struct redis_node *nodes[BATCH_MAX]; /* batch.c's: whom a run was sent to */
};

/* SEQB_OK, or the first failure that makes a connection unfit; every answer
 * that could be read was taken by then. SEQB_UNREACHABLE: nothing was sent. */
enum seqb_status batch_send(struct batch *batch, struct seqb_error *err);
