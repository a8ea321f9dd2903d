/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single rounds of the flusher: what it gives, what it chooses of the file, and
 * what follows if the exchange fails.
 */
#include <string.h>

#include "flusher_rounds.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "queue/flusher/drop.h"
#include "queue/flusher/flusher.h"
#include "support/events.h"
#include "support/test.h"
#include "unit/rig_shapes.h"

#define ROUND_MS 5000 /* how long a round may take */
#define REST_MS  1000 /* the least rest between two rounds */

TEST_WITH(DIRECT, idle_sequence_gives_its_numbers_until_it_is_used)
{
    struct seqb_sequence *order = rig_sequence(rounds_open_empty(rig), "order");

    rounds_put(order, 10, 2);
    rounds_take(rig, order, 7);
    rounds_run();
    self.passed_ms += ROUNDS_IDLE_MS - 1;
    rounds_run();
    assert_int_equal(file.exchanges, 0);
    assert_int_equal(rounds_stock(order), 1);
    self.passed_ms++;
    rounds_run();
    assert_int_equal(file.exchanges, 1);
    assert_int_equal(file.given, 1);
    assert_string_equal(file.last.key, "order");
    assert_int_equal(file.last.first, rounds_block("", 11, 1).first + 3);
    assert_int_equal(file.last.length, 1);
    assert_false(file.is_searched || file.is_repeated);
    assert_int_equal(rounds_stock(order), 0);
    rounds_run();
    assert_int_equal(file.exchanges, 1);
    rounds_keep(file.last);
    sequence_miss(order);
    rounds_run();
    assert_int_equal(rounds_stock(order), 1);
    rounds_run();
    sequence_miss(order);
    rounds_run();
    assert_int_equal(file.exchanges, 2);
    rounds_take(rig, order, 1);
}

/* The file could not be searched. When the sequence is idle again, it does not
 * take what it could not take before. */
TEST_WITH(DIRECT, numbers_are_wanted_until_they_come_or_nobody_needs_them)
{
    struct seqb_sequence *order = rig_sequence(rounds_open_empty(rig), "order");

    rounds_put(order, 10, 1);
    rounds_run_idle();
    assert_int_equal(rounds_stock(order), 0);
    rounds_keep(rounds_block("order", 10, 1));
    file.status = SEQB_UNAVAILABLE;
    sequence_miss(order);
    for (int i = 0; i < 2; i++) {
        rounds_run();
        assert_true(file.is_searched);
        assert_int_equal(file.choices[0], SPOOL_TAKE);
    }
    file.status = SEQB_OK;
    rounds_put(order, 30, 1);
    rounds_run_idle();
    assert_int_equal(file.given_numbers, ROUNDS_RUN);
    assert_int_equal(file.choices[0], SPOOL_KEEP);
    assert_int_equal(rounds_stock(order), 0);
}

/* What is given uncertainly is not put back. Unless all went well, what is
 * wanted is wanted again. */
TEST_WITH(DIRECT, failed_round_is_told_and_puts_back_what_it_may)
{
    static const struct {
        enum seqb_status status;
        int64_t stock;
    } cases[] = {
        {SEQB_OK, 0}, {SEQB_UNCERTAIN, 0}, {SEQB_UNAVAILABLE, 2 * ROUNDS_RUN}};
    struct rig_broker *broker = rounds_open_empty(rig);
    struct seqb_sequence *order = rig_sequence(broker, "order");
    struct seqb_sequence *bill = rig_sequence(broker, "bill");

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const bool is_well = cases[i].status == SEQB_OK;

        rounds_run();
        rounds_put(order, 10 * ((int64_t)i + 1), 2);
        rounds_miss(bill);
        events_start();
        file.status = cases[i].status;
        rounds_run_idle();
        assert_int_equal(file.given, 1);
        assert_true(file.is_searched);
        assert_int_equal(rounds_stock(order), cases[i].stock);
        assert_int_equal(atomic_load(&bill->may_be_kept), !is_well);
        assert_int_equal(
            events_count("event=spool_failed blocks=1", "the file is played"),
            !is_well);
    }
}

/* Beside one segment of the ring for each partition. Blocks that follow each
 * other need one segment. Either sequence is counted for itself. */
TEST_WITH(DIRECT, file_is_taken_as_far_as_there_is_room)
{
    static const char *const keys[] = {"bill", "order"};
    struct rig_broker *broker;
    struct seqb_sequence *order;
    int taken = 0;

    memset(&file, 0, sizeof file);
    for (int i = 0; i < 2; i++) {
        for (int64_t v = 10; v < 13; v++)
            rounds_keep(rounds_block(keys[i], v, 1));
        for (int64_t v = 20; v < 60; v += 2) {
            rounds_keep(rounds_block(keys[i], v, 1));
            file.blocks[file.count - 1].length = 1;
        }
    }
    rig->sequences[1].max_unused =
        2 * ROUNDS_RUN; /* and twice that may come back */
    broker = rounds_open(rig, 2);
    order = rig_sequence(broker, "order");
    for (size_t i = 0; i < file.count / 2; i++)
        assert_int_equal(file.choices[i], i < 7 ? SPOOL_TAKE : SPOOL_KEEP);
    for (size_t i = file.count / 2; i < file.count; i++)
        taken += file.choices[i] == SPOOL_TAKE;
    assert_int_equal(ring_free_blocks(order->ring), 2);
    assert_int_equal(rounds_stock(rig_sequence(broker, "bill")),
                     4 * ROUNDS_RUN);
    assert_int_equal(rounds_stock(order), 3 * ROUNDS_RUN + taken - 3);
    assert_int_equal(order->ring->segment_mask + 1 - 2, taken - 2);
    rounds_take(rig, order, 8);
    assert_int_equal(numbers_highest(&rig->taken),
                     rounds_block("", 11, 1).first + ROUNDS_RUN - 1);
}

/* Keys of the file, at most ROUNDS_MADE of them. Listed sequences do not count.
 */
TEST_WITH(DIRECT, start_makes_so_many_sequences)
{
    static char keys[ROUNDS_MADE + 1][8];

    memset(&file, 0, sizeof file);
    for (int64_t i = 0; i < ROUNDS_MADE; i++)
        rounds_keep(rounds_block("order", 10 + i, 1));
    for (int64_t i = 0; i <= ROUNDS_MADE; i++) {
        (void)text_format(keys[i], sizeof keys[i], "b%d", (int)i);
        rounds_keep(rounds_block(keys[i], 10, 1));
    }
    rig_automatic(rig, "b*", ROUNDS_BLOCKS);
    (void)rounds_open(rig, 2);
    for (size_t i = 0; i < ROUNDS_MADE; i++)
        assert_int_equal(file.choices[ROUNDS_MADE + i], SPOOL_TAKE);
    assert_int_equal(file.choices[ROUNDS_BLOCKS - 1], SPOOL_KEEP);
}

/* Of which none is listed. Later, only a call makes one. */
TEST_WITH(DIRECT, start_alone_makes_sequences)
{
    struct rig_broker *broker;

    memset(&file, 0, sizeof file);
    rounds_keep(rounds_block("b0", 10, 1));
    rig_automatic(rig, "b*", 10);
    broker = rounds_open(rig, 0);
    assert_int_equal(rounds_stock(rig_sequence(broker, "b0")), ROUNDS_RUN);
    rounds_keep(rounds_block("b1", 10, 1));
    rounds_miss(rig_sequence(broker, "b0"));
    rounds_run();
    assert_true(file.is_searched);
    assert_int_equal(file.choices[1], SPOOL_KEEP);
    assert_null(queue_peek(broker->queue, "b1"));
}

/* If the sequence is served by another pool than that of the block. */
TEST_WITH(DIRECT, numbers_of_another_pool_stay_while_it_may_come_back)
{
    static const struct {
        bool is_refused;
        enum sequence_admission admission;
        enum spool_choice choice;
    } cases[] = {{false, SEQUENCE_ADMITTED, SPOOL_DROP},
                 {true, SEQUENCE_ADMITTED, SPOOL_KEEP},
                 {false, SEQUENCE_ADMITTING, SPOOL_KEEP}};
    struct rig_broker *broker = rounds_open_empty(rig);
    struct seqb_sequence *order = rig_sequence(broker, "order");

    rounds_keep(rounds_block("order", 10, 1));
    file.blocks[0].pool = 1;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        order->is_refused = cases[i].is_refused;
        atomic_store(&order->settings->admission, cases[i].admission);
        rounds_miss(rig_sequence(broker, "bill"));
        rounds_run();
        assert_int_equal(file.choices[0], cases[i].choice);
    }
}

/* A block goes on with the next window of its partition, which is another
 * lessor's, and a segment of the ring with the next one of its lessor. */
TEST_WITH(NEIGHBOURS, segments_are_windows_of_one_lessor)
{
    struct seqb_sequence *order;
    uint32_t segments;
    int64_t first;
    int64_t size;

    rig->sequences[0].max_unused = 1 << 20;
    order = rig_sequence(rounds_open_empty(rig), "order");
    segments = ring_free_blocks(order->ring);
    size = (int64_t)ROUNDS_RUN << ha_counter_window_bits(order->counter);
    first = size << (1 + ha_counter_lessor_bits(order->counter));
    rounds_keep((struct spool_block){"order", 0, 1, 2, first, 2 * size});
    rounds_miss(order);
    rounds_run();
    assert_int_equal(ring_free_blocks(order->ring), segments - 2);
    rounds_run_idle();
    assert_int_equal(file.given, 2);
    assert_int_equal(file.last.first, first + 2 * size);
    file.count = 0;
    rounds_run();
    sequence_put(order, 4 * first, (uint64_t)(3 * size));
    rounds_run_idle();
    assert_int_equal(file.given, 3);
    assert_int_equal(file.given_numbers, 3 * size);
    assert_int_equal(file.last.first, ring_number_after(order->ring, 4 * first,
                                                        (uint64_t)(2 * size)));
    for (int64_t i = 0; i < 3; i++) {
        file.last.first =
            ring_number_after(order->ring, 4 * first, (uint64_t)(i * size));
        rounds_keep(file.last);
    }
    assert_int_equal(file.last.length, size);
    rounds_miss(order);
    rounds_run();
    assert_int_equal(rounds_stock(order), 3 * size);
    assert_int_equal(ring_free_blocks(order->ring), segments - 1);
}

TEST_WITH(DIRECT, only_removed_sequences_are_given_after_a_reload)
{
    struct rig_broker *broker = rounds_open_empty(rig);
    struct seqb_sequence *order = rig_sequence(broker, "order");
    struct seqb_sequence *bill = rig_sequence(broker, "bill");

    rounds_put(order, 10, 1);
    rounds_put(bill, 10, 2);
    rounds_miss(bill);
    atomic_store(&order->settings->is_removed, true);
    self.now_ms = clock_now_ms();
    flusher_keep_removed(broker->queue->flusher);
    assert_int_equal(file.until_ms, self.now_ms + ROUND_MS);
    self.now_ms = 0;
    assert_int_equal(file.given, 1);
    assert_string_equal(file.last.key, "order");
    assert_int_equal(rounds_stock(order), 0);
    assert_int_equal(rounds_stock(bill), 2 * ROUNDS_RUN);
    assert_true(atomic_load(&order->may_be_kept));
    assert_true(atomic_load(&bill->is_missed));
    assert_false(file.is_searched || file.is_repeated);
}

TEST_WITH(DIRECT, rest_is_long_after_a_long_round)
{
    struct queue_sequence_options seldom = rig->sequences[0];
    struct queue_options next = rig->queue;
    struct rig_broker *broker = rounds_open_empty(rig);

    rounds_put(rig_sequence(broker, "order"), 10, 1);
    file.takes_ms = 70;
    self.passed_ms = ROUNDS_IDLE_MS;
    self.now_ms = clock_now_ms();
    self.rounds = 1;
    (void)self.run(self.flusher);
    assert_int_equal(file.until_ms, self.now_ms - 70 + ROUND_MS);
    assert_int_equal(self.woken_ms, self.now_ms + REST_MS + 700);
    assert_int_equal(self.usual_ms, self.now_ms + flusher_looks(&rig->queue));
    seldom.idle_after_ms = 0;
    next.sequences = &seldom;
    flusher_set(broker->queue->flusher, &next);
    (void)self.run(self.flusher);
    assert_int_equal(self.woken_ms, self.now_ms + REST_MS);
    assert_int_equal(self.usual_ms, self.now_ms + flusher_looks(&next));
    assert_true(flusher_looks(&next) > flusher_looks(&rig->queue));
    self.now_ms = 0;
}

/* More than there is room for at first. If they cannot be kept, all of them are
 * put back. */
TEST_WITH(DIRECT, many_sequences_are_given_at_once)
{
    static const enum seqb_status statuses[] = {SEQB_UNAVAILABLE, SEQB_OK};
    struct seqb_sequence *all[300];
    struct rig_broker *broker;
    char key[8];

    rig_automatic(rig, "b*", ROUNDS_BLOCKS);
    broker = rounds_open_empty(rig);
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        (void)text_format(key, sizeof key, "b%zu", i);
        all[i] = rig_sequence(broker, key);
        rounds_put(all[i], 10, 1);
    }
    for (size_t i = 0; i < COUNT_OF(statuses); i++) {
        file.status = statuses[i];
        self.grown = 0;
        flusher_keep_all(broker->queue->flusher, 77);
        assert_true(self.grown < 20);
        assert_int_equal(file.until_ms, 77);
        assert_true(file.is_repeated);
        assert_int_equal(file.given, COUNT_OF(all));
        assert_int_equal(file.given_numbers, COUNT_OF(all) * ROUNDS_RUN);
        for (size_t j = 0; j < COUNT_OF(all); j++)
            assert_int_equal(rounds_stock(all[j]), i == 0 ? ROUNDS_RUN : 0);
    }
    assert_string_equal(file.last.key, all[COUNT_OF(all) - 1]->key);
}

/* The numbers stay in the ring, or are a gap. */
TEST_WITH(DIRECT, numbers_without_memory_are_not_given)
{
    struct rig_broker *broker = rounds_open_empty(rig);
    struct seqb_sequence *order = rig_sequence(broker, "order");
    struct flusher *other;

    self.lacks = 1;
    assert_status(
        flusher_open(broker->queue, &rig->queue, broker->ha, 0, &other, NULL),
        SEQB_NO_MEMORY);
    rounds_put(order, 10, 2);
    for (int i = 1; i <= 2; i++) {
        self.lacks = i;
        flusher_keep_all(broker->queue->flusher, 77);
        assert_int_equal(self.lacks, 0);
        assert_int_equal(file.exchanges, 0);
        assert_int_equal(rounds_stock(order), i == 1 ? 2 * ROUNDS_RUN : 0);
    }
}

/* Of the sequence, in its own pool, that begin at or below it. */
TEST_WITH(DIRECT, advance_drops_blocks_of_its_sequence)
{
    const int64_t to = rounds_block("", 20, 1).first;
    const int64_t first[] = {to, to + 1, to, to};
    struct rig_broker *broker = rounds_open_empty(rig);
    struct seqb_sequence *order = rig_sequence(broker, "order");

    for (int i = 0; i < 4; i++)
        rounds_keep((struct spool_block){.key = i == 2 ? "bill" : "order",
                                         .pool = i == 3,
                                         .first = first[i],
                                         .length = 1});
    assert_ok(flusher_drop(broker->queue->flusher, order, to, 77, NULL));
    assert_int_equal(file.until_ms, 77);
    for (int i = 0; i < 4; i++)
        assert_int_equal(file.choices[i], i == 0 ? SPOOL_DROP : SPOOL_KEEP);
    pthread_mutex_lock(&order->lock);
    order->floor = to;
    pthread_mutex_unlock(&order->lock);
    assert_true(drop_has_passed(order, to));
    assert_false(drop_has_passed(order, to + 1));
}

TEST_WITH(DIRECT, thread_of_the_flusher_ends_once)
{
    struct rig_broker *broker;

    for (int i = 0; i < 2; i++) {
        broker = rounds_open_empty(rig);
        if (i == 1) {
            flusher_stop(broker->queue->flusher);
            assert_true(self.is_joined);
            self.is_joined = false;
        }
        rig_close(broker);
        assert_int_equal(self.is_joined, i == 0);
    }
    self.no_thread = true;
    rig_expect_open_fails(rig, SEQB_NO_MEMORY, "there is no thread");
    self.no_thread = false;
    flusher_stop(NULL);
    flusher_keep_all(NULL, 0);
}
