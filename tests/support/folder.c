/* SPDX-License-Identifier: Apache-2.0 */
/* Making and removing a folder of a test. */
#include "support/folder.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/sqlite_note.h"

#define OPEN_MAX_AT_ONCE 8

bool folder_make(char *out, size_t size)
{
    const char *where = getenv("SEQB_TEST_FOLDER");
    const int length =
        snprintf(out, size, "%s/seqb-XXXXXX", where == NULL ? "/tmp" : where);

    return length > 0 && (size_t)length < size && mkdtemp(out) != NULL;
}

/* With the note of the sqlite engine, which outlives its file. */
static int remove_entry(const char *path, const struct stat *status, int type,
                        struct FTW *at)
{
    char note[SQLITE_NOTE_SIZE];

    (void)status;
    (void)at;
    if (type == FTW_F) {
        sqlite_note_path(path, note);
        (void)unlink(note);
    }
    return remove(path);
}

void folder_remove(const char *path)
{
    (void)nftw(path, remove_entry, OPEN_MAX_AT_ONCE, FTW_DEPTH | FTW_PHYS);
}

bool project_path(const char *name, char out[static PATH_MAX])
{
    char folder[PATH_MAX] = "";
    char *slash;

    if (readlink("/proc/self/exe", folder, sizeof folder - 1) < 0)
        return false;
    while ((slash = strrchr(folder, '/')) != NULL) {
        *slash = '\0';
        if (snprintf(out, PATH_MAX, "%s/%s", folder, name) < PATH_MAX &&
            access(out, R_OK) == 0)
            return true;
    }
    return realpath(name, out) != NULL;
}

int folder_free(void **state)
{
    folder_remove(*state);
    free(*state);
    return 0;
}
