/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the contract suite: what its tests share. A test gets a
 * `struct contract *` as its state: a store that holds nothing and a backend
 * that is open on it.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "contract/contract.h"

#define CONTRACT_WINDOW_SIZE ((int64_t)1 << 20)
#define CONTRACT_LIMIT       ((int64_t)1 << 40) /* of direct counters */

struct contract {
    const struct contract_subject *subject;
    struct contract_store *store;
    struct seqb_backend *backend;
};

/* What a test needs of its subject: any of the classes, all of the hooks. */
enum contract_need {
    NEEDS_DIRECT = 1,
    NEEDS_WINDOWED = 2,
    NEEDS_RESTART = 4,
    NEEDS_FORGET = 8,
    NEEDS_RESTORE = 16,
    NEEDS_DEMOTE = 32,
    NEEDS_PERIODS = 64, /* an engine that does not purge has none */
    NEEDS_CLOCK = 128,
    NEEDS_EXPIRY = 256,
    NEEDS_INCARNATION = 512, /* of an engine that lists */
    NEEDS_RENEW = 1024,
    NEEDS_WITHHOLD = 2048
};

struct contract_test {
    const char *name; /* NULL ends a list */
    void (*run)(void **state);
    unsigned needs;
};

#define CONTRACT_TEST(function, needs)                                         \
    {                                                                          \
#function, function, needs                                             \
    }

extern const struct contract_test contract_common_tests[];
extern const struct contract_test contract_crowd_tests[];
extern const struct contract_test contract_direct_tests[];
extern const struct contract_test contract_guard_tests[];
extern const struct contract_test contract_list_tests[];
extern const struct contract_test contract_period_tests[];
extern const struct contract_test contract_purge_tests[];
extern const struct contract_test contract_swap_tests[];
extern const struct contract_test contract_windowed_tests[];

/* Opens one more backend on the store; the test fails if it cannot. */
struct seqb_backend *contract_open(const struct contract *contract);

/* Closes the test's own backend and opens it again. */
void contract_reopen(struct contract *contract);

/* How far the counters of this subject go in these tests. */
int64_t contract_limit(const struct contract *contract);

/* Makes the counter ready for reserve: windowed, installs window 1. */
void contract_prepare(const struct contract *contract, const char *counter);

/* A request as a caller would fill it. */
struct seqb_request contract_request(const struct contract *contract,
                                     const char *counter, int64_t want);

/* Reserves from one counter; the call's status, or else the request's. */
enum seqb_status contract_reserve(const struct contract *contract,
                                  struct seqb_backend *backend,
                                  const char *counter, int64_t want,
                                  struct seqb_request *out);

/* Reserves `want` values on the test's backend, in as many grants as it takes,
 * and checks that the first value follows `before`; the last value. */
int64_t contract_take(const struct contract *contract, const char *counter,
                      int64_t want, int64_t before);

/* Raises on `backend`, which must succeed; what the counter is then. */
int64_t contract_raise(struct seqb_backend *backend, const char *counter,
                       int64_t floor, int64_t gap);

/* Installs a window of the usual size. */
enum seqb_status contract_install(struct seqb_backend *backend,
                                  const char *counter, int64_t window,
                                  int64_t *standing);

#define assert_status(actual, expected)                                        \
    assert_string_equal(seqb_status_name(actual), seqb_status_name(expected))
