/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON of an alarm: src/daemon/alarm/message.c. */
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "daemon/alarm/message.h"
#include "support/test.h"

static char *json_of(enum alarm_kind kind, const char *line)
{
    const struct alarm_sender sender = {"shop", "db \"1\""};
    struct alarm_message message = {.kind = kind,
                                    .subject = "partition pool=main",
                                    .event = "quarantined",
                                    .level = SEQB_LOG_WARN,
                                    .since_ms = INT64_C(1795255200123),
                                    .time_ms = INT64_C(1795255201000),
                                    .left_out = 3};
    char *text;

    snprintf(message.line, sizeof message.line, "%s", line);
    text = alarm_message_json(&message, &sender);
    assert_non_null(text);
    return text;
}

static void assert_json(enum alarm_kind kind, const char *line,
                        const char *expected)
{
    char *text = json_of(kind, line);

    assert_string_equal(text, expected);
    free(text);
}

#define HEAD                                                                   \
    "\"event\":\"quarantined\",\"level\":\"warn\","                            \
    "\"time\":\"2026-11-21T10:00:01.000Z\","                                   \
    "\"since\":\"2026-11-21T10:00:00.123Z\",\"broker\":\"shop\","              \
    "\"host\":\"db \\\"1\\\"\",\"subject\":\"partition pool=main\","           \
    "\"left_out\":3,"

TEST(message_has_the_words_of_the_line_as_fields)
{
    assert_json(ALARM_FIRING,
                "event=quarantined was=up pool=main reason=\"a \\\"b\\\"\"",
                "{\"state\":\"firing\"," HEAD
                "\"fields\":{\"was\":\"up\",\"pool\":\"main\","
                "\"reason\":\"a \\\"b\\\"\"}}");
    assert_json(ALARM_REMINDER, "event=quarantined pool=main",
                "{\"state\":\"reminder\"," HEAD
                "\"fields\":{\"pool\":\"main\"}}");
}

TEST(end_names_the_event_that_it_is)
{
    assert_json(ALARM_RESOLVED, "event=up pool=main",
                "{\"state\":\"resolved\"," HEAD
                "\"ended_by\":\"up\",\"fields\":{\"pool\":\"main\"}}");
}

/* A line that was cut, within a quoted value or within a character. */
TEST(line_that_was_cut_is_json_still)
{
    static const char *const lines[] = {
        "event=quarantined reason=\"a b", "event=quarantined reason=\"a\xc3",
        "event=quarantined reason=\"a\\", "event=quarantined reas",
        "event=quarantined"};

    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        char *text = json_of(ALARM_FIRING, lines[i]);
        json_t *object = json_loads(text, 0, NULL);

        assert_non_null(object);
        assert_true(json_is_object(json_object_get(object, "fields")));
        json_decref(object);
        free(text);
    }
}
