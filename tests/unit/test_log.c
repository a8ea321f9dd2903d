/* SPDX-License-Identifier: Apache-2.0 */
/* The host's logger, and silence without one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "platform/log.h"
#include "platform/text.h"

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

static void a_line_reaches_the_logger_with_its_level(void **state)
{
    struct journal journal = {0};

    (void)state;
    seqb_set_logger(journal_write, &journal);
    log_line(SEQB_LOG_WARN, "event=%s partition=%d", "up", 3);
    assert_int_equal(journal.lines, 1);
    assert_int_equal(journal.level, SEQB_LOG_WARN);
    assert_string_equal(journal.last, "event=up partition=3");
    seqb_set_logger(NULL, NULL);
}

static void a_removed_logger_hears_no_more(void **state)
{
    struct journal journal = {0};

    (void)state;
    log_line(SEQB_LOG_ERROR, "event=before");
    seqb_set_logger(journal_write, &journal);
    seqb_set_logger(NULL, NULL);
    log_line(SEQB_LOG_ERROR, "event=after");
    assert_int_equal(journal.lines, 0);
}

/* A line must hold the longest error text whole. */
static void a_line_is_cut_not_before_an_errors_text_fits(void **state)
{
    struct journal journal = {0};
    char text[2 * SEQB_ERROR_TEXT_SIZE];

    (void)state;
    seqb_set_logger(journal_write, &journal);
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    log_line(SEQB_LOG_INFO, "%s", text);
    assert_in_range(strlen(journal.last), SEQB_ERROR_TEXT_SIZE + 128,
                    sizeof text - 2);
    seqb_set_logger(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_reaches_the_logger_with_its_level),
        cmocka_unit_test(a_removed_logger_hears_no_more),
        cmocka_unit_test(a_line_is_cut_not_before_an_errors_text_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
