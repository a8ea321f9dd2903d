/* SPDX-License-Identifier: Apache-2.0 */
/* A private Redis Cluster: three masters and three replicas on loopback. */
#pragma once

#include "support/lan.h"
#include "support/server_redis.h"

#define CLUSTER_MASTERS 3
#define CLUSTER_SERVERS 6

struct cluster {
    const struct lan *lan;                   /* NULL: all are here */
    struct server *servers[CLUSTER_SERVERS]; /* masters first, as it began */
    char ids[CLUSTER_SERVERS][41];
    char addresses[CLUSTER_SERVERS][32]; /* "127.0.0.1:7000" */
    const char *endpoints[CLUSTER_SERVERS + 1];
    char node_timeout[16];
    char words[CLUSTER_SERVERS][16];
    const char *args[CLUSTER_SERVERS][16];
};

/* Every slot is served and every master has its replica when it returns; for
 * cluster_free. A master that is away for so long is replaced: a test that
 * wants no failover takes more than a busy machine may stall. */
struct cluster *cluster_new(int node_timeout_ms);

/* The same on the hosts of a network: master i is on host i, and its replica,
 * server i + 3, on the next host. */
struct cluster *cluster_new_on(const struct lan *lan, int node_timeout_ms);

/* Takes NULL. */
void cluster_free(struct cluster *cluster);

/* Until the server says that all slots are served, and by whom: at most
 * `masters` of them fail. */
void cluster_await(struct cluster *cluster, size_t server);

/* The server that serves the slot now, by what `asked` says. */
size_t cluster_owner(struct cluster *cluster, size_t asked, unsigned slot);

/* Until all servers say that all slots are served, and each master has a
 * replica with its copy: a failover needs that. */
void cluster_recover(struct cluster *cluster);

/* A replica of that master, by what the master says; it must have one. */
size_t cluster_replica(struct cluster *cluster, size_t master);

/* Moves a slot from one master to another with all its keys, as redis-cli
 * --cluster reshard does; keys that come meanwhile are asked for in both. In
 * three steps, so that a test can look in between. */
void cluster_slot_begin(struct cluster *cluster, size_t from, size_t to,
                        unsigned slot);
void cluster_slot_keys(struct cluster *cluster, size_t from, size_t to,
                       unsigned slot);
void cluster_slot_end(struct cluster *cluster, size_t from, size_t to,
                      unsigned slot);
