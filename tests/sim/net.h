/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network to a model server: how long an answer takes, and faults:
 * connections refused, server frozen or slow, network cut, answers lost,
 * commands late. After changing a field, call net_note, which records since
 * when all is well.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "random.h"

struct net_server {
    struct random random;
    int64_t usual_us;   /* round trip */
    int32_t slow;       /* how many times slower it is now; 1: normal */
    bool is_taken;      /* a fault is in progress: one at a time */
    int32_t lost;       /* percentage of answers that are lost now */
    bool is_down;       /* refuses connections */
    bool is_locked_out; /* because of a fault of a store on it */
    /* Until then it accepts connections, but does nothing else. */
    int64_t hung_until_us;
    uint32_t cut; /* bit b: no packets pass between it and broker b */
    int64_t cut_until_us;
    int64_t epoch; /* of connections: those of older epochs are broken */
    int64_t ills;  /* number of times that it ceased to be well */

    /* None of the faults above is there; WORLD_NEVER: one is. */
    int64_t well_since_us;
    int64_t ill_since_us; /* since when it is, or was last, not well; pauses too
                             short for brokers to forget that are included */
    int32_t relapses;     /* since then */
};

/* The fate of one command. WORLD_NEVER: it does not happen. */
struct net_fate {
    int64_t arrives_us; /* when it is executed, even if nobody waits for it any
                           more */
    int64_t answer_us;
};

void net_init(struct net_server *server, struct random random);
void net_note(struct net_server *server);

/* Breaks every connection, without another fault. */
void net_break(struct net_server *server);

/* The fate of a command that `broker` sends now. */
struct net_fate net_send(struct net_server *server, int32_t broker);
