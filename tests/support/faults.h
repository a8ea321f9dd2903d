/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes memory allocations and system calls fail on command: the n-th call, or
 * all calls from the n-th on, in the whole process or at one place in the code.
 * seqb_faults() in CMake adds this to a program; it wraps the calls of this
 * repository's objects. Calls of libraries are not wrapped, except SQLite's and
 * the memory of libevent, jansson and OpenSSL.
 *
 * A place is a call together with its callers, the innermost FAULTS_DEPTH of
 * them. Its number is the same in each child of one process. Threads may run.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAULTS_DEPTH      6
#define FAULTS_PLACES_MAX 4096

enum faults_kind {
    FAULTS_MEMORY,        /* of our code; also starting a thread */
    FAULTS_CALLS,         /* of our code: files, sockets, descriptors */
    FAULTS_SQLITE_MEMORY, /* of SQLite */
    FAULTS_SQLITE_CALLS,  /* of SQLite: files */
    FAULTS_LOOP_MEMORY,   /* of libevent and jansson */
    FAULTS_TLS_MEMORY,    /* of OpenSSL */
    FAULTS_KINDS          /* the number of kinds */
};

/* The name of a kind, such as "memory". */
const char *faults_kind_name(enum faults_kind kind);

struct faults_plan {
    enum faults_kind kind;
    int64_t place; /* 0: anywhere in the process */
    int64_t at;    /* the number of the call that fails, from 1; 0: none */
    bool goes_on;  /* all later calls fail, too, at any place */
};

/* The result of a plan. It may be in memory shared by processes. */
struct faults_record {
    _Atomic bool has_come; /* the call to fail was reached */
    const char *call;      /* the name of the call that failed */
    void
        *stack[FAULTS_DEPTH]; /* its callers' addresses; unused ones are NULL */
    _Atomic int64_t calls;    /* number of calls of the kind */
    size_t count;             /* number of places seen */
    int64_t places[FAULTS_PLACES_MAX];
};

/* Call it before the first call of SQLite, so that SQLite's memory and files
 * can fail as well. */
void faults_prepare(void);

/* The same for the memory of libevent and jansson: call it before either of
 * them is used. In faults_loop.c. */
void faults_prepare_loop(void);

/* The same for the memory of OpenSSL. False if OpenSSL has allocated already.
 * In faults_tls.c. */
bool faults_prepare_tls(void);

/* Calls fail by the plan from now on, until faults_disarm. */
void faults_arm(const struct faults_plan *plan, struct faults_record *record);
void faults_disarm(void);

/* While suspended, this thread's calls are not counted and do not fail. Returns
 * whether they were before. */
bool faults_suspend(bool is_so);

/* The same for all threads, until the next faults_arm. */
void faults_pause(bool is_so);

/* --- for wrappers of calls --- */

/* Counts a call. True if it must fail. */
bool faults_come(enum faults_kind kind, const char *call);
