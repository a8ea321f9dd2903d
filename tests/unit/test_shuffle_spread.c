/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The codes of a shuffle look drawn by lot: neighbours, digits, the first of
 * the day, the greatest of a day. Fixed keys, so that nothing is left to
 * chance. Each measure is shown orders that it must see through.
 */
#include <string.h>

#include "number/shuffle.h"
#include "support/test.h"

#define CODES       10000
#define DAYS        3000
#define BINS        100
#define FIRST_DAY   20260101
/* What a measure may be: 5 standard deviations, squared. Of codes drawn by lot,
 * fewer than one measure in a thousand is beyond. */
#define MEASURE_MAX 25.0

/* An order of the codes [0, size), some of them to be seen through. */
struct order {
    uint64_t (*code)(const struct order *order, uint64_t day, uint64_t n);
    struct shuffle shuffle;
    struct shuffle noise; /* what the bad ones are made of */
};

static struct order order_of(const char *secret, uint64_t size)
{
    struct order order = {0};
    struct shuffle_key key;

    shuffle_key_make(secret, strlen(secret), &key);
    shuffle_init(&order.shuffle, &key, size);
    shuffle_init(&order.noise, &key, UINT64_C(1) << 62);
    return order;
}

static uint64_t shuffled(const struct order *order, uint64_t day, uint64_t n)
{
    return shuffle_forward(&order->shuffle, day, n);
}

static uint64_t same_every_day(const struct order *order, uint64_t day,
                               uint64_t n)
{
    (void)day;
    return shuffle_forward(&order->shuffle, 0, n);
}

static uint64_t unchanged(const struct order *order, uint64_t day, uint64_t n)
{
    (void)order;
    (void)day;
    return n;
}

static uint64_t offset(const struct order *order, uint64_t day, uint64_t n)
{
    return (n + shuffle_forward(&order->noise, day, 0)) % order->shuffle.size;
}

/* Steps near the golden section of the size, and prime to powers of 10. */
static uint64_t stepping(const struct order *order, uint64_t day, uint64_t n)
{
    const uint64_t step = order->shuffle.size / 1000 * 618 + 1;

    return offset(order, day, n * step);
}

static uint64_t two_rounds(const struct order *order, uint64_t day, uint64_t n)
{
    const uint64_t columns = order->shuffle.right;

    do {
        uint64_t row = n / columns;
        uint64_t column = n % columns;

        row += shuffle_forward(&order->noise, day, column);
        row %= order->shuffle.left;
        column += shuffle_forward(&order->noise, ~day, row);
        n = row * columns + column % columns;
    } while (n >= order->shuffle.size);
    return n;
}

/* How far counts are from even ones, in standard deviations, squared. */
static double unevenness(const unsigned *counts, size_t bins)
{
    const double freedom = (double)bins - 1;
    double total = 0;
    double chi_square = 0;

    for (size_t i = 0; i < bins; i++)
        total += counts[i];
    for (size_t i = 0; i < bins; i++) {
        const double apart = counts[i] - total / (double)bins;

        chi_square += apart * apart / (total / (double)bins);
    }
    return (chi_square - freedom) * (chi_square - freedom) / (2 * freedom);
}

static double greater(double a, double b)
{
    return a > b ? a : b;
}

static size_t bin_of(const struct order *order, uint64_t code)
{
    assert_true(code < order->shuffle.size);
    return (size_t)(code * BINS / order->shuffle.size);
}

/* From one code to another, around the end. */
static uint64_t distance(const struct order *order, uint64_t from, uint64_t to)
{
    return to >= from ? to - from : to + order->shuffle.size - from;
}

static double distances(const struct order *order, uint64_t lag)
{
    unsigned counts[BINS] = {0};

    for (uint64_t n = 0; n < CODES; n++) {
        const uint64_t code = order->code(order, FIRST_DAY, n);
        const uint64_t later = order->code(order, FIRST_DAY, n + lag);

        counts[bin_of(order, distance(order, code, later))]++;
    }
    return unevenness(counts, BINS);
}

static double neighbours(const struct order *order)
{
    return greater(distances(order, 1),
                   greater(distances(order, 2), distances(order, 10)));
}

/* Numbers that stand in one column of the network, and next to each other. */
static double columns(const struct order *order)
{
    return distances(order, order->shuffle.right);
}

static double digits(const struct order *order)
{
    double worst = 0;

    for (uint64_t power = 1; power < order->shuffle.size; power *= 10) {
        unsigned counts[10] = {0};

        for (uint64_t n = 0; n < CODES; n++)
            counts[order->code(order, FIRST_DAY, n) / power % 10]++;
        worst = greater(worst, unevenness(counts, 10));
    }
    return worst;
}

/* The first codes of the days, and how they differ from day to day. */
static double first_of_the_day(const struct order *order)
{
    unsigned codes[BINS] = {0};
    unsigned changes[BINS] = {0};

    for (uint64_t day = FIRST_DAY; day < FIRST_DAY + DAYS; day++) {
        const uint64_t code = order->code(order, day, 0);
        const uint64_t next = order->code(order, day + 1, 0);

        codes[bin_of(order, code)]++;
        changes[bin_of(order, distance(order, code, next))]++;
    }
    return greater(unevenness(codes, BINS), unevenness(changes, BINS));
}

/* A code as a number of the mean 0 and the variance 1. */
static double standing(const struct order *order, uint64_t day, uint64_t n)
{
    const double part =
        (double)order->code(order, day, n) / (double)order->shuffle.size;

    return (part - 0.5) * 3.4641016151377544; /* the root of 12 */
}

static double correlation(const struct order *order)
{
    double sum = 0;

    for (uint64_t n = 0; n < CODES; n++)
        sum +=
            standing(order, FIRST_DAY, n) * standing(order, FIRST_DAY, n + 1);
    return sum * sum / CODES;
}

/* Of k codes by lot, the greatest is below a part x of all with the
 * probability x^k: that power is then even over the days. */
static double greatest_of(const struct order *order, uint64_t k)
{
    unsigned counts[BINS] = {0};

    for (uint64_t day = FIRST_DAY; day < FIRST_DAY + DAYS; day++) {
        uint64_t greatest = 0;
        double power = 1;

        for (uint64_t n = 0; n < k; n++) {
            const uint64_t code = order->code(order, day, n);

            greatest = code > greatest ? code : greatest;
        }
        for (uint64_t n = 0; n < k; n++)
            power *= ((double)greatest + 0.5) / (double)order->shuffle.size;
        counts[(size_t)(power * BINS)]++;
    }
    return unevenness(counts, BINS);
}

/* The greatest code tells of the day's volume what any lot tells. */
static double greatest(const struct order *order)
{
    return greater(greatest_of(order, 2), greatest_of(order, 20));
}

static const uint64_t sizes[] = {100000, 1000000000};

static void expect_lot(const struct order *order)
{
    static const struct {
        const char *name;
        double (*of)(const struct order *order);
    } measures[] = {
        {"neighbours", neighbours},   {"columns", columns},
        {"digits", digits},           {"first", first_of_the_day},
        {"correlation", correlation}, {"greatest", greatest},
    };

    for (size_t i = 0; i < COUNT_OF(measures); i++) {
        const double measure = measures[i].of(order);

        if (measure > MEASURE_MAX)
            fail_msg("size %ju: %s at %g", (uintmax_t)order->shuffle.size,
                     measures[i].name, measure);
    }
}

TEST(codes_look_drawn_by_lot)
{
    static const char *const secrets[] = {
        "correct horse battery staple",
        "0123456789abcdef",
        "0123456789abcdeg",
    };

    for (size_t i = 0; i < COUNT_OF(secrets) * COUNT_OF(sizes); i++) {
        struct order order =
            order_of(secrets[i / COUNT_OF(sizes)], sizes[i % COUNT_OF(sizes)]);

        order.code = shuffled;
        expect_lot(&order);
    }
}

#define SEEN_THROUGH(code, measure)                                            \
    {                                                                          \
#code " by " #measure, code, measure                                   \
    }

TEST(orders_that_show_something_are_seen_through)
{
    static const struct {
        const char *name;
        uint64_t (*code)(const struct order *, uint64_t, uint64_t);
        double (*measure)(const struct order *order);
    } rows[] = {
        SEEN_THROUGH(unchanged, neighbours),
        SEEN_THROUGH(unchanged, columns),
        SEEN_THROUGH(unchanged, digits),
        SEEN_THROUGH(unchanged, first_of_the_day),
        SEEN_THROUGH(unchanged, correlation),
        SEEN_THROUGH(unchanged, greatest),
        SEEN_THROUGH(offset, neighbours),
        SEEN_THROUGH(offset, digits),
        SEEN_THROUGH(offset, correlation),
        SEEN_THROUGH(offset, greatest),
        SEEN_THROUGH(stepping, neighbours),
        SEEN_THROUGH(stepping, columns),
        SEEN_THROUGH(stepping, correlation),
        SEEN_THROUGH(stepping, greatest),
        SEEN_THROUGH(two_rounds, columns),
        SEEN_THROUGH(same_every_day, first_of_the_day),
        SEEN_THROUGH(same_every_day, greatest),
    };

    for (size_t i = 0; i < COUNT_OF(rows) * COUNT_OF(sizes); i++) {
        const size_t row = i / COUNT_OF(sizes);
        struct order order = order_of("correct horse battery staple",
                                      sizes[i % COUNT_OF(sizes)]);

        order.code = rows[row].code;
        /* Far beyond: not a matter of the key. */
        if (rows[row].measure(&order) < 10 * MEASURE_MAX)
            fail_msg("size %ju: %s only at %g", (uintmax_t)order.shuffle.size,
                     rows[row].name, rows[row].measure(&order));
    }
}
