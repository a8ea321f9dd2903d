/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies a SQLite file by statx and extended attributes. */
#include "backends/sqlite/file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "platform/text.h"

#define COMMITS     "user.seqbroker.commits"
#define HISTORY     "user.seqbroker.history"
#define NUMBER_SIZE 24

static void attribute_read(const char *path, const char *name, char *out,
                           size_t size)
{
    const ssize_t length = getxattr(path, name, out, size - 1);

    out[length < 0 ? 0 : length] = '\0';
}

static void attribute_write(const char *path, const char *name,
                            const char *text)
{
    (void)setxattr(path, name, text, strlen(text), 0);
}

int64_t sqlite_mark_read(const char *path)
{
    char number[NUMBER_SIZE];
    int64_t commits;

    attribute_read(path, COMMITS, number, sizeof number);
    return text_to_int64(number, strlen(number), &commits) ? commits : 0;
}

static void commits_write(const char *path, int64_t commits)
{
    char number[NUMBER_SIZE];

    (void)text_format(number, sizeof number, "%" PRId64, commits);
    attribute_write(path, COMMITS, number);
}

void sqlite_mark_raise(const char *path, int64_t commits)
{
    if (sqlite_mark_read(path) < commits)
        commits_write(path, commits);
}

/* In this order, because after a crash between the two writes another history
 * begins. */
void sqlite_mark_begin(const char *path, const char *history, int64_t commits)
{
    attribute_write(path, HISTORY, history);
    commits_write(path, commits);
}

/* The time of birth is part of the identity because a file system gives the
 * inode of a removed file to the next one. */
bool sqlite_inode_identify(const char *path, char out[SQLITE_FILE_ID_SIZE])
{
    struct statx info;

    if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME | STATX_NLINK,
              &info) != 0 ||
        info.stx_nlink > 1)
        return false;
    if ((info.stx_mask & STATX_BTIME) == 0)
        memset(&info.stx_btime, 0, sizeof info.stx_btime);
    return text_format(out, SQLITE_FILE_ID_SIZE,
                       "%x.%x:%" PRIx64 ":%" PRIx64 ".%x", info.stx_dev_major,
                       info.stx_dev_minor, (uint64_t)info.stx_ino,
                       (uint64_t)info.stx_btime.tv_sec, info.stx_btime.tv_nsec);
}

bool sqlite_inode_is(const char *path, const char *identity)
{
    char now[SQLITE_FILE_ID_SIZE];

    return sqlite_inode_identify(path, now) && strcmp(now, identity) == 0;
}

/* The history is part of the identity because the file's content may be
 * replaced. */
bool sqlite_file_identify(const char *path, char out[SQLITE_FILE_ID_SIZE])
{
    char history[SQLITE_HISTORY_SIZE];

    if (!sqlite_inode_identify(path, out))
        return false;
    attribute_read(path, HISTORY, history, sizeof history);
    return history[0] == '\0' ||
           text_append(out, SQLITE_FILE_ID_SIZE, ":%s", history);
}

bool sqlite_file_is(const char *path, const char *identity)
{
    char now[SQLITE_FILE_ID_SIZE];

    return sqlite_file_identify(path, now) && strcmp(now, identity) == 0;
}

/* --- file systems --- */

/* The types of statfs(2). FUSE does not show what is behind it. */
static const struct {
    uint32_t magic;
    const char *name;
} networks[] = {
    {0x00006969, "nfs"},    {0x0000517b, "smb"},      {0xfe534d42, "smb2"},
    {0xff534d42, "cifs"},   {0x01021997, "9p"},       {0x65735546, "fuse"},
    {0x5346414f, "afs"},    {0x6b414653, "afs"},      {0x73757245, "coda"},
    {0x0000564c, "ncp"},    {0x00c36400, "ceph"},     {0x0bd00bd0, "lustre"},
    {0x01161970, "gfs2"},   {0x7461636f, "ocfs2"},    {0x47504653, "gpfs"},
    {0x19830326, "beegfs"}, {0x20030528, "orangefs"}, {0xaad7aaea, "panfs"},
    {0x786f4256, "vboxsf"}, {0xbacbacbc, "vmhgfs"},
};

/* The file system of the file or, if the file does not exist yet, of its
 * folder. */
static bool file_system_read(const char *path, struct statfs *out)
{
    char folder[PATH_MAX];

    if (statfs(path, out) == 0)
        return true;
    if (!text_copy(folder, sizeof folder, path))
        return false;
    *(strrchr(folder, '/') + 1) = '\0';
    return statfs(folder, out) == 0;
}

const char *sqlite_file_network(const char *path)
{
    struct statfs info;

    if (!file_system_read(path, &info))
        return NULL; /* opening the file will report why */
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        if ((uint32_t)info.f_type == networks[i].magic)
            return networks[i].name;
    }
    return NULL;
}
