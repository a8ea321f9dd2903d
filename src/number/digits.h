/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as digits of a base, with leading zeros or without. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIGITS_MAX 19 /* of INT64_MAX in base 10, the smallest one */

/*
 * The bases are 10; 16: 0-9A-F; 32: Crockford's, 0-9A-Z without I L O U; 36:
 * 0-9A-Z; 58: Bitcoin's, 1-9A-Za-z without O I l, whose zero is the digit 1;
 * 62: 0-9A-Za-z. Only 58 and 62 have lower-case letters.
 */
bool digits_is_base(int64_t base);

/* The digits of a base in order, zero first. The string is static. */
const char *digits_letters(int32_t base);

/* The number of digits of `value`, which is not negative, without leading
 * zeros; 1 for 0. */
size_t digits_count(int32_t base, int64_t value);

/* base^width; INT64_MAX if it does not fit into 63 bits. */
int64_t digits_power(int32_t base, size_t width);

/* Writes exactly `width` digits, without a final 0. `width` is at least
 * digits_count. */
void digits_write(int32_t base, int64_t value, size_t width, char *out);

/* Reads exactly `length` digits; leading zeros are allowed. False if a
 * character is no digit of the base, or the number does not fit. */
bool digits_read(int32_t base, const char *text, size_t length, int64_t *out);

/* "000102" ... "99": a number below 100 as two decimal digits. */
extern const char digits_pairs[];
