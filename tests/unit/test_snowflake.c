/* SPDX-License-Identifier: Apache-2.0 */
/* The ids of a snowflake on the machine's clocks. The rules of their times are
 * test_snowflake_time.c's. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "period/period.h"
#include "platform/clock.h"
#include "queue/snowflake/flake.h"
#include "support/numbers.h"
#include "support/test.h"

#define EPOCH INT64_C(1577836800000)

#define HOUR_MS 3600000

struct fixture {
    struct flake_gate gate;
    struct flake flake;
};

/* The only one of a test. */
static struct fixture *open_flake(int32_t time_bits, int32_t counter_bits)
{
    static struct fixture fixture;
    const struct bits_layout layout = {EPOCH, 1, time_bits, 10, counter_bits};

    memset(&fixture, 0, sizeof fixture);
    flake_init(&fixture.flake, &layout, &fixture.gate);
    return &fixture;
}

static struct flake_lease lease_now(void)
{
    return (struct flake_lease){.upto = clock_wall_ms() + HOUR_MS,
                                .until_ms = clock_boot_ms() + HOUR_MS};
}

static struct flake_reading read_now(void)
{
    struct flake_reading now = {.ticks = ticks_now()};

    now.wall_us = clock_wall_us();
    now.boot_us = clock_boot_us();
    now.time_ms = now.wall_us / 1000;
    return now;
}

/* As the source does: the present ms is opened, or goes on. */
static enum flake_verdict open_ms(struct fixture *fixture, int64_t worker,
                                  const struct flake_lease *lease)
{
    const struct flake_reading now = read_now();
    struct flake_block block;
    enum flake_verdict verdict;

    if (flake_go_on(&fixture->flake, worker, lease, &now))
        return FLAKE_GIVE;
    verdict = flake_poll(&fixture->flake, lease, &now, &block);
    if (verdict == FLAKE_GIVE)
        flake_open(&fixture->flake, worker, lease, &now, &block);
    return verdict;
}

/* Takes one id in any case. */
static int64_t take_one(struct fixture *fixture, int64_t worker,
                        const struct flake_lease *lease)
{
    int64_t id;

    while (flake_take(&fixture->gate, 1, &id) == 0) {
        const enum flake_verdict verdict = open_ms(fixture, worker, lease);

        assert_true(verdict == FLAKE_GIVE || verdict == FLAKE_AGAIN);
        if (verdict == FLAKE_GIVE &&
            flake_take_locked(&fixture->flake, 1, &id) == 1)
            break;
    }
    return id;
}

TEST(every_id_is_higher_than_those_before)
{
    struct fixture *fixture = open_flake(41, 12);
    const struct bits_layout layout = {EPOCH, 1, 41, 10, 12};
    const struct flake_lease lease = lease_now();
    const int count = 200000;
    int64_t before = 0;

    for (int i = 0; i < count; i++) {
        const int64_t from_ms = clock_wall_ms();
        const int64_t id = take_one(fixture, 1023, &lease);
        struct bits_parts parts;

        assert_true(id > before);
        before = id;
        bits_take_apart(&layout, id, &parts);
        assert_int_equal(parts.shard, 1023);
        assert_true(parts.time_ms <= clock_wall_ms());
        assert_true(parts.time_ms >= from_ms - 1);
    }
    assert_int_equal(flake_taken(&fixture->flake), count);
}

static void await_ms(struct fixture *fixture, const struct flake_lease *lease)
{
    enum flake_verdict verdict = FLAKE_AGAIN;

    while (verdict == FLAKE_AGAIN)
        verdict = open_ms(fixture, 5, lease);
    assert_int_equal(verdict, FLAKE_GIVE);
}

/* 4 ids a ms: a run that does not fit in what is left takes none of the next
 * one. */
TEST(run_is_of_one_ms)
{
    struct fixture *fixture = open_flake(41, 2);
    const struct flake_lease lease = lease_now();
    int64_t before;
    int64_t first;

    await_ms(fixture, &lease);
    assert_int_equal(flake_take_locked(&fixture->flake, 1, &before), 1);
    assert_true(flake_take_run(&fixture->flake, 2, &first));
    assert_int_equal(first, before + 1);
    assert_false(flake_take_run(&fixture->flake, 2, &first));
    await_ms(fixture, &lease);
    assert_true(flake_take_run(&fixture->flake, 4, &first));
    assert_int_equal(first & 3, 0);
    assert_true(first > before);
    assert_int_equal(flake_take_locked(&fixture->flake, 1, &before), 0);
}

/* Those that nobody has taken are of the past a ms later. */
TEST(ids_of_a_ms_that_is_over_are_not_given)
{
    struct fixture *fixture = open_flake(41, 12);
    const struct flake_lease lease = lease_now();
    int64_t end_ms = clock_now_ms() + 30;
    int64_t id;

    while (clock_now_ms() < end_ms) /* until the ticks are known */
        (void)take_one(fixture, 3, &lease);
    end_ms = clock_wall_ms() + 2;
    while (clock_wall_ms() < end_ms)
        continue;
    assert_int_equal(flake_take(&fixture->gate, 1, &id), 0);
}

TEST(no_id_outlives_the_lease)
{
    struct fixture *fixture = open_flake(41, 12);
    struct flake_lease lease = lease_now();
    int64_t id;

    lease.until_ms = 0;
    assert_int_equal(open_ms(fixture, 3, &lease), FLAKE_FENCED);
    lease.until_ms = clock_boot_ms() + 20;
    while (clock_boot_ms() < lease.until_ms)
        if (open_ms(fixture, 3, &lease) == FLAKE_GIVE)
            (void)flake_take(&fixture->gate, 1, &id);
    assert_int_equal(flake_take(&fixture->gate, 1, &id), 0);
    assert_int_equal(open_ms(fixture, 3, &lease), FLAKE_FENCED);
}

/* For how many us from a reading on ids are given, that long before the end of
 * the ms and of the lease; the ticks are a thousandth of a us. */
static double span_us(struct fixture *fixture, int64_t ms_us, int64_t lease_us)
{
    const int64_t ms = EPOCH + HOUR_MS;
    const struct flake_reading now = {.time_ms = ms,
                                      .wall_us = ms * 1000 + 1000 - ms_us,
                                      .boot_us =
                                          HOUR_MS * INT64_C(1000) - lease_us};
    const struct flake_lease lease = {.upto = ms, .until_ms = HOUR_MS};
    const struct flake_block block = {.time_ms = ms, .count = 4096};

    flake_open(&fixture->flake, 1, &lease, &now, &block);
    return (double)atomic_load(&fixture->gate.span) / 1000;
}

/* A clock is up to a us farther than it was read. */
TEST(span_ends_before_the_ms_and_the_lease)
{
    struct fixture *fixture = open_flake(41, 12);

    fixture->flake.ticks.per_ms = 1000000;
    for (int64_t us = 1; us <= 1000; us++) {
        const double of_ms = span_us(fixture, us, 5000);
        const double of_lease = span_us(fixture, 1000, us);

        assert_true(of_ms == of_lease);
        assert_true(of_ms <= (double)(us - 1));
        assert_true(of_ms >= 0.975 * (double)(us - 1));
    }
    assert_true(span_us(fixture, 1000, 0) == 0);
    assert_true(span_us(fixture, 1000, -5000) == 0);
}

/* While it is the present one, of the same worker id, under a lease, and has
 * ids left. */
TEST(ms_goes_on_while_it_has_ids)
{
    const int64_t ms = EPOCH + HOUR_MS;
    const int64_t boot_ms = 1000;
    const struct flake_reading now = {
        .time_ms = ms, .wall_us = ms * 1000, .boot_us = boot_ms * 1000};
    struct flake_reading again = now;
    const struct flake_reading later = {.time_ms = ms + 1,
                                        .wall_us = (ms + 1) * 1000,
                                        .boot_us = (boot_ms + 1) * 1000};
    const struct flake_lease over = {.upto = ms, .until_ms = boot_ms};
    const struct flake_lease lease = {.upto = ms, .until_ms = boot_ms + 1};
    const struct flake_lease renewed = {.upto = ms, .until_ms = boot_ms + 2};
    const struct flake_block block = {.time_ms = ms, .count = 4};
    struct fixture *fixture = open_flake(41, 2);
    struct flake *flake = &fixture->flake;
    int64_t ids[4];

    assert_false(flake_go_on(flake, 0, &lease, &now));
    flake_open(flake, 9, &lease, &now, &block);
    assert_int_equal(flake_take_locked(flake, 3, ids), 3);
    again.ticks = 77;
    assert_int_equal(flake->until_ms, boot_ms + 1);
    assert_true(flake_go_on(flake, 9, &renewed, &again));
    assert_int_equal(flake->gate->begin, 77); /* the span is of then */
    assert_int_equal(flake->until_ms, boot_ms + 2);
    assert_false(flake_go_on(flake, 8, &lease, &now));
    assert_false(flake_go_on(flake, 9, &over, &now));
    assert_false(flake_go_on(flake, 9, &lease, &later));
    assert_int_equal(flake_take_locked(flake, 1, ids), 1);
    assert_false(flake_go_on(flake, 9, &lease, &now));
    flake_shut(flake);
    assert_false(flake_go_on(flake, 9, &lease, &now));
    assert_int_equal(flake_taken(flake), 4);
}

/* --- one ms, on clocks that are given --- */

static struct flake_reading reading_at(int64_t time_ms, int64_t boot_ms)
{
    return (struct flake_reading){.time_ms = time_ms,
                                  .wall_us = time_ms * 1000,
                                  .boot_us = boot_ms * 1000};
}

static enum flake_verdict poll_at(const struct fixture *fixture,
                                  int64_t time_ms, int64_t boot_ms,
                                  struct flake_block *out)
{
    const struct flake_lease lease = {.upto = INT64_MAX - 1,
                                      .until_ms = HOUR_MS};
    const struct flake_reading now = reading_at(time_ms, boot_ms);

    return flake_poll(&fixture->flake, &lease, &now, out);
}

/* Opens a part of a ms, as of worker 9. */
static void open_part(struct fixture *fixture, int64_t time_ms, int64_t boot_ms,
                      int64_t counter, int64_t count)
{
    const struct flake_lease lease = {.upto = INT64_MAX - 1,
                                      .until_ms = HOUR_MS};
    const struct flake_reading now = reading_at(time_ms, boot_ms);
    const struct flake_block block = {time_ms, counter, count};

    flake_open(&fixture->flake, 9, &lease, &now, &block);
}

/* More are asked for than it has, by each of the three calls. */
TEST(ids_are_those_of_the_open_ms_and_no_more)
{
    struct fixture *fixture = open_flake(41, 3);
    struct flake *flake = &fixture->flake;
    const int64_t ms = 77;
    const int64_t id = ms << 13 | 9 << 3;
    int64_t ids[6] = {0};
    int64_t first = 0;

    open_part(fixture, EPOCH + ms, 10, 2, 5);
    assert_int_equal(flake_taken(flake), 0);
    assert_int_equal(flake_take_locked(flake, 2, ids), 2);
    assert_int_equal(flake_taken(flake), 2);
    assert_int_equal(flake_take_locked(flake, 5, &ids[2]), 3);
    assert_int_equal(ids[5], 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(ids[i], id + 2 + i);
    assert_int_equal(flake_take_locked(flake, 1, &ids[5]), 0);
    assert_false(flake_take_run(flake, 1, &first));
    assert_int_equal(flake_taken(flake), 5);
    open_part(fixture, EPOCH + ms, 10, 0, 2);
    assert_true(flake_take_run(flake, 2, &first));
    assert_int_equal(first, id);
    assert_int_equal(flake_taken(flake), 7);
    open_part(fixture, EPOCH + ms, 10, 0, 2);
    assert_false(flake_take_run(flake, 3, &first));
    assert_int_equal(flake_taken(flake), 9); /* they are discarded */
    assert_int_equal(ids[5] | (first ^ id), 0);
}

/* A call without a lock takes them as long as the processor's ticks say, if it
 * has any: for as long as the machine has run by now. */
TEST(ids_are_taken_without_a_lock_during_the_span)
{
    struct fixture *fixture = open_flake(41, 12);
    const size_t some = ticks_now() != 0;
    int64_t ids[3] = {0};

    assert_int_equal(flake_take(&fixture->gate, 2, ids), 0);
    open_part(fixture, EPOCH + 77, 10, 0, 3);
    atomic_store(&fixture->gate.begin, ticks_now());
    atomic_store(&fixture->gate.span, atomic_load(&fixture->gate.begin));
    assert_int_equal(flake_take(&fixture->gate, 2, ids), 2 * some);
    assert_int_equal(flake_take(&fixture->gate, 2, &ids[2 * some]), some);
    assert_int_equal(flake_take(&fixture->gate, 2, ids), 0);
    flake_shut(&fixture->flake);
    assert_int_equal(flake_take(&fixture->gate, 2, ids), 0);
}

/* Without a counter of ticks they are at the begin all the time. */
TEST(none_is_taken_without_a_lock_if_the_span_is_empty)
{
    struct fixture *fixture = open_flake(41, 12);
    int64_t id;

    open_part(fixture, EPOCH + 77, 10, 0, 4096);
    for (uint64_t i = 0; i < 100000; i++) {
        atomic_store(&fixture->gate.begin, ticks_now() + i % 500);
        assert_int_equal(flake_take(&fixture->gate, 1, &id), 0);
    }
}

/* The first ms would hold id 0. */
TEST(time_begins_after_the_epoch_and_ends_with_its_bits)
{
    struct fixture *fixture = open_flake(10, 12);
    struct flake_block block;

    assert_int_equal(poll_at(fixture, EPOCH, 10, &block), FLAKE_AGAIN);
    assert_int_equal(block.time_ms, EPOCH + 1);
    assert_int_equal(poll_at(fixture, EPOCH + 1, 10, &block), FLAKE_GIVE);
    assert_int_equal(block.time_ms, EPOCH + 1);
    assert_int_equal(block.counter, 0);
    assert_int_equal(block.count, 4096);
    assert_int_equal(poll_at(fixture, EPOCH + 1023, 10, &block), FLAKE_GIVE);
    assert_int_equal(poll_at(fixture, EPOCH + 1024, 10, &block), FLAKE_OVER);
}

/* A ms of it for each ms of the boot clock. */
TEST(time_goes_on_while_the_clock_is_behind)
{
    struct fixture *fixture = open_flake(41, 12);
    struct flake_block block;

    open_part(fixture, EPOCH + 100, 10, 0, 4096);
    assert_int_equal(poll_at(fixture, EPOCH + 50, 10, &block), FLAKE_AGAIN);
    assert_int_equal(poll_at(fixture, EPOCH + 50, 11, &block), FLAKE_GIVE);
    assert_int_equal(block.time_ms, EPOCH + 101);
    open_part(fixture, EPOCH + 101, 11, 1000, 96); /* the rest is there yet */
    assert_int_equal(poll_at(fixture, EPOCH + 50, 11, &block), FLAKE_GIVE);
    assert_int_equal(block.time_ms, EPOCH + 101);
    assert_int_equal(block.counter, 1096);
    assert_int_equal(block.count, 3000);
}

TEST(no_time_past_the_lease_is_given)
{
    struct fixture *fixture = open_flake(41, 12);
    struct flake_lease lease = lease_now();

    lease.upto = clock_wall_ms() - 60000;
    assert_int_equal(open_ms(fixture, 3, &lease), FLAKE_AGAIN);
    lease.above = lease.upto = clock_wall_ms() + HOUR_MS;
    assert_int_equal(open_ms(fixture, 3, &lease), FLAKE_BEHIND);
}

TEST(another_worker_id_begins_above_what_was_given)
{
    struct fixture *fixture = open_flake(41, 12);
    const struct flake_lease lease = lease_now();
    int64_t worker = 9;
    int64_t before = 0;

    for (int i = 0; i < 20; i++) {
        int64_t id;

        while (open_ms(fixture, worker, &lease) != FLAKE_GIVE ||
               flake_take_locked(&fixture->flake, 1, &id) == 0)
            continue;
        assert_true(id > before);
        assert_int_equal(id >> 12 & 1023, worker);
        before = id;
        worker = 11 - worker; /* 9, 2, 9 ... */
    }
}

TEST(what_does_not_fit_is_exhausted)
{
    const struct flake_lease lease = lease_now();
    struct fixture *small = open_flake(30, 12);

    /* 30 bits of ms were over in January 2020 */
    assert_int_equal(open_ms(small, 0, &lease), FLAKE_OVER);
}

/* One that is shut gives nothing, and knows what was taken. */
TEST(none_is_given_once_it_is_shut)
{
    struct fixture *fixture = open_flake(41, 12);
    const struct flake_lease lease = lease_now();
    int64_t id;

    (void)take_one(fixture, 3, &lease);
    flake_shut(&fixture->flake);
    assert_int_equal(flake_take(&fixture->gate, 1, &id), 0);
    assert_int_equal(flake_taken(&fixture->flake), 1);
}

/* --- many threads --- */

#define THREADS 4
#define EACH    ((size_t)(50000 / SEQB_TEST_SCALE))

struct crowd {
    struct fixture *fixture;
    struct flake_lease lease;
    pthread_mutex_t lock;
    int64_t ids[THREADS][EACH];
};

struct taker {
    struct crowd *crowd;
    int64_t *ids;
};

static void *take_many(void *argument)
{
    struct taker *taker = argument;
    struct crowd *crowd = taker->crowd;

    for (size_t have = 0; have < EACH;) {
        size_t n = flake_take(&crowd->fixture->gate, 1, &taker->ids[have]);

        if (n == 0) {
            pthread_mutex_lock(&crowd->lock);
            if (open_ms(crowd->fixture, (int64_t)(have / 1000 % 7),
                        &crowd->lease) == FLAKE_GIVE)
                n = flake_take_locked(&crowd->fixture->flake, 1,
                                      &taker->ids[have]);
            pthread_mutex_unlock(&crowd->lock);
        }
        have += n;
    }
    return NULL;
}

/* The worker id changes all the while, which no other test does so often. */
TEST(threads_get_different_ids)
{
    struct crowd *crowd = calloc(1, sizeof *crowd);
    struct taker takers[THREADS];
    pthread_t threads[THREADS];
    struct numbers numbers;

    assert_non_null(crowd);
    numbers_init(&numbers);
    crowd->fixture = open_flake(41, 8);
    crowd->lease = lease_now();
    pthread_mutex_init(&crowd->lock, NULL);
    for (int i = 0; i < THREADS; i++) {
        takers[i] = (struct taker){crowd, crowd->ids[i]};
        assert_int_equal(
            pthread_create(&threads[i], NULL, take_many, &takers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) { /* each thread's only ever rise */
        for (size_t j = 1; j < EACH; j++)
            assert_true(crowd->ids[i][j] > crowd->ids[i][j - 1]);
    }
    numbers_add(&numbers, &crowd->ids[0][0], THREADS * EACH);
    assert_int_equal(numbers_repeats(&numbers), 0);
    numbers_fini(&numbers);
    pthread_mutex_destroy(&crowd->lock);
    free(crowd);
}
