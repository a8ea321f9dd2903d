/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digits of the six bases. Divisions are by constants, which compilers turn
 * into multiplications. Base 10 divides by ten thousand, for four digits a
 * step.
 */
#include "number/digits.h"

#include <assert.h>
#include <string.h>

#define PLAIN     "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define CROCKFORD "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
#define BITCOIN   "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

#define NO 255 /* no base has this digit */

/* The values of the characters from '0' to 'z'. */
enum { WORTHS = 'z' - '0' + 1 };

/* clang-format off */
static const uint8_t plain[WORTHS] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, NO, NO, NO, NO, NO, NO, NO,
    10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
    23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,
    NO, NO, NO, NO, NO, NO,
    36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48,
    49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61,
};

static const uint8_t crockford[WORTHS] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, NO, NO, NO, NO, NO, NO, NO,
    10, 11, 12, 13, 14, 15, 16, 17, NO, 18, 19, NO, 20,
    21, NO, 22, 23, 24, 25, 26, NO, 27, 28, 29, 30, 31,
    NO, NO, NO, NO, NO, NO,
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
};

static const uint8_t bitcoin[WORTHS] = {
    NO, 0, 1, 2, 3, 4, 5, 6, 7, 8, NO, NO, NO, NO, NO, NO, NO,
    9, 10, 11, 12, 13, 14, 15, 16, NO, 17, 18, 19, 20,
    21, NO, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
    NO, NO, NO, NO, NO, NO,
    33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, NO, 44,
    45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57,
};

const char digits_pairs[] =
    "00010203040506070809" "10111213141516171819" "20212223242526272829"
    "30313233343536373839" "40414243444546474849" "50515253545556575859"
    "60616263646566676869" "70717273747576777879" "80818283848586878889"
    "90919293949596979899";

static const uint64_t tens[] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
    10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
    1000000000000000, 10000000000000000, 100000000000000000,
    1000000000000000000,
};
/* clang-format on */

struct numerals {
    const char *letters;
    const uint8_t *worths; /* may have more letters than the base */
    int64_t base;
    int64_t most; /* the greatest number that may be multiplied by the base */
};

/* Indexed by base. */
static const struct numerals all_numerals[] = {
    [10] = {"0123456789", plain, 10, INT64_MAX / 10},
    [16] = {"0123456789ABCDEF", plain, 16, INT64_MAX / 16},
    [32] = {CROCKFORD, crockford, 32, INT64_MAX / 32},
    [36] = {"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", plain, 36, INT64_MAX / 36},
    [58] = {BITCOIN, bitcoin, 58, INT64_MAX / 58},
    [62] = {PLAIN, plain, 62, INT64_MAX / 62},
};

bool digits_is_base(int64_t base)
{
    return base >= 0 &&
           base < (int64_t)(sizeof all_numerals / sizeof all_numerals[0]) &&
           all_numerals[base].base != 0;
}

static const struct numerals *numerals_of(int32_t base)
{
    assert(digits_is_base(base));
    return &all_numerals[base];
}

const char *digits_letters(int32_t base)
{
    return numerals_of(base)->letters;
}

/* The number of bits gives an estimate: 1233 / 4096 is a little less than the
 * decimal logarithm of 2 (Anderson, "Bit Twiddling Hacks"). */
static size_t count_decimal(int64_t value)
{
    const uint64_t above_0 = (uint64_t)value | 1;
    const size_t bits = 64 - (size_t)__builtin_clzll(above_0);
    const size_t least = bits * 1233 >> 12;

    return least + (above_0 >= tens[least]);
}

size_t digits_count(int32_t base, int64_t value)
{
    const struct numerals *numerals = numerals_of(base);
    int64_t power = 1;
    size_t count = 1;

    if (base == 10)
        return count_decimal(value);
    while (power <= numerals->most && value >= power * numerals->base) {
        power *= numerals->base;
        count++;
    }
    return count;
}

int64_t digits_power(int32_t base, size_t width)
{
    const struct numerals *numerals = numerals_of(base);
    int64_t power = 1;

    for (size_t i = 0; i < width; i++) {
        if (power > numerals->most)
            return INT64_MAX;
        power *= numerals->base;
    }
    return power;
}

static void write_pair(uint32_t value, char *out)
{
    memcpy(out, digits_pairs + (size_t)value * 2, 2);
}

/* Four digits a step: each step depends on one division only. What is left has
 * at most three digits. */
static void write_decimal(uint64_t value, size_t width, char *out)
{
    for (; width >= 4; width -= 4) {
        const uint32_t four = (uint32_t)(value % 10000);

        value /= 10000;
        write_pair(four / 100, out + width - 4);
        write_pair(four % 100, out + width - 2);
    }
    if (width % 2 != 0) {
        out[width - 1] = digits_pairs[value % 10 * 2 + 1];
        value /= 10;
    }
    if (width >= 2)
        write_pair((uint32_t)value, out);
}

/* Inlined into its callers, so that the base is a constant. */
static inline void write_letters(const char *letters, uint64_t base,
                                 uint64_t value, size_t width, char *out)
{
    for (size_t i = width; i > 0; i--) {
        out[i - 1] = letters[value % base];
        value /= base;
    }
}

void digits_write(int32_t base, int64_t value, size_t width, char *out)
{
    const uint64_t rest = (uint64_t)value;

    assert(width >= digits_count(base, value));
    switch (base) {
    case 16:
        write_letters(PLAIN, 16, rest, width, out);
        return;
    case 32:
        write_letters(CROCKFORD, 32, rest, width, out);
        return;
    case 36:
        write_letters(PLAIN, 36, rest, width, out);
        return;
    case 58:
        write_letters(BITCOIN, 58, rest, width, out);
        return;
    case 62:
        write_letters(PLAIN, 62, rest, width, out);
        return;
    default:
        assert(base == 10);
        write_decimal(rest, width, out);
    }
}

bool digits_read(int32_t base, const char *text, size_t length, int64_t *out)
{
    const struct numerals *numerals = numerals_of(base);
    int64_t value = 0;

    if (length == 0)
        return false;
    for (size_t i = 0; i < length; i++) {
        const unsigned place = (unsigned char)text[i] - (unsigned)'0';
        const int64_t worth = place < WORTHS ? numerals->worths[place] : NO;

        if (worth >= numerals->base || value > numerals->most)
            return false;
        value *= numerals->base;
        if (value > INT64_MAX - worth)
            return false;
        value += worth;
    }
    *out = value;
    return true;
}
