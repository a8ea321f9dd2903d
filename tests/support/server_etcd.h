/* SPDX-License-Identifier: Apache-2.0 */
/* Private servers of etcd for tests: one, or the members of a cluster. */
#pragma once

#include "support/lan.h"
#include "support/servers.h"

#define ETCD_MEMBERS 3

/* A cluster of its own. `args` as server_new. */
struct server *server_etcd(const char *const *args);

/* Starts a cluster of three; server_free each. */
void server_etcd_cluster(struct server *members[static ETCD_MEMBERS]);

/* The same with a member on each host of the network. */
void server_etcd_cluster_on(const struct lan *lan,
                            struct server *members[static ETCD_MEMBERS]);

/* Posts JSON to a path of the gateway until it succeeds, for 10 s at least. */
void etcd_post(const struct server *server, const char *path, const char *body);

/* Deletes all keys that begin with that. */
void etcd_forget(struct server *server, const char *prefix);

/* Copies the data directory of a server that does not run, and back. */
void etcd_copy_out(struct server *server);
void etcd_copy_back(struct server *server);

/* Takes a snapshot of a server that runs; puts it back in the place of its
 * data, by `etcdctl snapshot restore`, while it is stopped. With another token
 * it is another cluster; NULL: the token that it had. */
void etcd_snapshot_save(struct server *server);
void etcd_snapshot_restore(struct server *server, const char *token);
