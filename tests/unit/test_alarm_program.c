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
#include "daemon/alarm/rows.h"
#include "daemon/log/log.h"
#include "support/test.h"
#include "support/wrap.h"

#define ALARMS                                                                 \
    FIXTURE(struct alarm_fixture *fixture, alarm_setup, alarm_teardown)

#define HEARD_SIZE 16384

#define RESOLVED "{\"state\":\"resolved\",\"event\":\"quarantined\""

static atomic_bool has_no_pidfd;

WRAPPED(int, pidfd_open, pid_t pid, unsigned flags)
{
    if (!has_no_pidfd)
        return __real_pidfd_open(pid, flags);
    errno = EMFILE;
    return -1;
}

/* Makes a program of these lines of shell, and sets it. */
static void program_set(struct alarm_fixture *fixture, const char *name,
                        const char *lines)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/pipe", fixture->folder);
    assert_true(mkfifo(path, 0600) == 0 || errno == EEXIST);
    snprintf(path, sizeof path, "%s/%s", fixture->folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\npipe='%s/pipe'\n%s\n", fixture->folder, lines);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
    assert_true(alarm_settings_take(&fixture->settings, "on_event", path));
}

static void begin_with(struct alarm_fixture *fixture, const char *lines)
{
    program_set(fixture, "program", lines);
    alarm_begin(fixture);
}

/* Opens alarms of the settings by now, as a reload does. Those before are
 * returned, to be closed. */
static struct alarms *reload(struct alarm_fixture *fixture)
{
    struct alarms *before = fixture->alarms;

    assert_ok(alarms_open_next(&fixture->settings, &fixture->limits,
                               &fixture->alarms, NULL));
    alarms_take_over(fixture->alarms, before);
    return before;
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

/* What the program wrote into the file pipe.got. */
static void got_read(const struct alarm_fixture *fixture,
                     char heard[HEARD_SIZE])
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/pipe.got", fixture->folder);
    file = fopen(path, "r");
    assert_non_null(file);
    heard[fread(heard, 1, HEARD_SIZE - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
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
    char heard[HEARD_SIZE];

    begin_with(fixture, "if [ -e \"$pipe.told\" ]; then\n"
                        "    cat >>\"$pipe.got\"\n"
                        "else\n"
                        "    >\"$pipe.told\"; cat >\"$pipe\"\n"
                        "fi");
    log_event(SEQB_LOG_WARN, "event=quarantined pool=main partition=1");
    assert_has(program_line(fixture), "{\"state\":\"firing\"");
    fixture->settings.reminder_ms++;
    alarms_close(reload(fixture));
    log_event(SEQB_LOG_INFO, "event=up pool=main partition=1");
    log_event(SEQB_LOG_WARN, "event=cold");
    alarm_end(fixture);
    got_read(fixture, heard);
    assert_int_equal(strncmp(heard, RESOLVED, strlen(RESOLVED)), 0);
    assert_has(heard, "\"event\":\"cold\"");
}

/* The old target delivers the begin, and the new one must not wait for ever to
 * send the end. */
TEST_WITH(ALARMS, reload_during_a_delivery_keeps_its_outcome)
{
    struct alarms *before = NULL;
    char path[256];

    begin_with(fixture, ">>\"$pipe.begun\"; cat >\"$pipe\"");
    log_event(SEQB_LOG_WARN, "event=quarantined pool=main partition=1");
    snprintf(path, sizeof path, "%s/pipe.begun", fixture->folder);
    while (access(path, F_OK) != 0)
        usleep(1000);
    fixture->settings.reminder_ms++;
    before = reload(fixture);
    assert_has(program_line(fixture), "{\"state\":\"firing\"");
    alarms_close(before);
    log_event(SEQB_LOG_INFO, "event=up pool=main partition=1");
    assert_has(program_line(fixture), RESOLVED);
}

/* Of any level, whether there was a target. */
TEST_WITH(ALARMS, target_of_a_reload_is_sent_the_states_that_last)
{
    char *kept = NULL;

    fixture->settings.level = SEQB_LOG_ERROR;
    alarm_begin(fixture);
    log_event(SEQB_LOG_WARN, "event=quarantined pool=main partition=1");
    log_event(SEQB_LOG_ERROR, "event=poisoned pool=main partition=2");
    program_set(fixture, "program", "cat >\"$pipe\"");
    alarms_close(reload(fixture)); /* on_event is added */
    assert_has(program_line(fixture), "\"event\":\"poisoned\"");
    fixture->settings.level = SEQB_LOG_WARN;
    alarms_close(reload(fixture)); /* alarm_level is lowered */
    assert_has(program_line(fixture), "\"event\":\"quarantined\"");
    log_event(SEQB_LOG_INFO, "event=up pool=main partition=2");
    assert_has(program_line(fixture), "\"ended_by\":\"up\"");
    kept = fixture->settings.on_event; /* of the alarms before */
    fixture->settings.on_event = NULL;
    program_set(fixture, "other", "{ printf other; cat; } >\"$pipe\"");
    alarms_close(reload(fixture)); /* on_event is another program */
    free(kept);
    assert_has(program_line(fixture),
               "other{\"state\":\"firing\",\"event\":\"quarantined\"");
}

/* The log names the first of them. */
TEST_WITH(ALARMS, state_that_is_left_out_is_logged_once)
{
    begin_with(fixture, "exit 0");
    for (int i = 0; i <= ALARM_COUNTER_ROWS + 1; i++)
        log_event(SEQB_LOG_WARN, "event=exhausted pool=main key=k%d", i);
    assert_string_equal(alarm_wait_logged(1),
                        "event=alarm_left_out target=on_event "
                        "subject=\"counter pool=main key=k64\"");
    alarm_end(fixture);
    assert_int_equal(alarm_logged(), 1);
}

/* As if the process had no descriptor left. */
TEST_WITH(ALARMS, program_that_cannot_be_watched_leaves_nothing_behind)
{
    fixture->limits.grace_ms = 1;
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

/* Without another event. */
TEST_WITH(ALARMS, recovery_is_logged_and_what_was_lost_is_sent)
{
    char path[256];
    int fd = -1;

    fixture->limits.rest_ms = 1;
    begin_with(fixture, "[ -e \"$pipe.well\" ] && cat >\"$pipe\"");
    log_event(SEQB_LOG_WARN, "event=cold");
    assert_has(alarm_wait_logged(1), "reason=\"exit code 1\"");
    snprintf(path, sizeof path, "%s/pipe.well", fixture->folder);
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_has(program_line(fixture), "\"event\":\"cold\"");
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
    fixture->limits.grace_ms = 1;
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
    begin_with(fixture, "if [ ! -e \"$pipe.tried\" ]; then\n"
                        "    >\"$pipe.tried\"; cat >\"$pipe\"\n"
                        "fi\n"
                        "exit 1");
    log_event(SEQB_LOG_WARN, "event=cold");
    (void)program_line(fixture);
    alarm_end(fixture);
    assert_int_equal(alarm_logged(), 1);
}

/* The error behind it is the reason of the stop, and does not wait for the
 * pace, which is used up. */
TEST_WITH(ALARMS, what_waits_is_sent_at_the_stop_errors_first)
{
    char path[256];
    char heard[HEARD_SIZE];
    FILE *file;

    begin_with(fixture, "[ -e \"$pipe.ended\" ] || exit 1\n"
                        "cat >>\"$pipe.got\"");
    log_event(SEQB_LOG_WARN, "event=cold");
    (void)alarm_wait_logged(1);
    snprintf(path, sizeof path, "%s/pipe.ended", fixture->folder);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    for (int i = 0; i < 20; i++)
        log_event(SEQB_LOG_WARN, "event=raised pool=p%d", i);
    log_event(SEQB_LOG_ERROR, "event=start_failed reason=\"\"");
    alarm_end(fixture);
    got_read(fixture, heard);
    assert_has(heard, "\"event\":\"cold\"");
    assert_has(heard, "\"subject\":\"raised pool=p19\"");
    assert_has(heard, "\"event\":\"start_failed\"");
    assert_true(strstr(heard, "start_failed") < strstr(heard, "pool=p19"));
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
    enum { EVENTS = 20000 / SEQB_TEST_SCALE, GROWTH_MAX = 1 << 20 };
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
        assert_status(alarm_settings_check(&fixture->settings, NULL, &err),
                      SEQB_INVALID);
        assert_has(err.text, "daemon.on_event wants the absolute path");
    }
}
