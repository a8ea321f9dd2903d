/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles formats of dates, and says whether their parts are enough.
 * date_text.c writes and reads by them.
 */
#include "number/date/date.h"

#include <string.h>

#include "number/date/date_parts.h"
#include "platform/error.h"
#include "platform/text.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

#define YEAR_MONTH_DAY (DATE_YEAR | DATE_MONTH | DATE_DAY)
#define YEAR_DAY       (DATE_YEAR | DATE_YEAR_DAY)
#define WEEK_DAY       (DATE_WEEK_YEAR | DATE_WEEK | DATE_WEEKDAY)

const struct date_conversion date_conversions[DATE_CONVERSIONS] = {
    ['Y'] = {4, DATE_PLACE(fields.year), DATE_YEAR, 0, 9999, 0},
    ['y'] = {2, DATE_PLACE(fields.year), DATE_YEAR, 0, 99, 2000},
    ['m'] = {2, DATE_PLACE(fields.month), DATE_MONTH, 1, 12, 0},
    ['d'] = {2, DATE_PLACE(fields.day), DATE_DAY, 1, 31, 0},
    ['H'] = {2, DATE_PLACE(fields.hour), DATE_HOUR, 0, 23, 0},
    ['M'] = {2, DATE_PLACE(fields.minute), DATE_MINUTE, 0, 59, 0},
    ['S'] = {2, DATE_PLACE(fields.second), DATE_SECOND, 0, 59, 0},
    ['j'] = {3, DATE_PLACE(year_day), DATE_YEAR_DAY, 1, 366, 0},
    ['G'] = {4, DATE_PLACE(week_year), DATE_WEEK_YEAR, 0, 9999, 0},
    ['g'] = {2, DATE_PLACE(week_year), DATE_WEEK_YEAR, 0, 99, 2000},
    ['V'] = {2, DATE_PLACE(fields.week), DATE_WEEK, 1, 53, 0},
    ['u'] = {1, DATE_PLACE(weekday), DATE_WEEKDAY, 1, 7, 0},
    ['q'] = {1, DATE_PLACE(fields.quarter), DATE_QUARTER, 1, 4, 0},
};

/* The parts that give the day: see day_parts. */
#define DAY    (1U << 31)
#define HOUR   (DAY | DATE_HOUR)
#define MINUTE (HOUR | DATE_MINUTE)
#define SECOND (MINUTE | DATE_SECOND)

/* The parts of each unit's stamps. */
static const struct {
    const char *digits;      /* the format of the stamp's digits */
    const char *conversions; /* those allowed for the unit */
    unsigned needs;          /* parts that identify a stamp: a set of enum
                                date_part */
} units[] = {
    [PERIOD_NONE] = {"", "", 0},
    [PERIOD_SECOND] = {"%Y%m%d%H%M%S", "YymdHMSjGgVu", SECOND},
    [PERIOD_MINUTE] = {"%Y%m%d%H%M", "YymdHMjGgVu", MINUTE},
    [PERIOD_HOUR] = {"%Y%m%d%H", "YymdHjGgVu", HOUR},
    [PERIOD_DAY] = {"%Y%m%d", "YymdjGgVu", DAY},
    [PERIOD_WEEK] = {"%G%V", "GgV", DATE_WEEK_YEAR | DATE_WEEK},
    [PERIOD_MONTH] = {"%Y%m", "Yym", DATE_YEAR | DATE_MONTH},
    [PERIOD_QUARTER] = {"%Y%q", "Yyq", DATE_YEAR | DATE_QUARTER},
    [PERIOD_YEAR] = {"%Y", "Yy", DATE_YEAR},
};

/* Conversions of strftime(3) that formats do not have. */
static const struct {
    char letter;
    const char *instead;
} hints[] = {
    {'I', "use %H; a 12-hour clock would repeat each number"},
    {'l', "use %H; a 12-hour clock would repeat each number"},
    {'k', "use %H, whose width is fixed"},
    {'e', "use %d, whose width is fixed"},
    {'b', "use %m; names differ in length"},
    {'B', "use %m; names differ in length"},
    {'a', "use %u; names differ in length"},
    {'A', "use %u; names differ in length"},
    {'w', "use %u, 1 is Monday and 7 is Sunday"},
    {'U', "use %V, the week of ISO 8601"},
    {'W', "use %V, the week of ISO 8601"},
    {'C', "use %Y"},
    {'F', "write %Y-%m-%d"},
    {'T', "write %H:%M:%S"},
    {'R', "write %H:%M"},
};

static bool is_of_unit(enum period_unit unit, char letter)
{
    return letter != '\0' && strchr(units[unit].conversions, letter) != NULL;
}

/* "%Y %y %m". */
static void name_conversions(enum period_unit unit, char *out, size_t size)
{
    const char *letters = units[unit].conversions;

    (void)text_copy(out, size, "");
    for (size_t i = 0; letters[i] != '\0'; i++)
        (void)text_append(out, size, i == 0 ? "%%%c" : " %%%c", letters[i]);
}

static enum seqb_status refuse_conversion(enum period_unit unit, char letter,
                                          struct seqb_error *err)
{
    const bool is_shown = letter > ' ' && letter <= '~';
    char list[64];

    for (size_t i = 0; i < COUNT_OF(hints); i++) {
        if (hints[i].letter == letter)
            return error_set(err, SEQB_INVALID, "unknown conversion %%%c: %s",
                             letter, hints[i].instead);
    }
    name_conversions(unit, list, sizeof list);
    if (is_of_unit(PERIOD_SECOND, letter) || letter == 'q')
        return error_set(err, SEQB_INVALID,
                         "the period %s has no %%%c: expected one of %s",
                         period_unit_name(unit), letter, list);
    return error_set(err, SEQB_INVALID,
                     "unknown conversion %%%c: expected one of %s, or %%%% "
                     "for the sign itself",
                     is_shown ? letter : '?', list);
}

/* Makes the step at the begin of `text`, which is not empty. */
static enum seqb_status step_make(const char *text, size_t length,
                                  enum period_unit unit, struct date_step *out,
                                  struct seqb_error *err)
{
    *out = (struct date_step){0, text[0]};
    if (text[0] != '%')
        return SEQB_OK;
    if (length == 1)
        return error_set(err, SEQB_INVALID,
                         "a single %% at the end: expected %%%%, for the sign "
                         "itself, or a conversion");
    if (text[1] == '%')
        return SEQB_OK;
    if (!is_of_unit(unit, text[1]))
        return refuse_conversion(unit, text[1], err);
    out->conversion = text[1];
    return SEQB_OK;
}

static bool step_add(struct date_format *format, struct date_step step)
{
    const struct date_conversion *conversion =
        &date_conversions[(unsigned char)step.conversion];
    const size_t bytes = step.conversion == 0 ? 1 : conversion->digits;

    if (format->length + bytes > DATE_TEXT_MAX)
        return false;
    format->steps[format->count++] = step;
    format->length += bytes;
    format->tells |= conversion->part;
    return true;
}

enum seqb_status date_format_make(const char *text, size_t length,
                                  enum period_unit unit,
                                  struct date_format *out, size_t *at,
                                  struct seqb_error *err)
{
    enum seqb_status status;
    char list[64];

    if (text == NULL) {
        text = units[unit].digits;
        length = strlen(text);
    }
    *out = (struct date_format){.count = 0};
    *at = 0;
    while (*at < length) {
        struct date_step step;

        status = step_make(text + *at, length - *at, unit, &step, err);
        if (status != SEQB_OK)
            return status;
        if (!step_add(out, step))
            return error_set(err, SEQB_INVALID,
                             "the date is longer than %d characters",
                             DATE_TEXT_MAX);
        *at += text[*at] == '%' ? 2 : 1;
    }
    if (out->tells != 0)
        return SEQB_OK;
    *at = 0;
    name_conversions(unit, list, sizeof list);
    return error_set(err, SEQB_INVALID,
                     "the format tells nothing of the date: expected some of "
                     "%s",
                     list);
}

/* The parts that give the day: those in `tells`, or the ones that were most
 * likely intended. */
static unsigned day_parts(unsigned tells)
{
    static const unsigned ways[] = {YEAR_MONTH_DAY, YEAR_DAY, WEEK_DAY};

    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        if ((tells & ways[i]) == ways[i])
            return ways[i];
    }
    if ((tells & (DATE_MONTH | DATE_DAY)) != 0)
        return YEAR_MONTH_DAY;
    if ((tells & DATE_YEAR_DAY) != 0)
        return YEAR_DAY;
    return (tells & WEEK_DAY) != 0 ? WEEK_DAY : YEAR_MONTH_DAY;
}

const char *date_missing(unsigned tells, enum period_unit unit)
{
    static const struct {
        unsigned part;
        const char *words;
    } parts[] = {
        {DATE_YEAR, "the year, %Y"},
        {DATE_QUARTER, "the quarter, %q"},
        {DATE_MONTH, "the month, %m"},
        {DATE_DAY, "the day of the month, %d"},
        {DATE_YEAR_DAY, "the day of the year, %j"},
        {DATE_WEEK_YEAR, "the year that the week is of, %G"},
        {DATE_WEEK, "the week, %V"},
        {DATE_WEEKDAY, "the day of the week, %u"},
        {DATE_HOUR, "the hour, %H"},
        {DATE_MINUTE, "the minute, %M"},
        {DATE_SECOND, "the second, %S"},
    };
    const unsigned needs = units[unit].needs;
    const unsigned missing =
        (needs & DAY ? needs | day_parts(tells) : needs) & ~tells;

    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if ((missing & parts[i].part) != 0)
            return parts[i].words;
    }
    return NULL;
}
