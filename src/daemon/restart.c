/* SPDX-License-Identifier: Apache-2.0 */
/* The next program: a child checks it, this process executes it; see
 * restart.h. */
#include "daemon/restart.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/listeners/listeners.h"
#include "daemon/log/log.h"
#include "daemon/signals.h"

#define WHY_SIZE 256

extern char **environ;

static void log_refusal(const char *why)
{
    char reason[WHY_SIZE];

    log_event(SEQB_LOG_ERROR, "event=restart_refused reason=%s",
              log_quote(reason, sizeof reason, why));
}

struct restart_checker {
    pid_t pid;
    int said;    /* a file with what it writes to stderr */
    int printed; /* and one with its stdout: the mistakes of the topology */
};

static struct restart_checker *checker_new(void)
{
    struct restart_checker *checker = calloc(1, sizeof *checker);

    if (checker == NULL)
        return NULL;
    checker->said = memfd_create("check", MFD_CLOEXEC);
    checker->printed = memfd_create("mistakes", MFD_CLOEXEC);
    return checker;
}

static void checker_free(struct restart_checker *checker)
{
    if (checker != NULL && checker->said >= 0)
        close(checker->said);
    if (checker != NULL && checker->printed >= 0)
        close(checker->printed);
    free(checker);
}

/* --- the start of a checker --- */

/* Duplicates the sockets above the numbers that they get in the child, so that
 * none is overwritten there. */
static bool sockets_lift(const struct inherited *lent, int above[INHERITED_MAX])
{
    for (size_t i = 0; i < lent->count; i++) {
        above[i] = fcntl(lent->sockets[i].fd, F_DUPFD_CLOEXEC,
                         INHERITED_FIRST_FD + (int)lent->count);
        if (above[i] < 0)
            return false;
    }
    return true;
}

/* Starts it with no signal blocked. Returns errno. */
static int check_spawn(struct restart_checker *out, char **words,
                       char **variables, const int *above, size_t count)
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
    posix_spawn_file_actions_adddup2(&files, out->printed, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, out->said, STDERR_FILENO);
    for (size_t i = 0; i < count; i++)
        posix_spawn_file_actions_adddup2(&files, above[i],
                                         INHERITED_FIRST_FD + (int)i);
    why = posix_spawnp(&out->pid, words[0], &files, &attributes, words,
                       variables);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return why;
}

/* A copy of the list with room for `more` words and NULL; NULL if memory is
 * short. `*end` is where they go. */
static char **words_copy(char **words, size_t more, char ***end)
{
    char **copy;
    size_t count = 0;

    while (words[count] != NULL)
        count++;
    copy = calloc(count + more + 1, sizeof *copy);
    if (copy == NULL)
        return NULL;
    memcpy(copy, words, count * sizeof *words);
    *end = copy + count;
    return copy;
}

static int check_start(struct restart_checker *out, char **words,
                       const struct inherited *lent)
{
    static char names[sizeof "LISTEN_FDNAMES=" + INHERITED_NAMES_SIZE] =
        "LISTEN_FDNAMES=";
    static char count[40];
    static char lender[60];
    char **end = NULL;
    char **variables = words_copy(environ, 3, &end);
    int above[INHERITED_MAX];
    int why = errno;

    if (variables == NULL)
        return why;
    inherited_name(lent, true, names + strlen("LISTEN_FDNAMES="));
    snprintf(count, sizeof count, "LISTEN_FDS=%zu", lent->count);
    snprintf(lender, sizeof lender, INHERITED_LENDER "=%ld", (long)getpid());
    end[0] = names;
    end[1] = count;
    end[2] = lender;
    memset(above, -1, sizeof above);
    why = sockets_lift(lent, above)
              ? check_spawn(out, words, variables, above, lent->count)
              : errno;
    for (size_t i = 0; i < lent->count; i++)
        if (above[i] >= 0)
            close(above[i]);
    free(variables);
    return why;
}

struct restart_checker *restart_check(char **argv, const struct inherited *lent)
{
    static char option[] = "--check";
    struct restart_checker *checker = checker_new();
    char **end = NULL;
    char **words = words_copy(argv, 1, &end);
    int why = ENOMEM;

    if (checker != NULL && checker->said >= 0 && checker->printed >= 0 &&
        words != NULL) {
        *end = option;
        why = check_start(checker, words, lent);
    }
    free(words);
    if (why == 0)
        return checker;
    checker_free(checker);
    log_refusal(strerror(why));
    return NULL;
}

bool restart_is_checker(void)
{
    return getenv(INHERITED_LENDER) != NULL;
}

/* --- its end --- */

#define SAID_SIZE (SEQB_ERROR_TEXT_SIZE + sizeof PROGRAM)
#define PROGRAM   "seqbrokerd: "

/* The end of a file, or if it is short all of it, without its last line feed.
 */
static void file_read_end(int file, char out[static SAID_SIZE])
{
    const off_t end = lseek(file, 0, SEEK_END);
    const off_t from = end < (off_t)SAID_SIZE ? 0 : end - (off_t)SAID_SIZE + 1;
    const ssize_t got = pread(file, out, SAID_SIZE - 1, from);
    size_t length = got > 0 ? (size_t)got : 0;

    while (length > 0 && out[length - 1] == '\n')
        length--;
    out[length] = '\0';
}

/* Logs the last line that it wrote to stderr, or the first mistake of the
 * topology. */
static void log_refusal_of(const struct restart_checker *checker)
{
    char text[SAID_SIZE];
    const ssize_t got = pread(checker->printed, text, sizeof text - 1, 0);
    const char *line;

    text[got > 0 ? got : 0] = '\0';
    if (lseek(checker->said, 0, SEEK_END) > 0)
        file_read_end(checker->said, text);
    else
        text[strcspn(text, "\n")] = '\0';
    line = strrchr(text, '\n');
    line = line == NULL ? text : line + 1;
    if (strncmp(line, PROGRAM, strlen(PROGRAM)) == 0)
        line += strlen(PROGRAM);
    log_refusal(*line != '\0' ? line
                              : "the same command with --check fails: run it "
                                "to see why");
}

enum restart_verdict restart_evaluate(struct restart_checker *checker)
{
    enum restart_verdict verdict = RESTART_REFUSED;
    int status = 0;
    const pid_t ended = waitpid(checker->pid, &status, WNOHANG);

    if (ended == 0)
        return RESTART_UNDECIDED;
    if (ended == checker->pid && WIFEXITED(status) &&
        WEXITSTATUS(status) == EXIT_SUCCESS)
        verdict = RESTART_POSSIBLE;
    else
        log_refusal_of(checker);
    checker_free(checker);
    return verdict;
}

void restart_forget(struct restart_checker *checker)
{
    if (checker == NULL)
        return;
    kill(checker->pid, SIGKILL);
    (void)waitpid(checker->pid, NULL, 0);
    checker_free(checker);
}

static void mask_signals(int how)
{
    const sigset_t both = signals_that_stop();

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

bool restart_is_overtaken(void)
{
    sigset_t pending;

    return sigpending(&pending) == 0 && (sigismember(&pending, SIGTERM) == 1 ||
                                         sigismember(&pending, SIGINT) == 1);
}

void restart_run(char **argv, const struct inherited *sockets,
                 struct seqb_error *err)
{
    if (inherited_pass(sockets))
        execvp(argv[0], argv);
    snprintf(err->text, sizeof err->text, "%s", strerror(errno));
}
