/* SPDX-License-Identifier: Apache-2.0 */
/* Whether clocks leapt apart, by scripted readings. */

#include "period/resume.h"
#include "support/test.h"

#define NOON   INT64_C(1795262400000)
#define HOUR   INT64_C(3600000)
#define WITHIN RESUME_APART_MS

/* Later by `passed_ms`, of which the last `rest_ms` passed while it was read;
 * the date was set forward by `set_ms`. */
struct step {
    int64_t passed_ms;
    int64_t rest_ms;
    int64_t set_ms;
};

struct machine {
    struct resume resume;
    int64_t boot_ms;
    int64_t wall_ms;
};

static void begin(struct machine *machine)
{
    *machine = (struct machine){.boot_ms = HOUR, .wall_ms = NOON};
    resume_init(&machine->resume, &(struct clock_pair){HOUR, NOON, HOUR});
}

static bool leaps(struct machine *machine, struct step step, int64_t *apart_ms)
{
    struct clock_pair pair;

    machine->boot_ms += step.passed_ms;
    machine->wall_ms += step.passed_ms + step.set_ms;
    pair = (struct clock_pair){machine->boot_ms - step.rest_ms,
                               machine->wall_ms, machine->boot_ms};
    return resume_read(&machine->resume, &pair, apart_ms);
}

static const struct row {
    const char *name;
    struct step steps[4];
    int64_t apart_ms[4]; /* 0: no leap is seen */
} rows[] = {
    {"time passes, and a machine sleeps",
     {{1, 0, 0}, {1000, 0, 0}, {2000 * HOUR, 0, 0}, {1, 0, 0}},
     {0}},
    {"a thread rests between the readings",
     {{5000, 5000, 0}, {HOUR, HOUR - 1, 0}, {1, 0, 0}, {9000, 9000, 0}},
     {0}},
    {"an image that is younger than the bound, and a leap second",
     {{1, 0, WITHIN}, {1, 0, -1000}, {1, 0, 0}, {1, 0, 0}},
     {0}},
    {"an image is resumed, once",
     {{1, 0, WITHIN + 1}, {1000, 0, 0}, {1000, 0, 0}, {1, 0, 0}},
     {WITHIN + 1}},
    {"an image is resumed twice",
     {{1, 0, HOUR}, {1, 0, 0}, {1, 0, 10 * HOUR}, {1, 0, 0}},
     {HOUR, 0, 10 * HOUR, 0}},
    {"small steps add up",
     {{1, 0, 900}, {1, 0, 900}, {1, 0, 900}, {1, 0, 900}},
     {0, 0, 2700, 0}},
    {"the date is set back, and right again",
     {{1, 0, -HOUR}, {1, 0, 0}, {1, 0, HOUR}, {1, 0, 0}},
     {-HOUR, 0, HOUR, 0}},
    {"an image is resumed while the thread rests",
     {{5000, 1000, HOUR}, {1, 0, 0}, {1, 0, 0}, {1, 0, 0}},
     {HOUR, 0, 0, 0}},
};

static void run_row(const struct row *row)
{
    struct machine machine;

    begin(&machine);
    for (int i = 0; i < 4; i++) {
        const int64_t expected_ms = row->apart_ms[i];
        int64_t apart_ms;
        const bool is_leap = leaps(&machine, row->steps[i], &apart_ms);

        if (is_leap != (expected_ms != 0) ||
            (is_leap && apart_ms != expected_ms))
            fail_msg("%s: step %d: %d, %lld ms apart", row->name, i, is_leap,
                     (long long)apart_ms);
    }
}

TEST(clocks_that_leap_apart_are_noticed)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        run_row(&rows[i]);
}
