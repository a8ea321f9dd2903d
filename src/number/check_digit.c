/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Check digits: a loop for each algorithm, which reads each part of the text
 * once, from left to right. An algorithm that weighs digits from the right
 * keeps a sum for every possible position of the last character. So the text is
 * not reversed.
 */
#include "number/check_digit.h"

#include <string.h>

static const struct {
    const char *name;
    size_t length;
    bool reads_letters;
    bool makes_letters;
} kinds[] = {
    [CHECK_LUHN] = {"luhn", 1, false, false},
    [CHECK_LUHN_36] = {"luhn-36", 1, true, true},
    [CHECK_DAMM] = {"damm", 1, false, false},
    [CHECK_VERHOEFF] = {"verhoeff", 1, false, false},
    [CHECK_MOD97] = {"iso7064-mod97", 2, true, false},
    [CHECK_MOD37] = {"iso7064-mod37", 1, true, true},
    [CHECK_GS1] = {"gs1", 1, false, false},
    [CHECK_JD] = {"jd", 1, false, false},
};

static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

#define NONE 255

/* Indexed from '0' to 'Z'. */
static const uint8_t values[] = {
    0,    1,    2,  3,  4,  5,  6,  7,  8,  9,  NONE, NONE, NONE, NONE, NONE,
    NONE, NONE, 10, 11, 12, 13, 14, 15, 16, 17, 18,   19,   20,   21,   22,
    23,   24,   25, 26, 27, 28, 29, 30, 31, 32, 33,   34,   35,
};

static inline unsigned digit_of(char c)
{
    return (unsigned char)c - (unsigned)'0';
}

static inline unsigned value_of(char c)
{
    const unsigned place = digit_of(c);

    return place < sizeof values ? values[place] : NONE;
}

/* The value doubled, and the two digits of the result added. */
static inline unsigned luhn_weigh(unsigned value, unsigned base)
{
    return value * 2 - (value >= base / 2 ? base - 1 : 0);
}

/* `a` is the sum if the last character is doubled, `b` if it is not. */
static inline void feed_luhn(struct check *check, const char *text,
                             size_t length, unsigned base)
{
    uint64_t heavy = check->a;
    uint64_t light = check->b;

    for (size_t i = 0; i < length; i++) {
        const unsigned value = value_of(text[i]);
        const uint64_t before = light;

        if (value >= base)
            continue;
        light = heavy + value;
        heavy = before + luhn_weigh(value, base);
    }
    check->a = heavy;
    check->b = light;
}

/* `a` is the sum if the last digit counts three times, `b` if once. */
static void feed_gs1(struct check *check, const char *text, size_t length)
{
    uint64_t heavy = check->a;
    uint64_t light = check->b;

    for (size_t i = 0; i < length; i++) {
        const unsigned digit = digit_of(text[i]);
        const uint64_t before = light;

        if (digit > 9)
            continue;
        light = heavy + digit;
        heavy = before + (uint64_t)digit * 3;
    }
    check->a = heavy;
    check->b = light;
}

/*
 * A column of the quasigroup: the next state for each state, for one digit. A
 * state is stored as six times its number, and a column has six bits for each
 * state. So a step is one shift, without a load that depends on the step
 * before.
 */
#define STATE(number, at) ((uint64_t)(number)*6 << (at)*6)
#define COLUMN(s0, s1, s2, s3, s4, s5, s6, s7, s8, s9)                         \
    (STATE(s0, 0) | STATE(s1, 1) | STATE(s2, 2) | STATE(s3, 3) |               \
     STATE(s4, 4) | STATE(s5, 5) | STATE(s6, 6) | STATE(s7, 7) |               \
     STATE(s8, 8) | STATE(s9, 9))

static const uint64_t damm[10] = {
    COLUMN(0, 7, 4, 1, 6, 3, 5, 8, 9, 2), COLUMN(3, 0, 2, 7, 1, 6, 8, 9, 4, 5),
    COLUMN(1, 9, 0, 5, 2, 7, 6, 4, 3, 8), COLUMN(7, 2, 6, 0, 3, 4, 9, 5, 8, 1),
    COLUMN(5, 1, 8, 9, 0, 2, 7, 3, 6, 4), COLUMN(9, 5, 7, 8, 4, 0, 2, 6, 1, 3),
    COLUMN(8, 4, 1, 3, 5, 9, 0, 2, 7, 6), COLUMN(6, 8, 3, 4, 9, 5, 1, 0, 2, 7),
    COLUMN(4, 6, 5, 2, 7, 8, 3, 1, 0, 9), COLUMN(2, 3, 9, 6, 8, 1, 4, 7, 5, 0),
};

/* The state is in the lowest six bits of `a`. */
static void feed_damm(struct check *check, const char *text, size_t length)
{
    uint64_t state = check->a;

    for (size_t i = 0; i < length; i++) {
        const unsigned digit = digit_of(text[i]);

        if (digit <= 9)
            state = damm[digit] >> (state & 63);
    }
    check->a = state;
}

/*
 * Verhoeff's check digit is the inverse of p(x1) p(p(x2)) ... in D5, where x1
 * is the last digit. It is computed as the product ... inv(p(p(x2)))
 * inv(p(x1)), which grows to the right as the text does. p has eight powers, so
 * there are eight products, one in each byte: byte k is for a last digit to
 * which p is applied k times. An element 0 ... 4 is a rotation by so many
 * fifths of a turn. An element 5 ... 9 is a reflection, then a rotation by that
 * less 5.
 */
struct verhoeff_step {
    uint64_t turns;  /* rotation of the inverse of p^k(digit), in byte k */
    uint64_t back;   /* bits in which `turns` and the opposite rotation
                        differ */
    uint64_t mirror; /* bytes of 255 where the inverse is a reflection */
};

#define TURN(e)   ((uint64_t)((e) < 5 ? (5 - (e)) % 5 : (e)-5))
#define BACK(e)   (TURN(e) ^ (5 - TURN(e)) % 5)
#define MIRROR(e) ((uint64_t)((e) < 5 ? 0 : 255))

#define BYTES(of, p0, p1, p2, p3, p4, p5, p6, p7)                              \
    (of(p0) | of(p1) << 8 | of(p2) << 16 | of(p3) << 24 | of(p4) << 32 |       \
     of(p5) << 40 | of(p6) << 48 | of(p7) << 56)
#define STEP(...)                                                              \
    {                                                                          \
        BYTES(TURN, __VA_ARGS__), BYTES(BACK, __VA_ARGS__),                    \
            BYTES(MIRROR, __VA_ARGS__)                                         \
    }

/* For each digit: p^0, p^1, ... p^7 of it. */
static const struct verhoeff_step verhoeff[10] = {
    STEP(0, 1, 5, 8, 9, 4, 2, 7), STEP(1, 5, 8, 9, 4, 2, 7, 0),
    STEP(2, 7, 0, 1, 5, 8, 9, 4), STEP(3, 6, 3, 6, 3, 6, 3, 6),
    STEP(4, 2, 7, 0, 1, 5, 8, 9), STEP(5, 8, 9, 4, 2, 7, 0, 1),
    STEP(6, 3, 6, 3, 6, 3, 6, 3), STEP(7, 0, 1, 5, 8, 9, 4, 2),
    STEP(8, 9, 4, 2, 7, 0, 1, 5), STEP(9, 4, 2, 7, 0, 1, 5, 8),
};

#define FOLD_AFTER 32 /* digits of up to 4 each, after 30: below 256 */

/* Reduces each byte to 30 at most. It is the same modulo 5, because 16 is 1. */
static uint64_t turns_fold(uint64_t turns)
{
    const uint64_t low = UINT64_C(0x0f0f0f0f0f0f0f0f);

    return (turns >> 4 & low) + (turns & low);
}

/* For the next digit, byte k + 1 becomes byte k. */
static inline uint64_t next_place(uint64_t bytes)
{
    return bytes >> 8 | bytes << 56;
}

/* `a` is the rotations, modulo 5; `b` has bytes of 255 for reflections. */
static void feed_verhoeff(struct check *check, const char *text, size_t length)
{
    uint64_t turns = check->a;
    uint64_t mirrored = check->b;

    for (size_t i = 0; i < length; i++) {
        const unsigned digit = digit_of(text[i]);

        if (i % FOLD_AFTER == 0)
            turns = turns_fold(turns);
        if (digit > 9)
            continue;
        mirrored = next_place(mirrored);
        turns = next_place(turns) +
                (verhoeff[digit].turns ^ (verhoeff[digit].back & mirrored));
        mirrored ^= verhoeff[digit].mirror;
    }
    check->a = turns;
    check->b = mirrored;
}

static unsigned verhoeff_digit(const struct check *check)
{
    const unsigned turns = (check->a >> 8 & 255) % 5;

    return check->b >> 8 & 255 ? turns + 5 : turns;
}

/* `a` is the number that the digits form, where a letter is two digits. It is
 * reduced by the modulus only now and then, because the division takes longer
 * than the rest. */
static inline void feed_modulo(struct check *check, const char *text,
                               size_t length, unsigned base, unsigned modulus)
{
    uint64_t number = check->a;

    for (size_t i = 0; i < length; i++) {
        const unsigned value = value_of(text[i]);

        if (value >= base)
            continue;
        if (number >= UINT64_MAX / 128)
            number %= modulus;
        number = number * (value < 10 ? 10 : 100) + value;
    }
    check->a = number;
}

/* `a` is twice the last sum, modulo 37. */
static void feed_mod37(struct check *check, const char *text, size_t length)
{
    uint64_t product = check->a;

    for (size_t i = 0; i < length; i++) {
        const unsigned value = value_of(text[i]);
        uint64_t sum = product + value;

        if (value == NONE)
            continue;
        sum = sum > 36 ? sum - 36 : sum;
        product = sum * 2 > 36 ? sum * 2 - 37 : sum * 2;
    }
    check->a = product;
}

const char *check_name(enum check_algorithm algorithm)
{
    return kinds[algorithm].name;
}

bool check_parse(const char *name, size_t length, enum check_algorithm *out)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strlen(kinds[i].name) == length &&
            memcmp(kinds[i].name, name, length) == 0) {
            *out = (enum check_algorithm)i;
            return true;
        }
    }
    return false;
}

size_t check_length(enum check_algorithm algorithm)
{
    return kinds[algorithm].length;
}

bool check_reads_letters(enum check_algorithm algorithm)
{
    return kinds[algorithm].reads_letters;
}

bool check_makes_letters(enum check_algorithm algorithm)
{
    return kinds[algorithm].makes_letters;
}

void check_begin(struct check *check, enum check_algorithm algorithm)
{
    check->algorithm = algorithm;
    check->a = algorithm == CHECK_MOD37 ? 36 : 0;
    check->b = 0;
}

void check_feed(struct check *check, const char *text, size_t length)
{
    switch (check->algorithm) {
    case CHECK_LUHN:
        feed_luhn(check, text, length, 10);
        break;
    case CHECK_LUHN_36:
        feed_luhn(check, text, length, 36);
        break;
    case CHECK_DAMM:
        feed_damm(check, text, length);
        break;
    case CHECK_VERHOEFF:
        feed_verhoeff(check, text, length);
        break;
    case CHECK_MOD97:
        feed_modulo(check, text, length, 36, 97);
        break;
    case CHECK_MOD37:
        feed_mod37(check, text, length);
        break;
    case CHECK_GS1:
        feed_gs1(check, text, length);
        break;
    case CHECK_JD:
        feed_modulo(check, text, length, 10, 31);
        break;
    }
}

/* What has to be added to `sum` to make it a multiple of the modulus. */
static unsigned rest_to(uint64_t sum, unsigned modulus)
{
    return (modulus - (unsigned)(sum % modulus)) % modulus;
}

/* The value of a check of one character. */
static unsigned check_value(const struct check *check)
{
    switch (check->algorithm) {
    case CHECK_LUHN:
    case CHECK_GS1:
        return rest_to(check->a, 10);
    case CHECK_LUHN_36:
        return rest_to(check->a, 36);
    case CHECK_DAMM:
        return (check->a & 63) / 6;
    case CHECK_VERHOEFF:
        return verhoeff_digit(check);
    case CHECK_MOD37:
        return (37 - (unsigned)check->a) % 36;
    case CHECK_JD:
        /* It reduces modulo 31 first, since the number may have any length: in
         * 63 bits, v * 9 overflows above 1.02e18. */
        return (unsigned)(check->a % 31) * 9 % 31 % 10;
    case CHECK_MOD97:
        break;
    }
    return 0;
}

void check_end(const struct check *check, char *out)
{
    if (check->algorithm == CHECK_MOD97) {
        const unsigned rest = 98 - (unsigned)(check->a % 97 * 100 % 97);

        out[0] = letters[rest / 10];
        out[1] = letters[rest % 10];
        return;
    }
    out[0] = letters[check_value(check)];
}
