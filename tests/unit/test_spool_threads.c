/* SPDX-License-Identifier: Apache-2.0 */
/* Several brokers of one state directory exchange at once: no number is lost,
 * and none is in two hands. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "platform/clock.h"
#include "spool_fixture.h"
#include "support/events.h"

#define BROKERS     3
#define HANDS       2 /* threads of each broker */
#define ALL_HANDS   ((size_t)BROKERS * HANDS)
#define NUMBERS     64
#define ROUNDS      60
#define NUMBER_BASE 1024

/* Who holds each number now: 1 somebody, 0 the file. */
struct table {
    atomic_int held[NUMBERS];
    atomic_int repeats;
    atomic_int failures;
};

struct hand {
    pthread_t thread;
    struct spool *spool;
    struct table *table;
    unsigned seed;
    bool is_done;                       /* takes nothing more */
    struct spool_block blocks[NUMBERS]; /* that it holds, one number each */
    size_t count;
};

static enum spool_choice choose(void *context, const struct spool_block *block,
                                int32_t *memory_bits)
{
    struct hand *hand = context;

    (void)block;
    *memory_bits = 0;
    if (hand->is_done || rand_r(&hand->seed) % 2 == 0)
        return SPOOL_KEEP;
    return SPOOL_TAKE;
}

static enum spool_choice
choose_all(void *context, const struct spool_block *block, int32_t *memory_bits)
{
    (void)context;
    (void)block;
    *memory_bits = 0;
    return SPOOL_TAKE;
}

static struct spool_block block_of(int64_t first)
{
    return (struct spool_block){.key = "order", .first = first, .length = 1};
}

/* Numbers of partition 0 alone: every second one. */
static void take(void *context, const struct spool_block *block)
{
    struct hand *hand = context;

    for (int64_t i = 0; i < block->length; i++) {
        const int64_t first = block->first + 2 * i;
        const int64_t place = (first - NUMBER_BASE) / 2;

        if (atomic_exchange(&hand->table->held[place], 1) != 0)
            atomic_fetch_add(&hand->table->repeats, 1);
        if (hand->count < NUMBERS)
            hand->blocks[hand->count++] = block_of(first);
    }
}

/* Gives back what it holds, or a part of it. */
static void hand_exchange(struct hand *hand)
{
    struct spool_block give[NUMBERS];
    const size_t count =
        hand->count == 0 ? 0 : (size_t)rand_r(&hand->seed) % hand->count + 1;
    const struct spool_terms terms = {.give = give,
                                      .give_count = count,
                                      .choose = choose,
                                      .take = take,
                                      .context = hand};
    struct seqb_error err;

    hand->count -= count;
    for (size_t i = 0; i < count; i++) {
        give[i] = hand->blocks[hand->count + i];
        atomic_store(&hand->table->held[(give[i].first - NUMBER_BASE) / 2], 0);
    }
    if (spool_exchange(hand->spool, &terms, clock_now_ms() + RIG_PATIENCE_MS,
                       &err) != SEQB_OK)
        atomic_fetch_add(&hand->table->failures, 1);
}

static void *hand_run(void *argument)
{
    struct hand *hand = argument;

    for (int i = 0; i < ROUNDS; i++)
        hand_exchange(hand);
    hand->is_done = true;
    while (hand->count > 0)
        hand_exchange(hand);
    return NULL;
}

static void give_all(struct spool_case *c)
{
    struct spool_block block = block_of(NUMBER_BASE);

    block.length = NUMBERS;
    spool_case_give(c, block);
}

/* What came back to the file after all, by number. */
static void expect_all_there(struct spool_case *c, struct table *table)
{
    struct hand last = {.table = table};
    const struct spool_terms terms = {
        .choose = choose_all, .take = take, .context = &last};
    struct seqb_error err;

    for (size_t i = 0; i < NUMBERS; i++)
        atomic_store(&table->held[i], 0);
    assert_int_equal(spool_exchange(c->spool, &terms,
                                    clock_now_ms() + RIG_PATIENCE_MS, &err),
                     SEQB_OK);
    assert_int_equal(last.count, NUMBERS);
}

static void exchanges_at_once_lose_nothing_and_repeat_nothing(void **state)
{
    struct spool_case *c = *state;
    struct spool_case others[BROKERS - 1] = {{.rig = NULL}};
    struct hand hands[ALL_HANDS] = {{.seed = 0}};
    struct table table = {.repeats = 0};

    events_start();
    give_all(c);
    for (unsigned i = 0; i < ALL_HANDS; i++) {
        struct spool_case *by = i % BROKERS == 0 ? c : &others[i % BROKERS - 1];

        if (by->rig == NULL) {
            by->rig = c->rig;
            memcpy(by->path, c->path, sizeof by->path);
            spool_case_open(by);
        }
        hands[i].spool = by->spool;
        hands[i].table = &table;
        hands[i].seed = i + 1;
    }
    for (size_t i = 0; i < ALL_HANDS; i++)
        assert_int_equal(
            pthread_create(&hands[i].thread, NULL, hand_run, &hands[i]), 0);
    for (size_t i = 0; i < ALL_HANDS; i++)
        pthread_join(hands[i].thread, NULL);
    assert_int_equal(atomic_load(&table.repeats), 0);
    assert_int_equal(atomic_load(&table.failures), 0);
    assert_int_equal(events_count("spool_refused", ""), 0);
    expect_all_there(c, &table);
    assert_int_equal(atomic_load(&table.repeats), 0);
    for (size_t i = 0; i < BROKERS - 1; i++)
        spool_close(others[i].spool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SPOOL(exchanges_at_once_lose_nothing_and_repeat_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
