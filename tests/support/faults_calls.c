/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of our own objects, by the linker's --wrap. The list of them in
 * tests/sweep/CMakeLists.txt is the same. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "support/faults.h"
#include "support/wrap.h"

static bool comes(enum faults_kind kind, const char *call, int error)
{
    if (!faults_come(kind, call))
        return false;
    errno = error;
    return true;
}

/* A call that does nothing, and answers `failure`. */
#define WRAP(kind, error, failure, type, name, parameters, arguments)          \
    type __real_##name parameters;                                             \
    type __wrap_##name parameters;                                             \
    type __wrap_##name parameters                                              \
    {                                                                          \
        if (comes(kind, #name, error))                                         \
            return failure;                                                    \
        return __real_##name arguments;                                        \
    }

#define MEMORY(name, parameters, arguments)                                    \
    WRAP(FAULTS_MEMORY, ENOMEM, NULL, void *, name, parameters, arguments)
#define TEXT(name, parameters, arguments)                                      \
    WRAP(FAULTS_MEMORY, ENOMEM, NULL, char *, name, parameters, arguments)
#define CALL(error, type, name, parameters, arguments)                         \
    WRAP(FAULTS_CALLS, error, -1, type, name, parameters, arguments)

MEMORY(malloc, (size_t size), (size))
MEMORY(calloc, (size_t n, size_t size), (n, size))
MEMORY(realloc, (void *old, size_t size), (old, size))
MEMORY(aligned_alloc, (size_t alignment, size_t size), (alignment, size))
TEXT(strdup, (const char *text), (text))
TEXT(strndup, (const char *text, size_t n), (text, n))
WRAP(FAULTS_MEMORY, EAGAIN, EAGAIN, int, pthread_create,
     (pthread_t * out, const pthread_attr_t *attributes, void *(*run)(void *),
      void *argument),
     (out, attributes, run, argument))

CALL(EIO, ssize_t, read, (int fd, void *bytes, size_t n), (fd, bytes, n))
CALL(EIO, int, fsync, (int fd), (fd))
CALL(EIO, int, rename, (const char *from, const char *to), (from, to))
CALL(EIO, int, unlink, (const char *path), (path))
CALL(ENOLCK, int, flock, (int fd, int operation), (fd, operation))
CALL(EIO, int, stat64, (const char *path, struct stat64 *out), (path, out))
CALL(EIO, int, fstat64, (int fd, struct stat64 *out), (fd, out))
CALL(EIO, int, access, (const char *path, int mode), (path, mode))
CALL(EIO, int, fchmod, (int fd, mode_t mode), (fd, mode))
CALL(ENOSPC, int, mkdir, (const char *path, mode_t mode), (path, mode))
CALL(EIO, ssize_t, getrandom, (void *out, size_t n, unsigned flags),
     (out, n, flags))
CALL(EMFILE, int, eventfd, (unsigned count, int flags), (count, flags))
CALL(EMFILE, int, socket, (int domain, int type, int protocol),
     (domain, type, protocol))
CALL(ECONNREFUSED, int, connect,
     (int fd, const struct sockaddr *to, socklen_t size), (fd, to, size))
CALL(EADDRINUSE, int, bind, (int fd, const struct sockaddr *to, socklen_t size),
     (fd, to, size))
CALL(EADDRINUSE, int, listen, (int fd, int backlog), (fd, backlog))
CALL(ENOMEM, int, poll, (struct pollfd * fds, nfds_t n, int timeout_ms),
     (fds, n, timeout_ms))
CALL(EIO, ssize_t, pread64, (int fd, void *bytes, size_t n, off64_t at),
     (fd, bytes, n, at))
CALL(ENOSPC, ssize_t, pwrite64,
     (int fd, const void *bytes, size_t n, off64_t at), (fd, bytes, n, at))
CALL(EIO, int, faccessat, (int folder, const char *path, int mode, int flags),
     (folder, path, mode, flags))
CALL(EIO, int, statx,
     (int folder, const char *path, int flags, unsigned mask,
      struct statx *out),
     (folder, path, flags, mask, out))
CALL(EIO, int, statfs64, (const char *path, struct statfs64 *out), (path, out))
CALL(EIO, int, unlinkat, (int folder, const char *path, int flags),
     (folder, path, flags))
CALL(EIO, ssize_t, getxattr,
     (const char *path, const char *name, void *out, size_t size),
     (path, name, out, size))
CALL(ENOSPC, int, setxattr,
     (const char *path, const char *name, const void *value, size_t size,
      int flags),
     (path, name, value, size, flags))
WRAP(FAULTS_MEMORY, ENOMEM, MAP_FAILED, void *, mmap64,
     (void *at, size_t size, int protection, int flags, int fd, off64_t offset),
     (at, size, protection, flags, fd, offset))
WRAP(FAULTS_CALLS, EMFILE, NULL, DIR *, opendir, (const char *path), (path))
WRAP(FAULTS_CALLS, EMFILE, NULL, FILE *, fopen64,
     (const char *path, const char *mode), (path, mode))

CALL(ECONNRESET, ssize_t, recv, (int fd, void *bytes, size_t n, int flags),
     (fd, bytes, n, flags))
CALL(ECONNRESET, ssize_t, send,
     (int fd, const void *bytes, size_t n, int flags), (fd, bytes, n, flags))
CALL(EMFILE, int, accept4,
     (int fd, struct sockaddr *from, socklen_t *size, int flags),
     (fd, from, size, flags))
CALL(ENOBUFS, int, setsockopt,
     (int fd, int level, int name, const void *value, socklen_t size),
     (fd, level, name, value, size))
CALL(ENOBUFS, int, getsockopt,
     (int fd, int level, int name, void *value, socklen_t *size),
     (fd, level, name, value, size))
CALL(ENOTCONN, int, getpeername,
     (int fd, struct sockaddr *name, socklen_t *size), (fd, name, size))

CALL(EMFILE, int, dup2, (int fd, int to), (fd, to))
CALL(ENOENT, int, execvp, (const char *program, char *const *arguments),
     (program, arguments))
CALL(EMFILE, int, memfd_create, (const char *name, unsigned flags),
     (name, flags))
CALL(ENOMEM, int, ftruncate64, (int fd, off64_t size), (fd, size))
CALL(EIO, off64_t, lseek64, (int fd, off64_t at, int from), (fd, at, from))
CALL(EMFILE, int, pidfd_open, (pid_t pid, unsigned flags), (pid, flags))
WRAP(FAULTS_CALLS, EAGAIN, EAGAIN, int, posix_spawn,
     (pid_t * out, const char *path, const posix_spawn_file_actions_t *actions,
      const posix_spawnattr_t *attributes, char *const *arguments,
      char *const *environment),
     (out, path, actions, attributes, arguments, environment))
WRAP(FAULTS_CALLS, EAGAIN, EAGAIN, int, posix_spawnp,
     (pid_t * out, const char *path, const posix_spawn_file_actions_t *actions,
      const posix_spawnattr_t *attributes, char *const *arguments,
      char *const *environment),
     (out, path, actions, attributes, arguments, environment))

int __wrap_asprintf(char **out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **out, const char *format, ...)
{
    va_list rest;
    int length;

    if (comes(FAULTS_MEMORY, "asprintf", ENOMEM))
        return -1;
    va_start(rest, format);
    length = vasprintf(out, format, rest);
    va_end(rest);
    return length;
}

static bool is_eventfd(int fd)
{
    static const char name[] = "anon_inode:[eventfd]";
    char path[32];
    char to[sizeof name];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return readlink(path, to, sizeof to) == (ssize_t)sizeof name - 1 &&
           memcmp(to, name, sizeof name - 1) == 0;
}

/* Half of what was to be written stands there, but an eventfd fails only if its
 * counter is full: who reads it is awake then. What is written to stderr is the
 * test's own. */
WRAPPED(ssize_t, write, int fd, const void *bytes, size_t n)
{
    if (fd != STDERR_FILENO && comes(FAULTS_CALLS, "write", ENOSPC)) {
        (void)!__real_write(fd, bytes, is_eventfd(fd) ? n : n / 2);
        errno = ENOSPC;
        return -1;
    }
    return __real_write(fd, bytes, n);
}

/* It is closed, whatever the answer. */
WRAPPED(int, close, int fd)
{
    const int result = __real_close(fd);

    return comes(FAULTS_CALLS, "close", EIO) ? -1 : result;
}

/* The name that files of any size have. */
WRAPPED(int, open64, const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list rest;

    va_start(rest, flags);
    if ((flags & O_CREAT) != 0)
        mode = va_arg(rest, mode_t);
    va_end(rest);
    if (comes(FAULTS_CALLS, "open", EMFILE))
        return -1;
    return __real_open64(path, flags, mode);
}

int __real_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...)
{
    void *argument;
    va_list rest;

    va_start(rest, command);
    argument = va_arg(rest, void *);
    va_end(rest);
    if (comes(FAULTS_CALLS, "fcntl", EMFILE))
        return -1;
    return __real_fcntl64(fd, command, argument);
}
