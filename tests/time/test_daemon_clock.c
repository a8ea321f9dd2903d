/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A daemon whose machine's clock is stepped hundreds of times, by a ms, by a
 * leap second, over changes to and from summer time, by a year, back to 1970;
 * while it runs, while it is down, after it was killed: no number may come
 * twice, no stamp go back, and none be refused within the limits.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "support/server_redis.h"
#include "support/test.h"
#include "trial.h"

#define HOUR_MS INT64_C(3600000)
#define DAY_MS  (24 * HOUR_MS)
#define YEAR_MS (365 * DAY_MS)

#define YEARS_HELD    21 /* of four instants, six steps each */
#define YEARS_REFUSED 8
#define ROUNDS        28 /* before the eyes of a store with a clock */

static int setup(void **state)
{
    *state = calloc(1, sizeof(struct trial));
    return *state == NULL ? -1 : 0;
}

static int teardown(void **state)
{
    trial_fini(*state);
    free(*state);
    return 0;
}

#define DAEMON_CLOCK FIXTURE(struct trial *trial, setup, teardown)

static void step_by(struct trial *trial, int64_t ms)
{
    trial_step(trial, trial->daemon.offset_ms + ms);
    trial_probe(trial);
}

/* Back farther than is allowed, and forth again. */
static void leap_back(struct trial *trial, int64_t ms)
{
    step_by(trial, -ms);
    step_by(trial, ms);
}

static int64_t how_far_back(int64_t i)
{
    static const int64_t far[] = {3100,        10000,   HOUR_MS,     DAY_MS,
                                  30 * DAY_MS, YEAR_MS, 40 * YEAR_MS};

    return far[(size_t)i % (sizeof far / sizeof far[0])];
}

/* Whether the daemon ends here, in which way, and what its clock does before
 * it starts again. */
static void restart(struct trial *trial, int64_t i)
{
    static const struct {
        int signal;
        bool is_far;
        int64_t by_ms;
    } ways[] = {
        {SIGTERM, false, 0}, {0, false, 0},          {SIGKILL, false, 0},
        {0, false, 0},       {SIGTERM, false, -1},   {SIGKILL, false, 5000},
        {SIGKILL, true, 0},  {SIGKILL, false, -400}, {0, false, 0},
        {SIGTERM, true, 0},  {0, false, 0},
    };
    const size_t way = (size_t)i % (sizeof ways / sizeof ways[0]);

    if (ways[way].signal == 0)
        return;
    trial_stop(trial, ways[way].signal);
    if (ways[way].is_far)
        trial_step(trial, trial->daemon.offset_ms - how_far_back(i));
    else if (ways[way].by_ms != 0)
        trial_step(trial, trial->daemon.offset_ms + ways[way].by_ms);
    trial_start(trial);
    trial_probe(trial);
}

/* Around an instant at which clocks do something. */
static void pass_instant(struct trial *trial, int64_t instant_ms, int64_t i)
{
    trial_step(trial, trial_offset_of(instant_ms - 1500));
    trial_probe(trial);
    step_by(trial, 1700);
    step_by(trial, -1);
    step_by(trial, -1000); /* a leap second */
    restart(trial, i);
    leap_back(trial, how_far_back(i));
    trial_mend(trial);
    trial_probe(trial);
}

/* The last Sunday of a month of 31 days, 01:00 UTC: Europe's clocks change. */
static int64_t change_ms(int year, int month)
{
    struct tm parts = {.tm_year = year - 1900,
                       .tm_mon = month - 1,
                       .tm_mday = 31,
                       .tm_hour = 1};
    const int64_t last_ms = (int64_t)timegm(&parts) * 1000;

    return last_ms - parts.tm_wday * DAY_MS;
}

/* The midnight before which leap seconds are inserted. */
static int64_t midnight_ms(int year, int month)
{
    struct tm parts = {
        .tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = 1};

    return (int64_t)timegm(&parts) * 1000;
}

static int year_now(void)
{
    const time_t now = time(NULL);
    struct tm parts;

    assert_non_null(gmtime_r(&now, &parts));
    return parts.tm_year + 1900;
}

/* Nobody's clock says otherwise: each step ahead is believed. */
static void pass_years(struct trial *trial, int count)
{
    int year = year_now() + 1;

    for (int i = 0; i < count; i++, year += 2) {
        pass_instant(trial, change_ms(year, 3), INT64_C(4) * i);
        pass_instant(trial, midnight_ms(year, 7), INT64_C(4) * i + 1);
        pass_instant(trial, change_ms(year, 10), INT64_C(4) * i + 2);
        pass_instant(trial, midnight_ms(year + 1, 1), INT64_C(4) * i + 3);
        step_by(trial, YEAR_MS);
    }
}

static const char files[] =
    "backends = ( { name = \"a\"; engine = \"sqlite\"; path = \"a.db\"; } );\n"
    "pools = ( { name = \"main\"; partitions = [ \"a\" ];\n"
    "            timeout = \"20s\"; } );";

TEST_WITH(DAEMON_CLOCK, a_clock_that_goes_back_a_little_is_held)
{
    trial_begin(trial, files);
    pass_years(trial, YEARS_HELD);
    trial_end(trial, "hold");
    assert_true(trial->steps >= 500);
    assert_true(trial->held > 0);
    assert_true(trial->refusals > 0);
    assert_true(trial->starts_refused > 0);
    assert_true(trial->starts_refused < trial->starts);
}

TEST_WITH(DAEMON_CLOCK, or_is_refused)
{
    trial->refuses = true;
    trial_begin(trial, files);
    pass_years(trial, YEARS_REFUSED);
    trial_end(trial, "refuse");
    assert_int_equal(trial->held, 0);
    assert_true(trial->refusals > 0);
    assert_true(trial->starts_refused > 0);
}

/* --- before the eyes of a store --- */

static void watched_round(struct trial *trial, int64_t i)
{
    static const int64_t ahead[] = {HOUR_MS, DAY_MS, YEAR_MS, 20000};

    trial_step(trial, ahead[i % 4]);
    trial_probe(trial);
    if (i % 5 == 3) { /* such a start is refused */
        trial_stop(trial, i % 2 == 0 ? SIGTERM : SIGKILL);
        trial_start(trial);
    }
    trial_mend(trial);
    trial_probe(trial);
    step_by(trial, -1);
    step_by(trial, -700);
    leap_back(trial, how_far_back(i));
    restart(trial, i);
    trial_mend(trial);
    trial_probe(trial);
}

TEST_WITH(DAEMON_CLOCK, nor_does_a_clock_lead_far_ahead_of_the_stores)
{
    struct server *redis = NULL;
    char stores[512];

    server_require("redis-server");
    redis = server_redis(NULL);
    snprintf(stores, sizeof stores,
             "backends = ( { name = \"a\"; engine = \"sqlite\";\n"
             "               path = \"a.db\"; },\n"
             "             { name = \"r\"; engine = \"redis\";\n"
             "               port = %" PRId32 "; } );\n"
             "pools = ( { name = \"main\"; partitions = [ \"r\" ];\n"
             "            authority = \"a\"; timeout = \"20s\";\n"
             "            window_bits = 10; } );",
             server_port(redis));
    trial->is_witnessed = true;
    trial_begin(trial, stores);
    for (int64_t i = 0; i < ROUNDS; i++)
        watched_round(trial, i);
    trial_end(trial, "watched");
    assert_true(trial->unbelieved > 0);
    assert_true(trial->refusals > 0);
    assert_true(trial->starts_refused > 0);
    server_free(redis);
}
