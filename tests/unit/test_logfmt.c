/* SPDX-License-Identifier: Apache-2.0 */
/* The reader that every line of a test's log goes through; and that lines
 * remain whole when their values are long or strange. */
#include <limits.h>
#include <string.h>

#include "platform/log.h"
#include "support/logfmt.h"
#include "support/test.h"

TEST(what_is_logfmt_is_read)
{
    static const char *const lines[] = {
        "event=up",
        "event=up partition=-1 file=/var/a.b",
        "event=up reason=\"\"",
        "event=up reason=\"a \\\"b\\\" = \\\\ \\n \\u001b \xc3\xa9\" key=x",
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        assert_null(logfmt_complaint(lines[i]));
}

TEST(what_is_no_logfmt_is_complained_about)
{
    static const char *const lines[] = {
        "",
        "stopping",
        "ready name=x",
        "event=",
        "event=up stopping",
        "event=up  pool=main",
        "event=up pool=main ",
        "event=up counter=",
        "event=up file=/my data/x",
        "event=up file=a=b",
        "event=up file=a\"b",
        "event=up file=a\\b",
        "event=up file=\xc3\xa9",
        "event=up reason=\"a",
        "event=up reason=\"a\\\"",
        "event=up reason=\"a\\x\"",
        "event=up reason=\"a\\u12\"",
        "event=up reason=\"a\nb\"",
        "event=up reason=\"a\"b",
        "event=up pool=a pool=b",
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (logfmt_complaint(lines[i]) == NULL)
            fail_msg("'%s' is taken for logfmt", lines[i]);
    }
}

static void complain(void *context, enum seqb_log_level level, const char *line)
{
    const char *why = logfmt_complaint(line);

    (void)level;
    (*(int *)context)++;
    if (why != NULL)
        fail_msg("%s: %s", why, line);
}

/* The line with the most that may be long: paths of quotes alone. */
TEST(the_longest_values_leave_a_line_whole)
{
    char path[PATH_MAX];
    char file[LOG_VALUE_SIZE];
    char aside[LOG_VALUE_SIZE];
    int lines = 0;

    memset(path, '"', sizeof path);
    path[sizeof path - 1] = '\0';
    seqb_set_logger(complain, &lines);
    log_reason(SEQB_LOG_WARN, path, "event=spool_refused file=%s aside=%s",
               log_value(file, sizeof file, path),
               log_value(aside, sizeof aside, path));
    seqb_set_logger(NULL, NULL);
    assert_int_equal(lines, 1);
}
