/* SPDX-License-Identifier: Apache-2.0 */
/* Days as text: the date "2020-01-01", and the day of every year "04-01". */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When that day begins in UTC, ms since 1970. False unless it is a date
 * "YYYY-MM-DD" that exists, from 1970 on. */
bool day_parse(const char *text, int64_t *out_ms);

/* A month and a day that every month has, "MM-DD": 1 ... 12, 1 ... 28. */
bool day_parse_yearly(const char *text, int32_t *month, int32_t *day);

#define DAY_SIZE sizeof "YYYY-MM-DD"

/* The day in UTC; a year past 9999 is written as 9999-12-31. */
void day_format(int64_t ms, char out[DAY_SIZE]);
