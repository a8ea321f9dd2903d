/* SPDX-License-Identifier: Apache-2.0 */
/* The host's logger, and silence without one. */
#include <stdbool.h>

#include <stdio.h>
#include <string.h>

#include "platform/log.h"
#include "platform/text.h"
#include "support/test.h"

struct journal {
    int lines;
    enum seqb_log_level level;
    char last[4096];
};

static void journal_write(void *context, enum seqb_log_level level,
                          const char *line)
{
    struct journal *journal = context;

    journal->lines++;
    journal->level = level;
    assert_true(text_copy(journal->last, sizeof journal->last, line));
}

TEST(a_line_reaches_the_logger_with_its_level)
{
    struct journal journal = {0};

    seqb_set_logger(journal_write, &journal);
    log_line(SEQB_LOG_WARN, "event=%s partition=%d", "up", 3);
    assert_int_equal(journal.lines, 1);
    assert_int_equal(journal.level, SEQB_LOG_WARN);
    assert_string_equal(journal.last, "event=up partition=3");
    seqb_set_logger(NULL, NULL);
}

TEST(a_removed_logger_hears_no_more)
{
    struct journal journal = {0};

    log_line(SEQB_LOG_ERROR, "event=before");
    seqb_set_logger(journal_write, &journal);
    seqb_set_logger(NULL, NULL);
    log_line(SEQB_LOG_ERROR, "event=after");
    assert_int_equal(journal.lines, 0);
}

/* A line must hold the longest error text whole. */
TEST(a_line_is_cut_not_before_an_errors_text_fits)
{
    struct journal journal = {0};
    char text[2 * SEQB_ERROR_TEXT_SIZE];

    seqb_set_logger(journal_write, &journal);
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    log_line(SEQB_LOG_INFO, "%s", text);
    assert_in_range(strlen(journal.last), SEQB_ERROR_TEXT_SIZE + 128,
                    sizeof text - 2);
    seqb_set_logger(NULL, NULL);
}

/* --- values in quotes --- */

static const struct {
    const char *what;
    const char *value;
    const char *written;
} values[] = {
    {"a word", "main/2", "main/2"},
    {"a path", "/var/lib/seqbroker/spool.lock",
     "/var/lib/seqbroker/spool.lock"},
    {"nothing", "", "\"\""},
    {"a space", "/var/my data", "\"/var/my data\""},
    {"an equals sign", "a=b", "\"a=b\""},
    {"quotes", "say \"no\"", "\"say \\\"no\\\"\""},
    {"a quote alone", "\"", "\"\\\"\""},
    {"backslashes", "\\\\host\\share", "\"\\\\\\\\host\\\\share\""},
    {"a backslash at the end", "a b\\", "\"a b\\\\\""},
    {"lines", "one\r\ntwo\tthree", "\"one\\r\\ntwo\\tthree\""},
    {"control characters", "\x01\x1b[0m\x7f", "\"\\u0001\\u001b[0m\\u007f\""},
    {"UTF-8", "d\xc3\xa9j\xc3\xa0 \xe2\x82\xac \xf0\x9f\x98\x80",
     "\"d\xc3\xa9j\xc3\xa0 \xe2\x82\xac \xf0\x9f\x98\x80\""},
    {"C1 control characters", "\xc2\x80\xc2\x9b\xc2\xa0",
     "\"\\u0080\\u009b\xc2\xa0\""},
    {"Latin-1", "d\xe9j\xe0", "\"d\\ufffdj\\ufffd\""},
    {"half a character", "ab\xe2\x82", "\"ab\\ufffd\\ufffd\""},
    {"bytes of no character", "\x80\xc1\xbf\xff",
     "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
    {"an overlong form", "\xe0\x80\xaf", "\"\\ufffd\\ufffd\\ufffd\""},
    {"a surrogate", "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
    {"a point beyond the last", "\xf4\x90\x80\x80",
     "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
};

TEST(a_value_has_the_quotes_and_escapes_that_it_needs)
{
    char written[LOG_VALUE_SIZE];

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        assert_ptr_equal(log_value(written, sizeof written, values[i].value),
                         written);
        assert_string_equal(written, values[i].written);
    }
}

/* What a parser of logfmt reads; false if it is no whole quoted value. */
static bool value_read(const char *text, char *out, size_t size)
{
    size_t used = 0;

    if (*text++ != '"')
        return false;
    for (; *text != '"'; text++) {
        unsigned point = (unsigned char)*text;
        int width = 0;

        if (*text == '\\' && text[1] == 'u') {
            if (sscanf(text + 2, "%4x%n", &point, &width) != 1 || width != 4)
                return false;
            text += 5;
            point = point == 0xfffd ? '?' : point;
        } else if (*text == '\\') {
            const char *name = strchr("\"\\nrt", *++text);

            if (name == NULL || *name == '\0')
                return false;
            point = (unsigned char)"\"\\\n\r\t"[name - "\"\\nrt"];
        } else if (point < ' ') { /* nor does it end here */
            return false;
        }
        assert_true(used + 1 < size);
        out[used++] = (char)point;
    }
    out[used] = '\0';
    return text[1] == '\0';
}

/* However little room there is: never half an escape, never half a character,
 * always the quote at the end. */
TEST(a_value_that_is_cut_can_be_read)
{
    static const char *const texts[] = {
        "\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"", "\\\\\\\\\\\\\\\\\\\\\\\\",
        "a\x01z\x02\"\x1f\n\r\t\\\x7f and more", "plain words and no more",
        "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xc3\xa9\xe2\x82\xac"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (size_t size = 8; size < 100; size++) {
            char written[101];
            char got[101];
            size_t same = 0;

            memset(written, '#', sizeof written);
            log_value(written, size, texts[i]);
            assert_in_range(strlen(written), 1, size - 1);
            assert_int_equal(written[size], '#');
            assert_true(value_read(written, got, sizeof got));
            while (got[same] != '\0' && got[same] == texts[i][same])
                same++;
            if (texts[i][same] != '\0')
                assert_string_equal(got + same, "...");
            /* Characters are whole. */
            assert_true(same == 0 || (texts[i][same] & 0xc0) != 0x80);
        }
    }
}

TEST(a_value_that_just_fits_is_not_cut)
{
    char written[16];

    log_value(written, 14, "say \"no\" x");
    assert_string_equal(written, "\"say \\\"no...\"");
    log_value(written, 15, "say \"no\" x");
    assert_string_equal(written, "\"say \\\"no\\\" x\"");
    log_value(written, 8, "1234567");
    assert_string_equal(written, "1234567");
    log_value(written, 8, "12345678");
    assert_string_equal(written, "\"12...\"");
}

TEST(a_reason_stands_in_quotes_behind_the_words)
{
    struct journal journal = {0};

    seqb_set_logger(journal_write, &journal);
    log_reason(SEQB_LOG_WARN, "it is \"gone\"\n", "event=%s blocks=%d", "lost",
               3);
    assert_int_equal(journal.level, SEQB_LOG_WARN);
    assert_string_equal(journal.last,
                        "event=lost blocks=3 reason=\"it is \\\"gone\\\"\\n\"");
    log_reason(SEQB_LOG_INFO, "", "event=up");
    assert_string_equal(journal.last, "event=up reason=\"\"");
    seqb_set_logger(NULL, NULL);
}

/* Even behind words that are too long, and of quotes alone. */
TEST(the_longest_reason_is_whole)
{
    struct journal journal = {0};
    char words[2 * SEQB_ERROR_TEXT_SIZE];
    char reason[SEQB_ERROR_TEXT_SIZE];
    char got[2 * SEQB_ERROR_TEXT_SIZE];
    const char *value;

    seqb_set_logger(journal_write, &journal);
    memset(words, 'x', sizeof words);
    words[sizeof words - 1] = '\0';
    memset(reason, '"', sizeof reason);
    reason[sizeof reason - 1] = '\0';
    log_reason(SEQB_LOG_WARN, reason, "event=%s", words);
    value = strstr(journal.last, " reason=");
    assert_non_null(value);
    assert_true(value_read(value + strlen(" reason="), got, sizeof got));
    assert_string_equal(got, reason);
    /* Escapes that are longer still: cut, and whole. */
    memset(reason, '\x01', sizeof reason - 1);
    log_reason(SEQB_LOG_WARN, reason, "event=x");
    assert_true(
        value_read(journal.last + strlen("event=x reason="), got, sizeof got));
    assert_string_equal(got + strlen(got) - 4, "\x01...");
    seqb_set_logger(NULL, NULL);
}
