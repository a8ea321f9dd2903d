/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TZ string at the end of a zone file. It says what holds after the file's
 * last transition, in the form of POSIX and RFC 9636. It is expanded here,
 * once, into transitions of the table, for the 400 years after which the
 * calendar repeats.
 */
#include "period/zone.h"

#include <ctype.h>
#include <string.h>

#include "period/date.h"
#include "platform/error.h"

#define HOUR_S           INT64_C(3600)
#define OFFSET_HOURS_MAX 24
#define RULE_HOURS_MAX   167
/* Years before the first repeated year and after the last one, so that all that
 * reaches into the repeated years is there. */
#define MARGIN_YEARS     2
#define CYCLE_YEARS      400

enum day_form {
    MONTH_WEEK_DAY, /* the n-th such weekday of a month; 5: the last one */
    NO_LEAP_DAY,    /* 1 ... 365; February 29 is never counted */
    DAY_OF_YEAR     /* 0 ... 365 */
};

/* When in a year the offset changes. */
struct change {
    enum day_form form;
    int64_t month;
    int64_t week;
    int64_t day;  /* weekday: 0 is Sunday */
    int64_t time; /* local time of that day in seconds; may be outside the
                     day */
};

struct rules {
    int64_t standard; /* offsets: local time minus UTC */
    int64_t summer;
    bool has_summer;
    struct change begins; /* begin of summer time, in standard time */
    struct change ends;   /* end of summer time, in summer time */
};

struct transition {
    int64_t at;
    int64_t offset;
};

/* Each function below advances `*text` only if it finds what its name says. */

static bool take(const char **text, char wanted)
{
    if (**text != wanted)
        return false;
    ++*text;
    return true;
}

static bool take_name(const char **text)
{
    const bool is_quoted = take(text, '<');
    const char *from = *text;

    while (isalpha((unsigned char)**text) ||
           (is_quoted && **text != '\0' && strchr("0123456789+-", **text)))
        ++*text;
    return *text - from >= 3 && (!is_quoted || take(text, '>'));
}

static bool take_number(const char **text, int64_t min, int64_t max,
                        int64_t *out)
{
    const char *from = *text;
    int64_t value = 0;

    while (isdigit((unsigned char)**text) && *text - from < 4)
        value = 10 * value + *(*text)++ - '0';
    *out = value;
    return *text > from && value >= min && value <= max;
}

/* [+-]hh[:mm[:ss]] in seconds. */
static bool take_time(const char **text, int64_t hours_max, int64_t *out)
{
    const bool is_negative = take(text, '-');
    int64_t hours;
    int64_t minutes = 0;
    int64_t seconds = 0;

    if (!is_negative)
        (void)take(text, '+');
    if (!take_number(text, 0, hours_max, &hours))
        return false;
    if (take(text, ':')) {
        if (!take_number(text, 0, 59, &minutes))
            return false;
        if (take(text, ':') && !take_number(text, 0, 59, &seconds))
            return false;
    }
    *out = HOUR_S * hours + 60 * minutes + seconds;
    if (is_negative)
        *out = -*out;
    return true;
}

/* POSIX offsets are positive west of Greenwich. */
static bool take_offset(const char **text, int64_t *out)
{
    int64_t west;

    if (!take_time(text, OFFSET_HOURS_MAX, &west))
        return false;
    *out = -west;
    return true;
}

static bool take_day(const char **text, struct change *out)
{
    if (take(text, 'M')) {
        out->form = MONTH_WEEK_DAY;
        return take_number(text, 1, 12, &out->month) && take(text, '.') &&
               take_number(text, 1, 5, &out->week) && take(text, '.') &&
               take_number(text, 0, 6, &out->day);
    }
    if (take(text, 'J')) {
        out->form = NO_LEAP_DAY;
        return take_number(text, 1, 365, &out->day);
    }
    out->form = DAY_OF_YEAR;
    return take_number(text, 0, 365, &out->day);
}

/* ,day[/time] */
static bool take_change(const char **text, struct change *out)
{
    *out = (struct change){.time = 2 * HOUR_S};
    if (!take(text, ',') || !take_day(text, out))
        return false;
    return !take(text, '/') || take_time(text, RULE_HOURS_MAX, &out->time);
}

static bool rules_read(const char *text, struct rules *out)
{
    *out = (struct rules){.has_summer = false};
    if (!take_name(&text) || !take_offset(&text, &out->standard))
        return false;
    if (*text == '\0')
        return true;
    out->has_summer = true;
    if (!take_name(&text))
        return false;
    out->summer = out->standard + HOUR_S;
    if (*text != ',' && !take_offset(&text, &out->summer))
        return false;
    return take_change(&text, &out->begins) && take_change(&text, &out->ends) &&
           *text == '\0';
}

static int64_t week_day(int64_t year, const struct change *change)
{
    const int64_t first = date_to_days(year, change->month, 1);
    const int64_t next = date_to_days(year, change->month + 1, 1);
    const int64_t sunday = first - 1 - date_weekday(first);
    int64_t day = sunday + change->day;

    if (day < first)
        day += 7;
    day += 7 * (change->week - 1);
    return day < next ? day : day - 7;
}

static int64_t change_day(int64_t year, const struct change *change)
{
    const int64_t first = date_to_days(year, 1, 1);

    if (change->form == MONTH_WEEK_DAY)
        return week_day(year, change);
    if (change->form == DAY_OF_YEAR)
        return first + change->day;
    return first + change->day - 1 +
           (change->day >= 60 && date_is_leap(year) ? 1 : 0);
}

/* Both transitions of a year, in order. */
static void rules_apply(const struct rules *rules, int64_t year,
                        struct transition out[2])
{
    const struct change *begins = &rules->begins;
    const struct change *ends = &rules->ends;
    const struct transition summer = {change_day(year, begins) * DATE_DAY_S +
                                          begins->time - rules->standard,
                                      rules->summer};
    const struct transition standard = {change_day(year, ends) * DATE_DAY_S +
                                            ends->time - rules->summer,
                                        rules->standard};
    const bool is_south = standard.at < summer.at;

    out[0] = is_south ? standard : summer;
    out[1] = is_south ? summer : standard;
}

static enum seqb_status add(struct period_zone *zone, int64_t from,
                            int64_t offset, struct seqb_error *err)
{
    if (zone_add(zone, from, offset))
        return SEQB_OK;
    return error_set(err, SEQB_NO_MEMORY, "out of memory");
}

/* Transitions before the file's last one only say which offset holds at it. */
static enum seqb_status add_years(struct period_zone *zone, int64_t last,
                                  const struct rules *rules, int64_t first_year,
                                  struct seqb_error *err)
{
    const int64_t years = CYCLE_YEARS + 2 * MARGIN_YEARS + 1;
    int64_t before = INT64_MIN;
    enum seqb_status status = SEQB_OK;

    for (int64_t i = 0; i < 2 * years && status == SEQB_OK; i++) {
        struct transition both[2];
        struct transition next;

        rules_apply(rules, first_year + i / 2, both);
        next = both[i % 2];
        if (next.at < before)
            return error_set(err, SEQB_INVALID,
                             "the zone file is damaged: the years of its "
                             "footer overlap");
        before = next.at;
        status = add(zone, next.at > last ? next.at : last, next.offset, err);
    }
    return status;
}

enum seqb_status zone_footer_add(struct period_zone *zone, int64_t last,
                                 const char *text, struct seqb_error *err)
{
    struct rules rules;
    int64_t year;

    if (text[0] == '\0')
        return SEQB_OK;
    if (!rules_read(text, &rules))
        return error_set(err, SEQB_INVALID,
                         "the zone file is damaged: its footer is no TZ "
                         "string");
    if (add(zone, last, rules.standard, err) != SEQB_OK)
        return SEQB_NO_MEMORY;
    if (!rules.has_summer)
        return SEQB_OK;
    year = date_of_days(floor_div(last, DATE_DAY_S)).year;
    zone->repeats =
        date_to_days(year + CYCLE_YEARS + MARGIN_YEARS, 1, 1) * DATE_DAY_S;
    return add_years(zone, last, &rules, year - MARGIN_YEARS, err);
}
