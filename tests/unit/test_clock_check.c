/* SPDX-License-Identifier: Apache-2.0 */
/* With which clock a broker starts: to the ms, and what it says of any other.
 * That a start asks is in test_clock_file.c and test_store_clocks.c. */
#include "queue/guarded_clock/check.h"
#include "support/test.h"

#define NOW_MS  INT64_C(1790000000000)
#define HOUR_MS INT64_C(3600000)

static struct guard_reading at(int64_t wall_ms)
{
    return (struct guard_reading){.wall_ms = wall_ms, .boot_ms = 5};
}

static void expect_refused(enum seqb_status status,
                           const struct seqb_error *err, const char *text)
{
    assert_int_equal(status, SEQB_CLOCK);
    assert_string_equal(err->text, text);
}

TEST(clock_is_set_from_2020_on)
{
    struct seqb_error err;

    assert_ok(clock_check_set(at(GUARD_SANE_MS), NULL));
    expect_refused(clock_check_set(at(GUARD_SANE_MS - 1), &err), &err,
                   "the machine's clock says 2019-12-31T23:59:59Z: it is "
                   "not set; set it, then start again");
}

TEST(clock_may_be_ahead_of_the_stores_by_max_ahead)
{
    const struct guard guard = {.rules.max_ahead_ms = HOUR_MS,
                                .is_witnessed = true,
                                .witness = at(NOW_MS)};
    struct seqb_error err;

    assert_ok(clock_check_ahead(&guard, at(NOW_MS + HOUR_MS), NULL));
    expect_refused(
        clock_check_ahead(&guard, at(NOW_MS + 2 * HOUR_MS), &err), &err,
        "the machine's clock is 2 h ahead of the stores' clocks, more than "
        "max_ahead (1 h): set it; if it is right and a store's is not, set "
        "that one");
}

TEST(clock_may_be_behind_the_last_stamp_by_max_rollback)
{
    const struct guard guard = {.rules.max_rollback_ms = HOUR_MS,
                                .issued_ms = NOW_MS};
    const struct queue_clock_options options = {.broker = "orders",
                                                .path = "/clock"};
    const struct guard_reading now = at(NOW_MS - 2 * HOUR_MS);
    struct seqb_error err;

    assert_ok(clock_check_behind(&guard, &options, false, at(NOW_MS - HOUR_MS),
                                 NULL));
    expect_refused(
        clock_check_behind(&guard, &options, false, now, &err), &err,
        "the machine's clock is 2 h behind the last stamp of broker orders, "
        "more than max_rollback (1 h): set the clock; that stamp began at "
        "2026-09-21T14:13:20Z by what /clock keeps; if that is wrong, stop "
        "all brokers of this name, then remove the file");
    expect_refused(
        clock_check_behind(&guard, &options, true, now, &err), &err,
        "the machine's clock is 2 h behind the last stamp of broker orders, "
        "more than max_rollback (1 h): set the clock; that stamp began at "
        "2026-09-21T14:13:20Z by what the store of clock_store keeps; if "
        "that is wrong, give the broker another name, since it is never "
        "lowered");
}
