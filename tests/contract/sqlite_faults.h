/* SPDX-License-Identifier: Apache-2.0 */
/* Disk faults under SQLite: a layer over its file system calls that becomes the
 * default of the process. For tests with one thread. */
#pragma once

#include <stdbool.h>

struct sqlite_faults {
    bool fails_sync;     /* syncing the log fails with an I/O error */
    bool refuses_log;    /* no shared memory: WAL is not possible */
    int log_syncs;       /* number of syncs of the log */
    int reads;           /* number of reads of less than a page */
    int fails_read;      /* this one of them fails with an I/O error; 0: none */
    int closes;          /* number of databases closed */
    const char *swap_to; /* not NULL: when the log is opened, ... */
    const char *swap_for; /* ... `swap_to` is renamed to this file, once */
    void (*syncing)(void *context);  /* not NULL: called once, when a writer has
                                        read and is about to sync the log */
    void (*unlocked)(void *context); /* not NULL: called once, when a writer
                                        has released its lock */
    void *context;
};

/* Opens files through the layer from now on. Returns the only set of faults;
 * all are off. */
struct sqlite_faults *sqlite_faults_install(void);

/* Opens files without the layer again. */
void sqlite_faults_remove(void);
