/* SPDX-License-Identifier: Apache-2.0 */
/* The three etcd members of a scenario: how brokers find them, and snapshots of
 * the cluster. */
#pragma once

#include "support/server_etcd.h"

#define ETCD_PLACE_SIZE 256

/* The settings of the backend. */
void etcd_pool_place(struct server *const members[static ETCD_MEMBERS],
                     char out[static ETCD_PLACE_SIZE]);

/* etcd_pool_save takes a snapshot for all members. etcd_pool_restore kills
 * them, and starts them with the snapshot; see etcd_snapshot_restore for
 * `token`. */
void etcd_pool_save(struct server *const members[static ETCD_MEMBERS]);
void etcd_pool_restore(struct server *const members[static ETCD_MEMBERS],
                       const char *token);
