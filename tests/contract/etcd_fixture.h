/* SPDX-License-Identifier: Apache-2.0 */
/* An etcd, and one counter of it. A failure fails the test, unless a status is
 * returned. */
#pragma once

#include <stdint.h>

#include <seqbroker/backend.h>

#include "support/servers.h"
#include "support/test.h"

#define ETCD_TEST_COUNTER "main/0/order"
#define ETCD_TEST_LIMIT   ((int64_t)1 << 50)

/* After so many takes a connection does not read the counter before the next
 * one: the first take finds nothing that it left, the second one finds it. */
#define ETCD_TAKES_UNTIL_KNOWN 2

struct fixture {
    struct server *server;
    struct seqb_backend_options options;
    struct seqb_backend *backend;
    int64_t last; /* what the counter gave last; 0: nothing yet */
};

/* Start an etcd of the test's own and open a backend; that of KNOWN is as of
 * etcd_open_known. The teardown closes the backend. */
struct fixture *fixture_start(void **state);
struct fixture *fixture_start_known(void **state);
int fixture_stop(void **state);

#define STARTED FIXTURE(struct fixture *f, fixture_start, fixture_stop)
#define KNOWN   FIXTURE(struct fixture *f, fixture_start_known, fixture_stop)

/* must_open closes the backend, if it is open, and opens it. */
void must_open(struct fixture *f);
void fixture_close(struct fixture *f);

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
