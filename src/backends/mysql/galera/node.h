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

/* Reads it. Fails only with the link. */
enum seqb_status mysql_node_read(struct mysql_link *link,
                                 struct node_state *out,
                                 struct seqb_error *err);

/* Whether both are members of one component now. */
bool mysql_node_is_with(const struct node_state *a, const struct node_state *b);

/* Whether the node's tables are so old that no table has their date which is
 * made from now on. */
bool mysql_node_is_settled(struct mysql_link *link);

/*
 * Connects to the node at `address`, "host:port", which must be synced, and be
 * as mysql_server_check wants it. SEQB_UNSAFE if it is no node of Galera,
 * SEQB_UNREACHABLE if it is none that may be used now. Whatever it returns,
 * mysql_link_close is due. `mysql` is as for mysql_store_connect.
 */
enum seqb_status mysql_node_open(struct mysql *mysql,
                                 const struct seqb_backend_options *options,
                                 const char *address, struct seqb_error *err);
