/* SPDX-License-Identifier: Apache-2.0 */
/* Alarms to a program: src/daemon/alarm/program.c and channel.c. A program
 * tells by a pipe what it got; the pipe ends with the last that holds it. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alarm_fixture.h"
#include "daemon/log/log.h"
#include "support/test.h"

#define ALARMS                                                                 \
    FIXTURE(struct alarm_fixture *fixture, alarm_setup, alarm_teardown)

#define HEARD_SIZE 16384

static atomic_bool has_no_pidfd;

int __real_pidfd_open(pid_t pid, unsigned flags);
int __wrap_pidfd_open(pid_t pid, unsigned flags);
int __wrap_pidfd_open(pid_t pid, unsigned flags)
{
    if (!has_no_pidfd)
        return __real_pidfd_open(pid, flags);
    errno = EMFILE;
    return -1;
}

/* Begins with a program of these lines of shell. */
static void begin_with(struct alarm_fixture *fixture, const char *lines)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/pipe", fixture->folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/program", fixture->folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\npipe='%s/pipe'\n%s\n", fixture->folder, lines);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
    assert_true(alarm_settings_take(&fixture->settings, "on_event", path));
    alarm_begin(fixture);
}

/* Waits until the program opens the pipe. */
static int pipe_open(const struct alarm_fixture *fixture)
{
    char path[256];
    int fd = -1;

    snprintf(path, sizeof path, "%s/pipe", fixture->folder);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

/* A line of it; what comes behind is left there. */
static void pipe_line(int fd, char heard[HEARD_SIZE])
{
    size_t length = 0;

    while (length < HEARD_SIZE - 1 && read(fd, heard + length, 1) == 1 &&
           heard[length] != '\n')
        length++;
    heard[length] = '\0';
}

/* Reads until nobody holds it any more. */
static void pipe_end(int fd)
{
    char rest[256];

    while (read(fd, rest, sizeof rest) > 0)
        ;
    close(fd);
}

/* The first line of a program that ended. Valid until the next call. */
static const char *program_line(const struct alarm_fixture *fixture)
{
    static char heard[HEARD_SIZE];
    const int fd = pipe_open(fixture);

    pipe_line(fd, heard);
    pipe_end(fd);
    return heard;
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no %s in %s", part, text);
}

TEST_WITH(ALARMS, program_gets_begin_and_end_in_turn)
{
    const char *heard = NULL;

    begin_with(fixture, "cat >\"$pipe\"");
    log_event(SEQB_LOG_WARN, "event=quarantined pool=main partition=1");
    heard = program_line(fixture);
    assert_has(heard, "{\"state\":\"firing\",\"event\":\"quarantined\"");
    assert_has(heard, "\"broker\":\"shop\"");
    assert_has(heard, "\"fields\":{\"pool\":\"main\",\"partition\":\"1\"}}");
    log_event(SEQB_LOG_INFO, "event=up pool=main partition=1");
    heard = program_line(fixture);
    assert_has(heard, "{\"state\":\"resolved\",\"event\":\"quarantined\"");
    assert_has(heard, "\"ended_by\":\"up\"");
    alarm_end(fixture);
    assert_int_equal(alarm_logged(), 0);
}

/* As a reload does that changes a setting of alarms. */
TEST_WITH(ALARMS, states_outlast_a_reload)
{
    struct alarms *next = NULL;
    struct seqb_error err;

    begin_with(fixture, "cat >\"$pipe\"");
    log_event(SEQB_LOG_WARN, "event=quarantined pool=main partition=1");
    assert_has(program_line(fixture), "{\"state\":\"firing\"");
    fixture->settings.reminder_ms++;
    assert_ok(
        alarms_open_next(&fixture->settings, &fixture->limits, &next, &err));
    alarms_take_over(next, fixture->alarms);
    alarms_close(fixture->alarms);
    fixture->alarms = next;
    log_event(SEQB_LOG_INFO, "event=up pool=main partition=1");
    log_event(SEQB_LOG_WARN, "event=cold");
    assert_has(program_line(fixture),
               "{\"state\":\"resolved\",\"event\":\"quarantined\"");
    assert_has(program_line(fixture), "\"event\":\"cold\"");
}

/* As if the process had no descriptor left. */
TEST_WITH(ALARMS, program_that_cannot_be_watched_leaves_nothing_behind)
{
    begin_with(fixture, "exec sleep 1000");
    has_no_pidfd = true;
    log_event(SEQB_LOG_WARN, "event=cold");
    assert_has(alarm_wait_logged(1), "its end cannot be watched");
    has_no_pidfd = false;
    alarm_end(fixture);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* No descriptor, no variable and no signal of the daemon is the program's. */
TEST_WITH(ALARMS, program_begins_clean)
{
    const char *heard = NULL;
    const int open_fd = open("/dev/null", O_RDONLY); /* not closed by exec */

    assert_true(open_fd >= 0);
    assert_int_equal(dup2(open_fd, 200), 200);
    assert_int_equal(setenv("SEQB_SECRET", "1", 1), 0);
    signal(SIGUSR1, SIG_IGN);
    begin_with(fixture,
               "[ -e /proc/$$/fd/200 ] && fd=open || fd=closed\n"
               "signals=$(grep -cE '^Sig(Blk|Ign):.*[08]0{7}$' "
               "/proc/$$/status)\n"
               "echo \"${SEQB_SECRET-unset} $PWD $fd $signals\" >\"$pipe\"");
    log_event(SEQB_LOG_WARN, "event=cold");
    heard = program_line(fixture);
    close(200);
    close(open_fd);
    /* Two masks without a signal; glibc's own 32 and 33 do not count. */
    assert_string_equal(heard, "unset / closed 2");
}

/* Its words are in the log, once for all messages of an outage. */
TEST_WITH(ALARMS, failure_is_logged_once_with_what_the_program_says)
{
    begin_with(fixture, "if [ ! -e \"$pipe.well\" ]; then\n"
                        "    echo \"no \\\"route\\\"\" >&2; exit 3\n"
                        "fi");
    log_event(SEQB_LOG_WARN, "event=cold");
    assert_string_equal(alarm_wait_logged(1),
                        "event=alarm_failed target=on_event "
                        "reason=\"exit code 3: no \\\"route\\\"\"");
    log_event(SEQB_LOG_WARN, "event=dropped");
    log_event(SEQB_LOG_WARN, "event=spool_lost");
    alarm_end(fixture);
    assert_int_equal(alarm_logged(), 1);
}

TEST_WITH(ALARMS, recovery_is_logged_and_what_was_lost_is_counted)
{
    char path[256];
    int fd = -1;

    begin_with(fixture, "[ -e \"$pipe.well\" ] && cat >\"$pipe\"");
    log_event(SEQB_LOG_WARN, "event=cold");
    assert_has(alarm_wait_logged(1), "reason=\"exit code 1\"");
    snprintf(path, sizeof path, "%s/pipe.well", fixture->folder);
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
    log_event(SEQB_LOG_WARN, "event=dropped");
    assert_has(program_line(fixture), "\"left_out\":1,");
    assert_string_equal(alarm_wait_logged(2),
                        "event=alarm_delivered target=on_event");
}

TEST_WITH(ALARMS, program_that_fails_once_is_tried_again)
{
    begin_with(fixture, "if [ ! -e \"$pipe.tried\" ]; then\n"
                        "    >\"$pipe.tried\"; exit 1\n"
                        "fi\n"
                        "cat >\"$pipe\"");
    log_event(SEQB_LOG_WARN, "event=cold");
    assert_has(program_line(fixture), "\"event\":\"cold\"");
    alarm_end(fixture);
    assert_int_equal(alarm_logged(), 0);
}

TEST_WITH(ALARMS, program_that_hangs_is_killed)
{
    fixture->limits.send_ms = 20;
    begin_with(fixture, "exec sleep 100000");
    log_event(SEQB_LOG_WARN, "event=cold");
    assert_has(alarm_wait_logged(1), "reason=\"killed, since it took too long");
}

TEST_WITH(ALARMS, what_the_program_leaves_behind_is_killed)
{
    begin_with(fixture, "exec 3>\"$pipe\"; sleep 100000 & cat >&3");
    log_event(SEQB_LOG_WARN, "event=cold");
    (void)program_line(fixture); /* never ends while that sleeps */
    alarm_end(fixture);
    assert_int_equal(alarm_logged(), 0);
}

TEST_WITH(ALARMS, stop_does_not_wait_for_a_program_that_hangs)
{
    char heard[HEARD_SIZE];
    int fd = -1;

    fixture->limits.grace_ms = 1;
    begin_with(fixture, "exec 3>\"$pipe\"; cat >&3; sleep 100000");
    log_event(SEQB_LOG_WARN, "event=cold");
    fd = pipe_open(fixture);
    pipe_line(fd, heard);
    alarm_end(fixture);
    pipe_end(fd);
    assert_has(alarm_wait_logged(1), "since the daemon stops");
}

TEST_WITH(ALARMS, stop_does_not_wait_for_the_next_try)
{
    fixture->limits.retry_ms = 600000;
    begin_with(fixture, "cat >\"$pipe\"; exit 1");
    log_event(SEQB_LOG_WARN, "event=cold");
    (void)program_line(fixture);
    alarm_end(fixture);
    assert_int_equal(alarm_logged(), 1);
}

/* A program that floods its stderr fills no memory. */
TEST_WITH(ALARMS, program_may_say_only_so_much)
{
    begin_with(fixture, "head -c 10000000 /dev/zero | tr '\\0' x >&2; exit 4");
    log_event(SEQB_LOG_WARN, "event=cold");
    assert_has(alarm_wait_logged(1), "reason=\"exit code 4: xxx");
}

static void flood(int from, int count)
{
    for (int i = from; i < from + count; i++)
        log_event(SEQB_LOG_WARN, "event=raised pool=p%d reason=\"%0900d\"", i,
                  0);
}

/* The log keeps the last 1,000 lines, so memory is compared from then on. */
TEST_WITH(ALARMS, flood_while_a_program_hangs_takes_no_memory)
{
    enum { EVENTS = 100000 / SEQB_TEST_SCALE, GROWTH_MAX = 1 << 20 };
    char heard[HEARD_SIZE];
    size_t before = 0;
    int fd = -1;

    fixture->limits.grace_ms = 1;
    begin_with(fixture, "exec 3>\"$pipe\"; cat >&3; sleep 100000");
    log_event(SEQB_LOG_WARN, "event=cold");
    fd = pipe_open(fixture);
    pipe_line(fd, heard);
    flood(0, 2 * LOG_KEPT);
    before = mallinfo2().uordblks;
    flood(2 * LOG_KEPT, EVENTS);
    assert_true(mallinfo2().uordblks < before + GROWTH_MAX);
    alarm_end(fixture);
    pipe_end(fd);
}

TEST_WITH(ALARMS, what_is_no_program_is_refused)
{
    static const char *const paths[] = {"bin/sh", "/no/such/program",
                                        "/etc/passwd", "/tmp"};
    struct seqb_error err;

    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        assert_true(
            alarm_settings_take(&fixture->settings, "on_event", paths[i]));
        assert_status(alarm_settings_check(&fixture->settings, &err),
                      SEQB_INVALID);
        assert_has(err.text, "daemon.on_event wants the absolute path");
    }
}
