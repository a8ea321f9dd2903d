/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of a status, each defined once: its name in RESP and JSON, its
 * kind and offset in its struct, its column, its unit and meaning. The daemon
 * writes RESP and /metrics by these tables; seqctl makes JSON, its tables and
 * docs/status.md by them. A new member of a public struct needs one row more.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/admin.h>

/* The kind of a field. The first three are texts, the others integers in
 * RESP. */
enum status_kind {
    STATUS_TEXT,    /* char[] */
    STATUS_STRING,  /* const char * */
    STATUS_NAME,    /* the text that `text_of` returns, most often of an enum */
    STATUS_BOOLEAN, /* bool */
    STATUS_INTEGER, /* int32_t or int64_t */
    STATUS_SPAN, /* int64_t; -1: none; INT64_MAX, for never, is written as -1,
                    which every client can hold */
    STATUS_BIG,  /* int64_t that may be above 2^53, where JSON readers round it:
                    so a string in JSON */
};

/* How a column shows a field. */
enum status_show {
    SHOW_TEXT,
    SHOW_INTEGER,
    SHOW_SOME,      /* an integer; no column if all rows have 0 */
    SHOW_MAYBE,     /* text or integer; no column if no row has it */
    SHOW_AGE,       /* ms, as 3m12s; -1: none */
    SHOW_SINCE,     /* the age of a moment in ms since 1970; 0: none */
    SHOW_MOMENT,    /* the moment, ms since 1970 */
    SHOW_DATE,      /* ms from now; -1: none */
    SHOW_LATENCY,   /* us, as 1.2ms */
    SHOW_BYTES,     /* as 14.9 MiB */
    SHOW_OFFSET,    /* ms, as +1.2s; no column if no row has it */
    SHOW_ROOM,      /* how many numbers its template has left; no column if no
                       row has it */
    SHOW_REFILL,    /* how many numbers it asked for, and the reason */
    SHOW_WHY,       /* in lines below the table: the reason, or what the
                       settings may lose if the partition is up */
    SHOW_PARTITION, /* with the pool's name if there are several pools */
    SHOW_STATE,     /* a text; on a terminal its colour shows the severity */
};

struct status_field {
    const char *name; /* NULL ends a table */
    const char *help;
    const char *unit; /* NULL: no unit */
    enum status_kind kind;
    size_t offset; /* of the member ... */
    size_t size;   /* ... and its size; 0 of STATUS_NAME */
    const char *(*text_of)(const void *status); /* for STATUS_NAME */
    /* False: the field is left out, and null in JSON. NULL: it is always
     * present. */
    bool (*is_present)(const void *status);
    const char *title; /* of the column; NULL: no table shows the field */
    enum status_show show;
    int rank;           /* columns are sorted by rank, then in the order of this
                           table */
    const char *metric; /* the name in /metrics; NULL: none. A counter ends in
                           "_total"; a span below 0 is left out */
    bool is_wide;       /* the column is only in the wide table */
};

/* The daemon itself, for SEQ.STATUS. */
struct status_broker {
    const char *broker;
    const char *version;
    const char *state_dir;
    int64_t uptime_ms;
    int64_t pid;
};

/* A partition, for SEQ.STATUS. The reason is before the library's struct:
 * members that are added to that are at the end here too. */
struct status_partition {
    char reason[SEQB_REASON_SIZE]; /* not cut */
    struct seqb_partition_status known;
};

/* A line of the daemon's log, for SEQ.SHOW EVENTS. */
struct status_event {
    int64_t number;
    int64_t time_ms;
    const char *level;
    const char *line;
};

/* The errors of a partition, for SEQ.SHOW ERRORS. */
struct status_errors {
    const char *pool;
    int64_t partition;
    const char *backend;
    const char *state;
    int64_t errors;
    int64_t slow;
    int64_t ejections;
    int64_t last_ms;
    const char *last;
    const char *reason;
};

/* A connection, for SEQ.SHOW CLIENTS. */
struct status_client {
    int64_t id;
    const char *address;
    const char *user;
    const char *name;
    const char *library;
    const char *state;
    int64_t age_ms;
    int64_t idle_ms;
    int64_t commands;
    const char *command;
    int64_t resp;
};

/* What a user, or all who ask for a key, took and may take, for SEQ.SHOW
 * LIMITS. */
struct status_limit {
    const char *kind;
    const char *name;
    int64_t taken;
    int64_t today;
    int64_t daily_limit;
    int64_t rate;
    int64_t burst;
    int64_t max_count;
    int64_t connections;
    int64_t max_connections;
    int64_t refused;
};

/* The daemon's statistics, for SEQ.SHOW STATS. */
struct status_stats {
    int64_t uptime_ms;
    int64_t pid;
    int64_t memory;
    int64_t connections;
    int64_t connections_received;
    int64_t commands;
    int64_t command_errors;
    int64_t http_responses;
    int64_t log_lines;
    int64_t http_connections;
    int64_t max_connections;
    int64_t connections_refused;
    int64_t connections_timed_out;
    int64_t client_memory;
    int64_t max_client_memory;
    int64_t answers_refused;
    int64_t logins_refused;
    int64_t audit_lines_lost;
    int64_t takes_refused;
    int64_t tls_handshakes;
    int64_t tls_failed;
    int64_t commands_waiting;
};

/* The daemon's configuration, for SEQ.SHOW CONFIG. */
struct status_config {
    const char *topology;
    int64_t read_ms;
    const char *state_dir;
    const char *listen;
    const char *socket;
    const char *http;
    const char *tls_listen;
    const char *https;
    const char *log_level;
    const char *log_format;
    int64_t settings_left_out;
    int64_t sequences_left_out;
};

enum status_of {
    STATUS_OF_BROKER,     /* struct status_broker */
    STATUS_OF_CLOCK,      /* struct seqb_clock_status */
    STATUS_OF_PARTITIONS, /* struct status_partition */
    STATUS_OF_LESSORS,    /* struct seqb_lessor */
    STATUS_OF_SEQUENCES,  /* struct seqb_sequence_status */
    STATUS_OF_WORKERS,    /* struct seqb_worker */
    STATUS_OF_EVENTS,     /* struct status_event */
    STATUS_OF_CLIENTS,    /* struct status_client */
    STATUS_OF_STATS,      /* struct status_stats */
    STATUS_OF_CONFIG,     /* struct status_config */
    STATUS_OF_SETTINGS,   /* struct seqb_setting_value */
    STATUS_OF_ERRORS,     /* struct status_errors */
    STATUS_OF_LIMITS,     /* struct status_limit */
    STATUS_TABLES
};

struct status_table {
    const char *name; /* of the status member that has it */
    const struct status_field *fields;
};

extern const struct status_table status_tables[STATUS_TABLES];

/* How many fields of this struct are present. */
size_t status_count(const struct status_field *fields, const void *status);

bool status_is_present(const struct status_field *field, const void *status);

/* Whether the field is a text; otherwise it is an integer. */
bool status_is_text(const struct status_field *field);

/* The field's value. The text is the struct's, or static. */
const char *status_text(const struct status_field *field, const void *status);
int64_t status_integer(const struct status_field *field, const void *status);
