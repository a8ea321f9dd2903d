/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Galera cluster as one store: its nodes, one of which the engine uses, and
 * its history, which all nodes share.
 *
 * The history has a name, a nonce in the replicated claim
 * `cluster/incarnation`. A node may use it while its server process is known to
 * have run since the history began. To show that, the node has a voucher: a row
 * in its own seqb_incarnation, which is in memory and which Galera does not
 * replicate. The voucher is made from the dates of the node's tables, so that
 * it becomes invalid when a dump is restored, and from what names the server,
 * so that it is invalid in another cluster that replicates the binary log of
 * this one. A node without a voucher gets it from a node that has one, or
 * begins a new history. So a cluster of which no process survived, which may
 * have gone back, always begins a new history.
 */
#pragma once

#include "backends/mysql/mysql.h"

/*
 * Connects to the first of options->endpoints that is a synced node of a
 * primary component. Each endpoint gets its share of `connect_timeout_ms`.
 * SEQB_UNSAFE if one of them is not a Galera node; SEQB_UNREACHABLE, with the
 * answer of each, if none can be used. The caller must call mysql_link_close
 * whatever it returns.
 */
enum seqb_status
mysql_cluster_connect(struct mysql *mysql,
                      const struct seqb_backend_options *options,
                      struct seqb_error *err);

/* For a node whose tables exist and are older than a second: checks or makes
 * its voucher, and those of the other nodes. */
enum seqb_status mysql_cluster_enter(struct mysql *mysql,
                                     const struct seqb_backend_options *options,
                                     struct seqb_error *err);
