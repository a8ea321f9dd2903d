/* SPDX-License-Identifier: Apache-2.0 */
/* The contract's tests for reading the counters of a store page by page, and
 * for the mark that ends notes of a lessor's leases. */
#include "contract/contract_suite.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "contract/contract_days.h"
#include "platform/text.h"
#include "platform/thread.h"

#define PAGE_MAX 64

/* In the order of bytes. */
static const char *const names[] = {
    "window/ma/0/k",     "window/main/0/0",   "window/main/0/A",
    "window/main/0/B",   "window/main/0/a",   "window/main/0/a-b",
    "window/main/0/a.b", "window/main/0/a_b", "window/main/0/aa",
    "window/main/0/b",   "window/main/1/a",   "window/main/10/a",
    "window/main/1_/a",  "window/main/9/a",   "window/main-/0/a",
    "window/main2/0/a",  "window/main_/0/a",  "window/mainly/0/a",
};

#define NAMES (sizeof names / sizeof names[0])

static int name_compare(const void *a, const void *b)
{
    const char *const *left = a;
    const char *const *right = b;

    return strcmp(*left, *right);
}

/* Counter i gets the value i + 1. */
static void counters_make(const struct contract *contract)
{
    for (size_t i = 0; i < NAMES; i++)
        assert_int_equal(
            contract_raise(contract->backend, names[i], (int64_t)i + 1, 0),
            (int64_t)i + 1);
}

static void page_read(const struct contract *contract, struct seqb_page *page)
{
    struct seqb_error err;

    page->count = -1;
    assert_done(contract->backend->ops->list(contract->backend, page, &err),
                err);
    assert_in_range(page->count, 0, page->most);
}

/* All counters, or claims, with that prefix, `most` a page, must be those of
 * `names` that begin so. */
static void assert_lists(const struct contract *contract, bool are_claims,
                         const char *prefix, int32_t most)
{
    const char *sorted[NAMES];
    struct seqb_listed listed[PAGE_MAX];
    char after[SEQB_COUNTER_SIZE] = "";
    struct seqb_page page = {.prefix = prefix,
                             .after = after,
                             .is_of_claims = are_claims,
                             .listed = listed,
                             .most = most};
    int32_t at = most;

    memcpy(sorted, names, sizeof sorted);
    qsort(sorted, NAMES, sizeof sorted[0], name_compare);
    for (size_t i = 0; i < NAMES; i++) {
        if (strncmp(sorted[i], prefix, strlen(prefix)) != 0)
            continue;
        if (at == most) {
            page_read(contract, &page);
            at = 0;
        }
        assert_true(at < page.count);
        assert_string_equal(listed[at].counter, sorted[i]);
        if (are_claims)
            assert_int_equal(listed[at].value, 0);
        else
            assert_string_equal(names[listed[at].value - 1], sorted[i]);
        (void)text_copy(after, sizeof after, listed[at++].counter);
    }
    if (at == most) {
        page_read(contract, &page);
        at = 0;
    }
    assert_int_equal(page.count, at);
}

CONTRACT_TEST(counters_are_listed_in_the_order_of_bytes, NEEDS_INCARNATION)
{
    const char *const prefixes[] = {
        "window/main/",   "window/main", "window/main/0/a",  "window/main/1",
        "window/main/1/", "window/",     "window/main/0/A",  "window/ma",
        "window/none/",   "w",           "window/main/0/a_", "x"};

    counters_make(contract);
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        assert_lists(contract, false, prefixes[i], PAGE_MAX);
        assert_lists(contract, false, prefixes[i], 1);
        assert_lists(contract, false, prefixes[i], 3);
    }
    contract->store->options.needs_incarnation = true;
    contract_reopen(contract);
    assert_lists(contract, false, "window/", 5);
}

/* A counter is no claim. */
CONTRACT_TEST(claims_are_listed_in_the_order_of_bytes, NEEDS_INCARNATION)
{
    char standing[SEQB_CLAIM_SIZE];

    (void)contract_raise(contract->backend, "window/main/0/none", 1, 0);
    for (size_t i = 0; i < NAMES; i++)
        assert_ok(contract->backend->ops->claim(contract->backend, names[i],
                                                "memory_bits=3", standing,
                                                sizeof standing, NULL));
    assert_lists(contract, true, "window/main/0/", PAGE_MAX);
    assert_lists(contract, true, "window/main/0/", 1);
    assert_lists(contract, true, "window/", 5);
    assert_lists(contract, true, "x", 1);
}

/* What is not there any more, or never was, is a place as well. */
CONTRACT_TEST(page_goes_on_after_any_name, NEEDS_INCARNATION)
{
    struct seqb_listed listed[2];
    struct seqb_page page = {
        .prefix = "window/main/0/", .listed = listed, .most = 2};
    static const struct {
        const char *after;
        const char *first; /* "": none */
    } cases[] = {
        {"a", "window/main/0/0"},
        {"window/main/0/", "window/main/0/0"},
        {"window/main/0/A", "window/main/0/B"},
        {"window/main/0/AA", "window/main/0/B"},
        {"window/main/0/Z", "window/main/0/a"},
        {"window/main/0/a", "window/main/0/a-b"},
        {"window/main/0/b", ""},
        {"z", ""},
    };

    counters_make(contract);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        page.after = cases[i].after;
        page_read(contract, &page);
        if (page.count == 0)
            listed[0].counter[0] = '\0';
        assert_string_equal(listed[0].counter, cases[i].first);
    }
}

CONTRACT_TEST(prefix_that_no_page_has_is_refused, NEEDS_INCARNATION)
{
    const char *const prefixes[] = {"", "@", "window/main/0/a@"};
    struct seqb_listed listed[2];
    struct seqb_page page = {.after = "", .listed = listed, .most = 2};
    struct seqb_error err;

    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        page.prefix = prefixes[i];
        assert_status(
            contract->backend->ops->list(contract->backend, &page, &err),
            SEQB_INVALID);
    }
}

/* --- periods --- */

static void day_make(const struct contract *contract, int day)
{
    struct seqb_request request;

    assert_ok(day_reserve(contract, "window/main/0/day", day, &request));
}

CONTRACT_TEST(periods_and_their_marks_are_listed,
              NEEDS_INCARNATION | NEEDS_PERIODS)
{
    char keep[SEQB_COUNTER_SIZE];
    const struct seqb_purge purge = {.counter = "window/main/0/day",
                                     .keep = keep,
                                     .before_ms = DAY_BEGINS_MS(3),
                                     .most = 0};
    struct seqb_listed listed[4];
    struct seqb_page page = {.after = "", .listed = listed, .most = 4};
    int32_t deleted;

    for (int day = 1; day <= 3; day++)
        day_make(contract, day);
    (void)contract_take(contract, "window/main/0/dayly", 7, 0);
    day_name(keep, "window/main/0/day", 3);
    assert_ok(contract->backend->ops->purge(contract->backend, &purge, &deleted,
                                            NULL));
    page.prefix = "window/main/0/day";
    page_read(contract, &page);
    assert_int_equal(page.count, 4);
    assert_string_equal(listed[0].counter, "window/main/0/day@20261101");
    assert_string_equal(listed[2].counter, "window/main/0/day@20261103");
    assert_int_equal(listed[2].value, 1);
    assert_string_equal(listed[3].counter, "window/main/0/dayly");
    assert_int_equal(listed[3].value, 7);
    page.prefix = "@window/main/";
    page_read(contract, &page);
    assert_int_equal(page.count, 1);
    assert_string_equal(listed[0].counter, "@window/main/0/day");
    assert_int_equal(listed[0].value, DAY_BEGINS_MS(3));
}

/* --- a mark that is left while others note --- */

#define ROUNDS  30
#define RAISERS 2
#define MARK    "known/main/0"
#define NOTED   "window/main/0/order"

struct raiser {
    const struct contract *contract;
    pthread_t thread;
    struct seqb_guard guard;
    _Atomic int64_t raised; /* the last that was told to be done */
    _Atomic bool may_end;   /* though its guard holds */
    _Atomic enum seqb_status status;
};

static void raiser_play(struct raiser *me, struct seqb_backend *backend)
{
    /* So that a lock which is not fair is not always held. */
    const struct timespec pause = {.tv_nsec = 1000000};
    bool ends = false;

    while (me->status == SEQB_OK && !ends) {
        const struct seqb_raise raise = {.counter = NOTED,
                                         .floor = me->raised + 1,
                                         .limit = CONTRACT_LIMIT,
                                         .guard = &me->guard};
        int64_t value;

        ends = me->may_end;
        me->status = backend->ops->raise(backend, &raise, &value, NULL);
        if (me->status == SEQB_OK)
            me->raised = value;
        (void)nanosleep(&pause, NULL);
    }
}

static void *raiser_run(void *argument)
{
    struct raiser *me = argument;
    const struct seqb_backend_ops *ops = me->contract->subject->ops;
    struct seqb_backend *backend = NULL;

    me->status = ops->open(&me->contract->store->options, &backend, NULL);
    raiser_play(me, backend);
    ops->close(backend);
    return NULL;
}

/* Until each of them has raised above what was noted, or failed. */
static void raisers_wait(const struct raiser *raisers, int64_t noted)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    for (int i = 0; i < RAISERS; i++)
        while (raisers[i].status == SEQB_OK && raisers[i].raised == noted)
            (void)nanosleep(&pause, NULL);
}

/* Whoever left the mark reads all that was noted before it. */
static void mark_leave(const struct contract *contract, int round,
                       char text[SEQB_GUARD_SIZE])
{
    struct seqb_backend *backend = contract->backend;
    char standing[SEQB_CLAIM_SIZE];
    char next[SEQB_GUARD_SIZE];

    (void)text_format(next, sizeof next, "%d|%s", round + 1,
                      backend->incarnation);
    assert_ok(backend->ops->swap(
        backend, &(struct seqb_swap){MARK, text, next, backend->incarnation},
        standing, sizeof standing, NULL));
    assert_string_equal(standing, next);
    (void)text_copy(text, SEQB_GUARD_SIZE, next);
}

static int64_t noted_read(const struct contract *contract)
{
    struct seqb_listed listed[1] = {{.value = 0}};
    struct seqb_page page = {
        .prefix = NOTED, .after = "", .listed = listed, .most = 1};

    page_read(contract, &page);
    return listed[0].value;
}

CONTRACT_TEST(nothing_is_noted_after_another_mark, NEEDS_INCARNATION)
{
    static struct raiser raisers[RAISERS];
    char text[SEQB_GUARD_SIZE] = "";
    int64_t noted = 1;

    contract->store->options.needs_incarnation = true;
    contract_reopen(contract);
    (void)contract_raise(contract->backend, NOTED, noted, 0);
    for (int round = 0; round < ROUNDS; round++) {
        char old[16];

        (void)text_format(old, sizeof old, "%d|", round);
        if (round == 0)
            mark_leave(contract, -1, text);
        for (int i = 0; i < RAISERS; i++) {
            raisers[i] = (struct raiser){.contract = contract,
                                         .guard = {MARK, old, false},
                                         .raised = noted};
            assert_ok(thread_start(&raisers[i].thread, "raiser", raiser_run,
                                   &raisers[i], NULL));
        }
        raisers_wait(raisers, noted);
        mark_leave(contract, round, text);
        noted = noted_read(contract);
        for (int i = 0; i < RAISERS; i++) {
            raisers[i].may_end = true;
            (void)pthread_join(raisers[i].thread, NULL);
            assert_status(raisers[i].status, SEQB_FENCED);
            assert_true(raisers[i].raised <= noted);
        }
        assert_int_equal(noted_read(contract), noted);
    }
}
