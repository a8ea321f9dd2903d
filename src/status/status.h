/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of a status, each said once: its name on the wire and in JSON,
 * what it is and where it stands in its struct, its column, its unit and
 * meaning. The daemon writes RESP by these tables, seqctl makes JSON, its
 * tables and docs/status.md by them, and /metrics is made by them. A new member
 * of a public struct is one row more.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/admin.h>

/* What a field is. The first three are texts, the others integers in RESP. */
enum status_kind {
    STATUS_TEXT,    /* char[] */
    STATUS_STRING,  /* const char * */
    STATUS_NAME,    /* what `text_of` says, of an enum most often */
    STATUS_BOOLEAN, /* bool */
    STATUS_INTEGER, /* int32_t or int64_t */
    STATUS_SPAN, /* int64_t; -1 is none; INT64_MAX, for never, is written as -1,
                    which every client can hold */
    STATUS_BIG,  /* int64_t that may pass 2^53, where readers of JSON round:
                    a string there */
};

/* How a column shows a field. */
enum status_show {
    SHOW_TEXT,
    SHOW_INTEGER,
    SHOW_SOME,      /* an integer; the column is left out where all are 0 */
    SHOW_MAYBE,     /* either; the column is left out where no row has it */
    SHOW_AGE,       /* ms, as 3m12s; -1: none */
    SHOW_SINCE,     /* the age of a moment, ms since 1970; 0: none */
    SHOW_MOMENT,    /* the moment itself */
    SHOW_DATE,      /* ms from now; -1: none */
    SHOW_LATENCY,   /* us, as 1.2ms */
    SHOW_OFFSET,    /* ms, as +1.2s; left out as SHOW_MAYBE */
    SHOW_ROOM,      /* how many of its template's numbers; left out as well */
    SHOW_REFILL,    /* how many numbers it asked for, and why so many */
    SHOW_WHY,       /* the reason; what its settings lose if it is well: in
                       lines below the table */
    SHOW_PARTITION, /* with the pool's name where there are several */
    SHOW_STATE,     /* a text; on a terminal its colour says how bad it is */
};

struct status_field {
    const char *name; /* NULL ends a table */
    const char *help;
    const char *unit; /* NULL: it has none */
    enum status_kind kind;
    size_t offset; /* of the member ... */
    size_t size;   /* ... and its size; 0 of STATUS_NAME */
    const char *(*text_of)(const void *status); /* of STATUS_NAME */
    /* Else it is left out, and null in JSON; NULL: it is always told. */
    bool (*is_told)(const void *status);
    const char *title; /* of its column; NULL: no table shows it */
    enum status_show show;
    int rank;           /* columns stand by rank, and then as in the table */
    const char *metric; /* its name in /metrics, where a span below 0 is left
                           out; a counter ends in "_total"; NULL: it is none */
    bool is_wide;       /* its column stands in the wide table only */
};

/* What SEQ.STATUS says of the daemon itself. */
struct status_broker {
    const char *broker;
    const char *version;
    const char *state_dir;
    int64_t uptime_ms;
    int64_t pid;
};

/* A partition as SEQ.STATUS says it. Its reason stands before what the library
 * says of it, so that members which that gets are at the end here too. */
struct status_partition {
    char reason[SEQB_REASON_SIZE]; /* the whole one */
    struct seqb_partition_status known;
};

/* A line of the daemon's log, as SEQ.SHOW EVENTS says it. */
struct status_event {
    int64_t number;
    int64_t time_ms;
    const char *level;
    const char *line;
};

/* What went wrong with a partition, of SEQ.SHOW ERRORS. */
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
};

/* A connection, of SEQ.SHOW CLIENTS. */
struct status_client {
    int64_t id;
    const char *address;
    const char *name;
    const char *library;
    const char *state;
    int64_t age_ms;
    int64_t idle_ms;
    int64_t commands;
    const char *command;
    int64_t resp;
};

/* What a user, or whoever asks for a key, has taken and may, of SEQ.SHOW
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

/* What the daemon counted, of SEQ.SHOW STATS. */
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
    int64_t takes_refused;
    int64_t tls_handshakes;
    int64_t tls_failed;
};

/* What the daemon runs with, of SEQ.SHOW CONFIG. */
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
    const char *name; /* of the member of the status that has it */
    const struct status_field *fields;
};

extern const struct status_table status_tables[STATUS_TABLES];

/* How many fields of a struct are shown. */
size_t status_count(const struct status_field *fields, const void *status);

bool status_is_told(const struct status_field *field, const void *status);

/* Whether the field is a text, else an integer. */
bool status_is_text(const struct status_field *field);

/* Its value; the text is the struct's, or static. */
const char *status_text(const struct status_field *field, const void *status);
int64_t status_integer(const struct status_field *field, const void *status);
