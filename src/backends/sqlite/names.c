/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the names of a SQLite file by statx. */
#include "backends/sqlite/names.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "platform/error.h"
#include "platform/text.h"

#define INDEX_END "-shm"

/* The handle's own path, without symbolic links: SQLite makes the other two
 * files beside it. */
static const char *real_path(const struct sqlite_link *link)
{
    return sqlite3_db_filename(link->db, "main");
}

void sqlite_names_index(const struct sqlite_link *link, char out[PATH_MAX])
{
    (void)text_format(out, PATH_MAX, "%s" INDEX_END, real_path(link));
}

/* The mount of the folder. */
static bool mount_find(const char *path, uint64_t *out)
{
    char folder[PATH_MAX];
    struct statx info = {0};

    if (!text_copy(folder, sizeof folder, path))
        return false;
    *(strrchr(folder, '/') + 1) = '\0';
    if (statx(AT_FDCWD, folder, 0, STATX_MNT_ID, &info) != 0)
        return false;
    *out = info.stx_mnt_id;
    return true;
}

static enum seqb_status links_fail(const struct sqlite_link *link,
                                   const char *end, unsigned names,
                                   struct seqb_error *err)
{
    return error_set(err, SEQB_UNSAFE,
                     "sqlite %s: %s%s has %u names (hard links): brokers that "
                     "use different ones do not share a lock, and numbers "
                     "repeat: remove the others, until `stat -c %%h` says 1",
                     link->name, link->path, end, names);
}

static enum seqb_status mount_fail(const struct sqlite_link *link,
                                   const char *end, struct seqb_error *err)
{
    return error_set(err, SEQB_UNSAFE,
                     "sqlite %s: %s%s is mounted without its folder: brokers "
                     "that reach it elsewhere do not share a lock, and numbers "
                     "repeat: mount the folder",
                     link->name, link->path, end);
}

/* A kernel before 5.8 names no mount: it says 0 for each. */
static enum seqb_status name_check(const struct sqlite_link *link,
                                   const char *end, uint64_t mount,
                                   struct seqb_error *err)
{
    char path[PATH_MAX];
    struct statx info = {0};

    if (!text_format(path, sizeof path, "%s%s", real_path(link), end) ||
        statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_NLINK | STATX_MNT_ID,
              &info) != 0)
        return SEQB_OK; /* not there; opening it will report why */
    if (info.stx_nlink > 1)
        return links_fail(link, end, info.stx_nlink, err);
    return info.stx_mnt_id == mount ? SEQB_OK : mount_fail(link, end, err);
}

enum seqb_status sqlite_names_check(const struct sqlite_link *link,
                                    struct seqb_error *err)
{
    static const char *const ends[] = {"", "-wal", INDEX_END};
    enum seqb_status status = SEQB_OK;
    uint64_t mount;

    if (!mount_find(real_path(link), &mount))
        return SEQB_OK; /* as for a missing file */
    for (size_t i = 0; i < sizeof ends / sizeof ends[0] && status == SEQB_OK;
         i++)
        status = name_check(link, ends[i], mount, err);
    return status;
}
