/* SPDX-License-Identifier: Apache-2.0 */
/* Removing a folder of a test. */
#include "support/folder.h"

#include <ftw.h>
#include <stdio.h>

#define OPEN_MAX_AT_ONCE 8

static int remove_entry(const char *path, const struct stat *status, int type,
                        struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    return remove(path);
}

void folder_remove(const char *path)
{
    (void)nftw(path, remove_entry, OPEN_MAX_AT_ONCE, FTW_DEPTH | FTW_PHYS);
}
