/* SPDX-License-Identifier: Apache-2.0 */
/* Alarms to a webhook: src/daemon/alarm/webhook_curl.c and channel.c. TLS is in
 * tests/cli/test_alarm.sh. */
#include <stdio.h>
#include <string.h>

#include "alarm_fixture.h"
#include "daemon/log/log.h"
#include "support/alarm_sink.h"
#include "support/test.h"

#define ALARMS                                                                 \
    FIXTURE(struct alarm_fixture *fixture, alarm_setup, alarm_teardown)

/* Begins with a webhook to it. */
static struct sink *begin_with_sink(struct alarm_fixture *fixture)
{
    struct sink *sink = sink_open(&(struct sink_options){.answer = "well"});
    char url[64];

    assert_non_null(sink);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/hook?token=secret",
             sink_port(sink));
    assert_true(alarm_settings_take(&fixture->settings, "webhook", url));
    alarm_begin(fixture);
    return sink;
}

static void end_with_sink(struct alarm_fixture *fixture, struct sink *sink)
{
    alarm_end(fixture);
    sink_close(sink);
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no %s in %s", part, text);
}

TEST_WITH(ALARMS, webhook_gets_begin_and_end)
{
    struct sink *sink = begin_with_sink(fixture);

    log_event(SEQB_LOG_WARN, "event=quarantined pool=main partition=1");
    assert_has(sink_wait(sink, 1),
               "{\"state\":\"firing\",\"event\":\"quarantined\"");
    log_event(SEQB_LOG_INFO, "event=up pool=main partition=1");
    assert_has(sink_wait(sink, 2),
               "{\"state\":\"resolved\",\"event\":\"quarantined\"");
    end_with_sink(fixture, sink);
    assert_int_equal(alarm_logged(), 0);
}

TEST_WITH(ALARMS, webhook_is_told_who_posts)
{
    struct sink *sink = begin_with_sink(fixture);

    log_event(SEQB_LOG_WARN, "event=cold");
    assert_has(sink_wait_request(sink, 1),
               "\r\nUser-Agent: seqbroker/" SEQB_VERSION "\r\n");
    end_with_sink(fixture, sink);
}

/* Then the message waits until the server is well, if nothing else comes. */
TEST_WITH(ALARMS, server_that_comes_back_is_sent_what_was_lost)
{
    struct sink *sink;

    fixture->limits.rest_ms = 1;
    sink = begin_with_sink(fixture);
    sink_answer(sink, 404);
    log_event(SEQB_LOG_WARN, "event=cold");
    assert_has(alarm_wait_logged(1), "reason=\"HTTP status 404\"");
    sink_answer(sink, 200);
    assert_string_equal(alarm_wait_logged(2),
                        "event=alarm_delivered target=webhook");
    end_with_sink(fixture, sink);
}

TEST_WITH(ALARMS, server_that_fails_is_asked_again)
{
    struct sink *sink = begin_with_sink(fixture);

    sink_answer(sink, 500);
    log_event(SEQB_LOG_WARN, "event=cold");
    assert_string_equal(alarm_wait_logged(1),
                        "event=alarm_failed target=webhook "
                        "reason=\"HTTP status 500\"");
    assert_int_equal(sink_count(sink), ALARM_ATTEMPTS);
    sink_answer(sink, 204);
    sink_answer_once(sink, 503);
    log_event(SEQB_LOG_WARN, "event=dropped");
    assert_string_equal(alarm_wait_logged(2),
                        "event=alarm_delivered target=webhook");
    assert_int_equal(sink_count(sink), ALARM_ATTEMPTS + 2);
    assert_has(sink_wait(sink, ALARM_ATTEMPTS + 2), "\"event\":\"dropped\"");
    end_with_sink(fixture, sink);
}

TEST_WITH(ALARMS, server_that_refuses_is_not)
{
    struct sink *sink = begin_with_sink(fixture);

    sink_answer(sink, 404);
    log_event(SEQB_LOG_WARN, "event=cold");
    assert_has(alarm_wait_logged(1), "reason=\"HTTP status 404\"");
    end_with_sink(fixture, sink);
}

TEST_WITH(ALARMS, redirect_is_not_followed)
{
    struct sink *sink = begin_with_sink(fixture);

    sink_answer(sink, 307);
    log_event(SEQB_LOG_WARN, "event=cold");
    assert_has(alarm_wait_logged(1), "reason=\"HTTP status 307\"");
    assert_int_equal(sink_count(sink), 1);
    end_with_sink(fixture, sink);
}

TEST_WITH(ALARMS, server_that_hangs_is_given_up)
{
    struct sink *sink;

    fixture->limits.send_ms = 20;
    fixture->limits.grace_ms = 1;
    sink = begin_with_sink(fixture);
    sink_answer(sink, SINK_HANG);
    log_event(SEQB_LOG_WARN, "event=cold");
    assert_has(alarm_wait_logged(1), "event=alarm_failed target=webhook");
    end_with_sink(fixture, sink);
}

TEST_WITH(ALARMS, stop_does_not_wait_for_a_server_that_hangs)
{
    struct sink *sink;

    fixture->limits.grace_ms = 1;
    sink = begin_with_sink(fixture);
    sink_answer(sink, SINK_HANG);
    log_event(SEQB_LOG_WARN, "event=cold");
    (void)sink_wait(sink, 1);
    alarm_end(fixture);
    assert_has(alarm_wait_logged(1), "since the daemon stops");
    sink_close(sink);
}

/* Nor does the log tell where to. */
TEST_WITH(ALARMS, server_that_is_not_there_is_logged_once)
{
    struct sink *sink = begin_with_sink(fixture);

    sink_close(sink);
    log_event(SEQB_LOG_WARN, "event=cold");
    assert_has(alarm_wait_logged(1), "event=alarm_failed target=webhook");
    log_event(SEQB_LOG_WARN, "event=dropped");
    alarm_end(fixture);
    assert_int_equal(alarm_logged(), 1);
    assert_null(strstr(alarm_wait_logged(1), "secret"));
}

TEST_WITH(ALARMS, target_that_hangs_does_not_delay_the_other)
{
    struct sink *sink;

    fixture->limits.grace_ms = 1;
    assert_true(
        alarm_settings_take(&fixture->settings, "on_event", "/bin/false"));
    sink = begin_with_sink(fixture);
    sink_answer(sink, SINK_HANG);
    log_event(SEQB_LOG_WARN, "event=cold");
    (void)sink_wait(sink, 1);
    assert_has(alarm_wait_logged(1), "target=on_event");
    end_with_sink(fixture, sink);
}

TEST_WITH(ALARMS, what_is_no_url_is_refused)
{
    static const char *const urls[] = {"hooks.example.com",  "ftp://a/b",
                                       "file:///etc/passwd", "https://",
                                       "https://a b",        "https://[::1"};
    struct seqb_error err;

    for (size_t i = 0; i < COUNT_OF(urls); i++) {
        assert_true(
            alarm_settings_take(&fixture->settings, "webhook", urls[i]));
        assert_status(alarm_settings_check(&fixture->settings, NULL, &err),
                      SEQB_INVALID);
        assert_has(err.text, "daemon.webhook wants a URL");
    }
    assert_true(
        alarm_settings_take(&fixture->settings, "webhook", "https://a/"));
    assert_true(alarm_settings_take(&fixture->settings, "webhook_ca_file",
                                    "/no/such/file"));
    assert_status(alarm_settings_check(&fixture->settings, NULL, &err),
                  SEQB_INVALID);
    assert_has(err.text, "daemon.webhook_ca_file");
}
