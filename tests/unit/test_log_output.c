/* SPDX-License-Identifier: Apache-2.0 */
/* What the log does when nobody reads stderr: nothing waits for it, each line
 * is written whole, and those that are lost are counted. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/log/log.h"
#include "daemon/log/log_output.h"
#include "support/test.h"

#define LINES 10000 /* more than a reader's end and the log hold */

/* stderr leads to `reader` meanwhile. */
struct stderr_fixture {
    int reader;
    int before;
};

static struct stderr_fixture now;

static void stderr_lead(int writer, int reader)
{
    now.reader = reader;
    now.before = dup(STDERR_FILENO);
    assert_true(now.before >= 0);
    assert_int_equal(dup2(writer, STDERR_FILENO), STDERR_FILENO);
    close(writer);
}

static void stderr_restore(void)
{
    assert_int_equal(dup2(now.before, STDERR_FILENO), STDERR_FILENO);
    close(now.before);
    close(now.reader);
}

static void log_lines(int count)
{
    for (int i = 0; i < count; i++) {
        char line[128];

        snprintf(line, sizeof line,
                 "event=order number=%d words=\"a line of the usual length, "
                 "as most are\"",
                 i);
        log_certain(SEQB_LOG_INFO, line);
    }
}

/* Reads what is there. The caller frees it. */
static char *reader_take(void)
{
    struct pollfd one = {.fd = now.reader, .events = POLLIN};
    size_t size = 0;
    char *text = malloc(1);

    while (poll(&one, 1, 0) == 1) {
        ssize_t got;

        text = realloc(text, size + 65537);
        assert_non_null(text);
        got = read(now.reader, text + size, 65536);
        assert_true(got > 0);
        size += (size_t)got;
        log_tick(); /* what is held has room now */
    }
    text[size] = '\0';
    return text;
}

static int count_of(const char *text, const char *words)
{
    int count = 0;

    while ((text = strstr(text, words)) != NULL) {
        count++;
        text += strlen(words);
    }
    return count;
}

/* Lines that were written are those of the start, whole and in order. */
static void expect_some_and_the_rest_counted(const char *text)
{
    const int written = count_of(text, "event=order");
    const char *at = strstr(text, "event=lines_lost count=");

    assert_in_range(written, 1, LINES - 1);
    assert_int_equal(count_of(text, "event=lines_lost"), 1);
    assert_int_equal(atoi(at + strlen("event=lines_lost count=")),
                     LINES - written);
    for (int i = 0; i < written; i++) {
        char words[64];

        snprintf(words, sizeof words, "number=%d words=", i);
        text = strstr(text, words);
        assert_non_null(text);
        assert_int_equal(strncmp(strchr(text, '\n') - 5, " are\"", 5), 0);
    }
}

static void fill_and_read(int writer, int reader)
{
    char *text;

    stderr_lead(writer, reader);
    log_lines(LINES);
    text = reader_take();
    stderr_restore();
    expect_some_and_the_rest_counted(text);
    free(text);
}

TEST(pipe_that_nobody_reads_stops_nothing)
{
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    fill_and_read(ends[1], ends[0]);
}

TEST(nor_does_a_socket)
{
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends),
                     0);
    fill_and_read(ends[1], ends[0]);
}

TEST(file_gets_each_line)
{
    FILE *file = tmpfile();
    char *text = NULL;
    size_t size = 0;

    assert_non_null(file);
    stderr_lead(dup(fileno(file)), dup(fileno(file)));
    log_lines(LINES);
    stderr_restore();
    rewind(file);
    assert_true(getdelim(&text, &size, '\0', file) > 0);
    assert_int_equal(count_of(text, "event=order"), LINES);
    assert_int_equal(count_of(text, "event=lines_lost"), 0);
    free(text);
    assert_int_equal(fclose(file), 0);
}

/* The reader goes on while the end waits for it. */
static void *read_to_the_end(void *context)
{
    size_t *lines = context;
    char byte;

    while (read(now.reader, &byte, 1) == 1)
        *lines += byte == '\n';
    return NULL;
}

TEST(end_waits_for_a_reader_that_goes_on)
{
    enum { SOME = 1000 }; /* more than a pipe holds, and less than the log */
    pthread_t reader;
    size_t lines = 0;
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    stderr_lead(ends[1], ends[0]);
    log_lines(SOME);
    assert_int_equal(pthread_create(&reader, NULL, read_to_the_end, &lines), 0);
    log_finish(60000);
    assert_int_equal(dup2(now.before, STDERR_FILENO), STDERR_FILENO);
    log_certain(SEQB_LOG_INFO, "event=order"); /* the pipe is let go */
    assert_int_equal(pthread_join(reader, NULL), 0);
    close(now.before);
    close(now.reader);
    assert_int_equal(lines, SOME);
}
