/* SPDX-License-Identifier: Apache-2.0 */
/* Locks the log by flock. */
#include "backends/sqlite/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/error.h"

#define LOOK_MS 1 /* between two attempts: flock(2) has no deadline */

/* A log that is gone is not opened: what checks the file then reports it. */
static enum seqb_status lock_open(struct sqlite_link *link,
                                  struct seqb_error *err)
{
    const char *path =
        sqlite3_filename_wal(sqlite3_db_filename(link->db, "main"));

    if (link->lock >= 0)
        return SEQB_OK;
    link->lock = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (link->lock >= 0 || errno == ENOENT)
        return SEQB_OK;
    return error_set(err, SEQB_UNREACHABLE, "sqlite %s: cannot lock %s: %s",
                     link->name, path, strerror(errno));
}

/* A file system without such locks leaves SQLite's. */
static bool lock_is_taken(const struct sqlite_link *link)
{
    return link->lock < 0 || flock(link->lock, LOCK_EX | LOCK_NB) == 0 ||
           (errno != EWOULDBLOCK && errno != EINTR);
}

enum seqb_status sqlite_lock_take(struct sqlite_link *link, int64_t until_ms,
                                  struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    if (!link->is_logged) /* nothing is granted before it is */
        return SEQB_OK;
    status = lock_open(link, err);
    if (status != SEQB_OK)
        return status;
    while (!lock_is_taken(link)) {
        if (clock_now_ms() >= until_ms)
            return sqlite_link_fail(link, SQLITE_BUSY, "lock", err);
        (void)nanosleep(&(struct timespec){0, LOOK_MS * 1000000L}, NULL);
    }
    return SEQB_OK;
}

/* Unlocks explicitly: a forked child has the file open as well. The child must
 * not, since the lock is the parent's. */
void sqlite_lock_release(struct sqlite_link *link)
{
    if (link->lock >= 0 && link->pid == getpid())
        (void)flock(link->lock, LOCK_UN);
}

void sqlite_lock_close(struct sqlite_link *link)
{
    sqlite_lock_release(link);
    if (link->lock >= 0)
        (void)close(link->lock);
    link->lock = -1;
}
