/* SPDX-License-Identifier: Apache-2.0 */
/* What the date_*.c files share: the table of conversions, and their values. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "number/date/date.h"

struct date_conversion {
    uint8_t digits; /* 0: there is no such conversion */
    uint8_t place;  /* offset of the value: see date_value */
    uint16_t part;  /* of enum date_part */
    int16_t least;  /* the least value of the digits */
    int16_t most;
    int32_t base; /* is added to the value */
};

#define DATE_CONVERSIONS 128

/* Indexed by the conversion's letter. */
extern const struct date_conversion date_conversions[DATE_CONVERSIONS];

/* The offset of a member from `fields` in a struct date_seen. The member is in
 * `fields`, or follows it. */
#define DATE_PLACE(member)                                                     \
    (offsetof(struct date_seen, member) - offsetof(struct date_seen, fields))

/* Reads the conversion's value. `fields` may be a struct date_fields alone if
 * the value is in it. */
static inline int32_t date_value(const char *fields,
                                 const struct date_conversion *conversion)
{
    int32_t value;

    memcpy(&value, fields + conversion->place, sizeof value);
    return value;
}

/* The parts that the calendar computes from year, month and day. */
#define DATE_ADDED (DATE_YEAR_DAY | DATE_WEEK_YEAR | DATE_WEEK | DATE_WEEKDAY)

/* Adds these parts. False if there is no such day. */
bool date_complete(struct date_seen *day);
