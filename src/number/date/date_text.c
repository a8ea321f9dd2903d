/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes and reads dates by a format. date_format.c makes formats; date_stamp.c
 * converts stamps and dates.
 */
#include "number/date/date.h"

#include <string.h>

#include "number/date/date_parts.h"
#include "number/digits.h"

static void pair_put(char *out, uint32_t value)
{
    memcpy(out, digits_pairs + value * (size_t)2, 2);
}

static void digits_put(char *out, size_t digits, uint32_t value)
{
    if (digits == 2) {
        pair_put(out, value);
        return;
    }
    if (digits > 2)
        pair_put(out, value / (digits == 4 ? 100 : 10));
    if (digits == 4)
        pair_put(out + 2, value % 100);
    else
        out[digits - 1] = (char)('0' + value % 10);
}

/* Returns false if a value is out of its conversion's range. */
static bool steps_write(const struct date_format *format, const char *values,
                        char *out)
{
    const size_t count = format->count;

    for (size_t i = 0; i < count; i++) {
        const struct date_step step = format->steps[i];
        const struct date_conversion *conversion =
            &date_conversions[(unsigned char)step.conversion];
        uint32_t value;

        if (step.conversion == 0) {
            *out++ = step.character;
            continue;
        }
        value = (uint32_t)(date_value(values, conversion) - conversion->base);
        if (value - (uint32_t)conversion->least >
            (uint32_t)(conversion->most - conversion->least))
            return false;
        digits_put(out, conversion->digits, value);
        out += conversion->digits;
    }
    return true;
}

bool date_write(const struct date_format *format,
                const struct date_fields *fields, enum period_unit unit,
                char *out)
{
    struct date_seen date;

    if ((format->tells & DATE_ADDED) == 0)
        return steps_write(format, (const char *)fields, out);
    date = (struct date_seen){.fields = *fields};
    if (unit == PERIOD_WEEK)
        date.week_year = fields->year;
    else if (!date_complete(&date))
        return false;
    return steps_write(format, (const char *)&date.fields, out);
}

static bool digits_get(const char *text, size_t digits, int32_t *out)
{
    int32_t value = 0;

    for (size_t i = 0; i < digits; i++) {
        const int32_t digit = text[i] - '0';

        if (digit < 0 || digit > 9)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

static bool conversion_read(const struct date_conversion *conversion,
                            const char *text, struct date_seen *seen)
{
    int32_t value;

    if (!digits_get(text, conversion->digits, &value) ||
        value < conversion->least || value > conversion->most)
        return false;
    value += conversion->base;
    if ((seen->tells & conversion->part) != 0)
        return date_value((const char *)&seen->fields, conversion) == value;
    seen->tells |= conversion->part;
    memcpy((char *)&seen->fields + conversion->place, &value, sizeof value);
    return true;
}

bool date_read(const struct date_format *format, const char *text,
               struct date_seen *seen)
{
    for (size_t i = 0; i < format->count; i++) {
        const struct date_step step = format->steps[i];
        const struct date_conversion *conversion =
            &date_conversions[(unsigned char)step.conversion];

        if (step.conversion == 0) {
            if (*text++ != step.character)
                return false;
            continue;
        }
        if (!conversion_read(conversion, text, seen))
            return false;
        text += conversion->digits;
    }
    return true;
}
