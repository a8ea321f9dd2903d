/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls for memory and calls of the operating system that fail on command: the
 * n-th one, or all from it on, of the whole process or of one place in the
 * code. A program has them by seqb_faults() in CMake, which wraps the calls of
 * the objects of this repository; libraries' own calls go on, but for SQLite's.
 *
 * A place is a call with its callers, the innermost FAULTS_DEPTH of them. It is
 * the same number in each child of one process. Threads may run.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAULTS_DEPTH      6
#define FAULTS_PLACES_MAX 4096

enum faults_kind {
    FAULTS_MEMORY,        /* of our code; a thread that cannot be started */
    FAULTS_CALLS,         /* files, sockets, descriptors: of our code */
    FAULTS_SQLITE_MEMORY, /* of SQLite */
    FAULTS_SQLITE_CALLS,  /* its files */
    FAULTS_KINDS          /* how many there are */
};

/* The name of a kind, "memory". */
const char *faults_kind_name(enum faults_kind kind);

struct faults_plan {
    enum faults_kind kind;
    int64_t place; /* 0: of the whole process */
    int64_t at;    /* this call fails, from 1; 0: none does */
    bool goes_on;  /* all that come after it fail, too, of any place */
};

/* What came of a plan. It may lie in memory that processes share. */
struct faults_record {
    _Atomic bool has_come; /* the call that was to fail */
    const char *call;      /* its name */
    void
        *stack[FAULTS_DEPTH]; /* its callers' addresses, NULL behind the last */
    _Atomic int64_t calls;    /* of the kind */
    size_t count;             /* of the places that were seen */
    int64_t places[FAULTS_PLACES_MAX];
};

/* Before the first call of SQLite: its memory and files can fail as well. */
void faults_prepare(void);

/* Calls fail by the plan from now on, until faults_disarm. */
void faults_arm(const struct faults_plan *plan, struct faults_record *record);
void faults_disarm(void);

/* While suspended, this thread's calls neither count nor fail. */
void faults_suspend(bool is_so);

/* --- for what wraps a call --- */

/* Counts one; whether it is to fail. */
bool faults_come(enum faults_kind kind, const char *call);
