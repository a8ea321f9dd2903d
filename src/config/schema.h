/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of settings, one row each: the reader, the checks, `seqctl config`
 * and docs/configuration.md come from it. And the draft: what the settings
 * say, as read, before the rules between them are checked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/admin.h>
#include <seqbroker/backend.h>

struct period_zone;

/* A setting's value. `line` is the source's, 0 if it was not given. */
struct draft_text {
    const char *text; /* NULL: none, or a wrong one that was reported */
    int line;
};

struct draft_number {
    int64_t number; /* the default if a wrong one was reported; booleans are
                       0 or 1, durations are ms */
    int line;
};

struct draft_names {
    const char **names;
    size_t count;
    int line;
};

struct draft_broker {
    int line; /* where the group begins; first in every section's struct */
    struct draft_text name;
    struct draft_text state_dir;
    struct draft_number open_timeout;
    struct draft_number interval;
    struct draft_number spool;
    struct draft_text on_rollback;
    struct draft_number max_rollback;
    struct draft_number max_ahead;
    struct draft_text clock_store;
};

struct draft_backend {
    int line;
    struct draft_text name;
    struct draft_text engine;
    struct draft_text path;
    struct draft_text host;
    struct draft_number port;
    struct draft_text socket;
    struct draft_text user;
    struct draft_text password;
    struct draft_text password_file;
    struct draft_text password_env;
    struct draft_text database;
    struct draft_text conninfo;
    struct draft_text prefix;
    struct draft_names sentinels;
    struct draft_text master_name;
    struct draft_text table_format;
    struct draft_number keep_rows;
    struct draft_text tls;
    struct draft_text tls_ca;
    struct draft_text tls_cert;
    struct draft_text tls_key;
    struct draft_text parameters;
    struct draft_text epoch;
    struct draft_number time_bits;
    struct draft_number worker_bits;
    struct draft_number counter_bits;
    struct draft_number lease;
    struct draft_number accept_loss;
    struct draft_number auto_create;
    struct draft_number connect_timeout;
    /* No settings: found by engines_resolve. */
    const struct seqb_backend_ops *ops; /* NULL: no such engine */
    bool is_custom;                     /* it is the service's own */
};

struct draft_pool {
    int line;
    struct draft_text name;
    struct draft_number generation;
    struct draft_names partitions;
    struct draft_text authority;
    struct draft_number window_bits;
    struct draft_number timeout;
    struct draft_number slow_count;
    struct draft_number slow_window;
    struct draft_text rescue;
    struct draft_number rescue_after;
    struct draft_number failover_gap;
};

/* How the numbers of a sequence become ids. */
struct draft_ids {
    int line; /* 0: they do not */
    struct draft_text epoch;
    struct draft_number time;
    struct draft_text unit;
    struct draft_number shard;
    struct draft_number counter;
};

/* Of `sequences` (with a key) or of auto_sequences (pattern and limit). */
struct draft_sequence {
    int line;
    struct draft_text key;
    struct draft_text pattern;
    struct draft_number limit;
    struct draft_text pool;
    struct draft_number memory_bits;
    struct draft_number deadline;
    struct draft_number runway;
    struct draft_number max_unused;
    struct draft_number prefetch;
    struct draft_number idle_after;
    struct draft_text period;
    struct draft_text time_zone;
    struct draft_text year_starts;
    struct draft_number keep_periods;
    struct draft_ids ids;
    struct draft_text when_full;
    struct draft_text template;
    struct draft_text shuffle_key_file;
    struct draft_number js_safe;
    struct draft_number warm; /* not of automatic ones */
    /* No setting: found by zones_open. */
    const struct period_zone *zone; /* NULL is UTC */
};

struct draft {
    struct draft_broker *broker; /* never NULL once read: defaults */
    struct draft_backend *backends;
    size_t backend_count;
    struct draft_pool *pools;
    size_t pool_count;
    struct draft_sequence *sequences;
    size_t sequence_count;
    struct draft_sequence *automatic; /* NULL: none */
    /* The service's own, ended by NULL; NULL: none. Not read from the text. */
    const struct seqb_backend_ops *const *engines;
    int64_t now_ms; /* of the check, ms since 1970. Not read from the text */
};

enum schema_section {
    SCHEMA_BROKER,
    SCHEMA_BACKENDS,
    SCHEMA_POOLS,
    SCHEMA_SEQUENCES,
    SCHEMA_AUTOMATIC,
    SCHEMA_IDS,
    SCHEMA_SECTIONS /* their number */
};

enum schema_type {
    SCHEMA_TEXT,
    SCHEMA_LABEL,     /* a text, or a whole number without quotes */
    SCHEMA_NAME,      /* text_is_name */
    SCHEMA_KEY,       /* text_is_key */
    SCHEMA_PATH,      /* a file or folder */
    SCHEMA_CHOICE,    /* one of the words in `low`; any if there are none */
    SCHEMA_DATE,      /* "YYYY-MM-DD", see config/day.h */
    SCHEMA_DAY,       /* "MM-DD" */
    SCHEMA_GROUP,     /* a group, which is the section of that name */
    SCHEMA_NAMES,     /* a list of names */
    SCHEMA_ADDRESSES, /* a list of "host:port" */
    SCHEMA_INTEGER,
    SCHEMA_BOOLEAN,
    SCHEMA_DURATION
};

struct schema_row {
    const char *name;
    enum schema_section section;
    enum schema_type type;
    size_t offset;       /* in the section's struct */
    const char *low;     /* the range as in a topology: "1ms" */
    const char *high;    /* "" if there is none */
    const char *initial; /* the default as in a topology, "" if there is none,
                            SCHEMA_REQUIRED */
    const char *engines; /* those that use it: "a, b"; "": all */
};

struct schema_group {
    const char *name;
    const char *item; /* what one of it is called */
    bool is_list;
    bool is_nested; /* it stands in groups of other sections */
    size_t size;    /* of its struct */
};

#define SCHEMA_REQUIRED "required"

/* The rows and their number. */
const struct schema_row *schema_rows(size_t *count);

const struct schema_group *schema_group(enum schema_section section);

/* The section that a row of type SCHEMA_GROUP is. */
enum schema_section schema_nested(const struct schema_row *row);

/* The range of a row of whole numbers or durations (ms). */
void schema_range(const struct schema_row *row, int64_t *low, int64_t *high);

/* The rows as an operator sees them, in the order of schema_rows. */
const struct seqb_setting *schema_settings(size_t *count);
