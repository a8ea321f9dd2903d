/* SPDX-License-Identifier: Apache-2.0 */
/* Several brokers of one state directory exchange at once: no number is lost,
 * and none is in two hands. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/clock.h"
#include "spool_fixture.h"
#include "support/events.h"
#include "support/test.h"

#define BROKERS         3
#define HANDS           2 /* threads of each broker */
#define ALL_HANDS       ((size_t)BROKERS * HANDS)
#define NUMBERS         64
#define ROUNDS          60
#define NUMBER_BASE     1024
#define UNLOCKED_ROUNDS 20

static bool has_locks = true;

/* In the place of the C library's. */
int flock(int file, int operation)
{
    return has_locks ? (int)syscall(SYS_flock, file, operation) : 0;
}

/* Whose exchange is to be done before a file is removed. */
static struct giver *goes_first;

static void first_end(void);

int unlink(const char *path)
{
    if (goes_first != NULL)
        first_end();
    return (int)syscall(SYS_unlink, path);
}

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

/* It was not done: they are its own again. */
static void hand_keep(struct hand *hand, const struct spool_block *give,
                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        take(hand, &give[i]);
}

/* Gives back what it holds, or a part of it. */
static void hand_exchange(struct hand *hand)
{
    struct spool_block give[NUMBERS];
    const size_t count =
        hand->count == 0 ? 0 : (size_t)rand_r(&hand->seed) % hand->count + 1;
    const struct spool_exchange_options attributes = {.give = give,
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
    if (spool_exchange(hand->spool, &attributes,
                       clock_now_ms() + RIG_PATIENCE_MS, &err) == SEQB_OK)
        return;
    atomic_fetch_add(&hand->table->failures, 1);
    if (err.status != SEQB_UNCERTAIN)
        hand_keep(hand, give, count);
}

static void *hand_run(void *argument)
{
    struct hand *hand = argument;

    for (int i = 0; i < ROUNDS; i++)
        hand_exchange(hand);
    hand->is_done = true;
    for (int i = 0; i < ROUNDS && hand->count > 0; i++)
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
    const struct spool_exchange_options attributes = {
        .choose = choose_all, .take = take, .context = &last};

    for (size_t i = 0; i < NUMBERS; i++)
        atomic_store(&table->held[i], 0);
    assert_ok(spool_exchange(c->spool, &attributes,
                             clock_now_ms() + RIG_PATIENCE_MS, NULL));
    assert_int_equal(last.count, NUMBERS);
}

/* Brokers of one state directory. */
static void spools_open(struct spool_case *c, struct spool **spools)
{
    spools[0] = c->spool;
    for (size_t i = 1; i < BROKERS; i++) {
        struct spool_case other = {.rig = c->rig};

        memcpy(other.path, c->path, sizeof other.path);
        spool_case_open(&other);
        spools[i] = other.spool;
    }
}

static void spools_close(struct spool **spools)
{
    for (size_t i = 1; i < BROKERS; i++)
        spool_close(spools[i]);
}

/* All hands at work, until each has given back what it holds. */
static void run_all(struct spool *const *spools, struct table *table)
{
    struct hand hands[ALL_HANDS] = {{.seed = 0}};

    for (unsigned i = 0; i < ALL_HANDS; i++) {
        hands[i].spool = spools[i % BROKERS];
        hands[i].table = table;
        hands[i].seed = i + 1;
    }
    for (size_t i = 0; i < ALL_HANDS; i++)
        assert_int_equal(
            pthread_create(&hands[i].thread, NULL, hand_run, &hands[i]), 0);
    for (size_t i = 0; i < ALL_HANDS; i++)
        pthread_join(hands[i].thread, NULL);
    assert_int_equal(atomic_load(&table->repeats), 0);
}

TEST_WITH(SPOOL, exchanges_at_once_lose_nothing_and_repeat_nothing)
{
    struct spool *spools[BROKERS];
    struct table table = {.repeats = 0};

    events_start();
    spools_open(c, spools);
    give_all(c);
    run_all(spools, &table);
    assert_int_equal(atomic_load(&table.failures), 0);
    assert_int_equal(events_count("spool_refused", ""), 0);
    expect_all_there(c, &table);
    assert_int_equal(atomic_load(&table.repeats), 0);
    spools_close(spools);
}

struct giver {
    pthread_t thread;
    struct spool_case *c;
    struct spool_block block;
};

static void first_end(void)
{
    struct giver *giver = goes_first;

    goes_first = NULL;
    fake_release(giver->c->rig->stores[0]);
    pthread_join(giver->thread, NULL);
}

static void *giver_run(void *argument)
{
    struct giver *giver = argument;

    spool_case_give(giver->c, giver->block);
    return NULL;
}

/* Without a lock: one waits for its ticket; another one has written what it
 * gives, and gets no ticket; and before that one has cleared up, the first is
 * done. */
TEST_WITH(SPOOL, file_of_another_exchange_is_not_moved)
{
    struct spool_case other = {
        .rig = c->rig, .choice = SPOOL_TAKE, .memory_bits = SPOOL_MEMORY_BITS};
    struct giver giver = {.c = &other,
                          .block = spool_case_block("order", 0, 20, 3)};
    const struct spool_block mine = spool_case_block("order", 0, 40, 7);

    memcpy(other.path, c->path, sizeof other.path);
    spool_case_open(&other);
    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    has_locks = false;
    fake_hang(c->rig->stores[0]);
    assert_int_equal(pthread_create(&giver.thread, NULL, giver_run, &giver), 0);
    assert_true(fake_wait_for_hanging(c->rig->stores[0], 1, RIG_PATIENCE_MS));
    assert_ok(ha_command(c->broker->ha, "main", 0, SEQB_ORDER_DRAIN, NULL));
    goes_first = &giver;
    assert_int_not_equal(
        spool_case_try(c, &mine, 1, clock_now_ms() + RIG_PATIENCE_MS), SEQB_OK);
    assert_null(goes_first);
    has_locks = true;
    spool_case_expect(&other, (5 + 3) << SPOOL_MEMORY_BITS);
    spool_close(other.spool);
}

/* A lock that holds nobody up, as of a mount without locks. Each exchange
 * writes a file of its own aside. Numbers may be lost: whose file is moved over
 * another one's. */
TEST_WITH(SPOOL, exchanges_at_once_repeat_nothing_without_a_lock)
{
    struct spool *spools[BROKERS];

    spools_open(c, spools);
    has_locks = false;
    for (size_t i = 0; i < UNLOCKED_ROUNDS; i++) {
        struct table table = {.repeats = 0};

        (void)unlink(c->path);
        give_all(c);
        run_all(spools, &table);
    }
    has_locks = true;
    spools_close(spools);
}
