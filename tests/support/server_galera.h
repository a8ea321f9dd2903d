/* SPDX-License-Identifier: Apache-2.0 */
/* A private MariaDB Galera cluster: three nodes on loopback. mariadb_execute
 * and its like work on each node, by the node's own socket. */
#pragma once

#include "support/lan.h"
#include "support/server_mariadb.h"

#define GALERA_NODES 3

/* Skips or fails the test if a part of it is not installed. */
void galera_require(void);
bool galera_is_installed(void);

/* Starts a cluster; on return, all nodes are synced. Free each by server_free.
 * `args` are further arguments of each node, as for server_mariadb. */
void server_galera_cluster(const char *const *args,
                           struct server *nodes[static GALERA_NODES]);

/* The same without `args`, and with a node on each host of the network. */
void server_galera_cluster_on(const struct lan *lan,
                              struct server *nodes[static GALERA_NODES]);

/* Starts a stopped node as the first of its cluster, from the state in its
 * files. Other nodes join it by server_start. */
void galera_bootstrap(struct server *node);

/* Starts a stopped node like server_start, but returns before it is synced. */
void galera_start_join(struct server *node);

/* False, too, if the node does not answer. */
bool galera_is_synced(struct server *node);

/* Waits until the status variable `name` of the node is `value`. */
void galera_await(struct server *node, const char *name, const char *value);

/* From its next start on, the node copies all data by that method, "rsync" or
 * "mariabackup". `method` must outlive the node. */
void galera_transfer_by(struct server *node, const char *method);

/* Removes the files of a stopped node, so that it copies all data from another
 * node at its start. Its own files may be ahead of a cluster that was
 * bootstrapped since. */
void galera_drop_files(struct server *node);
