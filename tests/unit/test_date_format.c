/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of dates: which are refused, where and why, and what they miss. */
#include <string.h>

#include "number/date/date.h"
#include "support/test.h"

static const struct {
    enum period_unit unit;
    const char *format;
    size_t at;
    const char *why;
} wrong_formats[] = {
    {PERIOD_SECOND, "%Y%m%d%I", 6,
     "unknown conversion %I: use %H; a 12-hour clock would repeat each "
     "number"},
    {PERIOD_DAY, "%Y-%b", 3,
     "unknown conversion %b: use %m; names differ in length"},
    {PERIOD_DAY, "%F", 0, "unknown conversion %F: write %Y-%m-%d"},
    {PERIOD_DAY, "%Q", 0,
     "unknown conversion %Q: expected one of %Y %y %m %d %j %G %g %V %u, "
     "or %% for the sign itself"},
    {PERIOD_YEAR, "%Y%-y", 2,
     "unknown conversion %-: expected one of %Y %y, or %% for the sign "
     "itself"},
    {PERIOD_YEAR, "%Y%\xc3", 2,
     "unknown conversion %?: expected one of %Y %y, or %% for the sign "
     "itself"},
    {PERIOD_DAY, "%Y%m%d%H", 6,
     "the period day has no %H: expected one of %Y %y %m %d %j %G %g "
     "%V %u"},
    {PERIOD_HOUR, "%H%M", 2,
     "the period hour has no %M: expected one of %Y %y %m %d %H %j %G "
     "%g %V %u"},
    {PERIOD_MINUTE, "%H%M%S", 4,
     "the period minute has no %S: expected one of %Y %y %m %d %H %M "
     "%j %G %g %V %u"},
    {PERIOD_SECOND, "%q", 0,
     "the period second has no %q: expected one of %Y %y %m %d %H %M "
     "%S %j %G %g %V %u"},
    {PERIOD_WEEK, "%Y", 0,
     "the period week has no %Y: expected one of %G %g %V"},
    {PERIOD_WEEK, "%V%u", 2,
     "the period week has no %u: expected one of %G %g %V"},
    {PERIOD_MONTH, "%Y%m%d", 4,
     "the period month has no %d: expected one of %Y %y %m"},
    {PERIOD_QUARTER, "%Y%m", 2,
     "the period quarter has no %m: expected one of %Y %y %q"},
    {PERIOD_YEAR, "%Y%G", 2,
     "the period year has no %G: expected one of %Y %y"},
    {PERIOD_DAY, "%Y%", 2,
     "a single % at the end: expected %%, for the sign itself, or a "
     "conversion"},
    {PERIOD_MONTH, "no %% date", 0,
     "the format tells nothing of the date: expected some of %Y %y %m"},
    {PERIOD_MONTH, "", 0,
     "the format tells nothing of the date: expected some of %Y %y %m"},
};

TEST(wrong_formats_are_refused_where_they_are_wrong)
{
    for (size_t i = 0; i < COUNT_OF(wrong_formats); i++) {
        struct seqb_error err = {SEQB_OK, ""};
        struct date_format format;
        size_t at = 1000;

        assert_int_equal(date_format_make(wrong_formats[i].format,
                                          strlen(wrong_formats[i].format),
                                          wrong_formats[i].unit, &format, &at,
                                          &err),
                         SEQB_INVALID);
        assert_string_equal(err.text, wrong_formats[i].why);
        assert_int_equal(at, wrong_formats[i].at);
    }
}

/* A text is not ended by a 0: what stands behind it is not looked at. */
TEST(format_ends_where_it_is_said_to_end)
{
    struct seqb_error err = {SEQB_OK, ""};
    struct date_format format;
    size_t at;

    assert_ok(date_format_make("%Y%m}", 4, PERIOD_MONTH, &format, &at, &err));
    assert_int_equal(format.length, 6);
    assert_int_equal(
        date_format_make("%Y%m", 3, PERIOD_MONTH, &format, &at, &err),
        SEQB_INVALID);
    assert_int_equal(at, 2);
    assert_int_equal(
        date_format_make("%Y%\0", 4, PERIOD_MONTH, &format, &at, &err),
        SEQB_INVALID);
    assert_int_equal(at, 2);
}

TEST(format_may_be_as_long_as_the_text_may)
{
    char text[DATE_TEXT_MAX + 2];

    memset(text, 'x', sizeof text);
    for (size_t letters = DATE_TEXT_MAX - 5; letters < DATE_TEXT_MAX;
         letters++) {
        const bool fits = letters + 4 <= DATE_TEXT_MAX;
        struct seqb_error err = {SEQB_OK, ""};
        struct date_format format;
        size_t at;

        text[letters] = '%';
        text[letters + 1] = 'Y';
        assert_int_equal(date_format_make(text, letters + 2, PERIOD_YEAR,
                                          &format, &at, &err),
                         fits ? SEQB_OK : SEQB_INVALID);
        if (fits)
            assert_int_equal(format.length, letters + 4);
        else
            assert_int_equal(at, letters);
        memset(text, 'x', sizeof text);
    }
}

static const struct {
    enum period_unit unit;
    unsigned tells;
    const char *missing; /* NULL: nothing */
} sets[] = {
    {PERIOD_NONE, 0, NULL},
    {PERIOD_YEAR, 0, "the year, %Y"},
    {PERIOD_YEAR, DATE_YEAR, NULL},
    {PERIOD_QUARTER, DATE_YEAR, "the quarter, %q"},
    {PERIOD_QUARTER, DATE_QUARTER, "the year, %Y"},
    {PERIOD_QUARTER, DATE_YEAR | DATE_QUARTER, NULL},
    {PERIOD_MONTH, DATE_YEAR, "the month, %m"},
    {PERIOD_MONTH, DATE_YEAR | DATE_MONTH, NULL},
    {PERIOD_WEEK, DATE_WEEK, "the year that the week is of, %G"},
    {PERIOD_WEEK, DATE_WEEK_YEAR, "the week, %V"},
    {PERIOD_WEEK, DATE_WEEK_YEAR | DATE_WEEK, NULL},
    {PERIOD_DAY, 0, "the year, %Y"},
    {PERIOD_DAY, DATE_YEAR, "the month, %m"},
    {PERIOD_DAY, DATE_YEAR | DATE_MONTH, "the day of the month, %d"},
    {PERIOD_DAY, DATE_YEAR | DATE_DAY, "the month, %m"},
    {PERIOD_DAY, DATE_MONTH | DATE_DAY, "the year, %Y"},
    {PERIOD_DAY, DATE_YEAR | DATE_MONTH | DATE_DAY, NULL},
    {PERIOD_DAY, DATE_YEAR_DAY, "the year, %Y"},
    {PERIOD_DAY, DATE_YEAR | DATE_YEAR_DAY, NULL},
    {PERIOD_DAY, DATE_WEEK_YEAR | DATE_WEEK, "the day of the week, %u"},
    {PERIOD_DAY, DATE_WEEK_YEAR | DATE_WEEKDAY, "the week, %V"},
    {PERIOD_DAY, DATE_WEEK | DATE_WEEKDAY, "the year that the week is of, %G"},
    /* week 1 may be in January and in December of a year */
    {PERIOD_DAY, DATE_YEAR | DATE_WEEK | DATE_WEEKDAY,
     "the year that the week is of, %G"},
    /* January 1 may be at the begin and at the end of its weeks' year */
    {PERIOD_DAY, DATE_WEEK_YEAR | DATE_MONTH | DATE_DAY, "the year, %Y"},
    {PERIOD_DAY, DATE_WEEK_YEAR | DATE_WEEK | DATE_WEEKDAY, NULL},
    {PERIOD_DAY, DATE_WEEK_YEAR | DATE_WEEK | DATE_WEEKDAY | DATE_MONTH, NULL},
    {PERIOD_HOUR, DATE_YEAR | DATE_MONTH | DATE_DAY, "the hour, %H"},
    {PERIOD_HOUR, DATE_HOUR, "the year, %Y"},
    {PERIOD_HOUR, DATE_YEAR | DATE_YEAR_DAY | DATE_HOUR, NULL},
    {PERIOD_MINUTE, DATE_YEAR | DATE_MONTH | DATE_DAY | DATE_HOUR,
     "the minute, %M"},
    {PERIOD_SECOND, DATE_YEAR | DATE_MONTH | DATE_DAY | DATE_HOUR | DATE_MINUTE,
     "the second, %S"},
    {PERIOD_SECOND,
     DATE_YEAR | DATE_MONTH | DATE_DAY | DATE_MINUTE | DATE_SECOND,
     "the hour, %H"},
};

TEST(what_is_missing_is_named)
{
    for (size_t i = 0; i < COUNT_OF(sets); i++) {
        const char *missing = date_missing(sets[i].tells, sets[i].unit);

        if (sets[i].missing == NULL) {
            assert_null(missing);
            continue;
        }
        assert_non_null(missing);
        assert_string_equal(missing, sets[i].missing);
    }
}

/* What the conversion that the words name tells, if the unit has it. */
static unsigned part_added(const char *missing, enum period_unit unit)
{
    const char *conversion = strchr(missing, '%');
    struct seqb_error err = {SEQB_OK, ""};
    struct date_format format;
    size_t at;

    assert_non_null(conversion);
    assert_int_equal(strlen(conversion), 2);
    (void)date_format_make(conversion, 2, unit, &format, &at, &err);
    assert_string_equal(err.text, "");
    return format.tells;
}

/* Of whatever is told: what is named to be added, one after the other, is not
 * there yet, and is enough in the end. */
static void expect_helped(unsigned tells, enum period_unit unit)
{
    const char *missing = date_missing(tells, unit);

    while (missing != NULL) {
        const unsigned part = part_added(missing, unit);

        assert_int_equal(tells & part, 0);
        tells |= part;
        missing = date_missing(tells, unit);
    }
}

TEST(what_is_missing_can_be_added)
{
    for (int unit = PERIOD_SECOND; unit <= PERIOD_YEAR; unit++) {
        for (unsigned tells = 0; tells < 2u * DATE_QUARTER; tells++)
            expect_helped(tells, (enum period_unit)unit);
    }
}
