/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of settings, one row each: the reader, the checks, `seqctl
 * settings` and docs/configuration.md come from it. And the draft: what the
 * settings say, as read, before the rules between them are checked. The front
 * header of this folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/admin.h>
#include <seqbroker/backend.h>
#include <seqbroker/reload.h>

#include "config/source/source.h"
#include "period/period.h"

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
    struct draft_number datacenter;
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
    struct draft_text sentinel_user;
    struct draft_text sentinel_password_file;
    struct draft_names cluster;
    struct draft_names endpoints;
    struct draft_names hosts;
    struct draft_text table_format;
    struct draft_number keep_rows;
    struct draft_text tls;
    struct draft_text tls_ca;
    struct draft_text tls_cert;
    struct draft_text tls_key;
    struct draft_text parameters;
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
    struct draft_text windows;
    struct draft_number window_bits;
    struct draft_number timeout;
    struct draft_number slow_count;
    struct draft_number slow_window;
    struct draft_text rescue;
    struct draft_number rescue_after;
    struct draft_number check_interval;
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

/* How its numbers are made of the time. */
struct draft_snowflake {
    int line; /* 0: they are not */
    struct draft_text epoch;
    struct draft_number datacenter_bits;
    struct draft_number worker_bits;
    struct draft_number counter_bits;
    struct draft_number lease;
};

/* Of `sequences` (with a key) or of auto_sequences (pattern and limit). */
struct draft_sequence {
    int line;
    struct draft_text key;
    struct draft_text pattern;
    struct draft_number limit;
    struct draft_text pool;
    struct draft_number memory_bits;
    struct draft_number window_bits; /* see draft_sequence_window_bits */
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
    struct draft_snowflake snowflake;
    struct draft_text when_full;
    struct draft_text template;
    struct draft_text shuffle_key_file;
    struct draft_number js_safe;
    struct draft_number warm; /* not of automatic ones */
    /* No setting: found by zones_open. */
    const struct period_zone *zone; /* NULL is UTC */
};

/* A sequence as it is listed: an earlier group with another key, that stands
 * some lines on. Most groups of a long list are alike. */
struct draft_listed {
    const char *key; /* NULL: a wrong one was reported */
    uint32_t of;     /* the group's index */
    int32_t lines;   /* 0: it may be the group itself */
};

/* What the broker does nothing with: seqbrokerd does. */
struct draft_daemon {
    int line;
    struct draft_names listen;
    struct draft_names socket;
    struct draft_text socket_mode;
    struct draft_text socket_group;
    struct draft_text http;
    struct draft_names tls_listen;
    struct draft_text https;
    struct draft_text tls_cert_file;
    struct draft_text tls_key_file;
    struct draft_text tls_ca_file;
    struct draft_text tls_client_auth;
    struct draft_text tls_min_version;
    struct draft_number stop_delay;
    struct draft_number stop_timeout;
    struct draft_number max_connections;
    struct draft_number max_connections_per_address;
    struct draft_number max_client_memory;
    struct draft_number client_timeout;
    struct draft_number idle_timeout;
    struct draft_text on_event;
    struct draft_text webhook;
    struct draft_text webhook_ca_file;
    struct draft_text alarm_level;
    struct draft_number alarm_reminder;
    struct draft_text log_level;
    struct draft_number open_to_all;
    struct draft_number open_metrics;
    struct draft_text audit_file;
};

/* Who may do what: seqbrokerd asks for it. */
struct draft_user {
    int line;
    struct draft_text name;
    struct draft_text role;
    struct draft_names keys;
    struct draft_text password_hash;
    struct draft_text password_hash_file;
    struct draft_text token_hash;
    struct draft_text certificate;
    struct draft_names uids;
    struct draft_names gids;
    struct draft_number max_connections;
    struct draft_number max_count;
    struct draft_number rate;
    struct draft_number burst;
    struct draft_number daily_limit;
};

/* How many numbers of which keys: seqbrokerd's, too. */
struct draft_key_limit {
    int line;
    struct draft_text name;
    struct draft_names keys;
    struct draft_number max_count;
    struct draft_number rate;
    struct draft_number burst;
    struct draft_number daily_limit;
};

struct draft {
    struct draft_broker *broker; /* never NULL once read: defaults */
    struct draft_daemon *daemon; /* never NULL once read, too */
    struct draft_backend *backends;
    size_t backend_count;
    struct draft_pool *pools;
    size_t pool_count;
    struct draft_sequence
        *sequences; /* groups of which none were found alike */
    size_t sequence_count;
    struct draft_listed *listed; /* of these groups, in the topology's order */
    size_t listed_count;
    struct draft_sequence *automatic; /* NULL: none */
    struct draft_user *users;
    size_t user_count;
    struct draft_key_limit *key_limits;
    size_t key_limit_count;
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
    SCHEMA_SNOWFLAKE,
    SCHEMA_DAEMON,
    SCHEMA_USERS,
    SCHEMA_KEY_LIMITS,
    SCHEMA_SECTIONS /* their number */
};

enum schema_type {
    SCHEMA_TEXT,
    SCHEMA_LABEL,     /* a text, or a whole number without quotes */
    SCHEMA_NAME,      /* text_is_name */
    SCHEMA_KEY,       /* text_is_key */
    SCHEMA_PATH,      /* a file or folder */
    SCHEMA_CHOICE,    /* one of the words in `low`; any if there are none */
    SCHEMA_DATE,      /* "YYYY-MM-DD" */
    SCHEMA_DAY,       /* "MM-DD" */
    SCHEMA_GROUP,     /* a group, which is the section of that name */
    SCHEMA_NAMES,     /* a list of names */
    SCHEMA_ADDRESSES, /* a list of "host:port" */
    SCHEMA_PATHS,     /* a list of files */
    SCHEMA_PATTERNS,  /* a list of text_is_pattern */
    SCHEMA_LABELS,    /* a list of texts, or whole numbers without quotes */
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

/* Those of a section, which stand together. */
const struct schema_row *schema_rows_of(enum schema_section section,
                                        size_t *count);

/* Whether a setting must be given. */
bool schema_is_required(const struct schema_row *row);

const struct schema_group *schema_group(enum schema_section section);

/* Whether a row's value is a list: its member is a struct draft_names. */
bool schema_is_list(const struct schema_row *row);

/* The section that a row of type SCHEMA_GROUP is. */
enum schema_section schema_nested(const struct schema_row *row);

/* The range of a row of whole numbers or durations (ms). */
void schema_range(const struct schema_row *row, int64_t *low, int64_t *high);

/* What a change of it needs while the broker runs. Of reload.c. */
enum seqb_reload_need schema_need(const struct schema_row *row);

/* Whether a word is in a list "a, b, c". Of value.c. */
bool value_is_listed(const char *list, const char *word);

/* --- draft.c: what a draft says across its sections --- */

/* The index of what has that name, -1 if nothing has or the name is NULL. */
int32_t draft_find_backend(const struct draft *draft, const char *name);

/* The index of a sequence's pool: the only one if none is named. */
int32_t draft_find_pool(const struct draft *draft,
                        const struct draft_sequence *sequence);

/* The i-th listed sequence as if its group had been read. */
struct draft_sequence draft_sequence_at(const struct draft *draft, size_t i);

/* The port that was given, or the usual one of the backend's engine, which has
 * a name; 0 if neither is there. */
int32_t draft_backend_port(const struct draft_backend *backend);

/* The backend that leases the pool's windows; NULL: none, its neighbours do, or
 * a wrong name was reported. */
const char *draft_pool_authority(const struct draft_pool *pool);

/* Whether nobody leases windows, and whether all partitions do that can. */
bool draft_pool_has_no_lessor(const struct draft_pool *pool);
bool draft_pool_has_neighbours(const struct draft_pool *pool);

/* As if the pool said so. Its line stays 0. */
void draft_set_neighbours(struct draft_pool *pool);

/* Partitions whose engine may lease windows to its neighbours. */
int32_t draft_lessor_count(const struct draft *draft,
                           const struct draft_pool *pool);

/* Bits of a window's number that say which neighbour leased it; 0 if one store
 * leases all. */
int32_t draft_lessor_bits(const struct draft *draft,
                          const struct draft_pool *pool);

/* As set, or as the pool's windows are by default: small where neighbours lease
 * them in runs, so that the numbers of a new pool are. */
int32_t draft_window_bits(const struct draft *draft,
                          const struct draft_pool *pool);

/* The sequence's own, or else its pool's. */
int32_t draft_sequence_window_bits(const struct draft *draft,
                                   const struct draft_sequence *sequence,
                                   const struct draft_pool *pool);

/* Whether all of its partitions but the authority's count in windows. */
bool draft_pool_is_all_windowed(const struct draft_pool *pool);

/* Whether a partition of the pool counts with that guarantee. */
bool draft_pool_has(const struct draft *draft, const struct draft_pool *pool,
                    enum seqb_guarantee guarantee);

/* n of 2^n; -1 if `count` is no power of two from 1 to HA_PARTITIONS_MAX. */
int32_t draft_partition_bits(size_t count);

/* Bits that the sequence's numbers may have in all. */
int draft_value_bits(const struct draft_sequence *sequence);

/* --- read.c: a source as a draft, by the table --- */

/* Reads the text of a source that was scanned. Every setting of the draft
 * holds its value or its default; mistakes are added. False if there is no
 * draft: the text is no libconfig. */
bool read_draft(const char *text, struct arena *arena,
                struct diagnostics *diagnostics, struct draft *draft);

/* --- time_text.c: durations "200ms", dates "2020-01-01", days "04-01" --- */

/* False unless it is a whole number and a unit. What exceeds int64 is read as
 * INT64_MAX, which no range allows. */
bool duration_parse(const char *text, int64_t *out_ms);

/* When that day begins in UTC, ms since 1970. False unless it is a date
 * "YYYY-MM-DD" that exists, from 1970 on. */
bool day_parse(const char *text, int64_t *out_ms);

/* A month and a day that every month has, "MM-DD": 1 ... 12, 1 ... 28. */
bool day_parse_yearly(const char *text, int32_t *month, int32_t *day);

#define DURATION_SIZE 24

/* As duration_parse reads it, in the largest unit that it is a whole number
 * of. */
void duration_format(int64_t ms, char out[DURATION_SIZE]);

#define DAY_SIZE sizeof "YYYY-MM-DD"

/* The day in UTC; a year past 9999 is written as 9999-12-31. */
void day_format(int64_t ms, char out[DAY_SIZE]);

/* --- split.c: 63 bits over time, shard (or worker) and counter --- */

/* How the bits are split, and what an operator may change. */
struct split {
    int line; /* of the group that they are in */
    const struct draft_text *epoch;
    int32_t time;
    int32_t shard;
    int32_t counter;
    int time_line;     /* of the setting that decides the bits of time */
    const char *words; /* "'time' =", before them */
    const char *cure;  /* what makes them more */
    int64_t unit_ms;   /* 0: a wrong one was reported */
};

struct split split_of_ids(const struct draft_ids *ids);

/* Of values of so many bits: the time has what the others leave. */
struct split split_of_snowflake(const struct draft_snowflake *snowflake,
                                int32_t value_bits);

/* False if the epoch was reported as wrong. */
bool split_layout(const struct split *split, struct bits_layout *out);

/* Adds a mistake if the bits do not fit, or the time is not of this day: yet
 * to begin, over, or over soon; a warning if it ends within ten years. */
void split_check(const struct split *split, int64_t now_ms,
                 struct diagnostics *diagnostics);

/* "second" of "s": the period that ids of that unit have. */
const char *split_period(const char *unit);
