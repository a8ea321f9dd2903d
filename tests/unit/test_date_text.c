/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dates in texts: each conversion as the C library has it, and back. What
 * formats are refused is left to test_date_format.
 */
#include <string.h>
#include <time.h>

#include "number/date/date.h"
#include "platform/text.h"
#include "support/test.h"

#define DAY_MS    INT64_C(86400000)
#define CYCLE     146097 /* days after which the calendar repeats itself */
#define Y2000_DAY 10957  /* since 1970 */
#define Y2100_DAY 47482

static struct date_format make(const char *text, enum period_unit unit)
{
    struct seqb_error err = {SEQB_OK, ""};
    struct date_format format;
    size_t at;

    (void)date_format_make(text, text == NULL ? 0 : strlen(text), unit, &format,
                           &at, &err);
    assert_string_equal(err.text, "");
    return format;
}

static int64_t stamp_at(enum period_unit unit, int64_t ms)
{
    const struct period_rules rules = {unit, NULL, 1, 1};
    struct period_span span;

    period_span_at(&rules, ms, &span);
    return span.stamp;
}

/* The text of a stamp, with a 0 after it; nothing beyond it may be written. */
static bool text_of(const struct date_format *format, enum period_unit unit,
                    int64_t stamp, char out[DATE_TEXT_MAX + 1])
{
    struct date_fields fields;
    bool fits;

    memset(out, '~', DATE_TEXT_MAX + 1);
    date_fields_of(unit, stamp, &fields);
    fits = date_write(format, &fields, unit, out);
    for (size_t i = format->length; i <= DATE_TEXT_MAX; i++)
        assert_int_equal(out[i], '~');
    out[format->length] = '\0';
    return fits;
}

static void expect_round(const struct date_format *format,
                         enum period_unit unit, int64_t stamp)
{
    struct date_seen seen = {.tells = 0};
    char text[DATE_TEXT_MAX + 1];
    int64_t back = 0;

    assert_true(text_of(format, unit, stamp, text));
    assert_true(date_read(format, text, &seen));
    assert_int_equal(seen.tells, format->tells);
    assert_true(date_stamp_of(&seen, unit, &back));
    assert_int_equal(back, stamp);
}

/* A second of the day that is another each day. */
static int64_t instant_of(int64_t day)
{
    return day * 86400 + day * 7919 % 86400;
}

TEST(conversions_are_those_of_the_c_library)
{
    static const char all[] = "%Y-%m-%d %H:%M:%S %j %G-W%V-%u %%";
    const struct date_format format = make(all, PERIOD_SECOND);
    const int64_t days = PERIOD_MAX_MS / DAY_MS;

    for (int64_t day = 0; day < days;
         day += (day < CYCLE ? 1 : INT64_C(19)) * SEQB_TEST_SCALE) {
        const time_t at = instant_of(day);
        const int64_t stamp = stamp_at(PERIOD_SECOND, at * 1000);
        char expected[96];
        char text[DATE_TEXT_MAX + 1];
        struct tm tm;

        assert_non_null(gmtime_r(&at, &tm));
        assert_true(strftime(expected, sizeof expected, all, &tm) > 0);
        assert_true(text_of(&format, PERIOD_SECOND, stamp, text));
        assert_string_equal(text, expected);
        if (day % 10 == 0)
            expect_round(&format, PERIOD_SECOND, stamp);
    }
}

/* `year` is what the C library writes for %Y or %G; the compilers warn of what
 * it has for %y and %g. */
static void expect_year(const char *text, enum period_unit unit, int64_t day,
                        const char *year)
{
    const struct date_format format = make(text, unit);
    const bool is_of_century =
        strncmp(year, "1999", 4) > 0 && strncmp(year, "2100", 4) < 0;
    char out[DATE_TEXT_MAX + 1];

    assert_int_equal(text_of(&format, unit, stamp_at(unit, day * DAY_MS), out),
                     is_of_century);
    if (is_of_century)
        assert_string_equal(out, year + 2);
}

TEST(two_digits_are_of_the_years_from_2000_to_2099)
{
    for (int64_t day = Y2000_DAY - 500; day < Y2100_DAY + 500; day++) {
        const time_t at = day * 86400;
        char calendar[32];
        char weeks[32];
        struct tm tm;

        assert_non_null(gmtime_r(&at, &tm));
        assert_true(strftime(calendar, sizeof calendar, "%Y", &tm) > 0);
        assert_true(strftime(weeks, sizeof weeks, "%G", &tm) > 0);
        expect_year("%y", PERIOD_DAY, day, calendar);
        expect_year("%y", PERIOD_QUARTER, day, calendar);
        expect_year("%g", PERIOD_DAY, day, weeks);
        expect_year("%g", PERIOD_WEEK, day, weeks);
    }
}

TEST(without_a_format_the_digits_of_the_stamp_are_written)
{
    for (int unit = PERIOD_SECOND; unit <= PERIOD_YEAR; unit++) {
        const struct date_format format = make(NULL, (enum period_unit)unit);

        assert_int_equal(format.length,
                         period_stamp_digits((enum period_unit)unit));
        assert_null(date_missing(format.tells, (enum period_unit)unit));
        for (int64_t day = 0; day < 30000; day += 7) {
            const int64_t stamp =
                stamp_at((enum period_unit)unit, instant_of(day) * 1000);
            char expected[32];
            char text[DATE_TEXT_MAX + 1];

            assert_true(text_of(&format, (enum period_unit)unit, stamp, text));
            assert_true(text_format(expected, sizeof expected, "%lld",
                                    (long long)stamp));
            assert_string_equal(text, expected);
            expect_round(&format, (enum period_unit)unit, stamp);
        }
    }
}

TEST(texts_are_as_their_formats_say)
{
    static const struct {
        enum period_unit unit;
        const char *format;
        int64_t stamp;
        const char *text;
    } rows[] = {
        {PERIOD_SECOND, "%y%m%d%H%M%S", INT64_C(20250413120001),
         "250413120001"},
        {PERIOD_SECOND, "%d.%m.%Y, %H:%M:%S", INT64_C(20261121070809),
         "21.11.2026, 07:08:09"},
        {PERIOD_MINUTE, "%H%M/%j/%Y", INT64_C(202612312359), "2359/365/2026"},
        {PERIOD_HOUR, "%G%V%u%H", INT64_C(2027010107), "202653507"},
        {PERIOD_DAY, "%y%m%d", 20190720, "190720"},
        {PERIOD_DAY, "%j of %Y", 20241231, "366 of 2024"},
        {PERIOD_DAY, "%g-W%V-%u", 20210103, "20-W53-7"},
        {PERIOD_WEEK, "W%V/%g", 202601, "W01/26"},
        {PERIOD_WEEK, "%G", 202653, "2026"},
        {PERIOD_MONTH, "%m/%y", 202602, "02/26"},
        {PERIOD_QUARTER, "Q%q %y", 20264, "Q4 26"},
        {PERIOD_YEAR, "100%% %Y", 2026, "100% 2026"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct date_format format = make(rows[i].format, rows[i].unit);
        char text[DATE_TEXT_MAX + 1];

        assert_true(text_of(&format, rows[i].unit, rows[i].stamp, text));
        assert_string_equal(text, rows[i].text);
        assert_int_equal(format.length, strlen(rows[i].text));
        if (date_missing(format.tells, rows[i].unit) == NULL)
            expect_round(&format, rows[i].unit, rows[i].stamp);
    }
}

/* Any set of the conversions that a day has: if nothing is missing, every day
 * is told. */
TEST(what_misses_nothing_tells_every_day)
{
    static const char *const conversions[] = {"%Y", "%m", "%d", "%j",
                                              "%G", "%V", "%u"};
    int telling = 0;

    for (unsigned set = 1; set < 1u << COUNT_OF(conversions); set++) {
        struct date_format format;
        char text[64] = "";

        for (size_t i = 0; i < COUNT_OF(conversions); i++) {
            if ((set >> i & 1) != 0)
                (void)text_append(text, sizeof text, "%s", conversions[i]);
        }
        format = make(text, PERIOD_DAY);
        if (date_missing(format.tells, PERIOD_DAY) != NULL)
            continue;
        telling++;
        for (int64_t day = 0; day < 20000; day += INT64_C(5) * SEQB_TEST_SCALE)
            expect_round(&format, PERIOD_DAY,
                         stamp_at(PERIOD_DAY, day * DAY_MS));
    }
    /* of 7: %Y%m%d or %Y%j or %G%V%u are in so many sets */
    assert_int_equal(telling, 16 + 32 + 16 - 8 - 2 - 4 + 1);
}

static bool stamp_of(const char *format_text, enum period_unit unit,
                     const char *text, int64_t *stamp)
{
    const struct date_format format = make(format_text, unit);
    struct date_seen seen = {.tells = 0};

    assert_int_equal(format.length, strlen(text));
    return date_read(&format, text, &seen) && date_stamp_of(&seen, unit, stamp);
}

struct foreign {
    enum period_unit unit;
    const char *format;
    const char *right;
    const char *wrong;
};

static void expect_foreign(const struct foreign *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t stamp;

        assert_true(
            stamp_of(rows[i].format, rows[i].unit, rows[i].right, &stamp));
        if (stamp_of(rows[i].format, rows[i].unit, rows[i].wrong, &stamp))
            fail_msg("'%s' was read by %s", rows[i].wrong, rows[i].format);
    }
}

TEST(dates_that_do_not_exist_are_not_read)
{
    static const struct foreign rows[] = {
        {PERIOD_DAY, "%Y%m%d", "20240229", "20230229"},
        {PERIOD_DAY, "%Y%m%d", "20000229", "21000229"},
        {PERIOD_DAY, "%Y%m%d", "20260430", "20260431"},
        {PERIOD_DAY, "%Y%m%d", "20260101", "20260001"},
        {PERIOD_DAY, "%Y%m%d", "20261201", "20261301"},
        {PERIOD_DAY, "%Y%m%d", "20260101", "20260100"},
        {PERIOD_DAY, "%Y%m%d", "20260131", "20260132"},
        {PERIOD_DAY, "%Y%j", "2024366", "2023366"},
        {PERIOD_DAY, "%Y%j", "2024001", "2024000"},
        {PERIOD_DAY, "%Y%j", "2024366", "2024367"},
        {PERIOD_DAY, "%G%V%u", "2026537", "2025537"},
        {PERIOD_DAY, "%G%V%u", "2026011", "2026001"},
        {PERIOD_DAY, "%G%V%u", "2026537", "2026541"},
        {PERIOD_DAY, "%G%V%u", "2026011", "2026010"},
        {PERIOD_DAY, "%G%V%u", "2026017", "2026018"},
        {PERIOD_HOUR, "%Y%m%d%H", "2026112123", "2026112124"},
        {PERIOD_MINUTE, "%Y%m%d%H%M", "202611212359", "202611212360"},
        {PERIOD_SECOND, "%Y%m%d%H%M%S", "20261121235959", "20261121235960"},
        {PERIOD_WEEK, "%G%V", "202653", "202553"},
        {PERIOD_WEEK, "%G%V", "202601", "202600"},
        {PERIOD_MONTH, "%Y%m", "202612", "202613"},
        {PERIOD_QUARTER, "%Y%q", "20264", "20265"},
        {PERIOD_QUARTER, "%Y%q", "20261", "20260"},
        /* ends of the range */
        {PERIOD_DAY, "%G%V%u", "1970014", "1970013"},
        {PERIOD_DAY, "%G%V%u", "9999525", "9999526"},
        {PERIOD_DAY, "%Y%j", "9999365", "9999366"},
    };

    expect_foreign(rows, COUNT_OF(rows));
}

TEST(texts_that_are_not_as_the_format_says_are_not_read)
{
    static const struct foreign rows[] = {
        {PERIOD_DAY, "%Y-%m-%d", "2026-11-21", "2026-11_21"},
        {PERIOD_DAY, "%Y-%m-%d", "2026-11-21", "2026-1121-"},
        {PERIOD_DAY, "%Y%m%d", "20260101", "2026010 "},
        {PERIOD_DAY, "%Y%m%d", "20260101", "2026+101"},
        {PERIOD_DAY, "%Y%m%d", "20260101", "2026-101"},
        {PERIOD_DAY, "%Y%m%d", "20260109", "2026011/"},
        {PERIOD_DAY, "%Y%m%d", "20260101", "2026010:"},
        {PERIOD_DAY, "%Y%m%d", "20260101", "2026010\xb1"},
        {PERIOD_YEAR, "%%%Y", "%2026", "_2026"},
    };

    expect_foreign(rows, COUNT_OF(rows));
}

TEST(parts_that_contradict_each_other_are_not_read)
{
    static const struct foreign rows[] = {
        {PERIOD_DAY, "%Y%m%d%u", "202611216", "202611217"},
        {PERIOD_DAY, "%Y%m%d%j", "20261121325", "20261121326"},
        {PERIOD_DAY, "%Y%m%d%V", "2026112147", "2026112148"},
        {PERIOD_DAY, "%Y%m%d%G", "202701012026", "202701012027"},
        {PERIOD_DAY, "%Y%j%m", "202632511", "202632512"},
        {PERIOD_DAY, "%Y%j%d", "202632521", "202632522"},
        {PERIOD_DAY, "%G%V%u%Y", "20265352027", "20265352026"},
        {PERIOD_DAY, "%Y%m%d%Y", "202611212026", "202611212025"},
        {PERIOD_DAY, "%Y%m%d%d", "2026112121", "2026112120"},
        {PERIOD_DAY, "%y%m%d%Y", "2611212026", "2611211926"},
        {PERIOD_HOUR, "%Y%m%d%H%u", "20261121076", "20261121071"},
    };

    expect_foreign(rows, COUNT_OF(rows));
}

TEST(two_formats_tell_one_date_together)
{
    const struct date_format first = make("%d/%m", PERIOD_DAY);
    const struct date_format second = make("%Y:%d", PERIOD_DAY);
    struct date_seen seen = {.tells = 0};
    struct date_seen other;
    int64_t stamp;

    assert_true(date_read(&first, "21/11", &seen));
    other = seen;
    assert_non_null(date_missing(seen.tells, PERIOD_DAY));
    assert_true(date_read(&second, "2026:21", &seen));
    assert_null(date_missing(seen.tells, PERIOD_DAY));
    assert_true(date_stamp_of(&seen, PERIOD_DAY, &stamp));
    assert_int_equal(stamp, 20261121);
    assert_false(date_read(&second, "2026:22", &other));
}
