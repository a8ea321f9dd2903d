/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of states in docs/alarms.md against src/daemon/alarm/subject.c, and
 * against the events of docs/operations.md. To be run in the top folder of the
 * sources.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/alarm/subject.h"
#include "platform/file.h"
#include "platform/text.h"
#include "support/test.h"

#define HEADING  "| subject | begins | ends |"
#define FILE_MAX ((size_t)1 << 20)

enum { WORD_SIZE = 64 };

static char *page_text(const char *path)
{
    struct seqb_error err;
    char *text;

    assert_done(file_read(path, FILE_MAX, &text, &err), err);
    return text;
}

/* Moves `at` behind the next word in backquotes before `end`. */
static bool word_next(const char **at, const char *end, char out[WORD_SIZE])
{
    const char *begin = memchr(*at, '`', (size_t)(end - *at));
    const char *behind;

    if (begin == NULL)
        return false;
    behind = strchr(begin + 1, '`');
    assert_true(text_format(out, WORD_SIZE, "%.*s", (int)(behind - begin - 1),
                            begin + 1));
    *at = behind + 1;
    return true;
}

static void assert_event(const char *event, const char *state, bool ends,
                         const char *events)
{
    struct alarm_subject subject;
    char line[2 * WORD_SIZE];

    assert_true(text_format(line, sizeof line, "event=%s", event));
    assert_true(alarm_subject_find(line, &subject));
    assert_int_not_equal(subject.kind, ALARM_OF_ONCE);
    assert_int_equal(subject.ends, ends);
    assert_string_equal(subject.name, state);
    assert_true(text_format(line, sizeof line, "\n| `%s` |", event));
    if (strstr(events, line) == NULL)
        fail_msg("%s is no event of docs/operations.md", event);
}

/* A row: its state, what begins it, what ends it. How many events it has. */
static size_t assert_row(const char *row, const char *events)
{
    const char *begins = strchr(row + 1, '|');
    const char *ends = strchr(begins + 1, '|');
    const char *end = strchr(ends, '\n');
    const char *at = row;
    char state[WORD_SIZE];
    char event[WORD_SIZE];
    size_t count = 0;

    assert_true(word_next(&at, begins, state));
    for (; word_next(&at, end, event); count++)
        assert_event(event, state, at > ends, events);
    return count;
}

TEST(states_are_those_of_the_page)
{
    char *page = page_text("docs/alarms.md");
    char *events = page_text("docs/operations.md");
    const char *row = strstr(page, HEADING);
    size_t count = 0;

    assert_non_null(row);
    row = strchr(strchr(row, '\n') + 1, '\n') + 1; /* |---| follows it */
    for (; *row == '|'; row = strchr(row, '\n') + 1)
        count += assert_row(row, events);
    assert_int_equal(count, ALARM_STATE_EVENTS);
    free(page);
    free(events);
}
