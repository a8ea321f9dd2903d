/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way to a model server: how long an answer takes, and what may happen to
 * it: refused, hung, cut off, slow, answers lost, commands late. Whoever
 * changes a field calls net_note, which keeps since when all is well.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "random.h"

struct net_server {
    struct random random;
    int64_t usual_us;      /* of a way and back */
    int32_t slow;          /* so many times slower now; 1: as usual */
    bool is_taken;         /* by a fault: one at a time */
    int32_t lost;          /* answers in a hundred that do not come, now */
    bool is_down;          /* refuses connections */
    bool is_locked_out;    /* for what is wrong with a store there */
    int64_t hung_until_us; /* accepts, and does nothing before */
    uint32_t cut;          /* bit b: nothing passes between it and broker b */
    int64_t cut_until_us;
    int64_t epoch; /* of connections: older ones are broken */
    int64_t ills;  /* how often it ceased to be well */

    int64_t well_since_us; /* nothing of the above holds; WORLD_NEVER: some */
    int64_t ill_since_us;  /* the begin of a time in which it was not well, or
                              not long enough for brokers to forget that */
    int32_t relapses;      /* since then */
};

/* What becomes of one command; WORLD_NEVER: nothing. */
struct net_fate {
    int64_t arrives_us; /* and is carried out, whoever still waits */
    int64_t answer_us;
};

void net_init(struct net_server *server, struct random random);
void net_note(struct net_server *server);

/* Every connection is broken, and that is all. */
void net_break(struct net_server *server);

/* Of a command sent now by that broker. */
struct net_fate net_send(struct net_server *server, int32_t broker);
