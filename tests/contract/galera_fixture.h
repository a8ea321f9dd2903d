/* SPDX-License-Identifier: Apache-2.0 */
/* A Galera cluster that the tests of a program share; each test has a database
 * of it, and leaves all nodes synced. */
#pragma once

#include "contract/mysql_fixture.h"
#include "support/server_galera.h"

#define ADDRESS_SIZE 32

/* NULL before the first test. */
extern struct server *galera_nodes[GALERA_NODES];

/* Of each node; set before the first test, NULL without. */
extern const char *const *galera_args;

/* The hosts of a backend. */
struct hosts {
    char text[GALERA_NODES][ADDRESS_SIZE];
    const char *list[GALERA_NODES + 1];
};

/* `count` nodes, galera_nodes[from] first. */
void hosts_set(struct hosts *hosts, size_t from, size_t count);

/* All nodes: 0, 1, 2 and 1, 2, 0. */
extern struct hosts hosts_all;
extern struct hosts hosts_other;

/* A database of the cluster, and options that name all nodes. */
struct fixture *cluster_prepare(void **state);

/* Opens the backend with these hosts. */
void must_open_at(struct fixture *f, const struct hosts *hosts);

#define ON_CLUSTER FIXTURE(struct fixture *f, NULL, fixture_stop)

/* Returns when all nodes are synced members. */
void cluster_await(void);
