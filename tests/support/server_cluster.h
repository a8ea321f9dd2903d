/* SPDX-License-Identifier: Apache-2.0 */
/* A private Redis Cluster: three masters and three replicas on loopback. */
#pragma once

#include "support/lan.h"
#include "support/server_redis.h"

#define CLUSTER_MASTERS 3
#define CLUSTER_SERVERS 6

struct cluster {
    /* NULL: all servers are on this machine. */
    const struct lan *lan;
    /* Masters first, by their first roles. */
    struct server *servers[CLUSTER_SERVERS];
    char ids[CLUSTER_SERVERS][41];
    char addresses[CLUSTER_SERVERS][32]; /* "127.0.0.1:7000" */
    const char *endpoints[CLUSTER_SERVERS + 1];
    char node_timeout[16];
    char words[CLUSTER_SERVERS][16];
    const char *args[CLUSTER_SERVERS][16];
};

/* On return, every slot is served and every master has its replica. Free it by
 * cluster_free. A master that does not answer for `node_timeout_ms` is
 * replaced: a test that wants no failover must choose more than a busy machine
 * may stall. */
struct cluster *cluster_new(int node_timeout_ms);

/* The same on the hosts of a network: master i is on host i, and its replica,
 * server i + 3, on the next host. */
struct cluster *cluster_new_on(const struct lan *lan, int node_timeout_ms);

/* NULL is allowed. */
void cluster_free(struct cluster *cluster);

/* Waits until the server reports that all slots are served, and by which
 * masters. At most `masters` of them may be down. */
void cluster_await(struct cluster *cluster, size_t server);

/* The server that serves the slot now, as the server `asked` reports it. */
size_t cluster_owner(struct cluster *cluster, size_t asked, unsigned slot);

/* Waits until all servers report that all slots are served, and that each
 * master has a replica with its data, which a failover needs. */
void cluster_recover(struct cluster *cluster);

/* A replica of that master, as the master reports it; it must have one. */
size_t cluster_replica(struct cluster *cluster, size_t master);

/* Moves a slot from one master to another with all its keys, like redis-cli
 * --cluster reshard. During the move clients are redirected for keys that have
 * moved. It has three steps, so that a test can look in between. */
void cluster_slot_begin(struct cluster *cluster, size_t from, size_t to,
                        unsigned slot);
void cluster_slot_keys(struct cluster *cluster, size_t from, size_t to,
                       unsigned slot);
void cluster_slot_end(struct cluster *cluster, size_t from, size_t to,
                      unsigned slot);
