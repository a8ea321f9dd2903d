/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the contract suite, which its tests share. The state of a test
 * is a `struct contract *` with an empty store and a backend that is open on
 * it.
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

/* What a test needs of its subject: one of the classes, and all of the
 * hooks. */
enum contract_need {
    NEEDS_DIRECT = 1,
    NEEDS_WINDOWED = 2,
    NEEDS_RESTART = 4,
    NEEDS_FORGET = 8,
    NEEDS_RESTORE = 16,
    NEEDS_DEMOTE = 32,
    NEEDS_PERIODS = 64, /* an engine with purge */
    NEEDS_CLOCK = 128,
    NEEDS_EXPIRY = 256,
    NEEDS_INCARNATION = 512, /* an engine with list */
    NEEDS_RENEW = 1024,
    NEEDS_WITHHOLD = 2048,
    NEEDS_CHECKED_PURGES = 4096,
    ONCE = 8192 /* of nothing that cells_of() changes: not on cells, too */
};

/* `test` is first, so that a registered test can be cast to this. */
struct contract_test {
    struct test test;
    unsigned needs;
};

/* A test of the suite; its parameter is `struct contract *contract`. It runs on
 * each subject that has what it needs. */
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

/* Opens another backend on the store, or fails the test. */
struct seqb_backend *contract_open(const struct contract *contract);

/* Closes the test's own backend and opens it again. */
void contract_reopen(struct contract *contract);

/* The limit of this subject's counters in these tests. */
int64_t contract_limit(const struct contract *contract);

/* Makes the counter ready for reserve: if windowed, installs window 1. */
void contract_prepare(const struct contract *contract, const char *counter);

/* A request filled in as a caller would. */
struct seqb_request contract_request(const struct contract *contract,
                                     const char *counter, int64_t want);

/* Reserves from one counter. Returns the call's status or, if that is SEQB_OK,
 * the request's. */
enum seqb_status contract_reserve(const struct contract *contract,
                                  struct seqb_backend *backend,
                                  const char *counter, int64_t want,
                                  struct seqb_request *out);

/* Reserves `want` values on the test's backend, with as many grants as
 * necessary, and checks that the first value follows `before`. Returns the last
 * value. */
int64_t contract_take(const struct contract *contract, const char *counter,
                      int64_t want, int64_t before);

/* Raises on `backend`, which must succeed. Returns the counter's new value. */
int64_t contract_raise(struct seqb_backend *backend, const char *counter,
                       int64_t floor, int64_t gap);

/* Installs a window of CONTRACT_WINDOW_SIZE. */
enum seqb_status contract_install(struct seqb_backend *backend,
                                  const char *counter, int64_t window,
                                  int64_t *standing);
