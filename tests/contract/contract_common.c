/* SPDX-License-Identifier: Apache-2.0 */
/* The contract's tests for engines of both classes. */
#include "contract/contract_suite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/text.h"

#define CLOCK_MS 600000 /* that a busy machine may take to answer */

/* --- what a backend says of itself --- */

CONTRACT_TEST(engine_library_and_server_have_names, 0)
{
    assert_non_null(contract->subject->ops->library());
    assert_true(strlen(contract->subject->ops->library()) > 0);
    assert_true(strlen(contract->subject->ops->engine) > 0);
    assert_true(strlen(contract->backend->server) > 0);
    assert_ptr_equal(contract->backend->ops, contract->subject->ops);
}

/* Whatever it says, it goes on. */
CONTRACT_TEST(store_says_what_it_is_like, ONCE)
{
    const struct seqb_backend_ops *ops = contract->subject->ops;
    struct seqb_details details = {.node = ""};
    char standing[SEQB_CLAIM_SIZE];

    if (ops->describe == NULL)
        return;
    assert_ok(ops->describe(contract->backend, &details, NULL));
    assert_true(strlen(details.node) > 0);
    assert_string_equal(details.tls, "none");
    assert_ok(ops->claim(contract->backend, "a", "text", standing,
                         sizeof standing, NULL));
}

CONTRACT_TEST(two_backends_of_one_store_have_one_origin, ONCE)
{
    struct seqb_backend *other = contract_open(contract);

    assert_true(strlen(other->origin) > 0);
    assert_string_equal(other->origin, contract->backend->origin);
    other->ops->close(other);
}

/* It is on this machine, or does not let it be read. */
CONTRACT_TEST(stores_clock_is_about_ours, NEEDS_CLOCK | ONCE)
{
    struct seqb_error err;
    int64_t ms = -1;

    assert_done(contract->backend->ops->clock(contract->backend, &ms, &err),
                err);
    if (ms != 0)
        assert_in_range(ms, clock_wall_ms() - CLOCK_MS,
                        clock_wall_ms() + CLOCK_MS);
}

/* --- grants --- */

CONTRACT_TEST(blocks_of_a_counter_follow_each_other, 0)
{
    const int64_t most = contract->subject->writes_each_value ? 4096 : 65536;
    const int64_t wants[] = {1, 7, 1, 1000, 3, most, 2};
    const bool is_windowed = contract->subject->ops->guarantee == SEQB_WINDOWED;
    int64_t last = is_windowed ? -1 : 0;

    contract_prepare(contract, "main/0/order");
    for (size_t i = 0; i < sizeof wants / sizeof wants[0]; i++)
        last = contract_take(contract, "main/0/order", wants[i], last);
}

CONTRACT_TEST(counters_do_not_touch_each_other, 0)
{
    const int64_t before =
        contract->subject->ops->guarantee == SEQB_WINDOWED ? -1 : 0;
    char longest[SEQB_COUNTER_SIZE];
    const char *const counters[] = {
        "main/0/a",
        "main/0/A",
        "main/1/a",
        "main/0/%",
        "main/0/a ",
        "window/main/0/a",
        "ticket/main/0/0123456789abcdef0123456789abcdef",
        longest};

    memset(longest, 'k', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
        contract_prepare(contract, counters[i]);
        (void)contract_take(contract, counters[i], 10 + (int64_t)i, before);
    }
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
        (void)contract_take(contract, counters[i], 5, before + 10 + (int64_t)i);
}

#define CROWD 300

CONTRACT_TEST(one_call_serves_many_counters, 0)
{
    struct seqb_request *requests = calloc(CROWD, sizeof *requests);
    static char names[CROWD][SEQB_COUNTER_SIZE];
    struct seqb_error err;

    assert_non_null(requests);
    for (int i = 0; i < CROWD; i++) {
        (void)text_format(names[i], sizeof names[i], "main/0/key-%d", i);
        contract_prepare(contract, names[i]);
        requests[i] = contract_request(contract, names[i], i + 1);
    }
    assert_ok(contract->backend->ops->reserve(contract->backend, requests,
                                              CROWD, &err));
    for (int i = 0; i < CROWD; i++) {
        /* The call's time was over: it is for the next one. */
        while (requests[i].status == SEQB_AGAIN)
            assert_ok(contract->backend->ops->reserve(contract->backend,
                                                      &requests[i], 1, &err));
        assert_ok(requests[i].status);
        assert_in_range(requests[i].block.count, 1, i + 1);
    }
    for (int i = 0; i < CROWD; i += 7)
        (void)contract_take(contract, names[i], 1,
                            requests[i].block.first + requests[i].block.count -
                                1);
    free(requests);
}

/* Brings the counter to its end, but for `left` values. */
static void counter_drain(const struct contract *contract, const char *counter,
                          int64_t left)
{
    contract_prepare(contract, counter);
    if (contract->subject->ops->guarantee == SEQB_WINDOWED)
        (void)contract_take(contract, counter, CONTRACT_WINDOW_SIZE - left, -1);
    else
        (void)contract_raise(contract->backend, counter, CONTRACT_LIMIT - left,
                             0);
}

CONTRACT_TEST(no_grant_goes_past_the_limit, 0)
{
    const int64_t limit = contract_limit(contract);
    const int64_t end =
        contract->subject->ops->guarantee == SEQB_WINDOWED ? limit - 1 : limit;
    struct seqb_request request;

    counter_drain(contract, "main/0/order", 7);
    assert_ok(contract_reserve(contract, contract->backend, "main/0/order",
                               SEQB_GRANT_MAX, &request));
    assert_in_range(request.block.count, 1, 7);
    assert_int_equal(request.block.first, end - 6);
    if (request.block.count < 7)
        (void)contract_take(contract, "main/0/order", 7 - request.block.count,
                            request.block.first + request.block.count - 1);
    for (int i = 0; i < 3; i++) {
        assert_status(contract_reserve(contract, contract->backend,
                                       "main/0/order", 1 + i, &request),
                      SEQB_EXHAUSTED);
        assert_true(strstr(request.error.text, "main/0/order") != NULL);
    }
}

CONTRACT_TEST(each_request_has_a_status_of_its_own, 0)
{
    struct seqb_request requests[3];
    struct seqb_error err;

    counter_drain(contract, "main/0/empty", 0);
    contract_prepare(contract, "main/0/a");
    contract_prepare(contract, "main/0/b");
    requests[0] = contract_request(contract, "main/0/a", 4);
    requests[1] = contract_request(contract, "main/0/empty", 4);
    requests[2] = contract_request(contract, "main/0/b", 4);
    assert_ok(
        contract->backend->ops->reserve(contract->backend, requests, 3, &err));
    assert_ok(requests[0].status);
    assert_status(requests[1].status, SEQB_EXHAUSTED);
    assert_ok(requests[2].status);
}

/* --- claims --- */

static void claim_expect(struct seqb_backend *backend, const char *name,
                         const char *text, const char *expected)
{
    char standing[SEQB_CLAIM_SIZE];
    struct seqb_error err;

    assert_done(backend->ops->claim(backend, name, text, standing,
                                    sizeof standing, &err),
                err);
    assert_string_equal(standing, expected);
}

CONTRACT_TEST(first_claim_stands_for_all, ONCE)
{
    struct seqb_backend *other = contract_open(contract);

    claim_expect(contract->backend, "layout", NULL, "");
    claim_expect(contract->backend, "layout", "bits=2\n'\"; %s", //
                 "bits=2\n'\"; %s");
    claim_expect(other, "layout", "bits=3", "bits=2\n'\"; %s");
    claim_expect(other, "layout", NULL, "bits=2\n'\"; %s");
    claim_expect(other, "layout/order", "m=3", "m=3");
    other->ops->close(other);
    contract_reopen(contract);
    claim_expect(contract->backend, "layout", "bits=4", "bits=2\n'\"; %s");
}

CONTRACT_TEST(claim_that_does_not_fit_is_an_error, ONCE)
{
    struct seqb_backend *backend = contract->backend;
    char longest[SEQB_CLAIM_SIZE];
    char standing[SEQB_CLAIM_SIZE];
    struct seqb_error err;

    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    claim_expect(backend, "layout", longest, longest);
    assert_status(backend->ops->claim(backend, "layout", NULL, standing,
                                      sizeof standing - 1, &err),
                  SEQB_PROTOCOL);
}

/* A name that is cut would be that of another claim. */
CONTRACT_TEST(claim_of_a_too_long_name_is_invalid_or_stands, ONCE)
{
    struct seqb_backend *backend = contract->backend;
    char standing[SEQB_CLAIM_SIZE];
    char name[1000];
    enum seqb_status status;

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    status = backend->ops->claim(backend, name, "a", standing, sizeof standing,
                                 NULL);
    if (status == SEQB_OK)
        claim_expect(backend, name, "b", "a");
    else
        assert_status(status, SEQB_INVALID);
    name[sizeof name - 2] = 'm';
    assert_status(backend->ops->claim(backend, name, "c", standing,
                                      sizeof standing, NULL),
                  status);
    if (status == SEQB_OK)
        claim_expect(backend, name, NULL, "c");
    claim_expect(backend, "layout", "bits=2", "bits=2");
}

/* --- names --- */

/* A name that is cut would be that of another counter. Other counters of the
 * call are served. */
CONTRACT_TEST(counter_of_a_too_long_name_is_invalid_or_counts, 0)
{
    struct seqb_backend *backend = contract->backend;
    char name[1000];
    const struct seqb_raise raise = {
        .counter = name, .floor = 9, .limit = contract_limit(contract)};
    struct seqb_request requests[2];
    int64_t raised;
    enum seqb_status status;

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    status = backend->ops->raise(backend, &raise, &raised, NULL);
    if (status != SEQB_OK)
        assert_status(status, SEQB_INVALID);
    contract_prepare(contract, "main/0/order");
    requests[0] = contract_request(contract, name, 1);
    requests[1] = contract_request(contract, "main/0/order", 1);
    assert_ok(backend->ops->reserve(backend, requests, 2, NULL));
    if (requests[0].status != SEQB_FENCED) /* it fits, but has no cell */
        assert_status(requests[0].status, status);
    assert_ok(requests[1].status);
}

/* --- failures --- */

CONTRACT_TEST(nothing_there_is_unreachable, ONCE)
{
    struct seqb_backend_options options = contract->store->options;
    struct seqb_backend *const untouched = contract->backend;
    struct seqb_backend *out = untouched;
    struct seqb_error err;

    options.create = false;
    contract->subject->mislead(contract->store, &options);
    for (int i = 0; i < 2; i++) {
        assert_status(contract->subject->ops->open(&options, &out, &err),
                      SEQB_UNREACHABLE);
        assert_status(err.status, SEQB_UNREACHABLE);
        assert_true(strstr(err.text, options.name) != NULL);
        assert_ptr_equal(out, untouched);
    }
    assert_status(contract->subject->ops->open(&options, &out, NULL),
                  SEQB_UNREACHABLE);
}

CONTRACT_TEST(close_takes_null, ONCE)
{
    contract->subject->ops->close(NULL);
}

CONTRACT_TEST(error_text_stays_after_close, 0)
{
    struct seqb_backend *backend = contract_open(contract);
    struct seqb_request request;
    struct seqb_error copy;

    counter_drain(contract, "main/0/order", 0);
    assert_status(
        contract_reserve(contract, backend, "main/0/order", 1, &request),
        SEQB_EXHAUSTED);
    copy = request.error;
    backend->ops->close(backend);
    assert_string_equal(request.error.text, copy.text);
    assert_status(request.error.status, SEQB_EXHAUSTED);
    assert_true(strstr(copy.text, "main/0/order") != NULL);
}

CONTRACT_TEST(child_that_closes_its_copy_leaves_the_parents_whole, 0)
{
    const int64_t before =
        contract->subject->ops->guarantee == SEQB_WINDOWED ? -1 : 0;
    pid_t child;
    int ended;

    contract_prepare(contract, "main/0/order");
    (void)contract_take(contract, "main/0/order", 10, before);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        contract->subject->ops->close(contract->backend);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    (void)contract_take(contract, "main/0/order", 10, before + 10);
}

/* --- what happens to stores --- */

CONTRACT_TEST(acknowledged_values_stay_spent_over_a_restart, NEEDS_RESTART)
{
    const bool is_windowed = contract->subject->ops->guarantee == SEQB_WINDOWED;
    struct seqb_request request;
    enum seqb_status status;
    int64_t last = is_windowed ? -1 : 0;

    contract_prepare(contract, "main/0/order");
    for (int i = 0; i < 20; i++)
        last = contract_take(contract, "main/0/order", 3, last);
    contract->subject->restart(contract->store);
    status = contract_reserve(contract, contract->backend, "main/0/order", 3,
                              &request);
    assert_true(status != SEQB_OK); /* its connection is gone */
    assert_status(request.status, status);
    assert_true(strlen(request.error.text) > 0);
    contract_reopen(contract);
    status = contract_reserve(contract, contract->backend, "main/0/order", 3,
                              &request);
    if (is_windowed && status == SEQB_FENCED)
        return;
    assert_ok(status);
    assert_true(request.block.first > last);
}

#define CALLS 8

/* One of the calls; SEQB_UNREACHABLE if the engine does not have it. */
static enum seqb_status call_number(struct seqb_backend *backend, int number)
{
    const struct seqb_backend_ops *ops = backend->ops;
    const struct seqb_raise raise = {.counter = "main/0/order", .floor = 1};
    const struct seqb_window window = {
        .counter = "main/0/order", .window = 1, .size = CONTRACT_WINDOW_SIZE};
    const struct seqb_swap swap = {"w", "", "mine", NULL};
    const struct seqb_purge purge = {"main/0/order", "main/0/order@20261121", 1,
                                     1};
    struct seqb_listed listed;
    struct seqb_page page = {
        .prefix = "main/", .after = "", .listed = &listed, .most = 1};
    struct seqb_claim claim = {.name = "w", .text = "mine"};
    char standing[SEQB_CLAIM_SIZE];
    int32_t deleted;
    int64_t out = 1;
    size_t done;

    switch (number) {
    case 0:
        return ops->raise(backend, &raise, &out, NULL);
    case 1:
        return ops->claim(backend, "w", NULL, standing, sizeof standing, NULL);
    case 2:
        return ops->clock == NULL ? SEQB_UNREACHABLE
                                  : ops->clock(backend, &out, NULL);
    case 3:
        return ops->swap == NULL
                   ? SEQB_UNREACHABLE
                   : ops->swap(backend, &swap, standing, sizeof standing, NULL);
    case 4:
        return ops->purge == NULL ? SEQB_UNREACHABLE
                                  : ops->purge(backend, &purge, &deleted, NULL);
    case 5:
        return ops->list == NULL ? SEQB_UNREACHABLE
                                 : ops->list(backend, &page, NULL);
    case 6:
        return ops->claim_many == NULL
                   ? SEQB_UNREACHABLE
                   : ops->claim_many(backend, &claim, 1, &done, NULL);
    default:
        return ops->guarantee == SEQB_DIRECT
                   ? SEQB_UNREACHABLE
                   : ops->install(backend, &window, &out, NULL);
    }
}

/* Nor does it a second time. */
CONTRACT_TEST(connection_that_broke_answers_no_call, NEEDS_RESTART)
{
    struct seqb_backend *backends[CALLS];

    for (int i = 0; i < CALLS; i++)
        backends[i] = contract_open(contract);
    contract->subject->restart(contract->store);
    for (int i = 0; i < CALLS; i++) {
        assert_true(call_number(backends[i], i) != SEQB_OK);
        assert_true(call_number(backends[i], i) != SEQB_OK);
        backends[i]->ops->close(backends[i]);
    }
}

CONTRACT_TEST(replica_swaps_and_purges_nothing, NEEDS_DIRECT | NEEDS_DEMOTE)
{
    const struct seqb_backend_ops *ops = contract->subject->ops;
    struct seqb_backend *other = contract_open(contract);
    char standing[SEQB_CLAIM_SIZE];
    int32_t deleted;

    contract->subject->demote(contract->store);
    assert_status(ops->swap(other, &(struct seqb_swap){"w", "", "mine", NULL},
                            standing, sizeof standing, NULL),
                  SEQB_ROLE);
    other->ops->close(other);
    if (ops->purge == NULL)
        return;
    assert_status(ops->purge(contract->backend,
                             &(struct seqb_purge){
                                 "main/0/order", "main/0/order@20261121", 1, 1},
                             &deleted, NULL),
                  SEQB_ROLE);
}

CONTRACT_TEST(replica_refuses_in_its_role, NEEDS_DEMOTE)
{
    const struct seqb_backend_ops *ops = contract->subject->ops;
    struct seqb_backend *out = NULL;
    struct seqb_request request;
    struct seqb_error err;

    contract_prepare(contract, "main/0/order");
    contract->subject->demote(contract->store);
    assert_status(contract_reserve(contract, contract->backend, "main/0/order",
                                   1, &request),
                  SEQB_ROLE);
    assert_status(ops->open(&contract->store->options, &out, &err), SEQB_ROLE);
    assert_null(out);
}
