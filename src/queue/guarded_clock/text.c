/* SPDX-License-Identifier: Apache-2.0 */
/* Only the words: the guard decides what is wrong. */
#include "queue/guarded_clock/text.h"

#include <inttypes.h>
#include <time.h>

#include "platform/log.h"
#include "platform/text.h"

static const struct unit {
    const char *name;
    int64_t ms;
} units[] = {
    {"d", INT64_C(86400000)},
    {"h", 3600000},
    {"min", 60000},
    {"s", 1000},
    {"ms", 1},
};

#define UNITS (sizeof units / sizeof units[0])

void clock_span_text(int64_t ms, char *out, size_t size)
{
    size_t i = 0;

    while (i + 1 < UNITS && ms < units[i].ms)
        i++;
    (void)text_format(out, size, "%" PRId64 " %s", ms / units[i].ms,
                      units[i].name);
    ms %= units[i].ms;
    if (i + 1 < UNITS && ms >= units[i + 1].ms)
        (void)text_append(out, size, " %" PRId64 " %s", ms / units[i + 1].ms,
                          units[i + 1].name);
}

void clock_date_text(int64_t ms, char *out, size_t size)
{
    const time_t seconds = (time_t)(ms / 1000);
    struct tm tm = {.tm_year = 0};

    (void)gmtime_r(&seconds, &tm); /* any ms is of a year that it knows */
    (void)strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* Adds that the clock is ahead of the stores and not believed, if it is. */
static void ahead_append(const struct clock_view *view, char *out, size_t size)
{
    char span[CLOCK_WORD_SIZE];

    if (view->guard.ahead_ms == 0)
        return;
    clock_span_text(guard_ahead(&view->guard, view->now), span, sizeof span);
    (void)text_append(out, size,
                      "the machine's clock is %s ahead of the stores' clocks "
                      "and not believed; ",
                      span);
}

void clock_explain(const struct clock_view *view, char *out, size_t size)
{
    const struct guard *guard = &view->guard;
    char span[CLOCK_WORD_SIZE];
    char date[CLOCK_WORD_SIZE];

    out[0] = '\0';
    if (view->now.wall_ms < GUARD_SANE_MS) {
        clock_date_text(view->now.wall_ms, date, sizeof date);
        (void)text_format(out, size,
                          "the machine's clock says %s: it is not set; set it",
                          date);
        return;
    }
    ahead_append(view, out, size);
    if (guard->behind_ms == 0)
        return;
    clock_span_text(guard->behind_ms, span, sizeof span);
    clock_date_text(guard->issued_ms, date, sizeof date);
    (void)text_append(out, size,
                      "the clock is %s behind the last stamp, which began at "
                      "%s; set the clock, or wait",
                      span, date);
}

struct clock_state clock_state_of(const struct clock_view *view)
{
    return (struct clock_state){
        .is_set = view->now.wall_ms >= GUARD_SANE_MS,
        .is_behind = view->guard.behind_ms > 0,
        .is_ahead = view->guard.ahead_ms > 0,
        .verdict = view->verdict,
    };
}

bool clock_state_is(const struct clock_state *a, const struct clock_state *b)
{
    return a->is_set == b->is_set && a->is_behind == b->is_behind &&
           a->is_ahead == b->is_ahead && a->verdict == b->verdict;
}

void clock_state_log(const struct clock_view *view)
{
    static const char *const verdicts[] = {"goes", "holds", "waits", "refuses"};
    const struct clock_state state = clock_state_of(view);

    if (!state.is_set)
        log_line(SEQB_LOG_WARN, "event=clock_unset wall_ms=%" PRId64,
                 view->now.wall_ms);
    else if (state.is_behind)
        log_line(SEQB_LOG_WARN,
                 "event=clock_back behind_ms=%" PRId64 " answer=%s",
                 view->guard.behind_ms, verdicts[view->verdict]);
    if (state.is_ahead)
        log_line(SEQB_LOG_WARN, "event=clock_ahead ahead_ms=%" PRId64,
                 view->guard.ahead_ms);
    if (state.is_set && !state.is_behind && !state.is_ahead)
        log_line(SEQB_LOG_INFO, "event=clock_ok");
}
