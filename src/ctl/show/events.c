/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the daemon's log: which lines are shown, and how. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/client.h"
#include "ctl/show/show.h"
#include "ctl/terminal/terminal.h"

#define AGES_MAX 1000000000 /* of any unit: avoids an overflow */

static const char *const levels[] = {"error", "warn", "info", "debug"};

#define LEVELS (sizeof levels / sizeof levels[0])

/* LEVELS: an unknown level; a later daemon may have more. */
static size_t level_of(const char *name)
{
    size_t level = 0;

    while (level < LEVELS && strcmp(levels[level], name) != 0)
        level++;
    return level;
}

/* --- the filter --- */

/* An age: "90s", "10m", "2h", "1d". */
static bool age_parse(const char *text, int64_t *out_ms)
{
    static const char units[] = "smhd";
    static const int64_t unit_ms[] = {1000, 60000, 3600000, 86400000};
    char *end = NULL;
    const long long count = strtoll(text, &end, 10);
    const char *unit = strchr(units, *end);

    if (end == text || *end == '\0' || unit == NULL || end[1] != '\0' ||
        count < 0 || count > AGES_MAX)
        return false;
    *out_ms = moment_now() - count * unit_ms[unit - units];
    return true;
}

/* Skips digits of a second, which a line of the log has. */
static const char *fraction_parse(const char *text, int64_t *out_ms)
{
    int64_t unit_ms = 100;

    *out_ms = 0;
    if (*text != '.')
        return text;
    for (text++; *text >= '0' && *text <= '9'; text++, unit_ms /= 10)
        *out_ms += (*text - '0') * unit_ms;
    return text;
}

/* "2026-11-21", "2026-11-21T10:00" or "2026-11-21T10:00:00.123", UTC with or
 * without a Z. */
static bool moment_parse(const char *text, int64_t *out_ms)
{
    static const char *const formats[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M",
                                          "%Y-%m-%d"};

    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct tm utc = {0};
        const char *end = strptime(text, formats[i], &utc);
        int64_t ms = 0;

        if (end != NULL && i == 0)
            end = fraction_parse(end, &ms);
        if (end == NULL || (*end != '\0' && strcmp(end, "Z") != 0))
            continue;
        *out_ms = (int64_t)timegm(&utc) * 1000 + ms;
        return true;
    }
    return false;
}

bool event_filter_init(struct event_filter *filter,
                       const struct ctl_options *options)
{
    *filter = (struct event_filter){.since_ms = INT64_MIN, .level = LEVELS - 1};
    if (options->since != NULL &&
        !age_parse(options->since, &filter->since_ms) &&
        !moment_parse(options->since, &filter->since_ms)) {
        ctl_complain("--since is an age as 90s, 10m, 2h or 1d, or a moment as "
                     "2026-11-21T10:00:00Z, not \"%s\"",
                     options->since);
        return false;
    }
    if (options->level == NULL)
        return true;
    filter->level = level_of(options->level);
    if (filter->level < LEVELS)
        return true;
    ctl_complain("--level is error, warn, info or debug, not \"%s\"",
                 options->level);
    return false;
}

/* --- the lines --- */

static bool event_passes(const struct event_filter *filter,
                         const redisReply *event)
{
    const size_t level = level_of(reply_text(event, "level"));

    return reply_integer(event, "time_ms") >= filter->since_ms &&
           (level <= filter->level || level == LEVELS);
}

void events_keep(struct rows *events, const struct event_filter *filter)
{
    size_t kept = 0;

    for (size_t i = 0; i < events->count; i++) {
        if (event_passes(filter, events->row[i]))
            events->row[kept++] = events->row[i];
    }
    events->count = kept;
}

static void moment_print(FILE *to, int64_t ms)
{
    const time_t at = (time_t)(ms / 1000);
    struct tm utc;
    char date[32] = "";

    if (gmtime_r(&at, &utc) != NULL)
        (void)strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
    fprintf(to, "%s.%03dZ ", date, (int)(ms % 1000));
}

bool events_print(const struct rows *events, const struct view *view)
{
    for (size_t i = 0; i < events->count; i++) {
        const redisReply *event = events->row[i];
        const char *level = reply_text(event, "level");

        moment_print(view->to, reply_integer(event, "time_ms"));
        color_print(view->to, level, level, view->is_colored);
        fprintf(view->to, " %s\n", reply_text(event, "line"));
    }
    return ferror(view->to) == 0;
}
