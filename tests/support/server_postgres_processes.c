/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of a PostgreSQL, which are in sessions of their own: killing,
 * stopping and signalling all of them. */
#include "support/server_postgres.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform/text.h"
#include "support/server_kind.h"
#include "support/test.h"

#define PROCESSES_MAX 200

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){0, 2000000}, NULL);
}

/* The parent of a process and its state, from /proc/PID/stat: "1 (name) S 0".
 * False if it is gone, or a zombie. */
static bool process_parent(pid_t pid, int *parent)
{
    char path[PROGRAM_PATH_SIZE];
    char line[512];
    const char *end = NULL;
    char state = 'Z';
    FILE *file;

    (void)text_format(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    if (fgets(line, sizeof line, file) != NULL)
        end = strrchr(line, ')');
    (void)fclose(file);
    return end != NULL && sscanf(end + 1, " %c %d", &state, parent) == 2 &&
           state != 'Z';
}

static size_t children_list(pid_t parent, pid_t *out)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    size_t n = 0;

    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        const int pid = atoi(entry->d_name);
        int of = 0;

        if (pid > 0 && process_parent(pid, &of) && of == parent &&
            n < PROCESSES_MAX)
            out[n++] = pid;
    }
    closedir(folder);
    return n;
}

void postgres_signal(struct server *server, int signal)
{
    pid_t pids[PROCESSES_MAX];
    size_t n;

    server_expect(server);
    if (server->pid == 0) /* the children of 0 are the system's */
        return;
    /* Its process would be hit, too. */
    if (signal == SIGSTOP || signal == SIGKILL)
        server_forget_admin(server);
    n = children_list(server->pid, pids);
    for (size_t i = 0; i < n; i++)
        (void)kill(pids[i], signal);
}

/* Those that a first process started, which is stopped: it starts no more. */
static void children_kill(pid_t first, pid_t out[static PROCESSES_MAX],
                          size_t *count)
{
    *count = children_list(first, out);
    for (size_t i = 0; i < *count; i++)
        (void)kill(out[i], SIGKILL);
}

/* Their shared memory would keep the next one from starting. */
static void processes_await_end(const pid_t *pids, size_t count)
{
    int ignored;

    for (size_t i = 0; i < count; i++) {
        while (process_parent(pids[i], &ignored))
            pause_shortly();
    }
}

void postgres_kill(struct server *server)
{
    pid_t pids[PROCESSES_MAX];
    size_t n;

    server_pause(server);
    children_kill(server->pid, pids, &n);
    server_kill(server);
    processes_await_end(pids, n);
}

void postgres_kill_tree(pid_t first)
{
    pid_t pids[PROCESSES_MAX];
    size_t n;

    if (kill(first, SIGSTOP) != 0)
        return;
    children_kill(first, pids, &n);
    (void)kill(first, SIGKILL);
    processes_await_end(&first, 1);
    processes_await_end(pids, n);
}

/* Who lets the stopped processes go on when the pipe's other end is closed, by
 * postgres_resume or by the end of the test program: a signal sent to a process
 * that is stopped would wait for ever. */
static struct {
    pid_t pid;
    int pipe;
} guard;

/* In the child: keeps nothing open that others wait to be closed. */
static void guard_run(int pipe, const pid_t *pids, size_t n)
{
    char ignored;

    (void)setsid();
    if (dup2(pipe, STDIN_FILENO) < 0 || close_range(1, ~0U, 0) != 0)
        _exit(1);
    (void)!read(STDIN_FILENO, &ignored, 1);
    for (size_t i = 0; i < n; i++)
        (void)kill(pids[i], SIGCONT);
    _exit(0);
}

/* Of a first process that is stopped: it starts no more. */
static void children_pause(pid_t first)
{
    pid_t pids[PROCESSES_MAX];
    size_t n;
    int ends[2];

    assert_int_equal(guard.pid, 0); /* one server at a time */
    n = children_list(first, pids);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    guard.pipe = ends[1];
    guard.pid = fork();
    assert_true(guard.pid >= 0);
    if (guard.pid == 0)
        guard_run(ends[0], pids, n);
    close(ends[0]);
    for (size_t i = 0; i < n; i++)
        (void)kill(pids[i], SIGSTOP);
}

static void children_resume(void)
{
    close(guard.pipe);
    assert_int_equal(waitpid(guard.pid, NULL, 0), guard.pid);
    guard.pid = 0;
}

void postgres_pause(struct server *server)
{
    server_pause(server);
    children_pause(server->pid);
}

void postgres_resume(struct server *server)
{
    children_resume();
    server_resume(server);
}

void postgres_pause_tree(pid_t first)
{
    assert_int_equal(kill(first, SIGSTOP), 0);
    children_pause(first);
}

void postgres_resume_tree(pid_t first)
{
    children_resume();
    (void)kill(first, SIGCONT); /* it may have been killed meanwhile */
}
