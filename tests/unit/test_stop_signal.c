/* SPDX-License-Identifier: Apache-2.0 */
/* A signal that asks for a stop while the broker opens: the stop begins with
 * it. */
#include <signal.h>
#include <stdatomic.h>

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
