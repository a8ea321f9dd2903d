/* SPDX-License-Identifier: Apache-2.0 */
/* Where the sqlite engine keeps the note of a file. */
#include "support/sqlite_note.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "platform/text.h"

void sqlite_note_path(const char *file, char out[static SQLITE_NOTE_SIZE])
{
    struct statx info = {.stx_mask = 0};

    (void)statx(AT_FDCWD, file, 0, STATX_INO | STATX_BTIME, &info);
    (void)text_format(
        out, SQLITE_NOTE_SIZE, "/dev/shm/seqbroker-%jx-%jx",
        (uintmax_t)makedev(info.stx_dev_major, info.stx_dev_minor),
        (uintmax_t)info.stx_ino);
    if ((info.stx_mask & STATX_BTIME) != 0)
        (void)text_append(out, SQLITE_NOTE_SIZE, "-%jx.%x",
                          (uintmax_t)info.stx_btime.tv_sec,
                          (unsigned)info.stx_btime.tv_nsec);
}
