/* SPDX-License-Identifier: Apache-2.0 */
/* When a counter ends, by the values at two times: for all partitions together,
 * by its bits or by its texts. How a rate is averaged is in test_forecast.c. */
#include "ha/counter/sample.h"

#include "platform/text.h"
#include "store/layout.h"
#include "support/script_clock.h"
#include "support/wrap.h"
#include "unit/slot_fixture.h"

#define MINUTE_MS FORECAST_SAMPLE_MS
#define HOUR_MS   (60 * MINUTE_MS)
#define WALL_MS   INT64_C(1800000000000)
#define LOW_BITS  (BITS + MEMORY_BITS)
#define BEHIND    7
#define VALUE     1001

static bool memory_is_short;
static struct ha_texts texts;

WRAPPED(void *, calloc, size_t n, size_t size)
{
    return memory_is_short ? NULL : __real_calloc(n, size);
}

static void read_texts(const struct ha_sink *sink, struct ha_texts *out)
{
    (void)sink;
    *out = texts;
}

static const struct ha_counter_attributes wide = {.claim = "",
                                                  .value_bits = 40};
static const struct ha_counter_attributes of_texts = {
    .claim = "", .value_bits = 40, .texts = read_texts};

static int64_t measured_ms; /* the same rate, before */
static char reason[SAMPLE_REASON_SIZE] = "?";

/* The first partition counts to `value` in three minutes, by `growth` in the
 * last one, the others to a little less. What was said of the last counter is
 * still in `reason`. */
static bool count_to(struct fixture *f, int64_t value, int64_t growth)
{
    bool is_warned = false;

    for (int64_t n = 1; n <= 3; n++) {
        for (int i = 0; i < PARTITIONS; i++) {
            if (!f->counter->slots[i].is_windowed)
                f->counter->slots[i].last =
                    value - (n < 3 ? growth : 0) - (i > 0 ? BEHIND : 0);
        }
        is_warned = sample_take(f->counter, n * MINUTE_MS, reason);
        if (n == 1) {
            f->counter->sample->forecast.rate =
                4.0 * (double)growth / MINUTE_MS;
            f->counter->sample->forecast.span_ms = measured_ms;
        }
    }
    return is_warned;
}

static int64_t limit_of(const struct fixture *f)
{
    return layout_counter_max(counter_spent_bits(f->counter), MEMORY_BITS);
}

static void expect_end(struct fixture *f, int64_t end_ms)
{
    const int64_t now_ms = 3 * MINUTE_MS;
    const int64_t out_ms = ha_counter_runs_out_ms(f->counter, now_ms);

    assert_in_range(out_ms, end_ms - 1, end_ms + 1);
    assert_int_equal(ha_counter_last_runs_out_ms(f->counter, now_ms),
                     out_ms / MINUTE_MS * MINUTE_MS);
}

/* Partitions are kept on one level. Then one of the four is used up. */
TEST_WITH(SLOTS, counter_ends_when_its_last_partition_does)
{
    const int64_t left = 100001;
    struct slot *slot = &f->counter->slots[0];

    ha_counter_set_attributes(f->counter, &wide);
    (void)count_to(f, limit_of(f) - left, 15);
    expect_end(f, left * MINUTE_MS / 15);
    slot->refusal = refusal_new(slot);
    assert_non_null(slot->refusal);
    slot->refusal->kind = REFUSAL_FINAL;
    slot->refusal->status = SEQB_EXHAUSTED;
    slot->last = limit_of(f);
    expect_end(f, (left + BEHIND) * 3 * MINUTE_MS / 60);
}

/* So many numbers of partition i above VALUE are at most `max`. */
static int64_t numbers_above(int64_t i, int64_t max)
{
    int64_t count = 0;

    for (int64_t value = VALUE + 1; value < VALUE + 4; value++) {
        for (int64_t n = 0; n < 1 << MEMORY_BITS; n++)
            count += ((value << BITS | i) << MEMORY_BITS | n) <= max;
    }
    return count;
}

/* One of the four has granted nothing yet. */
TEST_WITH(SLOTS, counter_ends_when_all_its_texts_are_taken)
{
    ha_counter_set_attributes(f->counter, &of_texts);
    texts.stock = 5;
    f->counter->slots[1].is_windowed = true;
    for (int64_t low = 0; low < 1 << LOW_BITS; low++) {
        int64_t left = texts.stock;

        texts.max = ((VALUE + 2) << LOW_BITS) + low;
        for (int i = 0; i < PARTITIONS; i++)
            left += i == 1 ? 0 : numbers_above(i, texts.max);
        (void)count_to(f, VALUE, 20);
        expect_end(f, left * 125); /* ms a number */
        free(f->counter->sample);
        f->counter->sample = NULL;
    }
}

/* And only then. */
TEST_WITH(SLOTS, end_by_another_template_is_warned_of_again)
{
    ha_counter_set_attributes(f->counter, &of_texts);
    texts = (struct ha_texts){.max = (VALUE + 2) << LOW_BITS};
    assert_true(count_to(f, VALUE, 20));
    for (int n = 0; n < 2; n++) {
        f->counter->sample->forecast.warned = 3;
        texts.max += n;
        (void)ha_counter_runs_out_ms(f->counter, 3 * MINUTE_MS);
        assert_int_equal(f->counter->sample->forecast.warned, n == 0 ? 3 : 0);
    }
}

static const struct warning {
    int64_t left;      /* values of each partition, 15 a minute */
    int64_t stamp;     /* 0: none */
    int64_t minutes;   /* that were measured before */
    bool is_of_texts;  /* they end as soon */
    const char *words; /* NULL: no warning */
} warnings[] = {
    {40950, 0, 0, false,
     "runs out in 45 hours at the usual rate: move to a sequence with more "
     "bits in time"},
    {54000, 0, 0, false,
     "runs out in 2 days at the usual rate: move to a sequence with more bits "
     "in time"},
    {54000, 0, 0, true,
     "runs out in 2 days at the usual rate: reload a wider template in time"},
    {54000, 7, 59, false,
     "stamp 7 runs out in 2 days at the usual rate: move to a sequence with "
     "more bits in time"},
    {54000, 7, 58, false, NULL}, /* its rate is not the usual one yet */
    {INT64_C(15) * 60 * 24 * 366, 0, 0, false, NULL},
};

TEST_WITH(SLOTS, end_is_warned_of_in_days_or_hours)
{
    script_clock_set(WALL_MS);
    for (size_t n = 0; n < COUNT_OF(warnings); n++) {
        const struct warning *row = &warnings[n];
        int64_t to;

        print_message("  row %zu\n", n);
        ha_counter_set_attributes(f->counter,
                                  row->is_of_texts ? &of_texts : &wide);
        if (row->stamp != 0)
            f->counter->stamp =
                (struct ha_stamp){row->stamp, WALL_MS, INT64_MAX};
        to = limit_of(f) - row->left - (row->is_of_texts ? 600 * 1440 : 0);
        texts = (struct ha_texts){.max = (to + row->left) << LOW_BITS};
        measured_ms = row->minutes * MINUTE_MS;
        assert_int_equal(count_to(f, to, 15), row->words != NULL);
        measured_ms = 0;
        if (row->words != NULL)
            assert_string_equal(reason, row->words);
        free(f->counter->sample);
        f->counter->sample = NULL;
    }
}

/* The next stamp begins with all values. */
TEST_WITH(SLOTS, counter_does_not_end_if_its_stamp_ends_first)
{
    int64_t end_ms;

    script_clock_set(WALL_MS);
    ha_counter_set_attributes(f->counter, &wide);
    (void)count_to(f, limit_of(f) - 100001, 15);
    end_ms = ha_counter_runs_out_ms(f->counter, 3 * MINUTE_MS);
    f->counter->stamp = (struct ha_stamp){7, 1, WALL_MS + end_ms + 1};
    expect_end(f, end_ms);
    f->counter->stamp.ends_ms--;
    assert_int_equal(ha_counter_runs_out_ms(f->counter, 3 * MINUTE_MS),
                     FORECAST_NEVER);
}

TEST_WITH(SLOTS, counter_without_memory_has_no_forecast)
{
    memory_is_short = true;
    assert_false(sample_take(f->counter, 0, reason));
    memory_is_short = false;
    assert_null(f->counter->sample);
    assert_int_equal(ha_counter_runs_out_ms(f->counter, 0), FORECAST_NEVER);
}
