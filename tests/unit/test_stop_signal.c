/* SPDX-License-Identifier: Apache-2.0 */
/* A signal that asks for a stop while the broker opens: the stop begins with
 * it. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "daemon/signals.h"
#include "support/test.h"

static volatile sig_atomic_t passed_on;

static void on_term(int number)
{
    (void)number;
    passed_on++;
}

TEST(signal_while_the_broker_opens_is_timed_and_passed_on)
{
    const int64_t begin_ms = daemon_now_ms();

    signal(SIGTERM, on_term);
    assert_int_equal(signals_asked_ms(), 0);
    signals_begin_opening(3600000);
    raise(SIGTERM);
    assert_int_equal(passed_on, 0);
    assert_in_range(signals_asked_ms(), begin_ms, daemon_now_ms());
    signals_end_opening();
    assert_int_equal(passed_on, 1);
}

TEST(stop_is_counted_from_the_signal)
{
    static const struct {
        int64_t asked_ms, delay_ms, now_ms;
        struct stop stop;
    } rows[] = {
        {0, 0, 9000, {9000, 4000}},
        {7000, 0, 9000, {7000, 2000}},
        {3000, 0, 9000, {3000, 1}},       /* its time is over: at once */
        {7000, 1000, 9000, {9000, 4000}}, /* it has served since */
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct stop_times times = {.delay_ms = rows[i].delay_ms,
                                         .timeout_ms = 4000};
        const struct stop stop =
            stop_begin(&times, rows[i].asked_ms, rows[i].now_ms);

        assert_int_equal(stop.begun_ms, rows[i].stop.begun_ms);
        assert_int_equal(stop.left_ms, rows[i].stop.left_ms);
    }
}

/* 1,700 ms of the time after the clients' are what a broker needs for its
 * spool. */
TEST(stop_leaves_half_a_second_of_six_and_the_spool_its_time)
{
    static const struct stop_times usual = {.timeout_ms = STOP_TIMEOUT_MS};
    static const struct {
        int64_t now_ms;
        struct stop_rest rest;
    } rows[] = {
        {7000, {5300, 4000, 5500}},
        {10500, {1800, 1700, 2000}}, /* clients took all of their time */
        {12400, {-100, -200, 100}},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct stop_rest rest = stop_rest(&usual, 7000, rows[i].now_ms);

        assert_int_equal(rest.close_ms, rows[i].rest.close_ms);
        assert_int_equal(rest.keep_ms, rows[i].rest.keep_ms);
        assert_int_equal(rest.finish_ms, rows[i].rest.finish_ms);
    }
}

/* All is kept by then; only who receives alarms or reads the log is late. */
TEST(end_after_the_close_is_no_failure)
{
    const pid_t pid = fork();
    int status = EXIT_FAILURE;

    if (pid == 0) {
        signals_finish_within(1);
        for (;;)
            (void)pause();
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, EXIT_SUCCESS);
}
