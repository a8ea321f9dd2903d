/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Redis Cluster as one backend: which server has which hash slot, and a
 * connection to each master. A cell has the history of the server that it
 * counts in, so it is fenced whenever its slot moves; this file only finds the
 * server.
 */
#pragma once

#include <stdint.h>

#include "backends/redis/session.h"
#include "backends/redis/slot.h"

#define CLUSTER_NODES_MAX 1000 /* masters, the limit of the specification */

struct redis_cluster {
    struct seqb_backend_options options; /* its strings are the caller's */
    struct redis_node **nodes;
    size_t count;
    uint16_t owner[REDIS_SLOTS]; /* index into nodes + 1; 0: not known */
    int64_t deadline_ms;         /* of the current call */
};

/*
 * Asks the servers of options->endpoints for the slots, and connects to all
 * masters, within `connect_timeout_ms`. Close `*out` with cluster_close,
 * whatever the function returns. Errors as for open in backend.h.
 */
enum seqb_status cluster_open(const struct seqb_backend_options *options,
                              struct redis_cluster **out,
                              struct seqb_error *err);

/* Reads the answer of the server at `asked`, over `link`, to CLUSTER SLOTS:
 * adds the nodes and sets the owners. Connects to no server. SEQB_PROTOCOL,
 * after which the link is closed; SEQB_UNREACHABLE if no server has a slot;
 * SEQB_NO_MEMORY; the status of an error reply. */
enum seqb_status cluster_read_slots(struct redis_cluster *cluster,
                                    struct redis_link *link,
                                    const redisReply *reply,
                                    const struct address *asked,
                                    struct seqb_error *err);

/* Begins a call that must end within `budget_ms`. SEQB_UNREACHABLE if a
 * connection was lost earlier. */
enum seqb_status cluster_begin(struct redis_cluster *cluster, int32_t budget_ms,
                               struct seqb_error *err);

/* The server that has a key, connected. SEQB_UNREACHABLE, or another error of
 * connecting. */
enum seqb_status cluster_find(struct redis_cluster *cluster, const char *key,
                              struct redis_node **out, struct seqb_error *err);

/* The server that `from` redirects to, connected; a slot that has moved is
 * noted. Errors as for cluster_find. */
enum seqb_status cluster_follow(struct redis_cluster *cluster,
                                const struct redirection *redirection,
                                const struct redis_node *from,
                                struct redis_node **out,
                                struct seqb_error *err);

/* The origin of all masters: it differs when one of them has another
 * history. */
void cluster_origin(const struct redis_cluster *cluster,
                    char out[static SEQB_ORIGIN_SIZE]);

/* NULL is allowed. */
void cluster_close(struct redis_cluster *cluster);
