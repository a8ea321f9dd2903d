/* SPDX-License-Identifier: Apache-2.0 */
/* The contract's tests for calls that hold only while a claim names the run of
 * the store's server: guards, swaps with an incarnation, and what opens. */
#include "contract/contract_suite.h"

#include <string.h>

#include "platform/text.h"

#define LEASE  "window/main/1/order"
#define OTHER  "window/main/1/bill"
#define SYNCED "synced/main"
#define KNOWN  "known/main/0"

/* Opens the test's backend again, so that it has an incarnation. */
static struct seqb_backend *open_known(struct contract *contract)
{
    contract->store->options.needs_incarnation = true;
    contract_reopen(contract);
    assert_true(strlen(contract->backend->incarnation) > 0);
    return contract->backend;
}

/* Puts that text under the name, whatever stands there. */
static void put(struct seqb_backend *backend, const char *name,
                const char *before, const char *after)
{
    char standing[SEQB_CLAIM_SIZE];
    char expected[SEQB_CLAIM_SIZE];
    char text[SEQB_GUARD_SIZE];

    (void)text_format(text, sizeof text, "%s%s", before, after);
    assert_ok(backend->ops->claim(backend, name, text, expected,
                                  sizeof expected, NULL));
    assert_ok(backend->ops->swap(
        backend, &(struct seqb_swap){name, expected, text, NULL}, standing,
        sizeof standing, NULL));
    assert_string_equal(standing, text);
}

/* Reserves one value; the call's status, or else the request's. */
static enum seqb_status reserve(const struct contract *contract,
                                struct seqb_guard *guard,
                                struct seqb_request *out)
{
    struct seqb_error err;
    enum seqb_status status;

    *out = contract_request(contract, LEASE, 1);
    out->guard = guard;
    status = contract->backend->ops->reserve(contract->backend, out, 1, &err);
    return status == SEQB_OK ? out->status : status;
}

static enum seqb_status raise_to(const struct contract *contract, int64_t floor,
                                 struct seqb_guard *guard, int64_t *out,
                                 struct seqb_error *err)
{
    const struct seqb_raise raise = {.counter = LEASE,
                                     .floor = floor,
                                     .limit = CONTRACT_LIMIT,
                                     .guard = guard};

    return contract->backend->ops->raise(contract->backend, &raise, out, err);
}

static void assert_passes(const struct contract *contract,
                          struct seqb_guard guard, int64_t value)
{
    struct seqb_request request;
    struct seqb_error err;
    int64_t raised = -1;

    guard.has_failed = true;
    assert_ok(reserve(contract, &guard, &request));
    assert_int_equal(request.block.first, value);
    assert_false(guard.has_failed);
    guard.has_failed = true;
    assert_ok(raise_to(contract, value, &guard, &raised, &err));
    assert_int_equal(raised, value);
    assert_false(guard.has_failed);
}

/* The text says of which claim, and what stands there. */
static void assert_fenced(const struct seqb_guard *guard,
                          const struct seqb_error *err, const char *standing)
{
    assert_true(guard->has_failed);
    assert_status(err->status, SEQB_FENCED);
    assert_true(strstr(err->text, guard->name) != NULL);
    assert_true(strstr(err->text, standing) != NULL);
    assert_true(strstr(err->text, guard->text) != NULL);
}

static void assert_holds_back(const struct contract *contract,
                              struct seqb_guard guard, const char *standing)
{
    struct seqb_request request;
    struct seqb_error err;
    int64_t raised = -1;

    guard.has_failed = false;
    assert_status(reserve(contract, &guard, &request), SEQB_FENCED);
    assert_fenced(&guard, &request.error, standing);
    guard.has_failed = false;
    assert_status(raise_to(contract, 1000000, &guard, &raised, &err),
                  SEQB_FENCED);
    assert_fenced(&guard, &err, standing);
    assert_int_equal(raised, -1);
}

/* --- what open tells --- */

CONTRACT_TEST(incarnation_is_told_if_it_is_needed, NEEDS_INCARNATION)
{
    char first[SEQB_INCARNATION_SIZE];
    struct seqb_backend *other;

    assert_string_equal(contract->backend->incarnation, "");
    (void)text_copy(first, sizeof first, open_known(contract)->incarnation);
    assert_null(strchr(first, '|'));
    other = contract_open(contract);
    assert_string_equal(other->incarnation, first);
    other->ops->close(other);
    (void)contract_take(contract, LEASE, 5, 0);
    contract_reopen(contract);
    assert_string_equal(contract->backend->incarnation, first);
    contract->store->options.needs_incarnation = false;
    contract_reopen(contract);
    assert_string_equal(contract->backend->incarnation, "");
}

CONTRACT_TEST(guard_without_an_incarnation_is_refused, NEEDS_INCARNATION)
{
    struct seqb_guard guard = {.name = SYNCED, .text = "", .has_failed = true};
    struct seqb_request request;
    struct seqb_error err;
    int64_t raised = -1;

    assert_status(reserve(contract, &guard, &request), SEQB_REFUSED);
    assert_status(request.error.status, SEQB_REFUSED);
    assert_false(guard.has_failed);
    assert_status(raise_to(contract, 9, &guard, &raised, &err), SEQB_REFUSED);
    assert_true(strstr(err.text, "incarnation is not known") != NULL);
    (void)contract_take(contract, LEASE, 2, 0);
}

/* --- guards --- */

CONTRACT_TEST(guard_that_holds_lets_pass, NEEDS_INCARNATION)
{
    struct seqb_backend *backend = open_known(contract);

    put(backend, SYNCED, "", backend->incarnation);
    put(backend, KNOWN, "other 1/2|", backend->incarnation);
    for (int64_t i = 0; i < 3; i++) {
        assert_passes(contract, (struct seqb_guard){SYNCED, "", true},
                      2 * i + 1);
        assert_passes(contract, (struct seqb_guard){KNOWN, "other 1/2|", true},
                      2 * i + 2);
    }
    contract_reopen(contract);
    (void)contract_take(contract, LEASE, 1, 6);
}

CONTRACT_TEST(guard_that_differs_changes_nothing, NEEDS_INCARNATION)
{
    struct seqb_backend *backend = open_known(contract);
    const struct {
        const char *before;
        const char *after;
    } others[] = {{"x", ""}, {"", "x"}, {"", " "}, {" ", ""}, {"", "|"}};

    (void)contract_take(contract, LEASE, 1, 0);
    assert_holds_back(contract, (struct seqb_guard){SYNCED, "", false}, "''");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char text[SEQB_GUARD_SIZE];

        (void)text_format(text, sizeof text, "%s%s%s", others[i].before,
                          backend->incarnation, others[i].after);
        put(backend, SYNCED, "", text);
        assert_holds_back(contract, (struct seqb_guard){SYNCED, "", false},
                          text);
    }
    put(backend, SYNCED, "", "another run");
    assert_holds_back(contract, (struct seqb_guard){SYNCED, "", false},
                      "another run");
    (void)contract_take(contract, LEASE, 1, 1);
    put(backend, SYNCED, "", backend->incarnation);
    assert_passes(contract, (struct seqb_guard){SYNCED, "", false}, 3);
}

/* A witness compares that with the run of leases that the raise notes. */
CONTRACT_TEST(raise_tells_what_it_found, NEEDS_INCARNATION)
{
    struct seqb_backend *backend = open_known(contract);
    struct seqb_guard guard = {SYNCED, "", false};
    const int64_t steps[][2] = {{7, 0}, {7, 7}, {9, 7}, {8, 9}, {10, 9}};

    put(backend, SYNCED, "", backend->incarnation);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        int64_t before = -1;
        int64_t raised = -1;
        const struct seqb_raise raise = {.counter = LEASE,
                                         .floor = steps[i][0],
                                         .limit = CONTRACT_LIMIT,
                                         .guard = &guard,
                                         .before = &before};

        assert_ok(backend->ops->raise(backend, &raise, &raised, NULL));
        assert_int_equal(before, steps[i][1]);
        assert_int_equal(raised, before > raise.floor ? before : raise.floor);
    }
}

/* The whole claim is compared, to the byte. */
CONTRACT_TEST(guard_compares_its_own_text, NEEDS_INCARNATION)
{
    struct seqb_backend *backend = open_known(contract);
    const char *const others[] = {"",   "a",  "a||", "A|",
                                  "b|", "%|", "_|",  " a|"};

    put(backend, KNOWN, "a|", backend->incarnation);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_holds_back(contract,
                          (struct seqb_guard){KNOWN, others[i], false}, "a|");
    assert_passes(contract, (struct seqb_guard){KNOWN, "a|", false}, 1);
    put(backend, KNOWN, "a|", "another run");
    assert_holds_back(contract, (struct seqb_guard){KNOWN, "a|", false},
                      "a|another run");
}

CONTRACT_TEST(claim_longer_than_any_guard_holds_back, NEEDS_INCARNATION)
{
    struct seqb_backend *backend = open_known(contract);
    char text[SEQB_CLAIM_SIZE];
    char standing[SEQB_CLAIM_SIZE];

    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_ok(backend->ops->claim(backend, KNOWN, text, standing,
                                  sizeof standing, NULL));
    assert_holds_back(contract, (struct seqb_guard){KNOWN, "a", false}, "aaa");
    text[SEQB_GUARD_SIZE] = '\0';
    assert_holds_back(contract, (struct seqb_guard){KNOWN, text, false}, "aaa");
}

/* Each has its own answer, in whatever order they come. */
CONTRACT_TEST(requests_with_and_without_guards_share_a_call, NEEDS_INCARNATION)
{
    struct seqb_backend *backend = open_known(contract);
    struct seqb_guard holds = {SYNCED, "", true};
    struct seqb_guard differs = {KNOWN, "a|", false};
    const char *const names[] = {"window/main/0/z", "main/0/c",
                                 "window/main/0/y", "window/main/0/a",
                                 "window/main/0/x", "main/0/b"};
    struct seqb_guard *const guards[] = {&differs, NULL,     &holds,
                                         &holds,   &differs, NULL};

    put(backend, SYNCED, "", backend->incarnation);
    for (int64_t before = 0; before < 30; before += 10) {
        struct seqb_request requests[6];
        struct seqb_error err;

        for (int i = 0; i < 6; i++) {
            requests[i] = contract_request(contract, names[i], 10);
            requests[i].guard = guards[i];
        }
        assert_ok(backend->ops->reserve(backend, requests, 6, &err));
        for (int i = 0; i < 6; i++) {
            assert_status(requests[i].status,
                          guards[i] == &differs ? SEQB_FENCED : SEQB_OK);
            if (guards[i] != &differs)
                assert_int_equal(requests[i].block.first, before + 1);
        }
        assert_false(holds.has_failed);
        assert_true(differs.has_failed);
    }
}

CONTRACT_TEST(guard_sees_a_swap_of_others, NEEDS_INCARNATION)
{
    struct seqb_backend *backend = open_known(contract);
    struct seqb_backend *other = contract_open(contract);

    put(backend, KNOWN, "a|", backend->incarnation);
    assert_passes(contract, (struct seqb_guard){KNOWN, "a|", false}, 1);
    put(other, KNOWN, "b|", backend->incarnation);
    assert_holds_back(contract, (struct seqb_guard){KNOWN, "a|", false}, "b|");
    assert_passes(contract, (struct seqb_guard){KNOWN, "b|", false}, 2);
    other->ops->close(other);
}

/* --- another incarnation --- */

/* Whatever the calls are told on a connection of before, it is not that the
 * store is as it was. */
static void nothing_goes_on_in_another_incarnation(struct contract *contract)
{
    struct seqb_backend *backend = contract->backend;
    struct seqb_guard guard = {SYNCED, "", false};
    struct seqb_page page = {.prefix = "window/",
                             .after = "",
                             .listed = &(struct seqb_listed){.value = 0},
                             .most = 1};
    struct seqb_request request;
    struct seqb_error err;
    char standing[SEQB_CLAIM_SIZE];
    int64_t raised = -1;

    assert_status(reserve(contract, &guard, &request), SEQB_UNREACHABLE);
    assert_status(raise_to(contract, 99, &guard, &raised, &err),
                  SEQB_UNREACHABLE);
    assert_status(backend->ops->claim(backend, SYNCED, NULL, standing,
                                      sizeof standing, &err),
                  SEQB_UNREACHABLE);
    assert_status(backend->ops->claim(backend, "new", "new", standing,
                                      sizeof standing, &err),
                  SEQB_UNREACHABLE);
    assert_status(backend->ops->swap(
                      backend, &(struct seqb_swap){SYNCED, "", "mine", NULL},
                      standing, sizeof standing, &err),
                  SEQB_UNREACHABLE);
    assert_status(backend->ops->list(backend, &page, &err), SEQB_UNREACHABLE);
    assert_false(guard.has_failed);
}

CONTRACT_TEST(guard_does_not_outlive_an_incarnation,
              NEEDS_INCARNATION | NEEDS_RENEW)
{
    struct seqb_backend *backend = open_known(contract);
    char before[SEQB_INCARNATION_SIZE];

    (void)text_copy(before, sizeof before, backend->incarnation);
    put(backend, SYNCED, "", before);
    assert_passes(contract, (struct seqb_guard){SYNCED, "", false}, 1);
    contract->subject->renew(contract->store);
    nothing_goes_on_in_another_incarnation(contract);
    contract_reopen(contract);
    assert_string_not_equal(contract->backend->incarnation, before);
    assert_holds_back(contract, (struct seqb_guard){SYNCED, "", false}, before);
    /* A subject's server may start with another origin. */
    assert_int_equal(contract_raise(contract->backend, LEASE, 0, 0), 1);
    (void)contract_take(contract, LEASE, 1, 1);
    put(contract->backend, SYNCED, "", contract->backend->incarnation);
    assert_passes(contract, (struct seqb_guard){SYNCED, "", false}, 3);
}

/* --- no incarnation --- */

/* A claim that would do if the incarnation that is not known were "". */
#define VOID "a|"

static void guarded_calls_advise(const struct contract *contract)
{
    const char *advice = contract->subject->advice;
    struct seqb_guard guard = {.name = KNOWN, .text = VOID, .has_failed = true};
    struct seqb_request request;
    struct seqb_error err;
    int64_t raised = -1;

    assert_status(reserve(contract, &guard, &request), SEQB_REFUSED);
    if (strstr(request.error.text, advice) == NULL)
        fail_msg("%s", request.error.text);
    assert_false(guard.has_failed);
    assert_status(raise_to(contract, 99, &guard, &raised, &err), SEQB_REFUSED);
    if (strstr(err.text, advice) == NULL)
        fail_msg("%s", err.text);
}

/* Neither under brokers that had it open nor later. A store that does not open
 * at all says why, too. */
CONTRACT_TEST(store_without_its_incarnation_leases_nothing,
              NEEDS_INCARNATION | NEEDS_WITHHOLD)
{
    const struct seqb_backend_ops *ops = contract->subject->ops;
    struct seqb_guard guard = {.name = SYNCED, .text = ""};
    struct seqb_backend *backend = open_known(contract);
    struct seqb_request request;
    struct seqb_error err;
    int64_t raised = -1;

    put(backend, SYNCED, "", backend->incarnation);
    put(backend, KNOWN, VOID, "");
    assert_passes(contract, guard, 1);
    contract->subject->withhold(contract->store);
    assert_int_not_equal(reserve(contract, &guard, &request), SEQB_OK);
    assert_int_not_equal(raise_to(contract, 99, &guard, &raised, &err),
                         SEQB_OK);
    ops->close(backend);
    contract->backend = NULL;
    if (ops->open(&contract->store->options, &contract->backend, &err) !=
        SEQB_OK) {
        assert_status(err.status, SEQB_REFUSED);
        assert_non_null(strstr(err.text, contract->subject->advice));
        return;
    }
    assert_string_equal(contract->backend->incarnation, "");
    guarded_calls_advise(contract);
    (void)contract_take(contract, LEASE, 1, 1);
}

/* --- swaps --- */

static void swap_expect(const struct contract *contract,
                        const struct seqb_swap *swap, enum seqb_status status,
                        const char *stands)
{
    struct seqb_backend *backend = contract->backend;
    char standing[SEQB_CLAIM_SIZE];
    struct seqb_error err = {.status = SEQB_OK};

    assert_status(
        backend->ops->swap(backend, swap, standing, sizeof standing, &err),
        status);
    if (status == SEQB_FENCED) {
        assert_true(strstr(err.text, swap->name) != NULL);
        assert_true(strstr(err.text, swap->incarnation) != NULL);
        assert_true(strstr(err.text, backend->incarnation) != NULL);
    }
    assert_ok(backend->ops->claim(backend, swap->name, NULL, standing,
                                  sizeof standing, &err));
    assert_string_equal(standing, stands);
}

CONTRACT_TEST(swap_compares_the_incarnation, NEEDS_INCARNATION)
{
    const char *now = open_known(contract)->incarnation;

    swap_expect(contract, &(struct seqb_swap){SYNCED, "", "a", "then"},
                SEQB_FENCED, "");
    swap_expect(contract, &(struct seqb_swap){SYNCED, "", "a", now}, SEQB_OK,
                "a");
    swap_expect(contract, &(struct seqb_swap){SYNCED, "a", "b", "then"},
                SEQB_FENCED, "a");
    swap_expect(contract, &(struct seqb_swap){SYNCED, "x", "b", now}, SEQB_OK,
                "a");
    swap_expect(contract, &(struct seqb_swap){SYNCED, "a", "a", ""},
                SEQB_FENCED, "a");
    swap_expect(contract, &(struct seqb_swap){SYNCED, "a", "b", now}, SEQB_OK,
                "b");
}

CONTRACT_TEST(swap_of_an_incarnation_before_changes_nothing,
              NEEDS_INCARNATION | NEEDS_RENEW)
{
    char before[SEQB_INCARNATION_SIZE];
    const struct seqb_swap late = {SYNCED, "", before, before};
    const struct seqb_swap later = {SYNCED, "a", before, before};

    (void)text_copy(before, sizeof before, open_known(contract)->incarnation);
    contract->subject->renew(contract->store);
    contract_reopen(contract);
    swap_expect(contract, &late, SEQB_FENCED, "");
    swap_expect(
        contract,
        &(struct seqb_swap){SYNCED, "", "a", contract->backend->incarnation},
        SEQB_OK, "a");
    swap_expect(contract, &later, SEQB_FENCED, "a");
}
