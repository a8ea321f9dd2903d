/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds listening sockets for a program, as systemd does for a unit with
 * sockets:
 *   holder PORT-FILE NAME:PLACE... -- PROGRAM [ARGUMENT...]
 * PLACE is "tcp", a free port of loopback, or a path. The ports go to the
 * file, a line each. The program is started with the sockets, and again
 * whenever it ends with 0, until SIGTERM, which goes to it as well.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_FD   3
#define NAMES_SIZE 512
#define BACKLOG    128

static volatile sig_atomic_t child;
static volatile sig_atomic_t is_over;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int listen_tcp(FILE *ports)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0)
        die("holder: tcp");
    fprintf(ports, "%d\n", ntohs(address.sin_port));
    return fd;
}

static int listen_local(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, BACKLOG) != 0)
        die(path);
    return fd;
}

/* Opens "NAME:PLACE" as the i-th; adds its name. */
static void open_place(const char *word, int i, char *names, FILE *ports)
{
    const char *colon = strchr(word, ':');
    const size_t used = strlen(names);
    int fd;

    if (colon == NULL)
        die(word);
    fd = strcmp(colon + 1, "tcp") == 0 ? listen_tcp(ports)
                                       : listen_local(colon + 1);
    if (fd != FIRST_FD + i && dup2(fd, FIRST_FD + i) < 0)
        die("holder: dup2");
    snprintf(names + used, NAMES_SIZE - used, "%s%.*s", i > 0 ? ":" : "",
             (int)(colon - word), word);
}

static void on_term(int number)
{
    is_over = 1;
    if (child > 0)
        kill((pid_t)child, number);
}

static void execute(char **program, int count, const char *names)
{
    char text[24];

    snprintf(text, sizeof text, "%d", count);
    setenv("LISTEN_FDS", text, 1);
    snprintf(text, sizeof text, "%ld", (long)getpid());
    setenv("LISTEN_PID", text, 1);
    setenv("LISTEN_FDNAMES", names, 1);
    signal(SIGTERM, SIG_DFL);
    execv(program[0], program);
    die(program[0]);
}

/* Blocked, SIGTERM finds the child's pid or comes before there is one. */
static void start(char **program, int count, const char *names)
{
    sigset_t term;
    pid_t pid;

    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL);
    pid = is_over ? 0 : fork();
    if (pid == 0 && !is_over) {
        sigprocmask(SIG_UNBLOCK, &term, NULL);
        execute(program, count, names);
    }
    child = pid;
    sigprocmask(SIG_UNBLOCK, &term, NULL);
}

int main(int argc, char **argv)
{
    char names[NAMES_SIZE] = "";
    FILE *ports = argc > 1 ? fopen(argv[1], "we") : NULL;
    int status = 0;
    int count = 0;

    if (ports == NULL)
        die("usage: holder PORT-FILE NAME:PLACE... -- PROGRAM");
    /* The file has the first number. */
    if (dup2(fileno(ports), 20) < 0 || fclose(ports) != 0 ||
        (ports = fdopen(20, "w")) == NULL)
        die(argv[1]);
    while (argv[count + 2] != NULL && strcmp(argv[count + 2], "--") != 0) {
        open_place(argv[count + 2], count, names, ports);
        count++;
    }
    fclose(ports);
    signal(SIGTERM, on_term);
    while (!is_over && status == 0) {
        start(&argv[count + 3], count, names);
        while (child > 0 && waitpid((pid_t)child, &status, 0) < 0)
            continue;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
