/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets; see listener.h. accept.c handles the clients. */
#include "daemon/listeners/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/account/account.h"

#define HOST_SIZE   256
#define PORT_MAX    65535
#define SOCKET_MODE 0660

static enum seqb_status fail(struct seqb_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static enum seqb_status fail(struct seqb_error *err, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    err->status = SEQB_INVALID;
    return SEQB_INVALID;
}

void address_print(const struct sockaddr_storage *address, socklen_t length,
                   char out[ADDRESS_SIZE])
{
    const struct sockaddr *plain = (const struct sockaddr *)address;
    const struct sockaddr_un *local = (const struct sockaddr_un *)address;
    const size_t path = offsetof(struct sockaddr_un, sun_path);
    char host[NI_MAXHOST] = "?";
    char port[NI_MAXSERV] = "0";

    if (address->ss_family == AF_UNIX) {
        snprintf(out, ADDRESS_SIZE, "%.*s:0",
                 length > path ? (int)(length - path) : 0, local->sun_path);
        return;
    }
    (void)getnameinfo(plain, length, host, sizeof host, port, sizeof port,
                      NI_NUMERICHOST | NI_NUMERICSERV);
    if (address->ss_family == AF_INET6)
        snprintf(out, ADDRESS_SIZE, "[%.100s]:%.8s", host, port);
    else
        snprintf(out, ADDRESS_SIZE, "%.100s:%.8s", host, port);
}

/* Splits "ADDR:PORT". False if the text has another form. */
static bool address_split(const char *address, char *host, size_t size,
                          const char **port)
{
    const char *colon = strrchr(address, ':');
    size_t length = colon == NULL ? 0 : (size_t)(colon - address);
    char *end = NULL;

    if (length == 0 || length >= size)
        return false;
    *port = colon + 1;
    if (strspn(*port, "0123456789") != strlen(*port) || **port == '\0' ||
        strlen(*port) > 5 || strtol(*port, &end, 10) > PORT_MAX)
        return false;
    if (address[0] == '[') {
        if (length < 3 || address[length - 1] != ']')
            return false;
        address++;
        length -= 2;
    } else if (memchr(address, ':', length) != NULL) {
        return false;
    }
    memcpy(host, address, length);
    host[length] = '\0';
    return true;
}

bool listener_is_address(const char *address)
{
    char host[HOST_SIZE];
    const char *port = NULL;

    return address_split(address, host, sizeof host, &port);
}

/* Names the socket by its real address, with the port that the kernel chose. */
static void listener_name_tcp(struct listener *listener)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;

    (void)getsockname(listener->fd, (struct sockaddr *)&address, &length);
    address_print(&address, length, listener->name);
}

static void socket_set_reuse(int fd, int is_on)
{
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &is_on, sizeof is_on);
}

/* Binds although connections of an earlier listener are in TIME_WAIT. */
static bool address_reuse(int fd, const struct addrinfo *info)
{
    bool is_bound;
    int why;

    socket_set_reuse(fd, 1);
    is_bound = bind(fd, info->ai_addr, info->ai_addrlen) == 0;
    why = errno;
    socket_set_reuse(fd, 0);
    errno = why;
    return is_bound;
}

/* A socket bound to that address, or -1 with errno. Nobody listens there yet,
 * and Linux lets a second program bind the address meanwhile if both sockets
 * may reuse it. So neither may; see listener_start. */
static int tcp_bind(const struct addrinfo *info)
{
    const int on = 1;
    int fd =
        socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (info->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(fd, info->ai_addr, info->ai_addrlen) != 0 &&
        (errno != EADDRINUSE || !address_reuse(fd, info))) {
        int why = errno;

        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

enum seqb_status address_find(const char *address, int flags,
                              struct addrinfo **out, struct seqb_error *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags =
                                       flags | AI_PASSIVE | AI_NUMERICSERV};
    char host[HOST_SIZE];
    const char *port = NULL;
    int why = 0;

    if (!address_split(address, host, sizeof host, &port))
        return fail(err, "not an address: %s, use ADDR:PORT", address);
    why = getaddrinfo(host, port, &hints, out);
    if (why != 0)
        return fail(err, "cannot listen on %s: %s", address, gai_strerror(why));
    return SEQB_OK;
}

static enum seqb_status tcp_fail(struct seqb_error *err, const char *address,
                                 int why)
{
    if (why == EADDRINUSE)
        return fail(err,
                    "cannot listen on %s: another program does; choose "
                    "another port (--listen, --tls-listen, --http or --https)",
                    address);
    return fail(err, "cannot listen on %s: %s", address, strerror(why));
}

enum seqb_status listener_open_tcp(struct listener *listener,
                                   const char *address, struct seqb_error *err)
{
    struct addrinfo *found = NULL;
    int why = 0;

    errno = 0;
    if (address_find(address, 0, &found, err) != SEQB_OK)
        return err->status;
    /* A name may have several addresses: uses the first one that can be
     * bound. */
    for (struct addrinfo *info = found; info != NULL && listener->fd < 0;
         info = info->ai_next) {
        listener->fd = tcp_bind(info);
        why = errno;
    }
    freeaddrinfo(found);
    if (listener->fd < 0) {
        (void)tcp_fail(err, address, why);
        errno = why;
        return err->status;
    }
    listener->is_own = true;
    listener_name_tcp(listener);
    return SEQB_OK;
}

enum seqb_status listener_start(struct listener *listener,
                                struct seqb_error *err)
{
    /* Its connections have this from it, and the next program can bind the
     * address while they are in TIME_WAIT. */
    if (!listener->is_local)
        socket_set_reuse(listener->fd, 1);
    if (listen(listener->fd, LISTENER_BACKLOG) == 0)
        return SEQB_OK;
    return tcp_fail(err, listener->name, errno);
}

/* Whether a process listens there. */
static bool socket_is_alive(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool is_alive = false;

    if (fd < 0)
        return true;
    is_alive =
        connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 ||
        errno != ECONNREFUSED;
    close(fd);
    return is_alive;
}

enum seqb_status listener_check_file(const char *path, bool *is_there,
                                     struct seqb_error *err)
{
    struct stat file;

    *is_there = lstat(path, &file) == 0;
    if (!*is_there && errno != ENOENT)
        return fail(err, "cannot use socket %s: %s", path, strerror(errno));
    if (*is_there && !S_ISSOCK(file.st_mode))
        return fail(err,
                    "cannot listen on %s: a file stands there that is not a "
                    "socket; choose another path with --socket PATH",
                    path);
    return SEQB_OK;
}

/* Removes the socket of a dead daemon from the path. */
static enum seqb_status socket_clear(const struct sockaddr_un *address,
                                     struct seqb_error *err)
{
    const char *path = address->sun_path;
    bool is_there;

    if (listener_check_file(path, &is_there, err) != SEQB_OK)
        return err->status;
    if (!is_there)
        return SEQB_OK;
    if (socket_is_alive(address))
        return fail(err,
                    "another daemon is listening on %s: stop it, or choose "
                    "another path with --socket PATH",
                    path);
    if (unlink(path) != 0 && errno != ENOENT)
        return fail(err, "cannot remove the stale socket %s: %s", path,
                    strerror(errno));
    return SEQB_OK;
}

/* The file gets the mode of the socket, less the umask. So it never has more
 * rights than it should, and the process's umask, which other threads use, is
 * not changed. The group is set before the mode that lets the group in. */
static bool socket_bind(int fd, const struct sockaddr_un *address, mode_t mode,
                        gid_t group)
{
    return fchmod(fd, mode & S_IRWXU) == 0 &&
           bind(fd, (const struct sockaddr *)address, sizeof *address) == 0 &&
           (group == (gid_t)-1 ||
            chown(address->sun_path, (uid_t)-1, group) == 0) &&
           chmod(address->sun_path, mode) == 0 &&
           listen(fd, LISTENER_BACKLOG) == 0;
}

/* Names the socket by its path, and notes which file is there. False with errno
 * if there is none. */
static bool listener_name_local(struct listener *listener)
{
    struct sockaddr_un address = {0};
    socklen_t length = sizeof address;
    struct stat file;

    listener->is_local = true;
    (void)getsockname(listener->fd, (struct sockaddr *)&address, &length);
    snprintf(listener->name, sizeof listener->name, "%.*s",
             (int)sizeof address.sun_path, address.sun_path);
    if (stat(listener->name, &file) != 0)
        return false;
    listener->device = file.st_dev;
    listener->inode = file.st_ino;
    return true;
}

static enum seqb_status rights_group(const char *path,
                                     const struct listener_rights *rights,
                                     gid_t *out, struct seqb_error *err)
{
    int error = 0;

    *out = (gid_t)-1;
    if (rights->group != NULL)
        error = account_read(rights->group, true, out);
    if (error == ENOENT)
        return fail(err, "cannot listen on %s: there is no group '%s'", path,
                    rights->group);
    if (error != 0)
        return fail(err, "cannot listen on %s: cannot look up group '%s': %s",
                    path, rights->group, strerror(error));
    return SEQB_OK;
}

enum seqb_status listener_check_local(const char *path,
                                      const struct listener_rights *rights,
                                      struct seqb_error *err)
{
    const size_t max = sizeof((struct sockaddr_un *)NULL)->sun_path - 1;
    gid_t group;

    if (strlen(path) > max)
        return fail(err, "socket path %s is longer than %zu bytes: shorten it",
                    path, max);
    return rights_group(path, rights, &group, err);
}

enum seqb_status listener_open_local(struct listener *listener,
                                     const char *path,
                                     const struct listener_rights *rights,
                                     struct seqb_error *err)
{
    const mode_t mode = rights->mode == 0 ? SOCKET_MODE : rights->mode;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    gid_t group;

    if (listener_check_local(path, rights, err) != SEQB_OK ||
        rights_group(path, rights, &group, err) != SEQB_OK)
        return err->status;
    memcpy(address.sun_path, path, strlen(path));
    if (socket_clear(&address, err) != SEQB_OK)
        return err->status;
    listener->fd =
        socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener->fd < 0 || !socket_bind(listener->fd, &address, mode, group))
        return fail(err, "cannot listen on %s: %s", path, strerror(errno));
    listener->is_own = true;
    if (!listener_name_local(listener))
        return fail(err, "cannot use socket %s: %s", path, strerror(errno));
    return SEQB_OK;
}

enum seqb_status listener_set_rights(const struct listener *listener,
                                     const struct listener_rights *rights,
                                     struct seqb_error *err)
{
    const mode_t mode = rights->mode == 0 ? SOCKET_MODE : rights->mode;
    gid_t group;

    if (rights_group(listener->name, rights, &group, err) != SEQB_OK)
        return err->status;
    if (!listener->is_own)
        return SEQB_OK;
    if ((group != (gid_t)-1 && chown(listener->name, (uid_t)-1, group) != 0) ||
        chmod(listener->name, mode) != 0)
        return fail(err, "cannot set the rights of %s: %s", listener->name,
                    strerror(errno));
    return SEQB_OK;
}

void listener_adopt(struct listener *listener, struct inherited_socket *from)
{
    from->is_taken = true;
    listener->fd = from->fd;
    listener->is_own = from->is_own;
    listener->is_tls = from->kind == INHERITED_TLS;
    /* A socket without a file has nothing to remove. */
    if (from->kind != INHERITED_LOCAL)
        listener_name_tcp(listener);
    else if (!listener_name_local(listener))
        listener->is_own = false;
}

enum inherited_kind listener_kind(const struct listener *listener)
{
    if (listener->is_local)
        return INHERITED_LOCAL;
    return listener->is_tls ? INHERITED_TLS : INHERITED_TCP;
}

bool address_is_loopback(const struct sockaddr_storage *address)
{
    const struct in6_addr *v6 = &((struct sockaddr_in6 *)address)->sin6_addr;
    const struct in_addr *v4 = &((struct sockaddr_in *)address)->sin_addr;

    if (address->ss_family == AF_INET)
        return ntohl(v4->s_addr) >> 24 == IN_LOOPBACKNET;
    if (address->ss_family != AF_INET6)
        return true; /* a unix socket, which its file's mode protects */
    return IN6_IS_ADDR_LOOPBACK(v6) ||
           (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == IN_LOOPBACKNET);
}

enum seqb_status address_lacks_guard(const char *address,
                                     struct seqb_error *err)
{
    return fail(err,
                "%s is not of loopback: whoever reaches it could take numbers; "
                "add users to the topology (and no user 'default' who takes "
                "numbers without a login), or open_to_all = true to its "
                "section daemon; see docs/secure.md",
                address);
}

enum seqb_status listener_check_guard(const struct listener *listener,
                                      struct seqb_error *err)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;

    if (getsockname(listener->fd, (struct sockaddr *)&address, &length) != 0 ||
        address_is_loopback(&address))
        return SEQB_OK;
    return address_lacks_guard(listener->name, err);
}

int listener_port(const struct listener *listener)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;

    if (listener->fd < 0 ||
        getsockname(listener->fd, (struct sockaddr *)&address, &length) != 0)
        return 0;
    if (address.ss_family == AF_INET)
        return ntohs(((struct sockaddr_in *)&address)->sin_port);
    if (address.ss_family == AF_INET6)
        return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return 0;
}

int listener_accept(const struct listener *listener)
{
    const int on = 1;
    int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd >= 0 && !listener->is_local) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    }
    return fd;
}

static void listener_remove_file(const struct listener *listener)
{
    struct stat file;

    if (lstat(listener->name, &file) == 0 && file.st_dev == listener->device &&
        file.st_ino == listener->inode)
        unlink(listener->name);
}

struct inherited_socket listener_socket(const struct listener *listener)
{
    return (struct inherited_socket){
        .fd = listener->fd,
        .kind = listener_kind(listener),
        .is_own = listener->is_own,
    };
}

struct inherited_socket listener_release(struct listener *listener)
{
    const struct inherited_socket released = listener_socket(listener);

    listener->fd = -1;
    listener_close(listener);
    return released;
}

void listener_close(struct listener *listener)
{
    if (listener->event != NULL)
        event_free(listener->event);
    listener->event = NULL;
    if (listener->fd < 0)
        return;
    if (listener->is_local && listener->is_own)
        listener_remove_file(listener);
    close(listener->fd);
    listener->fd = -1;
}
