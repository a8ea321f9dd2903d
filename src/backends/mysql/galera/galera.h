/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Galera cluster as one store: its nodes, of which one is connected to, and
 * its history, which all of them share.
 *
 * The history has a name, a nonce in the claim `cluster/incarnation`, which is
 * replicated. A node may use it while its server process is known to have lived
 * through it: then the node has a voucher, a row in its own seqb_incarnation,
 * which is in memory and not replicated. It holds when the tables of the node
 * were made, so that a dump that is put back ends it. A node without one gets
 * it from a node that has one, or begins a new history. So a cluster of which
 * no process survived, which may have gone back, always has a new one.
 */
#pragma once

#include "backends/mysql/mysql.h"

/*
 * Connects to the first of options->endpoints that is a synced node of a
 * primary component. Each one tried has its share of `connect_timeout_ms`.
 * SEQB_UNSAFE if one of them is no node of Galera; SEQB_UNREACHABLE, with what
 * each one said, if none can be used. Whatever it returns, mysql_link_close is
 * due.
 */
enum seqb_status
mysql_cluster_connect(struct mysql *mysql,
                      const struct seqb_backend_options *options,
                      struct seqb_error *err);

/* Of a node whose tables are there, and older than a second: sees to its
 * voucher, and to those of the other nodes. */
enum seqb_status mysql_cluster_enter(struct mysql *mysql,
                                     const struct seqb_backend_options *options,
                                     struct seqb_error *err);

/* Whether the last statement failed since a transaction of another node, or of
 * another session, was first: then nothing of its transaction was done. */
bool mysql_cluster_conflicts(const struct mysql_link *link);
