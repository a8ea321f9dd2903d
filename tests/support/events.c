/* SPDX-License-Identifier: Apache-2.0 */
/* A logger that remembers; the only one, since the library has but one. */
#include "support/events.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <seqbroker/seqbroker.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "support/logfmt.h"
#include "support/test.h"

#define PATIENCE_MS 30000 /* what is waited for comes, or it never will */
#define LINES_MAX   4096
#define LINE_SIZE   512

static struct {
    pthread_mutex_t lock; /* guards the rest */
    size_t count;
    char lines[LINES_MAX][LINE_SIZE];
} events = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Any thread: a line that a parser cannot read ends the program, since only
 * the test's own thread may fail it. */
static void check(const char *line)
{
    const char *why = logfmt_complaint(line);

    if (why == NULL)
        return;
    (void)fprintf(stderr, "no logfmt, %s: %s\n", why, line);
    abort();
}

/* What comes after LINES_MAX lines is dropped: no test waits for so many. */
static void keep(void *context, enum seqb_log_level level, const char *line)
{
    static const char *const levels[] = {"error", "warn", "info", "debug"};

    (void)context;
    check(line);
    pthread_mutex_lock(&events.lock);
    if (events.count < LINES_MAX)
        (void)text_format(events.lines[events.count++], LINE_SIZE, "%s %s",
                          levels[level], line);
    pthread_mutex_unlock(&events.lock);
}

void events_start(void)
{
    pthread_mutex_lock(&events.lock);
    events.count = 0;
    pthread_mutex_unlock(&events.lock);
    seqb_set_logger(keep, NULL);
}

void events_stop(void)
{
    seqb_set_logger(NULL, NULL);
}

size_t events_count(const char *a, const char *b)
{
    size_t count = 0;

    pthread_mutex_lock(&events.lock);
    for (size_t i = 0; i < events.count; i++)
        count += strstr(events.lines[i], a) != NULL &&
                 strstr(events.lines[i], b) != NULL;
    pthread_mutex_unlock(&events.lock);
    return count;
}

void events_print(void)
{
    pthread_mutex_lock(&events.lock);
    for (size_t i = 0; i < events.count; i++)
        print_message("    %s\n", events.lines[i]);
    pthread_mutex_unlock(&events.lock);
}

static void events_await_many(const char *a, const char *b, size_t count)
{
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;

    while (events_count(a, b) < count) {
        if (clock_now_ms() > until_ms)
            fail_msg("'%s' '%s' was told %zu times, not %zu", a, b,
                     events_count(a, b), count);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

void events_expect(const char *a, const char *b, size_t count)
{
    events_await_many(a, b, count);
    if (events_count(a, b) != count)
        events_print();
    assert_int_equal(events_count(a, b), count);
}

void events_await(const char *a, const char *b)
{
    events_await_many(a, b, 1);
}
