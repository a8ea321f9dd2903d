/* SPDX-License-Identifier: Apache-2.0 */
/* One counter of an etcd. A failure fails the test, unless a status is
 * returned. */
#pragma once

#include <stdint.h>

#include <seqbroker/backend.h>

#include "support/servers.h"

#define ETCD_TEST_COUNTER "main/0/order"
#define ETCD_TEST_LIMIT   ((int64_t)1 << 50)

/* After so many takes a connection does not read the counter before the next
 * one: the first take finds nothing that it left, the second one finds it. */
#define ETCD_TAKES_UNTIL_KNOWN 2

struct seqb_backend_options etcd_options(const struct server *server);
struct seqb_backend *etcd_open(const struct seqb_backend_options *options);

/* An open backend whose counter gave `last`, and is not read by its next take.
 */
struct seqb_backend *etcd_open_known(const struct seqb_backend_options *options,
                                     int64_t *last);

/* Takes from the counter; the status of the call or of the request. */
enum seqb_status etcd_take(struct seqb_backend *backend, int64_t *first);
enum seqb_status etcd_take_many(struct seqb_backend *backend, int64_t want,
                                int64_t *first);
