/* SPDX-License-Identifier: Apache-2.0 */
/* Starting and asking a memcached. */
#include "support/server_memcached.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "platform/text.h"
#include "support/server_kind.h"
#include "support/test.h"

#define LAST "MN\r\n" /* the answer to "mn" */

static int connect_to(const struct sockaddr *address, socklen_t length)
{
    const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (connect(fd, address, length) == 0)
        return fd;
    close(fd);
    return -1;
}

int memcached_connect(const struct server *server)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)server->port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    struct sockaddr_un path = {.sun_family = AF_UNIX};

    (void)text_copy(path.sun_path, sizeof path.sun_path, server->socket);
    if (access(server->socket, F_OK) == 0)
        return connect_to((const struct sockaddr *)&path, sizeof path);
    return connect_to((const struct sockaddr *)&address, sizeof address);
}

/* Reads until the answers end with LAST, which is left out. */
static bool answers_read(int fd, char *out, size_t size)
{
    const size_t last = sizeof LAST - 1;
    size_t length = 0;

    while (length + 1 < size) {
        const ssize_t got = read(fd, out + length, size - 1 - length);

        if (got <= 0)
            return false;
        length += (size_t)got;
        if (length >= last && memcmp(out + length - last, LAST, last) == 0) {
            out[length - last] = '\0';
            return true;
        }
    }
    return false;
}

static bool command_run(int fd, const char *command, char *out, size_t size)
{
    const char end[] = "\r\nmn\r\n";

    return send(fd, command, strlen(command), MSG_NOSIGNAL) ==
               (ssize_t)strlen(command) &&
           send(fd, end, sizeof end - 1, MSG_NOSIGNAL) == sizeof end - 1 &&
           answers_read(fd, out, size);
}

/* One that wants a password is up, too. */
static bool memcached_answers(struct server *server)
{
    const int fd = memcached_connect(server);
    char answer[64];
    bool is_up;

    if (fd < 0)
        return false;
    is_up = send(fd, "mn\r\n", 4, MSG_NOSIGNAL) == 4 &&
            read(fd, answer, sizeof answer) > 0;
    close(fd);
    return is_up;
}

static void memcached_forget(struct server *server)
{
    close(*(int *)server->admin);
    free(server->admin);
}

static void memcached_command(struct server *server, struct server_words *words)
{
    const bool has_tls =
        server->args[0] != NULL && strcmp(server->args[0], "-Z") == 0;

    server_word(words, "memcached");
    server_word(words, "-l");
    server_word(words, "%s127.0.0.1:%d", has_tls ? "notls:" : "",
                (int)server->port);
    server_word(words, "-m");
    server_word(words, "64");
}

static const struct server_kind memcached_kind = {
    .program = "memcached",
    .as_nobody = true,
    .command = memcached_command,
    .is_up = memcached_answers,
    .forget = memcached_forget,
};

struct server *server_memcached(const char *const *args)
{
    server_require("memcached");
    return server_new(&memcached_kind, args);
}

void memcached_execute(struct server *server, const char *command, char *out,
                       size_t size)
{
    int *admin;

    server_expect(server);
    admin = server->admin;
    if (admin == NULL) {
        admin = malloc(sizeof *admin);
        assert_non_null(admin);
        *admin = memcached_connect(server);
        server->admin = admin;
    }
    if (!command_run(*admin, command, out, size))
        fail_msg("memcached: no answer to %s", command);
}
