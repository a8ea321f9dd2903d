/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of time | shard | counter: every split, and where each field ends. */
#include <string.h>

#include "period/period.h"
#include "support/test.h"

#define DAY_MS     INT64_C(86400000)
#define EPOCH_2020 INT64_C(1577836800000)

static const int64_t units[] = {1, 1000, 60000, 3600000, DAY_MS};

static void each_split(void (*visit)(const struct bits_layout *layout))
{
    size_t n = 0;

    for (int32_t time = 1; time < BITS_ALL; time++) {
        for (int32_t shard = 0; time + shard < BITS_ALL; shard++) {
            for (int32_t rest = BITS_ALL - time - shard; rest > 0; rest--)
                visit(&(struct bits_layout){EPOCH_2020,
                                            units[n++ % COUNT_OF(units)], time,
                                            shard, rest});
        }
    }
}

static void expect_legal(const struct bits_layout *layout)
{
    assert_ok(bits_check(layout, NULL));
}

TEST(every_split_that_fits_is_legal)
{
    each_split(expect_legal);
}

TEST(impossible_split_is_refused_with_the_reason)
{
    static const struct {
        struct bits_layout layout;
        const char *why;
    } rows[] = {
        {{EPOCH_2020, 1000, 0, 12, 19}, "at least 1 bit of time"},
        {{EPOCH_2020, 1000, -1, 12, 19}, "time -1"},
        {{EPOCH_2020, 1000, 32, 12, 0}, "1 of counter"},
        {{EPOCH_2020, 1000, 32, -1, 19}, "shard -1"},
        {{EPOCH_2020, 1000, 32, 12, 20}, "more than 63"},
        {{EPOCH_2020, 1000, 63, 0, 1}, "more than 63"},
        {{EPOCH_2020, 1000, INT32_MAX, INT32_MAX, INT32_MAX}, "more than 63"},
        {{EPOCH_2020, 0, 32, 12, 19}, "0 ms is no unit"},
        {{EPOCH_2020, 10, 32, 12, 19}, "10 ms is no unit"},
        {{EPOCH_2020, -1000, 32, 12, 19}, "-1000 ms is no unit"},
        {{-1, 1000, 32, 12, 19}, "before 1970"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct seqb_error err = {SEQB_OK, ""};

        assert_int_equal(bits_check(&rows[i].layout, &err), SEQB_INVALID);
        assert_non_null(strstr(err.text, rows[i].why));
    }
}

static int64_t highest(int32_t bits)
{
    return ((int64_t)1 << bits) - 1;
}

static enum seqb_status compose(const struct bits_layout *layout, int64_t time,
                                int64_t shard, int64_t counter, int64_t *out)
{
    const struct bits_parts parts = {layout->epoch_ms + time * layout->unit_ms,
                                     shard, counter};

    return bits_compose(layout, &parts, out, NULL);
}

/* The highest time whose ms can be told. */
static int64_t time_max(const struct bits_layout *layout)
{
    const int64_t told = (INT64_MAX - layout->epoch_ms) / layout->unit_ms;
    const int64_t max = highest(layout->time);

    return max < told ? max : told;
}

static void expect_round_trip(const struct bits_layout *layout)
{
    const int64_t max = time_max(layout);
    const int64_t times[] = {0, 1, max / 2, max};
    const int64_t shards[] = {0, bits_shard_max(layout) / 2,
                              bits_shard_max(layout)};
    const int64_t counters[] = {0, 1, bits_counter_max(layout)};
    const size_t all = COUNT_OF(times) * COUNT_OF(shards) * COUNT_OF(counters);

    for (size_t i = 0; i < all; i++) {
        const int64_t time = times[i % COUNT_OF(times)];
        const int64_t shard = shards[i / COUNT_OF(times) % COUNT_OF(shards)];
        const int64_t counter =
            counters[i / (COUNT_OF(times) * COUNT_OF(shards))];
        struct bits_parts parts;
        int64_t id = -1;

        assert_ok(compose(layout, time, shard, counter, &id));
        assert_true(id >= 0);
        bits_take_apart(layout, id, &parts);
        assert_int_equal(parts.time_ms,
                         layout->epoch_ms + time * layout->unit_ms);
        assert_int_equal(parts.shard, shard);
        assert_int_equal(parts.counter, counter);
    }
}

TEST(an_id_yields_the_parts_that_it_was_made_of)
{
    each_split(expect_round_trip);
}

/* So that no two of different parts are the same. */
static void expect_neighbours(const struct bits_layout *layout)
{
    const int64_t shard = bits_shard_max(layout);
    const int64_t counter = bits_counter_max(layout);
    int64_t id = -1;
    int64_t next = -1;

    assert_ok(compose(layout, 0, shard, counter, &id));
    assert_ok(compose(layout, 1, 0, 0, &next));
    assert_int_equal(next - id, 1);
    if (shard > 0) {
        assert_ok(compose(layout, 0, 0, counter, &id));
        assert_ok(compose(layout, 0, 1, 0, &next));
        assert_int_equal(next - id, 1);
    }
}

TEST(the_last_id_of_a_part_is_followed_by_the_first_of_the_next)
{
    each_split(expect_neighbours);
}

static void expect_limits(const struct bits_layout *layout)
{
    const int64_t shard = bits_shard_max(layout);
    const int64_t counter = bits_counter_max(layout);
    int64_t id = -1;

    assert_int_equal(compose(layout, 0, shard + 1, 0, &id), SEQB_INVALID);
    assert_int_equal(compose(layout, 0, -1, 0, &id), SEQB_INVALID);
    assert_int_equal(compose(layout, 0, 0, counter + 1, &id), SEQB_EXHAUSTED);
    assert_int_equal(compose(layout, 0, 0, INT64_MAX, &id), SEQB_EXHAUSTED);
    assert_int_equal(compose(layout, 0, 0, -1, &id), SEQB_INVALID);
    assert_int_equal(compose(layout, -1, 0, 0, &id), SEQB_INVALID);
    if (bits_end_ms(layout) != INT64_MAX)
        assert_int_equal(compose(layout, highest(layout->time) + 1, 0, 0, &id),
                         SEQB_EXHAUSTED);
    assert_int_equal(id, -1);
}

TEST(a_part_that_is_one_too_large_is_refused)
{
    each_split(expect_limits);
}

static void expect_end(const struct bits_layout *layout)
{
    const int64_t end = bits_end_ms(layout);
    const struct bits_parts last = {end - 1, 0, 0};
    const struct bits_parts past = {end, 0, 0};
    int64_t id;

    if (end == INT64_MAX) {
        assert_true(time_max(layout) < highest(layout->time));
        return;
    }
    assert_ok(bits_compose(layout, &last, &id, NULL));
    assert_int_equal(bits_compose(layout, &past, &id, NULL), SEQB_EXHAUSTED);
}

TEST(the_end_is_the_first_time_that_does_not_fit)
{
    each_split(expect_end);
}

/* As a stamp of a second, from which the date can be read. */
TEST(layouts_of_the_defaults_end_when_they_should)
{
    static const struct {
        struct bits_layout layout;
        int64_t end_ms;
        int64_t end;
    } rows[] = {
        {{EPOCH_2020, 1000, 32, 12, 19},
         INT64_C(5872804096000),
         INT64_C(21560207062816)},
        {{EPOCH_2020, 1, 41, 10, 12},
         INT64_C(3776860055552),
         INT64_C(20890906154735)},
    };
    const struct period_rules rules = {.unit = PERIOD_SECOND};

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct period_span span;

        expect_legal(&rows[i].layout);
        assert_int_equal(bits_end_ms(&rows[i].layout), rows[i].end_ms);
        period_span_at(&rules, rows[i].end_ms, &span);
        assert_int_equal(span.stamp, rows[i].end);
    }
}

TEST(what_is_refused_is_said_with_its_range)
{
    static const struct bits_layout layout = {EPOCH_2020, 1000, 32, 12, 19};
    static const struct {
        struct bits_parts parts;
        const char *why;
    } rows[] = {
        {{EPOCH_2020 - 1, 0, 0}, "1577836799999 is before the ids' epoch"},
        {{INT64_MIN, 0, 0}, "is before the ids' epoch, 1577836800000 ms"},
        {{EPOCH_2020, 4096, 0}, "shard 4096 is not in 0 ... 4095"},
        {{EPOCH_2020, 0, 524288}, "counter 524288 is not in 0 ... 524287"},
        {{INT64_MAX, 0, 0}, "is not in 0 ... 4294967295"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct seqb_error err = {SEQB_OK, ""};
        int64_t id = 0;

        assert_int_not_equal(bits_compose(&layout, &rows[i].parts, &id, &err),
                             SEQB_OK);
        assert_non_null(strstr(err.text, rows[i].why));
    }
}

TEST(a_time_is_that_of_its_unit_whenever_the_epoch_is)
{
    static const struct bits_layout layout = {1234567, DAY_MS, 20, 1, 20};
    const struct bits_parts given = {1234567 + 3 * DAY_MS - 1, 1, 5};
    struct bits_parts parts;
    int64_t id;

    assert_ok(bits_compose(&layout, &given, &id, NULL));
    bits_take_apart(&layout, id, &parts);
    assert_int_equal(parts.time_ms, 1234567 + 2 * DAY_MS);
}

/* Also one that is none of ours, and one with more bits than the layout. */
TEST(any_number_has_parts)
{
    static const int64_t ids[] = {0, 1, INT64_MAX, INT64_MIN, -1};
    static const struct bits_layout layouts[] = {
        {EPOCH_2020, 1000, 32, 12, 19},
        {INT64_MAX - 1, DAY_MS, 1, 0, 1},
        {0, DAY_MS, 62, 0, 1},
    };

    for (size_t i = 0; i < COUNT_OF(ids) * COUNT_OF(layouts); i++) {
        const struct bits_layout *layout = &layouts[i / COUNT_OF(ids)];
        struct bits_parts parts;

        bits_take_apart(layout, ids[i % COUNT_OF(ids)], &parts);
        assert_true(parts.time_ms >= layout->epoch_ms);
        assert_in_range(parts.shard, 0, bits_shard_max(layout));
        assert_in_range(parts.counter, 0, bits_counter_max(layout));
    }
}

/* Its time does not fit: so it is not taken for one that was issued. */
TEST(a_number_with_too_many_bits_is_no_id)
{
    static const struct bits_layout layout = {EPOCH_2020, 1000, 32, 4, 8};
    struct bits_parts parts;
    int64_t id;

    bits_take_apart(&layout, (int64_t)1 << 44, &parts);
    assert_int_equal(bits_compose(&layout, &parts, &id, NULL), SEQB_EXHAUSTED);
}
