/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of settings, one row for each setting. The reader, the checks,
 * `seqctl settings` and docs/configuration.md use it. Also the draft: the
 * values of all settings as read, before the rules between them are checked.
 * This is the front header of the folder.
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

/* A setting's value. `line` is its line in the source, 0 if it was not
 * given. */
struct draft_text {
    const char *text; /* NULL: no value, or a wrong one that was reported */
    int line;
};

struct draft_number {
    int64_t number; /* the default if a wrong value was reported; a boolean is 0
                       or 1, a duration is in ms */
    int line;
};

struct draft_names {
    const char **names;
    size_t count;
    int line;
};

struct draft_broker {
    int line; /* where the group begins; the first member of every section's
                 struct */
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
    /* Not settings: set by engines_resolve. */
    const struct seqb_backend_ops *ops; /* NULL: no such engine */
    /* An engine of the service, not a built-in one. */
    bool is_custom;
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
    int line; /* 0: the sequence has no ids */
    struct draft_text epoch;
    struct draft_number time;
    struct draft_text unit;
    struct draft_number shard;
    struct draft_number counter;
};

/* How ids are made of the time. */
struct draft_snowflake {
    int line; /* 0: the sequence is not a snowflake */
    struct draft_text epoch;
    struct draft_number datacenter_bits;
    struct draft_number worker_bits;
    struct draft_number counter_bits;
    struct draft_number lease;
};

/* A group of `sequences` (it has a key), or auto_sequences (it has a pattern
 * and a limit). */
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
    struct draft_number warm; /* not for automatic sequences */
    /* Not a setting: set by zones_open. */
    const struct period_zone *zone; /* NULL is UTC */
};

/* A sequence in the topology's order: a group of draft.sequences with its own
 * key, some lines further down. In a long list most groups differ only in their
 * keys. */
struct draft_listed {
    const char *key; /* NULL: a wrong key was reported */
    uint32_t of;     /* index in draft.sequences */
    int32_t lines; /* lines from that group to this one; 0: it may be that group
                      itself */
};

/* Settings that only seqbrokerd uses. */
struct draft_daemon {
    int line;
    struct draft_names listen;
    struct draft_names socket;
    struct draft_text socket_mode;
    struct draft_text socket_group;
    struct draft_names http;
    struct draft_names tls_listen;
    struct draft_names https;
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
    struct draft_number login_timeout;
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

/* A user of seqbrokerd and its rights. */
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

/* Limits that seqbrokerd applies to keys. */
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
    /* Never NULL after reading: it has the defaults then. */
    struct draft_broker *broker;
    struct draft_daemon *daemon; /* never NULL after reading */
    struct draft_backend *backends;
    size_t backend_count;
    struct draft_pool *pools;
    size_t pool_count;
    struct draft_sequence *sequences; /* groups, without those that differ from
                                         an earlier one only in the key */
    size_t sequence_count;
    struct draft_listed *listed; /* all sequences, in the topology's order */
    size_t listed_count;
    struct draft_sequence *automatic; /* NULL: none */
    struct draft_user *users;
    size_t user_count;
    struct draft_key_limit *key_limits;
    size_t key_limit_count;
    /* The service's own engines, ended by NULL; NULL: none. Not read from the
     * text. */
    const struct seqb_backend_ops *const *engines;
    /* Time of the check, ms since 1970; not read from the text. */
    int64_t now_ms;
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
    SCHEMA_SECTIONS /* the number of sections */
};

enum schema_type {
    SCHEMA_TEXT,
    SCHEMA_LABEL,  /* a text, or an integer without quotes */
    SCHEMA_NAME,   /* valid by text_is_name */
    SCHEMA_KEY,    /* valid by text_is_key */
    SCHEMA_PATH,   /* a file or a folder */
    SCHEMA_CHOICE, /* one of the words in `low`; any word if `low` is empty */
    SCHEMA_DATE,   /* "YYYY-MM-DD" */
    SCHEMA_DAY,    /* "MM-DD" */
    SCHEMA_GROUP,  /* a group: the nested section of that name */
    SCHEMA_NAMES,  /* a list of names */
    SCHEMA_ADDRESSES, /* a list of "host:port" */
    SCHEMA_PATHS,     /* a file or a list of them; "none" is the empty list */
    SCHEMA_LISTEN,    /* "host:port" or a list of them; port 0 is any; "none" is
                         the empty list */
    SCHEMA_PATTERNS,  /* a list of patterns, valid by text_is_pattern */
    SCHEMA_LABELS,    /* a list of texts, or integers without quotes */
    SCHEMA_INTEGER,
    SCHEMA_BOOLEAN,
    SCHEMA_DURATION
};

struct schema_row {
    const char *name;
    enum schema_section section;
    enum schema_type type;
    size_t offset;       /* in the section's struct */
    const char *low;     /* the lower bound as written in a topology: "1ms" */
    const char *high;    /* the upper bound; "" if there is none */
    const char *initial; /* the default as written in a topology; "" if there is
                            none; or SCHEMA_REQUIRED */
    const char *engines; /* engines that use the setting: "a, b"; "": all */
};

struct schema_group {
    const char *name;
    const char *item; /* the word for one of its groups */
    bool is_list;
    bool is_nested; /* it is part of groups of other sections */
    size_t size;    /* of its struct */
};

#define SCHEMA_REQUIRED "required"

/* All rows, and their number. */
const struct schema_row *schema_rows(size_t *count);

/* The rows of a section, which are consecutive. */
const struct schema_row *schema_rows_of(enum schema_section section,
                                        size_t *count);

/* Whether a setting must be given. */
bool schema_is_required(const struct schema_row *row);

const struct schema_group *schema_group(enum schema_section section);

/* Whether a row's value is a list, that is, its member is a struct
 * draft_names. */
bool schema_is_list(const struct schema_row *row);

/* The section of a row of type SCHEMA_GROUP. */
enum schema_section schema_nested(const struct schema_row *row);

/* The range of a row with an integer or a duration (ms). */
void schema_range(const struct schema_row *row, int64_t *low, int64_t *high);

/* What a change of the setting needs while the broker runs. In reload.c. */
enum seqb_reload_need schema_need(const struct schema_row *row);

/* Whether `word` is in the list "a, b, c". In value.c. */
bool value_is_listed(const char *list, const char *word);

/* --- draft.c: questions about a draft across its sections --- */

/* The index of the backend of that name; -1 if there is none, or `name` is
 * NULL. */
int32_t draft_find_backend(const struct draft *draft, const char *name);

/* The index of the sequence's pool. If it names none, the only pool. -1: not
 * found. */
int32_t draft_find_pool(const struct draft *draft,
                        const struct draft_sequence *sequence);

/* The i-th listed sequence with its own key and lines, as if its group had been
 * read. */
struct draft_sequence draft_sequence_at(const struct draft *draft, size_t i);

/* The backend's port, or the default port of its engine; 0 if there is neither.
 * The backend must name an engine. */
int32_t draft_backend_port(const struct draft_backend *backend);

/* The name of the backend that leases the pool's windows; NULL if the pool has
 * no authority or has neighbours, or if a wrong name was reported. */
const char *draft_pool_authority(const struct draft_pool *pool);

/* Whether nobody leases windows in the pool; and whether the partitions lease
 * them to each other. */
bool draft_pool_has_no_lessor(const struct draft_pool *pool);
bool draft_pool_has_neighbours(const struct draft_pool *pool);

/* Makes the pool one with neighbours, as if the topology said so. The setting's
 * line stays 0. */
void draft_set_neighbours(struct draft_pool *pool);

/* The number of partitions whose engine may lease windows to neighbours. */
int32_t draft_lessor_count(const struct draft *draft,
                           const struct draft_pool *pool);

/* The bits of a window's number that say which neighbour leased it; 0 unless
 * the pool has neighbours. */
int32_t draft_lessor_bits(const struct draft *draft,
                          const struct draft_pool *pool);

/* The pool's window bits: as set, or the default. With neighbours the default
 * is small: they lease several windows at a time, and a new pool's numbers stay
 * small. */
int32_t draft_window_bits(const struct draft *draft,
                          const struct draft_pool *pool);

/* The sequence's own window bits, or else its pool's. */
int32_t draft_sequence_window_bits(const struct draft *draft,
                                   const struct draft_sequence *sequence,
                                   const struct draft_pool *pool);

/* Whether the topology makes all partitions but the authority count in
 * windows. */
bool draft_pool_is_all_windowed(const struct draft_pool *pool);

/* Whether a partition of the pool counts with that guarantee. */
bool draft_pool_has(const struct draft *draft, const struct draft_pool *pool,
                    enum seqb_guarantee guarantee);

/* n if `count` is 2^n; -1 if it is not a power of two from 1 to
 * HA_PARTITIONS_MAX. */
int32_t draft_partition_bits(size_t count);

/* The bits that the sequence's numbers may have in all. */
int draft_value_bits(const struct draft_sequence *sequence);

/* --- read.c: fills a draft from a source, using the table --- */

/* Reads a source's text, after scan_text. Each setting of the draft gets its
 * value or its default. Mistakes are added to `diagnostics`. False if the text
 * is not valid libconfig; then there is no draft. */
bool read_draft(const char *text, struct arena *arena,
                struct diagnostics *diagnostics, struct draft *draft);

/* --- time_text.c: durations "200ms", dates "2020-01-01", days "04-01" --- */

/* False unless the text is a whole number and a unit. A value above int64
 * becomes INT64_MAX, which is outside every range. */
bool duration_parse(const char *text, int64_t *out_ms);

/* When that day begins in UTC, in ms since 1970. False unless the text is an
 * existing date "YYYY-MM-DD" from 1970 on. */
bool day_parse(const char *text, int64_t *out_ms);

/* Reads "MM-DD", a month 1 ... 12 and a day 1 ... 28, which every month has. */
bool day_parse_yearly(const char *text, int32_t *month, int32_t *day);

#define DURATION_SIZE 24

/* The reverse of duration_parse, in the largest unit that gives a whole
 * number. */
void duration_format(int64_t ms, char out[DURATION_SIZE]);

#define DAY_SIZE sizeof "YYYY-MM-DD"

/* The day in UTC. A year after 9999 is written as 9999-12-31. */
void day_format(int64_t ms, char out[DAY_SIZE]);

/* --- split.c: the 63 bits of time, shard (or worker) and counter --- */

/* How the bits are split, and what an operator may change about it. */
struct split {
    int line; /* of the group that sets the bits */
    const struct draft_text *epoch;
    int32_t time;
    int32_t shard;
    int32_t counter;
    int time_line;     /* of the setting that decides the bits of time */
    const char *words; /* "'time' =": begins messages about the bits of time */
    const char *cure;  /* how to get more bits of time */
    int64_t unit_ms;   /* 0: a wrong unit was reported */
};

struct split split_of_ids(const struct draft_ids *ids);

/* For values of `value_bits` bits: the time gets the bits that the others
 * leave. */
struct split split_of_snowflake(const struct draft_snowflake *snowflake,
                                int32_t value_bits);

/* False if the epoch was reported as wrong. */
bool split_layout(const struct split *split, struct bits_layout *out);

/* Adds a mistake if the bits do not fit, if the epoch is in the future, or if
 * the time ends within a year. Adds a warning if it ends within ten years. */
void split_check(const struct split *split, int64_t now_ms,
                 struct diagnostics *diagnostics);

/* The period of ids of that unit: "second" for "s". */
const char *split_period(const char *unit);
