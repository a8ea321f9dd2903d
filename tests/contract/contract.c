/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running the contract suite on a subject, and the helpers of its tests; the
 * tests are in the files contract_*.c.
 */
#include "contract/contract_suite.h"

#include <stdlib.h>
#include <string.h>

#include "contract/contract_cells.h"
#include "platform/text.h"

struct seqb_backend *contract_open(const struct contract *contract)
{
    struct seqb_backend *backend = NULL;
    struct seqb_error err;

    assert_done(
        contract->subject->ops->open(&contract->store->options, &backend, &err),
        err);
    assert_non_null(backend);
    return backend;
}

void contract_reopen(struct contract *contract)
{
    contract->subject->ops->close(contract->backend);
    contract->backend = NULL;
    contract->backend = contract_open(contract);
}

int64_t contract_limit(const struct contract *contract)
{
    return contract->subject->ops->guarantee == SEQB_WINDOWED
               ? CONTRACT_WINDOW_SIZE
               : CONTRACT_LIMIT;
}

enum seqb_status contract_install(struct seqb_backend *backend,
                                  const char *counter, int64_t window,
                                  int64_t *standing)
{
    const struct seqb_window lease = {
        .counter = counter, .window = window, .size = CONTRACT_WINDOW_SIZE};
    struct seqb_error err;

    return backend->ops->install(backend, &lease, standing, &err);
}

void contract_prepare(const struct contract *contract, const char *counter)
{
    int64_t standing;

    if (contract->subject->ops->guarantee == SEQB_WINDOWED)
        assert_ok(contract_install(contract->backend, counter, 1, &standing));
}

struct seqb_request contract_request(const struct contract *contract,
                                     const char *counter, int64_t want)
{
    struct seqb_request request;

    memset(&request, 0x5a, sizeof request); /* what nobody may read */
    request.counter = counter;
    request.want = want;
    request.limit = contract_limit(contract);
    request.begins_ms = 0;
    request.guard = NULL;
    return request;
}

enum seqb_status contract_reserve(const struct contract *contract,
                                  struct seqb_backend *backend,
                                  const char *counter, int64_t want,
                                  struct seqb_request *out)
{
    struct seqb_error err;
    enum seqb_status status;

    *out = contract_request(contract, counter, want);
    status = backend->ops->reserve(backend, out, 1, &err);
    return status == SEQB_OK ? out->status : status;
}

int64_t contract_take(const struct contract *contract, const char *counter,
                      int64_t want, int64_t before)
{
    struct seqb_request request;

    while (want > 0) {
        assert_ok(contract_reserve(contract, contract->backend, counter, want,
                                   &request));
        assert_in_range(request.block.count, 1, want);
        assert_int_equal(request.block.first, before + 1);
        before += request.block.count;
        want -= request.block.count;
    }
    return before;
}

int64_t contract_raise(struct seqb_backend *backend, const char *counter,
                       int64_t floor, int64_t gap)
{
    const struct seqb_raise raise = {.counter = counter,
                                     .floor = floor,
                                     .gap = gap,
                                     .limit = CONTRACT_LIMIT,
                                     .base_gap = gap};
    struct seqb_error err;
    int64_t value = -1;

    assert_done(backend->ops->raise(backend, &raise, &value, &err), err);
    return value;
}

/* --- running --- */

static int teardown(void **state)
{
    struct contract *contract = *state;

    contract->subject->ops->close(contract->backend);
    contract->subject->stop(contract->store);
    free(contract);
    return 0;
}

static int setup(void **state)
{
    const struct contract_subject *subject = *state;
    struct contract_store *store = subject->start(); /* may fail the test */
    struct contract *contract;
    struct seqb_error err;

    if (store == NULL)
        return -1;
    contract = calloc(1, sizeof *contract);
    assert_non_null(contract);
    contract->subject = subject;
    contract->store = store;
    *state = contract;
    if (subject->ops->open(&store->options, &contract->backend, &err) ==
        SEQB_OK)
        return 0;
    print_error("%s\n", err.text);
    (void)teardown(state); /* cmocka calls it only after a good setup */
    return -1;
}

static unsigned subject_offers(const struct contract_subject *subject)
{
    return (subject->ops->guarantee == SEQB_DIRECT ? NEEDS_DIRECT
                                                   : NEEDS_WINDOWED) |
           (subject->restart != NULL ? NEEDS_RESTART : 0U) |
           (subject->forget != NULL ? NEEDS_FORGET : 0U) |
           (subject->restore != NULL ? NEEDS_RESTORE : 0U) |
           (subject->demote != NULL ? NEEDS_DEMOTE : 0U) |
           (subject->ops->purge != NULL ? NEEDS_PERIODS : 0U) |
           (subject->ops->clock != NULL ? NEEDS_CLOCK : 0U) |
           (subject->ops->list != NULL ? NEEDS_INCARNATION : 0U) |
           (subject->renew != NULL ? NEEDS_RENEW : 0U) |
           (subject->withhold != NULL ? NEEDS_WITHHOLD : 0U) |
           (subject->purges_unchecked ? 0U : NEEDS_CHECKED_PURGES) |
           (subject->keeps_cells ? 0U : NEEDS_EXPIRY) |
           (subject->is_cells ? 0U : ONCE);
}

/* The tests that fit the subject; how many. */
static size_t tests_select(struct CMUnitTest *out,
                           const struct contract_subject *subject)
{
    const unsigned offers = subject_offers(subject);
    size_t n = 0;

    for (const struct test *test = test_first(); test != NULL;
         test = test->next) {
        if ((((const struct contract_test *)test)->needs & ~offers) != 0)
            continue;
        out[n] = test->unit;
        out[n].setup_func = setup;
        out[n].teardown_func = teardown;
        /* cmocka's state is not const; setup only reads it. */
        out[n++].initial_state = (void *)(uintptr_t)subject;
    }
    return n;
}

static int group_run(const struct contract_subject *subject)
{
    struct CMUnitTest *tests = calloc(test_count(), sizeof *tests);
    int failed;

    assert_non_null(tests);
    failed = test_run_group(subject->name, tests, tests_select(tests, subject),
                            NULL, NULL);
    free(tests);
    return failed;
}

int contract_run(const struct contract_subject *subject)
{
    const struct seqb_backend_ops *ops = subject->ops;
    struct contract_subject cells = *subject;
    char name[64];

    if (ops->guarantee != SEQB_DIRECT || ops->install == NULL)
        return group_run(subject);
    (void)text_format(name, sizeof name, "%s in windows", subject->name);
    cells.name = name;
    cells.ops = cells_of(ops);
    cells.keeps_cells = true;
    cells.is_cells = true;
    return group_run(subject) + group_run(&cells);
}
