/* SPDX-License-Identifier: Apache-2.0 */
/* A SQLite file system layer (sqlite.org/vfs.html) that fails on command:
 * the methods of the files it opens are copies with some exchanged. */
#include "contract/sqlite_faults.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static struct sqlite_faults faults;
static sqlite3_vfs *real;
static sqlite3_vfs layer;
static const sqlite3_io_methods *real_methods;
static sqlite3_io_methods main_methods;
static sqlite3_io_methods log_methods;

#define LOCK_WRITER 0 /* the first of SQLite's locks of a log's index */
#define PAGE_LEAST  512

static int any_read(sqlite3_file *file, void *out, int size, sqlite3_int64 at)
{
    if (size < PAGE_LEAST && ++faults.reads == faults.fails_read)
        return SQLITE_IOERR_READ;
    return real_methods->xRead(file, out, size, at);
}

static int log_sync(sqlite3_file *file, int flags)
{
    void (*const syncing)(void *context) = faults.syncing;

    faults.log_syncs++;
    if (syncing != NULL) {
        faults.syncing = NULL;
        syncing(faults.context);
    }
    if (faults.fails_sync)
        return SQLITE_IOERR_FSYNC;
    return real_methods->xSync(file, flags);
}

static int main_lock(sqlite3_file *file, int first, int n, int flags)
{
    const int result = real_methods->xShmLock(file, first, n, flags);
    void (*const unlocked)(void *context) = faults.unlocked;

    if (unlocked != NULL && first == LOCK_WRITER &&
        flags == (SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE)) {
        faults.unlocked = NULL;
        unlocked(faults.context);
    }
    return result;
}

static int main_close(sqlite3_file *file)
{
    faults.closes++;
    return real_methods->xClose(file);
}

static void main_opened(sqlite3_file *file)
{
    real_methods = file->pMethods;
    main_methods = *file->pMethods;
    main_methods.xClose = main_close;
    main_methods.xRead = any_read;
    main_methods.xShmLock = main_lock;
    if (faults.refuses_log)
        main_methods.iVersion = 1; /* shared memory came with 2 */
    file->pMethods = &main_methods;
}

static void log_opened(sqlite3_file *file)
{
    log_methods = *file->pMethods;
    log_methods.xRead = any_read;
    log_methods.xSync = log_sync;
    file->pMethods = &log_methods;
    if (faults.swap_to != NULL && rename(faults.swap_to, faults.swap_for) != 0)
        abort();
    faults.swap_to = NULL;
}

static int layer_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file,
                      int flags, int *out)
{
    const int result = real->xOpen(real, name, file, flags, out);

    (void)vfs;
    if (result == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB) != 0)
        main_opened(file);
    if (result == SQLITE_OK && (flags & SQLITE_OPEN_WAL) != 0)
        log_opened(file);
    return result;
}

struct sqlite_faults *sqlite_faults_install(void)
{
    faults = (struct sqlite_faults){0};
    if (real == NULL) {
        real = sqlite3_vfs_find(NULL);
        layer = *real;
        layer.zName = "faults";
        layer.xOpen = layer_open;
    }
    if (sqlite3_vfs_register(&layer, 1) != SQLITE_OK)
        abort();
    return &faults;
}

void sqlite_faults_remove(void)
{
    if (real != NULL && sqlite3_vfs_register(real, 1) != SQLITE_OK)
        abort();
}
