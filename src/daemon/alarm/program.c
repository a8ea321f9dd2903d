/* SPDX-License-Identifier: Apache-2.0 */
/* Delivers a message by a program of the operator: no shell, a clean
 * environment, the message as its stdin. The program and what it started are
 * killed at the end of the wait. */
#include "daemon/alarm/target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Bytes that a program may write to stderr; a write beyond that fails. */
#define COMPLAINT_SIZE 4096

/* How long to wait for a killed program to be gone. */
#define KILL_MS 500

struct program {
    struct alarm_target base;
    const char *path;
};

/* One run of the program. */
struct run {
    int input;     /* its stdin: the message */
    int complaint; /* its stderr */
    int end;       /* a pidfd: readable when it ended */
    pid_t pid;
};

static enum alarm_outcome fail(struct seqb_error *why, const char *what)
{
    snprintf(why->text, sizeof why->text, "%s: %s", what, strerror(errno));
    return ALARM_FAILED;
}

static bool input_fill(int fd, const char *body)
{
    const size_t length = strlen(body);

    return write(fd, body, length) == (ssize_t)length &&
           write(fd, "\n", 1) == 1 && lseek(fd, 0, SEEK_SET) == 0;
}

/* Seals the memfd, so that it cannot grow. */
static bool complaint_bound(int fd)
{
    return ftruncate(fd, COMPLAINT_SIZE) == 0 &&
           fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) == 0;
}

static bool run_prepare(struct run *run, const char *body)
{
    run->input = memfd_create("alarm", MFD_CLOEXEC);
    run->complaint =
        memfd_create("alarm-stderr", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return run->input >= 0 && run->complaint >= 0 &&
           input_fill(run->input, body) && complaint_bound(run->complaint);
}

static void run_fini(const struct run *run)
{
    const int fds[] = {run->input, run->complaint, run->end};

    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* Resets the signals: the program starts with none blocked or ignored. */
static int attributes_fill(posix_spawnattr_t *attributes)
{
    sigset_t none;
    sigset_t all;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setpgroup(attributes, 0);
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK |
                                                    POSIX_SPAWN_SETSIGDEF |
                                                    POSIX_SPAWN_SETPGROUP);
}

static int actions_fill(posix_spawn_file_actions_t *actions,
                        const struct run *run)
{
    int result =
        posix_spawn_file_actions_adddup2(actions, run->input, STDIN_FILENO);

    if (result == 0)
        result = posix_spawn_file_actions_addopen(actions, STDOUT_FILENO,
                                                  "/dev/null", O_WRONLY, 0);
    if (result == 0)
        result = posix_spawn_file_actions_adddup2(actions, run->complaint,
                                                  STDERR_FILENO);
    if (result == 0)
        result = posix_spawn_file_actions_addclosefrom_np(actions,
                                                          STDERR_FILENO + 1);
    if (result == 0)
        result = posix_spawn_file_actions_addchdir_np(actions, "/");
    return result;
}

/* Returns 0 or an errno. */
static int run_spawn(struct run *run, const char *path)
{
    char environment_path[] =
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    char locale[] = "LC_ALL=C.UTF-8";
    char *const environment[] = {environment_path, locale, NULL};
    char *const arguments[] = {(char *)path, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int result = 0;

    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    result = attributes_fill(&attributes);
    if (result == 0)
        result = actions_fill(&actions, run);
    if (result == 0)
        result = posix_spawn(&run->pid, path, &actions, &attributes, arguments,
                             environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return result;
}

/* Kills the whole process group: the processes that the program started are in
 * it. */
static void run_kill(struct run *run)
{
    struct pollfd end = {.fd = run->end, .events = POLLIN};

    kill(-run->pid, SIGKILL);
    (void)poll(&end, 1, KILL_MS);
}

/* The first line that the program wrote to stderr. */
static void complaint_read(const struct run *run, char *to, size_t size)
{
    const ssize_t length = pread(run->complaint, to, size - 1, 0);

    to[length > 0 ? length : 0] = '\0';
    to[strcspn(to, "\n")] = '\0';
}

static enum alarm_outcome run_evaluate(const struct run *run, int status,
                                       struct seqb_error *why)
{
    char complaint[200];

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return ALARM_DELIVERED;
    complaint_read(run, complaint, sizeof complaint);
    snprintf(why->text, sizeof why->text, "%s %d%s%s",
             WIFEXITED(status) ? "exit code" : "ended by signal",
             WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
             *complaint != '\0' ? ": " : "", complaint);
    return ALARM_FAILED;
}

/* Kills a program that has no pidfd, and waits for its end. */
static enum alarm_outcome run_abandon(const struct run *run,
                                      struct seqb_error *why)
{
    const enum alarm_outcome outcome = fail(why, "its end cannot be watched");

    kill(-run->pid, SIGKILL);
    (void)waitpid(run->pid, NULL, 0);
    return outcome;
}

/* The program is reaped only after its group was killed: until then the kernel
 * cannot give the group's id to other processes. */
static enum alarm_outcome run_finish(struct run *run, struct alarm_wait *wait,
                                     struct seqb_error *why)
{
    const bool is_in_time = alarm_wait_for(wait, run->end);
    int status = 0;

    run_kill(run);
    if (waitpid(run->pid, &status, is_in_time ? 0 : WNOHANG) < 0)
        return fail(why, "its exit code is unknown");
    if (is_in_time)
        return run_evaluate(run, status, why);
    snprintf(why->text, sizeof why->text,
             wait->is_stopping ? "killed, since the daemon stops"
                               : "killed, since it took too long");
    return ALARM_FAILED;
}

static enum alarm_outcome program_send(struct alarm_target *target,
                                       const char *body,
                                       struct alarm_wait *wait,
                                       struct seqb_error *why)
{
    const struct program *program = (const struct program *)target;
    struct run run = {.input = -1, .complaint = -1, .end = -1};
    enum alarm_outcome outcome = ALARM_FAILED;

    if (!run_prepare(&run, body)) {
        outcome = fail(why, "no memory for its input");
    } else {
        errno = run_spawn(&run, program->path);
        if (errno != 0) {
            outcome = fail(why, "it cannot be started");
        } else {
            run.end = pidfd_open(run.pid, 0);
            outcome = run.end >= 0 ? run_finish(&run, wait, why)
                                   : run_abandon(&run, why);
        }
    }
    run_fini(&run);
    return outcome;
}

static void program_close(struct alarm_target *target)
{
    free(target);
}

struct alarm_target *alarm_program_open(const char *path)
{
    struct program *program = calloc(1, sizeof *program);

    if (program == NULL)
        return NULL;
    program->base = (struct alarm_target){
        .name = "on_event", .send = program_send, .close = program_close};
    program->path = path;
    return &program->base;
}
