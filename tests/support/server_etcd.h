/* SPDX-License-Identifier: Apache-2.0 */
/* Private etcd servers: a single one, or the members of a cluster. */
#pragma once

#include "support/lan.h"
#include "support/servers.h"
#include "support/tls_pair.h"

#define ETCD_MEMBERS 3

/* A cluster of one member. See server_new for `args`. */
struct server *server_etcd(const char *const *args);

/* The same by TLS with that certificate, which also has to sign those of
 * clients. The files must outlive the server. */
struct server *server_etcd_tls(const struct tls_files *tls);

/* Starts a cluster of three members. Free each by server_free. */
void server_etcd_cluster(struct server *members[static ETCD_MEMBERS]);

/* The same with a member on each host of the network, if `lan` is not NULL. */
void server_etcd_cluster_on(const struct lan *lan, const char *const *args,
                            struct server *members[static ETCD_MEMBERS]);

/* Posts JSON to a path of the gateway, and repeats it until it succeeds, for at
 * least 10 s. */
void etcd_post(const struct server *server, const char *path, const char *body);

/* The transactions that the server carried out for clients since its start. */
int64_t etcd_transactions(const struct server *server);

/* Waits until a member is the leader, and returns it. Members may be killed,
 * but not paused. */
int etcd_leader(struct server *const members[static ETCD_MEMBERS]);

/* Puts a key. */
void etcd_put(struct server *server, const char *key, const char *value);

/* From now on each client is a user; there is only root. */
void etcd_demand_logins(struct server *server);

/* Deletes all keys that begin with `prefix`. */
void etcd_forget(struct server *server, const char *prefix);

/* Copies the data directory of a stopped server, and puts the copy back. */
void etcd_copy_out(struct server *server);
void etcd_copy_back(struct server *server);

/* etcd_snapshot_save takes a snapshot of a running server. etcd_snapshot_copy
 * copies it for another member.
 * etcd_snapshot_restore replaces its data by the snapshot, by `etcdctl snapshot
 * restore`, while it is stopped. With another `token` it becomes another
 * cluster; NULL: the token stays. */
void etcd_snapshot_save(struct server *server);
void etcd_snapshot_copy(const struct server *from, struct server *to);
void etcd_snapshot_restore(struct server *server, const char *token);
