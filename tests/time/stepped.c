/* SPDX-License-Identifier: Apache-2.0 */
/* Starting, stepping and stopping it; see stepped.h. */
#include "stepped.h"

#include <fcntl.h>
#include <inttypes.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/test.h"

#define LOG_SIZE 65536
#define NAP_US   1000

int64_t real_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void faketime_require(void)
{
    if (access(SEQB_FAKETIME, R_OK) == 0)
        return;
    if (getenv("CI") != NULL)
        fail_msg("libfaketime is not installed: install it, this test needs "
                 "it");
    print_message("libfaketime is not installed: skipped\n");
    skip();
}

static void path_make(char *out, const struct stepped *stepped,
                      const char *name)
{
    const int length =
        snprintf(out, STEPPED_PATH_SIZE, "%s/%s", stepped->folder, name);

    assert_in_range(length, 1, STEPPED_PATH_SIZE - 1);
}

static void file_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

void stepped_init(struct stepped *stepped, const char *topology)
{
    *stepped = (struct stepped){.pid = 0};
    faketime_require();
    assert_true(folder_make(stepped->folder, sizeof stepped->folder));
    path_make(stepped->clock, stepped, "clock");
    path_make(stepped->topology, stepped, "topology.conf");
    path_make(stepped->state, stepped, "state");
    path_make(stepped->socket, stepped, "socket");
    path_make(stepped->log, stepped, "log");
    file_write(stepped->topology, topology);
    stepped_set(stepped, 0);
}

void stepped_fini(struct stepped *stepped)
{
    if (stepped->pid > 0)
        stepped_stop(stepped, SIGKILL);
    if (stepped->folder[0] != '\0')
        folder_remove(stepped->folder);
}

/* The daemon reads it at every look at its clock: never half of it. */
void stepped_set(struct stepped *stepped, int64_t offset_ms)
{
    const int64_t apart_ms = offset_ms < 0 ? -offset_ms : offset_ms;
    char path[STEPPED_PATH_SIZE];
    char text[64];

    path_make(path, stepped, "clock.new");
    snprintf(text, sizeof text, "%c%" PRId64 ".%03" PRId64 "\n",
             offset_ms < 0 ? '-' : '+', apart_ms / 1000, apart_ms % 1000);
    file_write(path, text);
    assert_int_equal(rename(path, stepped->clock), 0);
    stepped->offset_ms = offset_ms;
}

/* What libfaketime shares by the name of a process: one that is killed leaves
 * it, and another of that number would fail to make its own. */
static void faketime_forget(pid_t pid)
{
    char name[64];

    snprintf(name, sizeof name, "/faketime_sem_%ld", (long)pid);
    (void)sem_unlink(name);
    snprintf(name, sizeof name, "/faketime_shm_%ld", (long)pid);
    (void)shm_unlink(name);
}

/* In the child. The monotonic and boot clocks must run on, and so must waiting
 * on a condition by them, which libfaketime else reckons anew. */
static void faketime_set(const struct stepped *stepped)
{
    setenv("FAKETIME_TIMESTAMP_FILE", stepped->clock, 1);
    setenv("FAKETIME_NO_CACHE", "1", 1);
    setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1", 1);
    setenv("FAKETIME_FORCE_MONOTONIC_FIX", "0", 1);
    setenv("NO_FAKE_STAT", "1", 1);
    setenv("LD_PRELOAD", SEQB_FAKETIME, 1);
}

static void stepped_exec(const struct stepped *stepped)
{
    const int log =
        open(stepped->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL);
    faketime_forget(getpid());
    faketime_set(stepped);
    if (log < 0 || dup2(log, STDERR_FILENO) < 0)
        _exit(127);
    execl(SEQB_DAEMON, SEQB_DAEMON, "-c", stepped->topology, "--state-dir",
          stepped->state, "--listen", "none", "--socket", stepped->socket,
          (char *)NULL);
    _exit(127);
}

static void log_read(const struct stepped *stepped, char *out, size_t size)
{
    FILE *file = fopen(stepped->log, "re");
    size_t length = 0;

    if (file != NULL) {
        length = fread(out, 1, size - 1, file);
        fclose(file);
    }
    out[length] = '\0';
}

bool stepped_start(struct stepped *stepped)
{
    char log[LOG_SIZE];
    pid_t ended = 0;

    unlink(stepped->log);
    stepped->pid = fork();
    assert_true(stepped->pid >= 0);
    if (stepped->pid == 0)
        stepped_exec(stepped);
    do {
        usleep(NAP_US);
        ended = waitpid(stepped->pid, NULL, WNOHANG);
        log_read(stepped, log, sizeof log);
    } while (ended == 0 && strstr(log, "event=ready name=") == NULL);
    if (ended == 0)
        return true;
    faketime_forget(stepped->pid);
    stepped->pid = 0;
    if (strstr(log, "clock") == NULL)
        fail_msg("the daemon has ended: %s", log);
    snprintf(stepped->said, sizeof stepped->said, "%.1000s", log);
    return false;
}

void stepped_stop(struct stepped *stepped, int signal)
{
    const pid_t pid = stepped->pid;
    int status = 0;

    stepped->pid = 0;
    assert_int_equal(kill(pid, signal), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    faketime_forget(pid);
    if (signal == SIGTERM)
        assert_int_equal(status, 0);
}
