/* SPDX-License-Identifier: Apache-2.0 */
/* The contract's tests for engines of both classes with many at once, each on
 * a backend and a thread of its own. */
#include "contract/contract_suite.h"

#include <stdlib.h>
#include <string.h>

#include "platform/text.h"
#include "support/race.h"

/* --- takers --- */

#define TAKERS       4
#define TAKER_VALUES 10000
#define TAKER_BLOCKS TAKER_VALUES
#define FAILURES_MAX 100
#define COUNTERS     2

struct taker {
    const struct contract *contract;
    int number;
    int failures;
    size_t blocks[COUNTERS];
    struct seqb_block block[COUNTERS][TAKER_BLOCKS];
};

static const char *const shared_counters[COUNTERS] = {"main/0/a", "main/0/b"};

/* Both counters in one call, every other taker in the opposite order. */
static int64_t taker_step(struct taker *taker, struct seqb_backend **backend)
{
    const struct contract *contract = taker->contract;
    struct seqb_request requests[COUNTERS];
    struct seqb_error err;
    int64_t taken = 0;

    for (int i = 0; i < COUNTERS; i++)
        requests[i] = contract_request(
            contract, shared_counters[(i + taker->number) % COUNTERS],
            1 + (int64_t)(taker->blocks[i] * 37 + (size_t)taker->number) % 128);
    if ((*backend)->ops->reserve(*backend, requests, COUNTERS, &err) !=
        SEQB_OK) {
        taker->failures++;
        (*backend)->ops->close(*backend);
        *backend = NULL;
        return 0;
    }
    for (int i = 0; i < COUNTERS; i++) {
        const int which = (i + taker->number) % COUNTERS;

        if (requests[i].status != SEQB_OK) {
            taker->failures++;
            continue;
        }
        taker->block[which][taker->blocks[which]++] = requests[i].block;
        taken += requests[i].block.count;
    }
    return taken;
}

/* A raise must not undo what others are granted meanwhile. */
static void taker_raise(const struct taker *taker, struct seqb_backend *backend)
{
    const size_t n = taker->blocks[0];
    struct seqb_error err;
    int64_t value;

    if (backend == NULL || backend->ops->guarantee != SEQB_DIRECT || n == 0 ||
        n % 8 != 0)
        return;
    const struct seqb_raise raise = {shared_counters[0],
                                     taker->block[0][n - 1].first + 300,
                                     0,
                                     CONTRACT_LIMIT,
                                     0,
                                     0,
                                     0,
                                     NULL,
                                     0,
                                     NULL};

    if (backend->ops->raise(backend, &raise, &value, &err) != SEQB_OK)
        print_error("%s\n", err.text);
}

static void taker_run(void *racer)
{
    struct taker *taker = racer;
    const struct contract *contract = taker->contract;
    struct seqb_backend *backend = NULL;
    const int64_t goal = (int64_t)TAKER_VALUES * COUNTERS /
                         (contract->subject->writes_each_value ? 8 : 1);
    int64_t taken = 0;

    while (taken < goal && taker->failures < FAILURES_MAX) {
        if (backend == NULL &&
            contract->subject->ops->open(&contract->store->options, &backend,
                                         NULL) != SEQB_OK) {
            taker->failures++;
            continue;
        }
        taken += taker_step(taker, &backend);
        taker_raise(taker, backend);
    }
    contract->subject->ops->close(backend);
}

/* Marks the values of a block as seen; the first that was seen, or -1. */
static int64_t block_mark(struct seqb_block block, char *seen)
{
    for (int64_t v = block.first; v < block.first + block.count; v++) {
        if (seen[v] != 0)
            return v;
        seen[v] = 1;
    }
    return -1;
}

static void blocks_mark(const struct taker *taker, int counter, char *seen)
{
    for (size_t i = 0; i < taker->blocks[counter]; i++) {
        const struct seqb_block block = taker->block[counter][i];

        assert_in_range(block.first, 0, CONTRACT_WINDOW_SIZE - 1);
        assert_in_range(block.count, 1, CONTRACT_WINDOW_SIZE - block.first);
        assert_int_equal(block_mark(block, seen), -1);
    }
}

CONTRACT_TEST(concurrent_backends_never_share_a_value, 0)
{
    struct taker *takers = calloc(TAKERS, sizeof *takers);
    char *seen = calloc(1, (size_t)CONTRACT_WINDOW_SIZE);

    assert_non_null(takers);
    assert_non_null(seen);
    for (int i = 0; i < COUNTERS; i++)
        contract_prepare(contract, shared_counters[i]);
    for (int i = 0; i < TAKERS; i++) {
        takers[i].contract = contract;
        takers[i].number = i;
    }
    race_run(takers, TAKERS, sizeof *takers, taker_run);
    for (int c = 0; c < COUNTERS; c++) {
        memset(seen, 0, (size_t)CONTRACT_WINDOW_SIZE);
        for (int i = 0; i < TAKERS; i++)
            blocks_mark(&takers[i], c, seen);
    }
    for (int i = 0; i < TAKERS; i++)
        assert_in_range(takers[i].failures, 0, FAILURES_MAX - 1);
    free(takers);
    free(seen);
}

/* --- claimers --- */

struct claimer {
    const struct contract *contract;
    char text[16];
    char standing[SEQB_CLAIM_SIZE];
    enum seqb_status status;
};

static void claimer_run(void *racer)
{
    struct claimer *claimer = racer;
    const struct seqb_backend_ops *ops = claimer->contract->subject->ops;
    struct seqb_backend *backend = NULL;

    claimer->status =
        ops->open(&claimer->contract->store->options, &backend, NULL);
    race_meet();
    if (claimer->status == SEQB_OK)
        claimer->status =
            ops->claim(backend, "layout", claimer->text, claimer->standing,
                       sizeof claimer->standing, NULL);
    ops->close(backend);
}

CONTRACT_TEST(concurrent_claimers_agree, ONCE)
{
    static struct claimer claimers[TAKERS];

    for (int i = 0; i < TAKERS; i++) {
        claimers[i].contract = contract;
        (void)text_format(claimers[i].text, sizeof claimers[i].text, "mine=%d",
                          i);
    }
    RACE(claimers, claimer_run);
    for (int i = 0; i < TAKERS; i++) {
        assert_ok(claimers[i].status);
        assert_memory_equal(claimers[i].standing, "mine=", 5);
        assert_string_equal(claimers[i].standing, claimers[0].standing);
    }
}
