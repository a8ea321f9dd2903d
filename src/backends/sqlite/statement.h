/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handle on one SQLite file, for the sqlite engine only: its statements, and
 * what their failures mean. link.h has opening and transactions; history.h
 * checks that the file is still the one under its name.
 */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include <seqbroker/backend.h>

#include "backends/sqlite/file.h"

#define SQLITE_RANDOM_SIZE 33
#define SQLITE_BOOT_SIZE   37

enum sqlite_query {
    SQLITE_QUERY_BEGIN,
    SQLITE_QUERY_COMMIT,
    SQLITE_QUERY_ROLLBACK,
    SQLITE_QUERY_COUNTER_FIND,    /* name: value, origin */
    SQLITE_QUERY_COUNTER_PUT,     /* name, value, origin */
    SQLITE_QUERY_MARK_PUT,        /* name, value, keep, keep stays */
    SQLITE_QUERY_COUNTERS_DELETE, /* after, before, at most */
    SQLITE_QUERY_COUNTERS_LIST,   /* from, before, at most: name, value */
    SQLITE_QUERY_NONCES_DELETE,   /* all incarnations but the newest */
    SQLITE_QUERY_COMMITS_FIND,    /* how many commits of ours there were */
    SQLITE_QUERY_COMMITS_PUT,     /* that many */
    SQLITE_QUERY_CLAIM_FIND,      /* name: text */
    SQLITE_QUERY_CLAIMS_WALK,     /* from: name, text, in order */
    SQLITE_QUERY_CLAIMS_LIST,     /* from, before, at most: name, 0 */
    SQLITE_QUERY_CLAIM_ADD,       /* name, text */
    SQLITE_QUERY_CLAIM_REPLACE,   /* name, text, expected */
    SQLITE_QUERIES
};

struct sqlite_link {
    const char *name; /* the options' */
    const char *path;
    char where[128]; /* "sqlite NAME", for messages */
    sqlite3 *db;
    sqlite3_stmt *queries[SQLITE_QUERIES];
    int busy_ms;              /* how long to wait for other handles' locks */
    bool is_logged;           /* a write-ahead log is in use */
    pid_t pid;                /* SQLite forbids a handle to cross fork() */
    int64_t commits;          /* in the file, as this handle last saw */
    struct timespec compared; /* the file's last write when its pages were found
                                 to match the log; 0: never */
    int lock;                 /* its log, open to be locked; -1: not yet */
    int note;                 /* the open note of its incarnation; -1: none */
    bool is_begun;            /* that incarnation is not in the file yet */
    char nonce[SQLITE_RANDOM_SIZE];  /* of the note; "": there is none */
    char boot[SQLITE_BOOT_SIZE];     /* the kernel's boot id at that time */
    char file[SQLITE_FILE_ID_SIZE];  /* the file at `path` at open ... */
    char log[SQLITE_FILE_ID_SIZE];   /* ... and its write-ahead log, ... */
    char index[SQLITE_FILE_ID_SIZE]; /* ... and the log's index */
};

/* Prepares the queries, after the tables were created. */
enum seqb_status sqlite_link_prepare(struct sqlite_link *link,
                                     struct seqb_error *err);

/* SEQB_FORKED in a forked child. */
enum seqb_status sqlite_link_check_process(const struct sqlite_link *link,
                                           struct seqb_error *err);

/* The query with its first parameter bound; `name` must live until the query
 * ran. */
sqlite3_stmt *sqlite_link_query(struct sqlite_link *link,
                                enum sqlite_query query, const char *name);

/* Runs a query that returns no row. */
enum seqb_status sqlite_link_run(struct sqlite_link *link,
                                 enum sqlite_query query,
                                 struct seqb_error *err);

/* 128 random bits as SQLITE_RANDOM_SIZE - 1 digits; `name` is for messages. */
enum seqb_status sqlite_link_random(const char *name, char *out,
                                    struct seqb_error *err);

/* The status of SQLite's last result; `what` was being done. */
enum seqb_status sqlite_link_fail(struct sqlite_link *link, int result,
                                  const char *what, struct seqb_error *err);

/* Runs one statement; `out` is the first column of its first row, or "" without
 * a row. */
enum seqb_status sqlite_link_ask(struct sqlite_link *link, const char *sql,
                                 char *out, size_t size,
                                 struct seqb_error *err);
