/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the contract suite: what its tests share. A test gets a
 * `struct contract *` as its state: a store that holds nothing and a backend
 * that is open on it.
 */
#pragma once

#include "contract/contract.h"
#include "support/test.h"

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

/* `test` comes first, so that a registered test is one of these. */
struct contract_test {
    struct test test;
    unsigned needs;
};

/* A test of the suite, which gets `struct contract *contract`; it is run on
 * each subject that offers what it needs. */
#define CONTRACT_TEST(name, needs)                                             \
    static void name(struct contract *contract);                               \
    static void run_##name(void **state)                                       \
    {                                                                          \
        name(*state);                                                          \
    }                                                                          \
    __attribute__((constructor)) static void add_##name(void)                  \
    {                                                                          \
        static struct contract_test test = {                                   \
            {{#name, run_##name, NULL, NULL, NULL}, __FILE__, __LINE__, NULL}, \
            needs};                                                            \
                                                                               \
        test_add(&test.test);                                                  \
    }                                                                          \
    static void name(__attribute__((unused)) struct contract *contract)

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
