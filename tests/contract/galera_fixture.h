/* SPDX-License-Identifier: Apache-2.0 */
/* A Galera cluster that the tests of a program share. Each test has a database
 * of its own, and must leave all nodes synced. */
#pragma once

#include "contract/mysql_fixture.h"
#include "support/server_galera.h"

#define ADDRESS_SIZE 32

/* NULL before the first test. */
extern struct server *galera_nodes[GALERA_NODES];

/* Further arguments of each node. Set before the first test; NULL: none. */
extern const char *const *galera_args;

/* The hosts of a backend's options. */
struct hosts {
    char text[GALERA_NODES][ADDRESS_SIZE];
    const char *list[GALERA_NODES + 1];
};

/* Sets `count` nodes, beginning with galera_nodes[from]. */
void hosts_set(struct hosts *hosts, size_t from, size_t count);

/* All nodes, in the order 0, 1, 2 and 1, 2, 0. */
extern struct hosts hosts_all;
extern struct hosts hosts_other;

/* Makes a database in the cluster, and options that name all nodes. */
struct fixture *cluster_prepare(void **state);

/* Opens the backend with these hosts; it must succeed. */
void must_open_at(struct fixture *f, const struct hosts *hosts);

#define ON_CLUSTER FIXTURE(struct fixture *f, NULL, fixture_stop)
#define PREPARED   FIXTURE(struct fixture *f, cluster_prepare, fixture_stop)

/* Waits until all nodes are synced members. */
void cluster_await(void);
