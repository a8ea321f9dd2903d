/* SPDX-License-Identifier: Apache-2.0 */
/* What the date_*.c files share: the conversions of formats as a table, and the
 * values that these stand for. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "number/date/date.h"

struct date_conversion {
    uint8_t digits; /* 0: there is no such conversion */
    uint8_t place;  /* of the value, see date_value */
    uint16_t part;  /* of enum date_part */
    int16_t least;  /* of what the digits may say */
    int16_t most;
    int32_t base; /* is added to it */
};

#define DATE_CONVERSIONS 128

/* By their letters. */
extern const struct date_conversion date_conversions[DATE_CONVERSIONS];

/* Bytes from the fields of a struct date_seen to a value: these, or what
 * follows them. */
#define DATE_PLACE(member)                                                     \
    (offsetof(struct date_seen, member) - offsetof(struct date_seen, fields))

/* `fields` alone will do for what has its place there. */
static inline int32_t date_value(const char *fields,
                                 const struct date_conversion *conversion)
{
    int32_t value;

    memcpy(&value, fields + conversion->place, sizeof value);
    return value;
}

/* What the calendar adds to year, month and day. */
#define DATE_ADDED (DATE_YEAR_DAY | DATE_WEEK_YEAR | DATE_WEEK | DATE_WEEKDAY)

/* Adds that. False if there is no such day. */
bool date_complete(struct date_seen *day);
