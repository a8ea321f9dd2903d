/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite's memory and files, by the hooks that it has for this. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/faults.h"

static sqlite3_mem_methods memory;

/* Those of faults_calls.c are our own objects'. */
int __real_open64(const char *path, int flags, ...);
ssize_t __real_pread64(int fd, void *bytes, size_t n, off_t at);
ssize_t __real_pwrite64(int fd, const void *bytes, size_t n, off_t at);
int __real_fstat64(int fd, struct stat *out);
int __real_ftruncate64(int fd, off_t size);
int __real_fcntl64(int fd, int command, ...);
int __real_unlink(const char *path);

static void *sqlite_malloc(int size)
{
    return faults_come(FAULTS_SQLITE_MEMORY, "malloc") ? NULL
                                                       : memory.xMalloc(size);
}

static void *sqlite_realloc(void *old, int size)
{
    return faults_come(FAULTS_SQLITE_MEMORY, "realloc")
               ? NULL
               : memory.xRealloc(old, size);
}

static bool comes(const char *call, int error)
{
    if (!faults_come(FAULTS_SQLITE_CALLS, call))
        return false;
    errno = error;
    return true;
}

static int sqlite_open(const char *path, int flags, int mode)
{
    return comes("open", EMFILE) ? -1 : __real_open64(path, flags, mode);
}

static ssize_t sqlite_pread(int fd, void *bytes, size_t n, off_t at)
{
    return comes("pread", EIO) ? -1 : __real_pread64(fd, bytes, n, at);
}

static ssize_t sqlite_pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    if (!comes("pwrite", ENOSPC))
        return __real_pwrite64(fd, bytes, n, at);
    (void)!__real_pwrite64(fd, bytes, n / 2, at);
    errno = ENOSPC;
    return -1;
}

static int sqlite_fstat(int fd, struct stat *out)
{
    return comes("fstat", EIO) ? -1 : __real_fstat64(fd, out);
}

static int sqlite_ftruncate(int fd, off_t size)
{
    return comes("ftruncate", EIO) ? -1 : __real_ftruncate64(fd, size);
}

/* Locks, mostly. */
static int sqlite_fcntl(int fd, int command, ...)
{
    va_list rest;
    void *argument;

    va_start(rest, command);
    argument = va_arg(rest, void *);
    va_end(rest);
    return comes("fcntl", EIO) ? -1 : __real_fcntl64(fd, command, argument);
}

static int sqlite_unlink(const char *path)
{
    return comes("unlink", EIO) ? -1 : __real_unlink(path);
}

/* SQLite's shared library finds this one before that of libc. */
__attribute__((visibility("default"))) int fdatasync(int fd)
{
    int (*real)(int);

    *(void **)&real = dlsym(RTLD_NEXT, "fdatasync");
    return comes("fdatasync", EIO) ? -1 : real(fd);
}

static void set_call(sqlite3_vfs *vfs, const char *name,
                     sqlite3_syscall_ptr call)
{
    if (vfs->xSetSystemCall(vfs, name, call) != SQLITE_OK)
        abort();
}

void faults_prepare(void)
{
    sqlite3_mem_methods failing;
    sqlite3_vfs *vfs;

    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory) != SQLITE_OK)
        abort();
    failing = memory;
    failing.xMalloc = sqlite_malloc;
    failing.xRealloc = sqlite_realloc;
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &failing) != SQLITE_OK ||
        sqlite3_initialize() != SQLITE_OK)
        abort();
    vfs = sqlite3_vfs_find("unix");
    set_call(vfs, "open", (sqlite3_syscall_ptr)sqlite_open);
    set_call(vfs, "pread", (sqlite3_syscall_ptr)sqlite_pread);
    set_call(vfs, "pread64", (sqlite3_syscall_ptr)sqlite_pread);
    set_call(vfs, "pwrite", (sqlite3_syscall_ptr)sqlite_pwrite);
    set_call(vfs, "pwrite64", (sqlite3_syscall_ptr)sqlite_pwrite);
    set_call(vfs, "fstat", (sqlite3_syscall_ptr)sqlite_fstat);
    set_call(vfs, "ftruncate", (sqlite3_syscall_ptr)sqlite_ftruncate);
    set_call(vfs, "fcntl", (sqlite3_syscall_ptr)sqlite_fcntl);
    set_call(vfs, "unlink", (sqlite3_syscall_ptr)sqlite_unlink);
}
