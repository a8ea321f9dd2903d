/* SPDX-License-Identifier: Apache-2.0 */
/* The audit: which lines there are, and that none is lost without a trace, in
 * the log or in the file. All without a daemon. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "daemon/access/audit.h"
#include "daemon/log/log.h"
#include "support/failure.h"
#include "support/folder.h"
#include "support/test.h"
#include "support/wrap.h"

#define TEXT_SIZE 262144
#define MANY      1100 /* more than the log has of other events */

static const struct audit_entry plain = {.command = "c"};
static const struct audit_time start = {.now_ms = 100000, .wall_ms = 1000};

static bool is_out_of_memory;

int __wrap_asprintf(char **out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **out, const char *format, ...)
{
    va_list arguments;
    int length = -1;

    va_start(arguments, format);
    if (!is_out_of_memory)
        length = vasprintf(out, format, arguments);
    va_end(arguments);
    return length;
}

WRAPPED(char *, json_to_text, const json_t *value, size_t flags)
{
    return is_out_of_memory ? NULL : __real_json_to_text(value, flags);
}

static int64_t lines_of(const char *event)
{
    struct log_tally tallies[LOG_EVENTS_MAX];

    log_tallies(tallies);
    for (size_t i = 0; i < LOG_EVENTS_MAX && tallies[i].event[0] != '\0'; i++)
        if (strcmp(tallies[i].event, event) == 0)
            return tallies[i].lines[SEQB_LOG_INFO] +
                   tallies[i].lines[SEQB_LOG_WARN];
    return 0;
}

/* A folder with the audit's file in it. */
struct place {
    char folder[256];
    char file[300];
    char text[TEXT_SIZE]; /* what was read of it */
};

static void place_make(struct place *place)
{
    assert_true(folder_make(place->folder, sizeof place->folder));
    snprintf(place->file, sizeof place->file, "%s/audit", place->folder);
}

static const char *place_read(struct place *place)
{
    const int fd = open(place->file, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? 0 : read(fd, place->text, TEXT_SIZE - 1);

    if (fd >= 0)
        close(fd);
    place->text[got > 0 ? got : 0] = '\0';
    return place->text;
}

/* What `write` writes to stderr, which the place's file gets. */
static const char *place_hear(struct place *place, void (*write)(void))
{
    const int kept = dup(STDERR_FILENO);
    const int heard =
        open(place->file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(kept >= 0 && heard >= 0 && dup2(heard, STDERR_FILENO) >= 0);
    write();
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    close(heard);
    return place_read(place);
}

static void assert_has(const char *text, const char *words)
{
    if (strstr(text, words) == NULL)
        fail_msg("no '%s' in: %s", words, text);
}

/* --- which lines there are --- */

/* Strangers cannot push the orders out of it by failing, nor one kind of
 * failure the other. */
TEST(failures_push_no_order_out_of_the_audit)
{
    static const struct audit_entry entry = {.command = "c"};
    static const struct audit_time time = {.now_ms = 1000, .wall_ms = 1000};
    struct audit audit = {.file = NULL};
    struct log_tally tallies[LOG_EVENTS_MAX];

    log_set_level(SEQB_LOG_ERROR);
    for (int i = 0; i < 300; i++)
        audit_login_refused(&audit, &entry, time);
    for (int i = 0; i < 150; i++)
        audit_order_for_good(&audit, &entry, time);
    audit_order_refused(&audit, &entry, time);
    log_tallies(tallies);
    assert_string_equal(tallies[0].event, "login_refused");
    assert_int_equal(tallies[0].lines[SEQB_LOG_INFO], 100);
    assert_string_equal(tallies[1].event, "order");
    assert_int_equal(tallies[1].lines[SEQB_LOG_INFO], 150);
    assert_string_equal(tallies[2].event, "order_refused");
    assert_int_equal(tallies[2].lines[SEQB_LOG_INFO], 1);
}

/* DRAIN and RESUME in turn, or reloads in a loop. */
TEST(orders_that_can_be_undone_are_bounded_in_the_audit)
{
    static const struct audit_entry entry = {.command = "c"};
    static const struct audit_time time = {.now_ms = 1000, .wall_ms = 1000};
    static const struct audit_time later = {.now_ms = 2000, .wall_ms = 2000};
    struct audit audit = {.file = NULL};
    int64_t before;

    log_set_level(SEQB_LOG_ERROR);
    before = lines_of("order");
    for (int i = 0; i < 300; i++)
        audit_order(&audit, &entry, time);
    assert_int_equal(lines_of("order") - before, 100);
    assert_int_equal(audit.orders_lines.left_out, 200);
    audit_order_for_good(&audit, &entry, time); /* with the count */
    assert_int_equal(lines_of("order") - before, 101);
    assert_int_equal(audit.orders_lines.left_out, 0);
    audit_order(&audit, &entry, time);
    assert_int_equal(audit.orders_lines.left_out, 1);
    audit_order(&audit, &entry, later);
    assert_int_equal(audit.orders_lines.left_out, 0);
    assert_int_equal(lines_of("order") - before, 102);
}

/* What no line has told of by the end is told then. */
TEST(lines_that_were_left_out_are_told_at_the_end)
{
    struct audit audit = {.file = NULL};
    struct log_entry entry;

    log_set_level(SEQB_LOG_ERROR);
    for (int i = 0; i < 105; i++)
        audit_login_refused(&audit, &plain, start);
    audit_end(&audit, start.wall_ms);
    assert_true(log_find_last("event=lines_left_out", SEQB_LOG_DEBUG, &entry));
    assert_string_equal(entry.line,
                        "event=lines_left_out name=login_refused count=5");
    free(entry.line);
}

static void many_orders(void)
{
    struct audit audit = {.file = NULL};

    for (int i = 0; i < MANY; i++)
        audit_order_for_good(&audit, &plain, start);
}

/* Whatever level the log has, and however many there are. */
TEST(each_line_is_written_to_the_log)
{
    static const enum seqb_log_level levels[] = {SEQB_LOG_ERROR, SEQB_LOG_INFO};
    struct place place;

    place_make(&place);
    for (size_t i = 0; i < COUNT_OF(levels); i++) {
        const char *text;
        int count = 0;

        log_set_level(levels[i]);
        text = place_hear(&place, many_orders);
        while ((text = strstr(text, " info event=order ")) != NULL) {
            count++;
            text++;
        }
        assert_int_equal(count, MANY);
    }
    folder_remove(place.folder);
}

static void order_without_memory(void)
{
    static const struct audit_entry entry = {
        .user = "boss", .command = "SEQ.ADVANCE \"x\"", .target = "order"};
    struct audit audit = {.file = NULL};

    is_out_of_memory = true;
    audit_order_for_good(&audit, &entry, start);
    is_out_of_memory = false;
}

TEST(a_line_is_written_without_memory)
{
    struct place place;

    place_make(&place);
    assert_has(place_hear(&place, order_without_memory),
               "info event=order user=boss by=\"\" from=\"\" "
               "command=\"SEQ.ADVANCE ?x?\" target=order ");
    folder_remove(place.folder);
}

/* --- the file --- */

/* The alarm of a file that cannot be written has an end, which says how many
 * lines the file lacks, in the file as well. */
TEST(lines_that_the_file_lacks_are_counted)
{
    const int64_t failed = lines_of("audit_failed");
    struct place place;
    struct audit audit = {.file = place.folder};
    struct log_entry entry;

    log_set_level(SEQB_LOG_ERROR);
    place_make(&place);
    for (int i = 0; i < 3; i++)
        audit_order(&audit, &plain, start);
    assert_int_equal(lines_of("audit_failed"), failed + 1);
    audit.file = place.file;
    for (int i = 0; i < 2; i++)
        audit_order(&audit, &plain, start);
    assert_true(log_find_last("event=audit_written", SEQB_LOG_DEBUG, &entry));
    assert_non_null(strstr(entry.line, "lost=3"));
    free(entry.line);
    assert_int_equal(audit.lost, 3);
    assert_has(place_read(&place), "Z event=audit_written file=");
    assert_true(strstr(place.text, "lost=3\n") <
                strstr(place.text, " event=order "));
    audit.file = place.folder;
    audit_order(&audit, &plain, start);
    audit_order(&audit, &plain, start);
    audit_end(&audit, start.wall_ms);
    assert_int_equal(lines_of("audit_failed"), failed + 3);
    assert_true(log_find_last("event=audit_failed", SEQB_LOG_DEBUG, &entry));
    assert_non_null(strstr(entry.line, "lost=2"));
    free(entry.line);
    folder_remove(place.folder);
}

/* Of a line that a full disk has cut: the next one is a line of its own. */
TEST(a_line_does_not_continue_a_torn_one)
{
    struct place place;
    struct audit audit = {.file = place.file};
    int fd;

    log_set_level(SEQB_LOG_ERROR);
    place_make(&place);
    fd = open(place.file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, "torn", 4), 4);
    close(fd);
    audit_order(&audit, &plain, start);
    audit_order(&audit, &plain, start);
    assert_has(place_read(&place),
               "torn\n1970-01-01T00:00:01.000Z event=order ");
    assert_null(strstr(place.text, "\n\n"));
    folder_remove(place.folder);
}

/* Values are cut, where one sees it; a line is not. */
TEST(the_longest_line_is_whole)
{
    char word[4096];
    const struct audit_entry entry = {word, word, word, word,
                                      word, word, word, word};
    struct place place;
    struct audit audit = {.file = place.file};

    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    log_set_level(SEQB_LOG_ERROR);
    place_make(&place);
    audit_order_in_part(&audit, &entry, start);
    assert_has(place_read(&place), " reason=\"xxx");
    assert_has(place.text, "xxx...\"\n");
    folder_remove(place.folder);
}

/* A FIFO would hold up the loop until somebody reads it. */
TEST(audit_file_is_a_file_that_others_cannot_write)
{
    char folder[256];
    char file[300];
    struct seqb_error err;
    int reader = -1;

    assert_true(folder_make(folder, sizeof folder));
    snprintf(file, sizeof file, "%s/audit", folder);
    assert_int_equal(audit_check(file, &err), SEQB_OK);
    assert_int_equal(chmod(file, 0640), 0);
    assert_int_equal(audit_check(file, &err), SEQB_OK);
    assert_int_equal(chmod(file, 0644), 0);
    assert_fails(audit_check(file, &failure), SEQB_INVALID, "chmod 600 it");
    assert_int_equal(chmod(file, 0660), 0);
    assert_int_equal(audit_check(file, &err), SEQB_INVALID);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(mkfifo(file, 0600), 0);
    assert_int_equal(audit_check(file, &err), SEQB_INVALID);
    reader = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_fails(audit_check(file, &failure), SEQB_INVALID, "no regular file");
    close(reader);
    folder_remove(folder);
}
