/* SPDX-License-Identifier: Apache-2.0 */
/* Check digits as the standards define them, over the text from the right,
 * without a thought of speed. */
#include "check_definitions.h"

#include <string.h>

const char check_alphabet[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

static int value_of(char c)
{
    return (int)(strchr(check_alphabet, c) - check_alphabet);
}

static int luhn_by_definition(const char *text, size_t length, int base)
{
    int sum = 0;

    for (size_t i = 0; i < length; i++) {
        const int value = value_of(text[length - 1 - i]);
        const int weighed = i % 2 == 0 ? value * 2 : value;

        sum += weighed / base + weighed % base;
    }
    return (base - sum % base) % base;
}

static int luhn_10(const char *text, size_t length)
{
    return luhn_by_definition(text, length, 10);
}

static int luhn_36(const char *text, size_t length)
{
    return luhn_by_definition(text, length, 36);
}

static int gs1(const char *text, size_t length)
{
    int sum = 0;

    for (size_t i = 0; i < length; i++)
        sum += value_of(text[length - 1 - i]) * (i % 2 == 0 ? 3 : 1);
    return (10 - sum % 10) % 10;
}

/* The table as it is printed: a row is a state. */
static int damm(const char *text, size_t length)
{
    static const char *const rows[] = {
        "0317598642", "7092154863", "4206871359", "1750983426", "6123045978",
        "3674209581", "5869720134", "8945362017", "9438617205", "2581436790",
    };
    int state = 0;

    for (size_t i = 0; i < length; i++)
        state = value_of(rows[state][value_of(text[i])]);
    return state;
}

static int d5_product(int left, int right)
{
    const int turn = left < 5 ? left + right % 5 : left + 5 - right % 5;

    return turn % 5 + ((left < 5) == (right < 5) ? 0 : 5);
}

int verhoeff_permuted(int digit, size_t times)
{
    static const char permutation[] = "1576283094";

    for (size_t i = 0; i < times % 8; i++)
        digit = value_of(permutation[digit]);
    return digit;
}

static int verhoeff(const char *text, size_t length)
{
    static const int inverses[] = {0, 4, 3, 2, 1, 5, 6, 7, 8, 9};
    int product = 0;

    for (size_t i = 0; i < length; i++) {
        const int digit = value_of(text[length - 1 - i]);

        product = d5_product(product, verhoeff_permuted(digit, i + 1));
    }
    return inverses[product];
}

static int mod97(const char *text, size_t length)
{
    int rest = 0;

    for (size_t i = 0; i < length; i++) {
        const int value = value_of(text[i]);

        rest = (rest * (value < 10 ? 10 : 100) + value) % 97;
    }
    return 98 - rest * 100 % 97;
}

/* The check character makes the last sum 1, modulo 36. */
static int mod37(const char *text, size_t length)
{
    int product = 36;
    int check = 0;

    for (size_t i = 0; i < length; i++) {
        const int sum = (product + value_of(text[i])) % 36;

        product = (sum == 0 ? 36 : sum) * 2 % 37;
    }
    while ((product + check) % 36 != 1)
        check++;
    return check;
}

static int jd(const char *text, size_t length)
{
    int rest = 0;

    for (size_t i = 0; i < length; i++)
        rest = (rest * 10 + value_of(text[i])) % 31;
    return rest * 9 % 31 % 10;
}

const struct check_definition check_definitions[CHECK_ALGORITHMS] = {
    [CHECK_LUHN] = {luhn_10, 10}, [CHECK_LUHN_36] = {luhn_36, 36},
    [CHECK_DAMM] = {damm, 10},    [CHECK_VERHOEFF] = {verhoeff, 10},
    [CHECK_MOD97] = {mod97, 36},  [CHECK_MOD37] = {mod37, 36},
    [CHECK_GS1] = {gs1, 10},      [CHECK_JD] = {jd, 10},
};
