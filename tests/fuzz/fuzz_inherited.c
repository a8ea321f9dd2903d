/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any words as $LISTEN_FDS and $LISTEN_FDNAMES, for a process that has two
 * listening sockets. What must hold: they are refused with a reason, or each
 * socket is one of these two, and the next program is told nothing.
 */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/listeners/inherited.h"
#include "fuzz/fuzz.h"

#define SOCKETS 2 /* most often 3 and 4, as the program's first ones */

static void sockets_open(void)
{
    static bool is_done;
    const struct sockaddr_un any = {.sun_family = AF_UNIX};

    for (int i = 0; i < SOCKETS && !is_done; i++) {
        const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

        /* With no path the kernel finds a name. */
        require(bind(fd, (const struct sockaddr *)&any,
                     sizeof any.sun_family) == 0);
        require(listen(fd, 1) == 0);
    }
    is_done = true;
}

static void variables_set(const char *count, const char *names)
{
    char pid[24];

    (void)snprintf(pid, sizeof pid, "%ld", (long)getpid());
    require(setenv("LISTEN_PID", pid, 1) == 0);
    require(setenv("LISTEN_FDS", count, 1) == 0);
    require(setenv("LISTEN_FDNAMES", names, 1) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct inherited inherited;
    struct seqb_error err = {SEQB_OK, ""};
    char *names;

    sockets_open();
    require(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    names = strchr(text, '\n');
    if (names != NULL)
        *names++ = '\0';
    variables_set(text, names == NULL ? "" : names);
    if (inherited_read(&inherited, &err) != SEQB_OK)
        require(err.status == SEQB_INVALID && err.text[0] != '\0');
    else
        require(inherited.count <= SOCKETS);
    require(inherited.count <= INHERITED_MAX);
    require(getenv("LISTEN_PID") == NULL && getenv("LISTEN_FDS") == NULL &&
            getenv("LISTEN_FDNAMES") == NULL);
    free(text);
    return 0;
}
