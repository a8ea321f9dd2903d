/* SPDX-License-Identifier: Apache-2.0 */
/* Durations must have a unit, because a bare number could mean seconds or ms.
 * Days must have every digit and dash in place, so that one day has one
 * spelling. */
#include "config/settings/settings.h"

#include <string.h>
#include <time.h>

#include "platform/text.h"

#define LAST_S INT64_C(253402214400) /* start of 9999-12-31 */

struct unit {
    const char *name;
    int64_t ms;
};

static const struct unit units[] = {
    {"ms", 1},
    {"s", 1000},
    {"m", INT64_C(60) * 1000},
    {"h", INT64_C(60) * 60 * 1000},
    {"d", INT64_C(24) * 60 * 60 * 1000},
};

static int64_t unit_ms(const char *name)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(units[i].name, name) == 0)
            return units[i].ms;
    }
    return 0;
}

bool duration_parse(const char *text, int64_t *out_ms)
{
    const size_t digits = strspn(text, "0123456789");
    const int64_t ms = unit_ms(text + digits);
    int64_t number;

    if (digits == 0 || ms == 0)
        return false;
    if (!text_to_int64(text, digits, &number) || number > INT64_MAX / ms)
        *out_ms = INT64_MAX;
    else
        *out_ms = number * ms;
    return true;
}

void duration_format(int64_t ms, char out[DURATION_SIZE])
{
    size_t i = sizeof units / sizeof units[0] - 1;

    while (i > 0 && (ms == 0 || ms % units[i].ms != 0))
        i--;
    (void)text_format(out, DURATION_SIZE, "%lld%s",
                      (long long)(ms / units[i].ms), units[i].name);
}

/* --- days --- */

/* In `form`, '9' stands for any digit. */
static bool looks_like(const char *text, const char *form)
{
    for (; *form != '\0'; form++, text++) {
        if (*form == '9' ? *text < '0' || *text > '9' : *text != *form)
            return false;
    }
    return *text == '\0';
}

static int two_digits(const char *text)
{
    return (text[0] - '0') * 10 + (text[1] - '0');
}

bool day_parse(const char *text, int64_t *out_ms)
{
    struct tm day = {0};
    struct tm found;
    time_t seconds;

    if (!looks_like(text, "9999-99-99"))
        return false;
    day.tm_year = two_digits(text) * 100 + two_digits(text + 2) - 1900;
    day.tm_mon = two_digits(text + 5) - 1;
    day.tm_mday = two_digits(text + 8);
    found = day;
    seconds = timegm(&found);
    /* timegm turns February the 30th into March the 2nd. */
    if (seconds < 0 || found.tm_mon != day.tm_mon ||
        found.tm_mday != day.tm_mday)
        return false;
    *out_ms = (int64_t)seconds * 1000;
    return true;
}

bool day_parse_yearly(const char *text, int32_t *month, int32_t *day)
{
    if (!looks_like(text, "99-99"))
        return false;
    *month = two_digits(text);
    *day = two_digits(text + 3);
    return *month >= 1 && *month <= 12 && *day >= 1 && *day <= 28;
}

void day_format(int64_t ms, char out[DAY_SIZE])
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm day;

    if (seconds > LAST_S)
        seconds = LAST_S;
    if (gmtime_r(&seconds, &day) == NULL ||
        strftime(out, DAY_SIZE, "%Y-%m-%d", &day) == 0)
        (void)text_copy(out, DAY_SIZE, "?");
}
