/* SPDX-License-Identifier: Apache-2.0 */
/* Reading secrets; see secret.h. */
#include "ctl/secret.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define VARIABLE "SEQCTL_PASSWORD"

/* Reads without a stdio buffer, which would keep the secret in memory. */
static bool line_read(int fd, struct secret *out)
{
    size_t length = 0;
    char c = '\n';
    ssize_t got = 0;

    while ((got = read(fd, &c, 1)) == 1 && c != '\n' && length < CREDENTIAL_MAX)
        out->text[length++] = c;
    if (length > 0 && out->text[length - 1] == '\r')
        length--;
    out->text[length] = '\0';
    return got >= 0 && (got == 0 || c == '\n') && strlen(out->text) == length;
}

/* The typed characters are not echoed, the newline is. */
static bool terminal_read(const char *prompt, struct secret *out)
{
    struct termios usual;
    struct termios silent;
    bool is_read;

    if (tcgetattr(STDIN_FILENO, &usual) != 0)
        return false;
    silent = usual;
    silent.c_lflag &= ~(tcflag_t)ECHO;
    fputs(prompt, stderr);
    if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) != 0)
        return false;
    is_read = line_read(STDIN_FILENO, out);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &usual);
    fputc('\n', stderr);
    return is_read;
}

static bool terminal_repeat(const struct secret *first)
{
    struct secret second;
    const bool is_same = terminal_read("again: ", &second) &&
                         strcmp(first->text, second.text) == 0;

    credential_wipe(&second, sizeof second);
    if (!is_same)
        ctl_complain("these are two different ones: nothing was made");
    return is_same;
}

bool secret_ask(const char *prompt, bool twice, struct secret *out)
{
    const bool is_terminal = isatty(STDIN_FILENO) != 0;
    const bool is_read =
        is_terminal ? terminal_read(prompt, out) : line_read(STDIN_FILENO, out);

    if (!is_read) {
        ctl_complain("no password could be read: it is one line of at most %d "
                     "bytes",
                     CREDENTIAL_MAX);
        return false;
    }
    return !is_terminal || !twice || terminal_repeat(out);
}

static bool file_read(const char *path, struct secret *out)
{
    FILE *file = fopen(path, "re");
    struct stat about = {0};
    bool is_read = false;

    if (file == NULL) {
        ctl_complain("%s: %s", path, strerror(errno));
        return false;
    }
    if (fstat(fileno(file), &about) == 0 && (about.st_mode & 077) != 0)
        ctl_complain("%s: others may read it: chmod 600 it", path);
    else if (!(is_read = line_read(fileno(file), out)))
        ctl_complain("%s: it must hold one line of at most %d bytes", path,
                     CREDENTIAL_MAX);
    fclose(file);
    return is_read;
}

bool secret_of_user(const struct ctl_options *options, struct secret *out)
{
    const char *variable = getenv(VARIABLE);

    out->text[0] = '\0';
    if (options->user == NULL && options->password_file == NULL)
        return true;
    if (options->user == NULL) {
        ctl_complain("--password-file is of a user: name it by --user NAME");
        return false;
    }
    if (options->password_file != NULL)
        return file_read(options->password_file, out);
    if (variable == NULL && isatty(STDIN_FILENO))
        return secret_ask("password: ", false, out);
    if (variable != NULL && strlen(variable) <= CREDENTIAL_MAX) {
        snprintf(out->text, sizeof out->text, "%s", variable);
        return true;
    }
    ctl_complain("there is no password: set " VARIABLE ", or name a file by "
                 "--password-file");
    return false;
}
