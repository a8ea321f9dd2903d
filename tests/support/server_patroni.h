/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private cluster of PostgreSQL under Patroni, on loopback: an etcd, and
 * nodes of which each is a Patroni and the PostgreSQL that it started. A node
 * is a `struct server` whose process is the Patroni: server_pause holds that
 * alone, while its PostgreSQL goes on. Its port and socket are PostgreSQL's, so
 * that postgres_ask and postgres_execute serve it.
 */
#pragma once

#include "support/servers.h"

#define PATRONI_NODES 2

struct patroni {
    struct server *etcd;
    struct server *nodes[PATRONI_NODES];
};

enum patroni_role {
    PATRONI_AWAY, /* it does not answer */
    PATRONI_STANDBY,
    PATRONI_PRIMARY
};

/* Skips or fails the test if a part of it is not installed. */
void patroni_require(void);

/* Node 0 leads and the other one streams when it returns. It lives until
 * patroni_free, or as long as the test program, however that ends. */
struct patroni *server_patroni(void);
void patroni_free(struct patroni *patroni);

/* What the PostgreSQL of a node says that it is. */
enum patroni_role patroni_role(struct patroni *patroni, size_t node);
void patroni_await(struct patroni *patroni, size_t node,
                   enum patroni_role role);

/* Waits until one node is the primary and the other one streams from it, as
 * Patroni, too, has heard; that primary. */
size_t patroni_await_streaming(struct patroni *patroni);

/* Waits until one node alone is a primary; which. */
size_t patroni_single(struct patroni *patroni);

/* Patroni's synchronous_mode; in force on return, of a cluster that is
 * settled. */
void patroni_synchronous(struct patroni *patroni, bool is_synchronous);

/* Has the leader hand over to the other node; ends when Patroni says so. */
void patroni_switchover(struct patroni *patroni, size_t from);

/* SIGKILL to all processes of a node's PostgreSQL; to its Patroni first. Only
 * server_start brings the second one back. */
void patroni_kill_postgres(struct patroni *patroni, size_t node);
void patroni_kill_node(struct patroni *patroni, size_t node);
