/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private PostgreSQL cluster under Patroni: an etcd of three members and the
 * nodes, each a Patroni and the PostgreSQL that it started. A node is a `struct
 * server` whose process is Patroni. So server_pause stops only Patroni, while
 * PostgreSQL continues. Port and socket are PostgreSQL's, so that postgres_ask
 * and postgres_execute work.
 */
#pragma once

#include "support/lan.h"
#include "support/server_etcd.h"
#include "support/servers.h"

#define PATRONI_NODES 2

struct patroni {
    struct server *etcd[ETCD_MEMBERS];
    struct server *nodes[PATRONI_NODES];
};

enum patroni_role {
    PATRONI_AWAY, /* it does not answer */
    PATRONI_STANDBY,
    PATRONI_PRIMARY
};

/* Skips or fails the test if a part of it is not installed. */
void patroni_require(void);

/* On return, node 0 leads and the other one streams. The cluster lives until
 * patroni_free, or until the test program ends in any way. */
struct patroni *server_patroni(void);

/* The same with node 0 and node 1 on hosts 0 and 1 of the network, and a member
 * of the etcd on each host. */
struct patroni *server_patroni_on(const struct lan *lan);

void patroni_free(struct patroni *patroni);

/* The role that the node's PostgreSQL reports. */
enum patroni_role patroni_role(struct patroni *patroni, size_t node);
void patroni_await(struct patroni *patroni, size_t node,
                   enum patroni_role role);

/* Waits until one node is the primary and the other one streams from it, and
 * until Patroni reports the same. Returns the primary. */
size_t patroni_await_streaming(struct patroni *patroni);

/* How often the node's Patroni has run pg_rewind, by its log. */
int patroni_rewinds(struct patroni *patroni, size_t node);

/* Waits until exactly one node is a primary. Returns it. */
size_t patroni_single(struct patroni *patroni);

/* Sets Patroni's synchronous_mode of a settled cluster. In force on return. */
void patroni_synchronous(struct patroni *patroni, bool is_synchronous);

/* Makes the leader hand over to the other node. Returns when Patroni reports
 * success. */
void patroni_switchover(struct patroni *patroni, size_t from);

/* patroni_alter sets a setting of one node, which new connections have on
 * return. patroni_show makes a node speak TLS with that certificate and its
 * key, which its user can read. */
void patroni_alter(struct patroni *patroni, size_t node, const char *what);
void patroni_show(struct patroni *patroni, size_t node, const char *cert,
                  const char *key);

/* Removes what etcd has of the cluster. Its nodes must be killed. The first one
 * that is started, with the files of a primary, becomes the leader. */
void patroni_forget(struct patroni *patroni);

/* patroni_kill_postgres sends SIGKILL to all processes of a node's PostgreSQL.
 * patroni_kill_node kills the node's Patroni first; then only server_start
 * brings the node back. */
void patroni_kill_postgres(struct patroni *patroni, size_t node);
void patroni_kill_node(struct patroni *patroni, size_t node);

/* SIGSTOP and SIGCONT to all processes of a node's PostgreSQL, and not to its
 * Patroni. One node at a time. */
void patroni_pause_postgres(struct patroni *patroni, size_t node);
void patroni_resume_postgres(void);
