/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's lines: in each format, and those that are kept. How the whole
 * log reads is in tests/cli/test_log.sh. */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/log/log.h"
#include "daemon/log/log_line.h"
#include "daemon/log/log_tally.h"
#include "platform/text.h"
#include "support/logfmt.h"
#include "support/test.h"

#define DATE    "2026-11-21T10:00:00.123Z"
#define DATE_MS INT64_C(1795255200123)

static char *line_of(char *line, enum log_format format, bool is_journal)
{
    const struct log_entry entry = {
        .time_ms = DATE_MS, .level = SEQB_LOG_WARN, .line = line};

    return log_line_make(&entry, format, is_journal);
}

TEST(line_has_its_date_or_its_priority)
{
    static const struct {
        enum log_format format;
        bool is_journal;
        const char *line;
    } cases[] = {
        {LOG_LOGFMT, false, DATE " warn event=up pool=main\n"},
        {LOG_LOGFMT, true, "<4>warn event=up pool=main\n"},
        {LOG_JSON, false,
         "{\"ts\":\"" DATE "\",\"level\":\"warn\",\"event\":\"up\","
         "\"pool\":\"main\"}\n"},
        {LOG_JSON, true,
         "<4>{\"level\":\"warn\",\"event\":\"up\",\"pool\":\"main\"}\n"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[] = "event=up pool=main";
        char *line = line_of(words, cases[i].format, cases[i].is_journal);

        assert_string_equal(line, cases[i].line);
        free(line);
    }
}

/* Of a line that was cut, too. */
TEST(json_has_the_values_themselves)
{
    static const struct {
        const char *line;
        const char *value;
    } cases[] = {
        {"event=up reason=\"\"", ""},
        {"event=up reason=\"a = \\\"b\\\" \\\\ c\"", "a = \"b\" \\ c"},
        {"event=up reason=\"\\n\\u001b\\ufffd\"", "\n\x1b\xef\xbf\xbd"},
        {"event=up reason=\"\xc3\xa9\"", "\xc3\xa9"},
        {"event=up reason=\"\\u009b\"", "\xc2\x9b"},
        {"event=up reason=bare/word-1", "bare/word-1"},
        {"event=up reason=\"cut", "\"cut"},
        {"event=up reason=\"cut\\", "\"cut\\"},
        {"event=up reason=", ""},
        {"event=up reason", ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[128];
        char *line;
        json_t *object;

        (void)text_copy(words, sizeof words, cases[i].line);
        line = line_of(words, LOG_JSON, false);
        assert_non_null(line);
        assert_null(strstr(line, "\xc2"));
        object = json_loads(line, 0, NULL);
        assert_int_equal(json_object_size(object), 4);
        assert_string_equal(
            json_string_value(json_object_get(object, "reason")),
            cases[i].value);
        json_decref(object);
        free(line);
    }
}

TEST(value_is_quoted_where_it_has_to_be_and_cut_where_it_does_not_fit)
{
    static const struct {
        const char *value;
        const char *written;
    } cases[] = {
        {"/run/s.sock", "/run/s.sock"},
        {"", "\"\""},
        {"/my data", "\"/my data\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"\xc3\xa9", "\"\xc3\xa9\""},
        {"\xe9 x", "\"? x\""},
        {"1234567890123456789", "1234567890123456789"},
        {"12345678901234567890", "\"12345678901234...\""},
        {"1 345678901234567", "\"1 345678901234567\""},
        {"1 345678901234567890", "\"1 345678901234...\""},
        {"1 34567890123\"678901", "\"1 34567890123...\""},
        {"1 34567890123\xc3\xa9"
         "678901",
         "\"1 34567890123...\""},
        {"1 3456789\x1b"
         "12345678901",
         "\"1 3456789...\""},
        {"\xe9 345678901234567890", "\"? 345678901234...\""},
        {"\xc2\x9b"
         "1m",
         "\"\\u009b1m\""},
        {"a\x7f", "\"a\\u007f\""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char written[20];

        assert_ptr_equal(log_quote(written, sizeof written, cases[i].value),
                         written);
        assert_string_equal(written, cases[i].written);
    }
}

struct kept {
    size_t count;
    long first;
    long last;
};

static void kept_check(struct kept *kept, const struct log_entry *entry)
{
    long i = -1;

    assert_null(logfmt_complaint(entry->line));
    assert_int_equal(sscanf(entry->line, "event=test i=%ld", &i), 1);
    assert_int_equal(entry->level, i % 2 == 0 ? SEQB_LOG_DEBUG : SEQB_LOG_INFO);
    assert_true(entry->time_ms > DATE_MS / 2);
    assert_true(kept->count == 0 || i == kept->last + 1);
    kept->first = kept->count++ == 0 ? i : kept->first;
    kept->last = i;
}

static struct kept kept_read(void)
{
    struct kept kept = {.count = 0};
    struct log_entry entry;
    uint64_t at = 0;

    while (log_read(&at, SEQB_LOG_DEBUG, &entry)) {
        kept_check(&kept, &entry);
        free(entry.line);
    }
    return kept;
}

/* Also those that are not written. */
TEST(the_last_thousand_lines_are_kept)
{
    const struct log_options quiet = {LOG_LOGFMT, SEQB_LOG_ERROR};
    struct kept kept;

    log_open(&quiet);
    assert_int_equal(kept_read().count, 0);
    for (long i = 0; i < 3; i++)
        log_event(i % 2 == 0 ? SEQB_LOG_DEBUG : SEQB_LOG_INFO,
                  "event=test i=%ld", i);
    assert_int_equal(kept_read().count, 3);
    for (long i = 3; i < LOG_KEPT + 5; i++)
        log_event(i % 2 == 0 ? SEQB_LOG_DEBUG : SEQB_LOG_INFO,
                  "event=test i=%ld", i);
    kept = kept_read();
    assert_int_equal(kept.count, LOG_KEPT);
    assert_int_equal(kept.first, 5);
    assert_int_equal(kept.last, LOG_KEPT + 4);
}

TEST(the_last_line_with_certain_words_is_found)
{
    const struct log_options quiet = {LOG_LOGFMT, SEQB_LOG_ERROR};
    struct log_entry entry;

    log_open(&quiet);
    log_event(SEQB_LOG_WARN, "event=test pool=a i=1");
    log_event(SEQB_LOG_WARN, "event=test pool=a i=2");
    log_event(SEQB_LOG_INFO, "event=test pool=a i=3");
    log_event(SEQB_LOG_WARN, "event=test pool=b i=4");
    assert_true(log_find_last(" pool=a ", SEQB_LOG_WARN, &entry));
    assert_string_equal(entry.line, "event=test pool=a i=2");
    free(entry.line);
    assert_false(log_find_last(" pool=c ", SEQB_LOG_WARN, &entry));
}

/* One behind the other, those that are kept. */
TEST(lines_are_read_by_their_number)
{
    const struct log_options quiet = {LOG_LOGFMT, SEQB_LOG_ERROR};
    struct log_entry entry;
    uint64_t oldest = 0;
    uint64_t newest = 0;
    uint64_t at = 0;

    log_open(&quiet);
    for (int i = 0; i < LOG_KEPT - 2; i++)
        log_event(SEQB_LOG_DEBUG, "event=test");
    log_event(SEQB_LOG_WARN, "event=one");
    log_event(SEQB_LOG_DEBUG, "event=two");
    log_span(&oldest, &newest);
    assert_int_equal(newest - oldest, LOG_KEPT - 1);
    assert_true(log_read(&at, SEQB_LOG_INFO, &entry));
    assert_string_equal(entry.line, "event=one");
    assert_int_equal(entry.number, newest - 1);
    assert_int_equal(at, newest - 1);
    free(entry.line);
    assert_false(log_read(&at, SEQB_LOG_INFO, &entry));
    assert_int_equal(at, newest);
    at = newest - 1;
    assert_true(log_read(&at, SEQB_LOG_DEBUG, &entry));
    assert_string_equal(entry.line, "event=two");
    free(entry.line);
    at = 0;
    assert_true(log_read(&at, SEQB_LOG_DEBUG, &entry));
    assert_int_equal(entry.number, oldest);
    free(entry.line);
}

struct seen {
    size_t count;
    uint64_t number; /* of the last */
};

static void seen_add(void *context, const struct log_entry *entry)
{
    struct seen *seen = context;

    assert_string_equal(entry->line, "event=test i=1");
    assert_true(seen->count == 0 || entry->number == seen->number + 1);
    seen->number = entry->number;
    seen->count++;
}

TEST(a_watcher_sees_each_line_until_it_is_taken_away)
{
    const struct log_options quiet = {LOG_LOGFMT, SEQB_LOG_ERROR};
    struct seen seen[LOG_WATCHERS_MAX + 1] = {{.count = 0}};
    struct log_watcher watchers[LOG_WATCHERS_MAX + 1];

    log_open(&quiet);
    for (size_t i = 0; i <= LOG_WATCHERS_MAX; i++) {
        watchers[i] = (struct log_watcher){seen_add, &seen[i]};
        assert_int_equal(log_watch(&watchers[i]), i < LOG_WATCHERS_MAX);
    }
    log_event(SEQB_LOG_DEBUG, "event=test i=1");
    log_event(SEQB_LOG_INFO, "event=test i=1");
    log_unwatch(&watchers[0]);
    assert_true(log_watch(&watchers[LOG_WATCHERS_MAX]));
    log_event(SEQB_LOG_INFO, "event=test i=1");
    assert_int_equal(seen[0].count, 2);
    assert_int_equal(seen[1].count, 3);
    assert_int_equal(seen[LOG_WATCHERS_MAX].count, 1);
    for (size_t i = 1; i <= LOG_WATCHERS_MAX; i++)
        log_unwatch(&watchers[i]);
}

/* --- counting --- */

static void tally_add(struct log_tally tallies[LOG_EVENTS_MAX],
                      enum seqb_log_level level, const char *line)
{
    static uint64_t number;
    const struct log_entry entry = {
        .number = ++number, .level = level, .line = (char *)line};

    log_tally_add(tallies, &entry);
}

TEST(lines_are_counted_by_their_event)
{
    static const char *const lines[] = {
        "event=dropped key=a numbers=5",
        "event=spool taken=3 given=40 kept=7",
        "event=dropped key=\"numbers=9\" numbers=6 reason=\"the ring\"",
        "event=spool taken=1 given=2 kept=0",
        "no event at all",
        "event=a-name-that-is-longer-than-any-event-of-ours-is",
        "event=drop",
    };
    struct log_tally tallies[LOG_EVENTS_MAX] = {0};

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        tally_add(tallies, SEQB_LOG_WARN, lines[i]);
    assert_string_equal(tallies[0].event, "dropped");
    assert_int_equal(tallies[0].lines[SEQB_LOG_WARN], 2);
    assert_int_equal(tallies[0].numbers, 11);
    assert_string_equal(tallies[1].event, "spool");
    assert_int_equal(tallies[0].last, 3);
    assert_int_equal(tallies[1].last, 4);
    assert_int_equal(tallies[1].taken, 4);
    assert_int_equal(tallies[1].given, 42);
    assert_int_equal(tallies[1].kept, 0);
    assert_string_equal(tallies[2].event, "drop");
    assert_string_equal(tallies[3].event, "");
}

TEST(no_more_events_are_told_apart_than_there_is_room_for)
{
    struct log_tally tallies[LOG_EVENTS_MAX] = {0};
    char line[32];

    for (int i = 0; i < 2 * LOG_EVENTS_MAX; i++) {
        assert_true(text_format(line, sizeof line, "event=e%d", i));
        tally_add(tallies, SEQB_LOG_INFO, line);
        tally_add(tallies, SEQB_LOG_INFO, line);
    }
    for (int i = 0; i < LOG_EVENTS_MAX; i++)
        assert_int_equal(tallies[i].lines[SEQB_LOG_INFO], 2);
}

/* The lines themselves say so, whoever else is connected. */
TEST(lines_that_are_left_out_are_told)
{
    const struct log_options errors = {LOG_LOGFMT, SEQB_LOG_ERROR};
    struct log_tally tallies[LOG_EVENTS_MAX];
    const int kept = dup(STDERR_FILENO);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    size_t i = 0;

    assert_true(kept >= 0 && dup2(nowhere, STDERR_FILENO) >= 0);
    log_open(&errors);
    for (int k = 0; k < 5 * LOG_KEPT; k++)
        log_event(SEQB_LOG_ERROR, "event=flood");
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    close(nowhere);
    log_tallies(tallies);
    while (i < LOG_EVENTS_MAX &&
           strcmp(tallies[i].event, "lines_left_out") != 0)
        i++;
    assert_true(i < LOG_EVENTS_MAX);
}
