/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of the disk under SQLite: a layer over its file system calls that
 * becomes the default of the process. For tests of one thread. */
#pragma once

#include <stdbool.h>

struct sqlite_faults {
    bool fails_sync;      /* syncing the log is an I/O error */
    bool refuses_log;     /* the file system offers no shared memory: no WAL */
    int log_syncs;        /* so often was the log synced */
    int closes;           /* so many databases were closed */
    const char *swap_to;  /* not NULL: when the log is opened, this file ... */
    const char *swap_for; /* ... is renamed to this one, once */
};

/* The one set of faults, all off at first; files are opened through the layer
 * from now on. */
struct sqlite_faults *sqlite_faults_install(void);

/* Files are opened without the layer again. */
void sqlite_faults_remove(void);
