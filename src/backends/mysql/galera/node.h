/* SPDX-License-Identifier: Apache-2.0 */
/* One node of a Galera cluster: whether it may be used. */
#pragma once

#include "backends/mysql/mysql.h"

#define NODE_VALUE_SIZE 64

/* Status variables of a node; "" where it has none. */
struct node_state {
    char ready[NODE_VALUE_SIZE];   /* wsrep_ready */
    char status[NODE_VALUE_SIZE];  /* wsrep_cluster_status */
    char local[NODE_VALUE_SIZE];   /* wsrep_local_state: a number */
    char comment[NODE_VALUE_SIZE]; /* the same as a word */
    char cluster[NODE_VALUE_SIZE]; /* wsrep_cluster_state_uuid */
    char view[NODE_VALUE_SIZE];    /* wsrep_cluster_conf_id */
};

/* Reads the node's state. Fails only if the link fails. */
enum seqb_status mysql_node_read(struct mysql_link *link,
                                 struct node_state *out,
                                 struct seqb_error *err);

/* Whether the node answers, has what its cluster committed, and the cluster has
 * a quorum. */
bool mysql_node_is_usable(const struct node_state *state);

/* Whether both nodes are members of one component now. */
bool mysql_node_is_with(const struct node_state *a, const struct node_state *b);

/* Whether the node's tables are so old that no table created from now on can
 * have the same date. */
bool mysql_node_is_settled(struct mysql_link *link);

/*
 * Connects to the node at `address`, "host:port", which must be synced and pass
 * mysql_server_check. SEQB_UNSAFE if it is not a Galera node, SEQB_UNREACHABLE
 * if it may not be used now. The caller must call mysql_link_close whatever it
 * returns. `mysql` is as for mysql_store_connect.
 */
enum seqb_status mysql_node_open(struct mysql *mysql,
                                 const struct seqb_backend_options *options,
                                 const char *address, struct seqb_error *err);
