/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets that are received from and passed to another program; see
 * inherited.h. */
#include "daemon/listeners/inherited.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIRST_FD INHERITED_FIRST_FD

/* The names in LISTEN_FDNAMES. An operator uses "tls", "http" and "https"; a
 * restart also uses the others. */
static const struct {
    const char *name, *own, *lent;
} names_of[INHERITED_KINDS] = {
    [INHERITED_TCP] = {"other", "own", "lent"},
    [INHERITED_LOCAL] = {"other", "own", "lent"},
    [INHERITED_TLS] = {"tls", "own-tls", "lent-tls"},
    [INHERITED_HTTP] = {"http", "own-http", "lent-http"},
    [INHERITED_HTTPS] = {"https", "own-https", "lent-https"},
};

static enum seqb_status refuse(struct seqb_error *err, int fd, const char *why)
{
    snprintf(err->text, sizeof err->text,
             "cannot use descriptor %d of $LISTEN_FDS: %s", fd, why);
    err->status = SEQB_INVALID;
    return err->status;
}

static bool option_is(int fd, int option, int expected)
{
    int value = 0;
    socklen_t length = sizeof value;

    return getsockopt(fd, SOL_SOCKET, option, &value, &length) == 0 &&
           value == expected;
}

static bool name_is(const char *name, size_t length, const char *expected)
{
    return strlen(expected) == length && memcmp(name, expected, length) == 0;
}

/* Sets by its name the kind of the socket, and whose it is. A socket without a
 * known name serves Redis clients. */
static void kind_read(struct inherited_socket *out, const char *name,
                      size_t length, bool is_local)
{
    out->kind = is_local ? INHERITED_LOCAL : INHERITED_TCP;
    for (int kind = 0; kind < INHERITED_KINDS; kind++) {
        const bool is_own = name_is(name, length, names_of[kind].own);
        const bool is_lent = name_is(name, length, names_of[kind].lent);

        if (!is_own && !is_lent && !name_is(name, length, names_of[kind].name))
            continue;
        out->is_own = is_own;
        out->is_ours = is_own || is_lent;
        if (kind > INHERITED_LOCAL)
            out->kind = (enum inherited_kind)kind;
        return;
    }
}

static enum seqb_status socket_read(struct inherited_socket *out,
                                    const char *name, size_t length,
                                    struct seqb_error *err)
{
    const int fd = out->fd;
    const bool is_local = option_is(fd, SO_DOMAIN, AF_UNIX);

    if (!option_is(fd, SO_TYPE, SOCK_STREAM) ||
        !option_is(fd, SO_ACCEPTCONN, 1))
        return refuse(err, fd, "it is no stream socket that listens");
    if (!is_local && !option_is(fd, SO_DOMAIN, AF_INET) &&
        !option_is(fd, SO_DOMAIN, AF_INET6))
        return refuse(err, fd, "it is neither TCP nor a unix socket");
    kind_read(out, name, length, is_local);
    if (is_local && out->kind != INHERITED_LOCAL)
        return refuse(err, fd, "HTTP and TLS want a TCP socket");
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 ||
        fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
        return refuse(err, fd, "it cannot be set up");
    return SEQB_OK;
}

static enum seqb_status sockets_read(struct inherited *out, long count,
                                     const char *names, struct seqb_error *err)
{
    if (count < 0 || count > INHERITED_MAX)
        return refuse(err, FIRST_FD, "there are more than 32");
    for (int i = 0; i < (int)count; i++) {
        const size_t length = strcspn(names, ":");

        out->sockets[i].fd = FIRST_FD + i;
        if (socket_read(&out->sockets[i], names, length, err) != SEQB_OK)
            return err->status;
        out->count++;
        names += length + (names[length] == ':');
    }
    return SEQB_OK;
}

/* The variables may have been meant for a parent process. */
static bool is_for_this_process(void)
{
    const char *pid = getenv("LISTEN_PID");
    const char *lender = getenv(INHERITED_LENDER);

    if (pid != NULL)
        return strtol(pid, NULL, 10) == (long)getpid();
    return lender != NULL && strtol(lender, NULL, 10) == (long)getppid();
}

enum seqb_status inherited_read(struct inherited *out, struct seqb_error *err)
{
    const char *count = getenv("LISTEN_FDS");
    const char *names = getenv("LISTEN_FDNAMES");
    enum seqb_status status = SEQB_OK;

    *out = (struct inherited){.count = 0};
    if (count != NULL && is_for_this_process())
        status = sockets_read(out, strtol(count, NULL, 10),
                              names != NULL ? names : "", err);
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    unsetenv(INHERITED_LENDER);
    return status;
}

bool inherited_replaces(const struct inherited *inherited,
                        enum inherited_kind kind)
{
    for (size_t i = 0; i < inherited->count; i++)
        if (inherited->sockets[i].kind == kind &&
            !inherited->sockets[i].is_ours)
            return true;
    return false;
}

bool inherited_add(struct inherited *inherited,
                   const struct inherited_socket *socket)
{
    if (inherited->count == INHERITED_MAX)
        return false;
    inherited->sockets[inherited->count++] = *socket;
    return true;
}

static const char *name_of(const struct inherited_socket *socket, bool is_lent)
{
    if (!socket->is_own)
        return names_of[socket->kind].name;
    return is_lent ? names_of[socket->kind].lent : names_of[socket->kind].own;
}

void inherited_name(const struct inherited *inherited, bool is_lent,
                    char out[INHERITED_NAMES_SIZE])
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < inherited->count; i++)
        used += (size_t)snprintf(out + used, INHERITED_NAMES_SIZE - used,
                                 "%s%s", i > 0 ? ":" : "",
                                 name_of(&inherited->sockets[i], is_lent));
}

/* Moves the sockets to FIRST_FD and up, by way of higher numbers, because a
 * socket may occupy a number of the new range. A duplicate made by dup2 has no
 * FD_CLOEXEC: it stays open when the next program is executed. */
static bool sockets_move(const struct inherited *inherited)
{
    const int count = (int)inherited->count;
    int above[INHERITED_MAX];

    for (int i = 0; i < count; i++) {
        above[i] =
            fcntl(inherited->sockets[i].fd, F_DUPFD_CLOEXEC, FIRST_FD + count);
        if (above[i] < 0)
            return false;
    }
    for (int i = 0; i < count; i++)
        if (dup2(above[i], FIRST_FD + i) < 0)
            return false;
    return true;
}

bool inherited_pass(const struct inherited *inherited)
{
    char names[INHERITED_NAMES_SIZE];
    char number[24];

    inherited_name(inherited, false, names);
    if (!sockets_move(inherited))
        return false;
    snprintf(number, sizeof number, "%ld", (long)getpid());
    if (setenv("LISTEN_PID", number, 1) != 0)
        return false;
    snprintf(number, sizeof number, "%zu", inherited->count);
    return setenv("LISTEN_FDS", number, 1) == 0 &&
           setenv("LISTEN_FDNAMES", names, 1) == 0;
}
