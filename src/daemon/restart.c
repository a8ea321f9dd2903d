/* SPDX-License-Identifier: Apache-2.0 */
/* The next program: a child checks it, this process executes it; see
 * restart.h. */
#include "daemon/restart.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/listeners/listeners.h"
#include "daemon/log/log.h"

#define WHY_SIZE 256

extern char **environ;

static void log_refusal(const char *why)
{
    char reason[WHY_SIZE];

    log_event(SEQB_LOG_ERROR, "event=restart_refused reason=%s",
              log_quote(reason, sizeof reason, why));
}

/* Starts the check with no signal blocked, and without output: its messages are
 * not log lines. */
static int check_spawn(pid_t *out, char **words)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    int why = 0;

    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null",
                                     O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    why = posix_spawnp(out, words[0], &files, &attributes, words, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return why;
}

pid_t restart_check(char **argv)
{
    static char option[] = "--check";
    size_t count = 0;
    char **words = NULL;
    pid_t checker = 0;
    int why = ENOMEM;

    while (argv[count] != NULL)
        count++;
    words = calloc(count + 2, sizeof *words);
    if (words != NULL) {
        memcpy(words, argv, count * sizeof *words);
        words[count] = option;
        why = check_spawn(&checker, words);
    }
    free(words);
    if (why == 0)
        return checker;
    log_refusal(strerror(why));
    return 0;
}

enum restart_verdict restart_evaluate(pid_t checker)
{
    int status = 0;

    if (waitpid(checker, &status, WNOHANG) == 0)
        return RESTART_UNDECIDED;
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
        return RESTART_POSSIBLE;
    log_refusal("the same command with --check fails: run it to see why");
    return RESTART_REFUSED;
}

void restart_forget(pid_t checker)
{
    if (checker == 0)
        return;
    kill(checker, SIGKILL);
    (void)waitpid(checker, NULL, 0);
}

static void mask_signals(int how)
{
    sigset_t both;

    sigemptyset(&both);
    sigaddset(&both, SIGTERM);
    sigaddset(&both, SIGINT);
    pthread_sigmask(how, &both, NULL);
}

void restart_hold_signals(void)
{
    mask_signals(SIG_BLOCK);
}

void restart_free_signals(void)
{
    mask_signals(SIG_UNBLOCK);
}

int restart_run(char **argv, const struct inherited *sockets)
{
    char reason[WHY_SIZE];

    if (inherited_pass(sockets))
        execvp(argv[0], argv);
    log_event(SEQB_LOG_ERROR, "event=restart_failed reason=%s",
              log_quote(reason, sizeof reason, strerror(errno)));
    return EXIT_FAILURE;
}
