/* SPDX-License-Identifier: Apache-2.0 */
/* Formats fields for people: ages, dates, counts, reasons. */
#include "ctl/table/cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ctl/client.h"
#include "ctl/table/table.h"

#define SHORT_FROM INT64_C(10000000) /* in the narrow table */

void age_format(char *to, size_t size, int64_t ms)
{
    int64_t s = ms / 1000;

    if (ms < 0)
        snprintf(to, size, "-");
    else if (ms < 1000)
        snprintf(to, size, "%" PRId64 "ms", ms);
    else if (s < 60)
        snprintf(to, size, "%" PRId64 "s", s);
    else if (s < 3600)
        snprintf(to, size, "%" PRId64 "m%02" PRId64 "s", s / 60, s % 60);
    else if (s < 86400)
        snprintf(to, size, "%" PRId64 "h%02" PRId64 "m", s / 3600, s / 60 % 60);
    else
        snprintf(to, size, "%" PRId64 "d%02" PRId64 "h", s / 86400,
                 s / 3600 % 24);
}

void bytes_format(char *to, size_t size, int64_t bytes)
{
    static const char units[] = "KMGTPE";
    int64_t unit = 1024;
    size_t i = 0;

    if (bytes < unit) {
        snprintf(to, size, "%" PRId64 " bytes", bytes);
        return;
    }
    for (; bytes / unit >= 1024 && units[i + 1] != '\0'; i++)
        unit *= 1024;
    snprintf(to, size, "%" PRId64 ".%" PRId64 " %ciB", bytes / unit,
             bytes % unit / (unit / 1024) * 10 / 1024, units[i]);
}

void moment_format(char *to, size_t size, int64_t ms)
{
    const time_t at = (time_t)(ms / 1000);
    struct tm parts;

    if (ms <= 0 || gmtime_r(&at, &parts) == NULL ||
        strftime(to, size, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        snprintf(to, size, "-");
}

int64_t moment_now(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* By another machine's clock, the moment may be in the future. */
static void since_format(char *to, size_t size, int64_t ms)
{
    const int64_t age_ms = moment_now() - ms;

    age_format(to, size, ms <= 0 ? -1 : age_ms < 0 ? 0 : age_ms);
}

/* The hour is shown only if the date is near. */
static void date_format(char *to, size_t size, int64_t ms)
{
    const bool is_near = ms < INT64_C(2) * 86400000;
    const time_t at = time(NULL) + (time_t)(ms / 1000);
    struct tm parts;

    if (ms == 0)
        snprintf(to, size, "now");
    else if (ms < 0 || localtime_r(&at, &parts) == NULL ||
             strftime(to, size, is_near ? "%Y-%m-%d %H:%M" : "%Y-%m-%d",
                      &parts) == 0)
        snprintf(to, size, "-");
}

static void latency_format(char *to, size_t size, int64_t us)
{
    if (us == 0)
        snprintf(to, size, "-"); /* not measured yet */
    else if (us < 1000)
        snprintf(to, size, "%" PRId64 "us", us);
    else
        snprintf(to, size, "%" PRId64 ".%" PRId64 "ms", us / 1000,
                 us / 100 % 10);
}

/* Tenths of a second are shown only if there are few seconds. */
static void offset_format(char *to, size_t size, int64_t ms)
{
    const int64_t apart_ms = ms < 0 ? -ms : ms;
    char age[32];

    if (apart_ms >= 1000 && apart_ms < 60000)
        snprintf(age, sizeof age, "%" PRId64 ".%" PRId64 "s", apart_ms / 1000,
                 apart_ms / 100 % 10);
    else
        age_format(age, sizeof age, apart_ms);
    snprintf(to, size, "%c%s", ms < 0 ? '-' : '+', age);
}

static void maybe_format(char *to, size_t size, const redisReply *value)
{
    if (value == NULL)
        snprintf(to, size, "-");
    else if (value->type == REDIS_REPLY_INTEGER)
        snprintf(to, size, "%lld", value->integer);
    else
        snprintf(to, size, "%s", value->str != NULL ? value->str : "-");
}

void partition_format(char *to, size_t size, const redisReply *map,
                      bool name_pool)
{
    int64_t partition = reply_integer(map, "partition");
    const char *pool = name_pool ? reply_text(map, "pool") : "";
    const char *slash = name_pool ? "/" : "";

    if (partition < 0)
        snprintf(to, size, "%s%sauthority", pool, slash);
    else
        snprintf(to, size, "%s%s%" PRId64, pool, slash, partition);
}

/* A partition that is up may still lose commits. */
void why_format(char *to, size_t size, const redisReply *map)
{
    const char *loss = reply_text(map, "loss");
    const char *reason = reply_text(map, "reason");
    const bool is_well = *reason == '\0' || reply_integer(map, "refused") > 0;

    if (*loss == '\0' || !is_well)
        snprintf(to, size, "%s", reason);
    else
        snprintf(to, size, "%s%smay lose: %s", reason,
                 *reason != '\0' ? "; " : "", loss);
}

static void refill_format(char *to, size_t size, const redisReply *map)
{
    const int64_t asked = reply_integer(map, "asked");

    if (asked == 0)
        snprintf(to, size, "-");
    else
        snprintf(to, size, "%" PRId64 ", %s", asked, reply_text(map, "why"));
}

/* "99,996": these numbers are compared digit by digit. */
static void grouped_format(char *to, size_t size, int64_t value)
{
    char digits[24];
    const int length =
        snprintf(digits, sizeof digits, "%" PRId64, value < 0 ? 0 : value);
    size_t used = 0;

    for (int i = 0; i < length && used + 2 < size; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            to[used++] = ',';
        to[used++] = digits[i];
    }
    to[used] = '\0';
}

static void capacity_format(char *to, size_t size, const redisReply *map)
{
    char pool[32];
    char width[32];

    if (reply_field(map, "pool_numbers") == NULL) {
        snprintf(to, size, "-");
        return;
    }
    grouped_format(pool, sizeof pool, reply_integer(map, "pool_numbers"));
    grouped_format(width, sizeof width, reply_integer(map, "width_numbers"));
    snprintf(to, size, "%s of %s", pool, width);
}

/* "12.3M": only the magnitude of a large count matters. */
static void short_format(char *to, size_t size, int64_t value)
{
    static const char units[] = "MGTPE";
    int64_t unit = 1000000;
    size_t i = 0;

    if (value < SHORT_FROM) {
        snprintf(to, size, "%" PRId64, value);
        return;
    }
    for (; value / unit >= 1000 && units[i + 1] != '\0'; i++)
        unit *= 1000;
    snprintf(to, size, "%" PRId64 ".%" PRId64 "%c", value / unit,
             value / (unit / 10) % 10, units[i]);
}

static void count_format(char *to, size_t size, int64_t value, bool is_short)
{
    if (is_short)
        short_format(to, size, value);
    else
        snprintf(to, size, "%" PRId64, value);
}

void cell_format(char *to, size_t size, const struct status_field *field,
                 const redisReply *map, const struct cell_style *style)
{
    const redisReply *value = reply_field(map, field->name);
    const int64_t integer = reply_integer(map, field->name);

    switch (field->show) {
    case SHOW_TEXT:
    case SHOW_STATE:
        snprintf(to, size, "%s", reply_text(map, field->name));
        return;
    case SHOW_INTEGER:
    case SHOW_SOME:
        count_format(to, size, integer, style->is_short);
        return;
    case SHOW_AGE:
        age_format(to, size, integer);
        return;
    case SHOW_SINCE:
        since_format(to, size, integer);
        return;
    case SHOW_MOMENT:
        moment_format(to, size, integer);
        return;
    case SHOW_DATE:
        date_format(to, size, integer);
        return;
    case SHOW_LATENCY:
        latency_format(to, size, integer);
        return;
    case SHOW_BYTES:
        bytes_format(to, size, integer);
        return;
    case SHOW_OFFSET:
        if (value != NULL)
            offset_format(to, size, integer);
        else
            maybe_format(to, size, NULL);
        return;
    case SHOW_MAYBE:
        maybe_format(to, size, value);
        return;
    case SHOW_ROOM:
        capacity_format(to, size, map);
        return;
    case SHOW_REFILL:
        refill_format(to, size, map);
        return;
    case SHOW_WHY:
        why_format(to, size, map);
        return;
    case SHOW_PARTITION:
        partition_format(to, size, map, style->name_pool);
        return;
    }
}
