/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's fields for SEQ.SHOW. */
#include "status/rows.h"

/* --- its log --- */

#define EVENT(kind_of, member)                                                 \
    .name = #member, .kind = (kind_of), MEMBER(status_event, member)

const struct status_field event_fields[] = {
    {EVENT(STATUS_INTEGER, number),
     .help = "the number of the line in this process, from 1"},
    {EVENT(STATUS_INTEGER, time_ms), .unit = "ms since 1970",
     .help = "when it was logged"},
    {EVENT(STATUS_STRING, level), .help = "`error`, `warn`, `info` or `debug`"},
    {EVENT(STATUS_STRING, line), .help = "the line, as logfmt"},
    {.name = NULL},
};

/* --- errors --- */

#define ERRORS(kind_of, member)                                                \
    .name = #member, .kind = (kind_of), MEMBER(status_errors, member)

const struct status_field errors_fields[] = {
    {ERRORS(STATUS_STRING, pool), .help = "the pool of the partition"},
    {ERRORS(STATUS_INTEGER, partition), .title = "PARTITION",
     .show = SHOW_PARTITION,
     .help = "its index in the pool; -1: the pool's authority"},
    {ERRORS(STATUS_STRING, backend), .title = "BACKEND",
     .help = "its backend's name in the topology"},
    {ERRORS(STATUS_STRING, state), .title = "STATE", .show = SHOW_STATE,
     .help = "as in the status"},
    {ERRORS(STATUS_INTEGER, errors), .title = "ERRORS", .show = SHOW_INTEGER,
     .help = "failed calls and refused counters since the start"},
    {ERRORS(STATUS_INTEGER, slow), .title = "SLOW", .show = SHOW_INTEGER,
     .help = "calls longer than the pool's `timeout` since the start"},
    {ERRORS(STATUS_INTEGER, ejections), .title = "EJECTED",
     .show = SHOW_INTEGER,
     .help = "how often it was taken out since the start"},
    {ERRORS(STATUS_INTEGER, last_ms), .unit = "ms since 1970", .title = "LAST",
     .show = SHOW_SINCE,
     .help = "when `last` was logged; 0: there is none; the column shows how "
             "long ago"},
    {ERRORS(STATUS_STRING, last),
     .help = "the last warning or error about it in the log; \"\": none of "
             "the last 1,000 lines is one"},
    {ERRORS(STATUS_STRING, reason),
     .help = "why it is not up now, as in the status; empty: it is"},
    {.name = NULL},
};

/* --- clients --- */

#define CLIENT(kind_of, member)                                                \
    .name = #member, .kind = (kind_of), MEMBER(status_client, member)

const struct status_field client_fields[] = {
    {CLIENT(STATUS_INTEGER, id), .title = "ID", .show = SHOW_INTEGER,
     .help = "the number of the connection since the start"},
    {CLIENT(STATUS_STRING, address), .title = "ADDRESS",
     .help = "where it comes from; for a unix socket, the socket's path"},
    {CLIENT(STATUS_STRING, user), .title = "USER",
     .help = "who it is: a user of the topology, uid:N of a unix socket, or -"},
    {CLIENT(STATUS_STRING, name), .title = "NAME",
     .help = "its name, by CLIENT SETNAME, or \"\""},
    {CLIENT(STATUS_STRING, library), .title = "LIBRARY",
     .help = "its client library, by CLIENT SETINFO, or \"\""},
    {CLIENT(STATUS_STRING, state), .title = "STATE",
     .help = "open; waits: for a number or a store; closes"},
    {CLIENT(STATUS_INTEGER, age_ms), .unit = "ms", .title = "AGE",
     .show = SHOW_AGE, .help = "time since it connected"},
    {CLIENT(STATUS_INTEGER, idle_ms), .unit = "ms", .title = "IDLE",
     .show = SHOW_AGE, .help = "time since its last bytes arrived"},
    {CLIENT(STATUS_INTEGER, commands), .title = "COMMANDS",
     .show = SHOW_INTEGER, .help = "commands that were answered"},
    {CLIENT(STATUS_STRING, command), .title = "LAST",
     .help = "its last command, or \"\""},
    {CLIENT(STATUS_INTEGER, resp), .title = "RESP", .is_wide = true,
     .show = SHOW_INTEGER, .help = "the version of the protocol: 2 or 3"},
    {.name = NULL},
};

/* --- limits --- */

#define LIMIT(kind_of, member)                                                 \
    .name = #member, .kind = (kind_of), MEMBER(status_limit, member)

const struct status_field limit_fields[] = {
    {LIMIT(STATUS_STRING, kind), .title = "KIND", .help = "`user` or `key`"},
    {LIMIT(STATUS_STRING, name), .title = "NAME",
     .help = "the user, or the key"},
    {LIMIT(STATUS_INTEGER, taken), .metric = "seqbroker_user_taken_total",
     .title = "TAKEN", .show = SHOW_INTEGER,
     .help = "numbers taken since the start"},
    {LIMIT(STATUS_INTEGER, today), .metric = "seqbroker_user_today",
     .title = "TODAY", .show = SHOW_INTEGER,
     .help = "numbers taken since 0:00 UTC, or since the start"},
    {LIMIT(STATUS_INTEGER, daily_limit), .metric = "seqbroker_user_daily_limit",
     .title = "DAILY", .show = SHOW_INTEGER,
     .help = "numbers that a day may have; 0: no limit"},
    {LIMIT(STATUS_INTEGER, rate), .metric = "seqbroker_user_rate",
     .title = "RATE", .show = SHOW_INTEGER,
     .help = "numbers a second; 0: no limit"},
    {LIMIT(STATUS_INTEGER, burst), .metric = "seqbroker_user_burst",
     .title = "BURST", .is_wide = true, .show = SHOW_INTEGER,
     .help = "numbers at once, if there is a rate"},
    {LIMIT(STATUS_INTEGER, max_count), .metric = "seqbroker_user_max_count",
     .title = "COUNT", .is_wide = true, .show = SHOW_INTEGER,
     .help = "numbers that one request may ask for; 0: no limit"},
    {LIMIT(STATUS_INTEGER, connections), .metric = "seqbroker_user_connections",
     .title = "CONNS", .show = SHOW_INTEGER,
     .help = "connections of the user by both protocols"},
    {LIMIT(STATUS_INTEGER, max_connections),
     .metric = "seqbroker_user_max_connections", .title = "MAX",
     .is_wide = true, .show = SHOW_INTEGER,
     .help = "connections that the user may have; 0: no limit"},
    {LIMIT(STATUS_INTEGER, refused), .metric = "seqbroker_user_refused_total",
     .title = "REFUSED", .show = SHOW_INTEGER,
     .help = "requests and connections refused since the start because of a "
             "limit"},
    {.name = NULL},
};

/* --- statistics --- */

#define STATS(kind_of, member)                                                 \
    .name = #member, .kind = (kind_of), MEMBER(status_stats, member)

const struct status_field stats_fields[] = {
    {STATS(STATUS_INTEGER, uptime_ms), .unit = "ms", .show = SHOW_AGE,
     .help = "time since the daemon started"},
    {STATS(STATUS_INTEGER, pid), .help = "the process id"},
    {STATS(STATUS_INTEGER, memory), .metric = "process_resident_memory_bytes",
     .unit = "bytes", .show = SHOW_BYTES,
     .help = "resident memory of the process; 0: not known"},
    {STATS(STATUS_INTEGER, connections),
     .help = "connected clients of the Redis protocol"},
    {STATS(STATUS_INTEGER, connections_received),
     .help = "connections of the Redis protocol since the start"},
    {STATS(STATUS_INTEGER, commands),
     .help = "commands answered since the start"},
    {STATS(STATUS_INTEGER, command_errors),
     .help = "commands answered with an error since the start"},
    {STATS(STATUS_INTEGER, http_responses),
     .help = "HTTP requests answered since the start"},
    {STATS(STATUS_INTEGER, log_lines),
     .help = "lines of the log since the start, of every level"},
    {STATS(STATUS_INTEGER, http_connections),
     .metric = "seqbroker_http_connections", .help = "connected HTTP clients"},
    {STATS(STATUS_INTEGER, max_connections),
     .metric = "seqbroker_max_connections",
     .help = "clients of both protocols that may be connected at a time"},
    {STATS(STATUS_INTEGER, connections_refused),
     .metric = "seqbroker_connections_refused_total",
     .help = "connections refused since the start because there were too many"},
    {STATS(STATUS_INTEGER, connections_timed_out),
     .metric = "seqbroker_connections_timed_out_total",
     .help = "connections closed since the start because they were stalled "
             "or idle"},
    {STATS(STATUS_INTEGER, client_memory),
     .metric = "seqbroker_client_memory_bytes", .unit = "bytes",
     .show = SHOW_BYTES,
     .help = "memory held for clients: answers and requests in progress"},
    {STATS(STATUS_INTEGER, max_client_memory),
     .metric = "seqbroker_max_client_memory_bytes", .unit = "bytes",
     .show = SHOW_BYTES, .help = "memory that may be held for clients"},
    {STATS(STATUS_INTEGER, answers_refused),
     .metric = "seqbroker_answers_refused_total",
     .help = "answers refused since the start because they were too long for "
             "max_client_memory"},
    {STATS(STATUS_INTEGER, logins_refused),
     .metric = "seqbroker_logins_refused_total",
     .help = "logins refused since the start"},
    {STATS(STATUS_INTEGER, audit_lines_lost),
     .metric = "seqbroker_audit_lines_lost_total",
     .help = "lines since the start that audit_file lacks because it could not "
             "be written"},
    {STATS(STATUS_INTEGER, takes_refused),
     .metric = "seqbroker_takes_refused_total",
     .help = "requests for numbers refused since the start because of a "
             "limit of the user or the key"},
    {STATS(STATUS_INTEGER, tls_handshakes),
     .metric = "seqbroker_tls_handshakes_total",
     .help = "TLS handshakes since the start"},
    {STATS(STATUS_INTEGER, tls_failed), .metric = "seqbroker_tls_failed_total",
     .help = "TLS handshakes since the start that failed or took too long"},
    {STATS(STATUS_INTEGER, commands_waiting),
     .metric = "seqbroker_commands_waiting",
     .help = "requests that wait for numbers; a connection has one at most"},
    {.name = NULL},
};

/* --- configuration --- */

#define CONFIG(kind_of, member)                                                \
    .name = #member, .kind = (kind_of), MEMBER(status_config, member)

const struct status_field config_fields[] = {
    {CONFIG(STATUS_STRING, topology),
     .help = "the topology's file; \"embedded\": no file was given"},
    {CONFIG(STATUS_INTEGER, read_ms), .unit = "ms since 1970",
     .show = SHOW_MOMENT, .help = "when the topology was read"},
    {CONFIG(STATUS_STRING, state_dir), .help = "the state directory"},
    {CONFIG(STATUS_STRING, listen),
     .help = "its TCP addresses for Redis clients, or \"none\""},
    {CONFIG(STATUS_STRING, socket), .help = "its unix sockets, or \"none\""},
    {CONFIG(STATUS_STRING, http),
     .help = "its addresses for HTTP, or \"none\""},
    {CONFIG(STATUS_STRING, tls_listen),
     .help = "its addresses for Redis clients with TLS, or \"none\""},
    {CONFIG(STATUS_STRING, https),
     .help = "its addresses for HTTP with TLS, or \"none\""},
    {CONFIG(STATUS_STRING, log_level),
     .help = "the lowest level that is logged"},
    {CONFIG(STATUS_STRING, log_format), .help = "`logfmt` or `json`"},
    {CONFIG(STATUS_INTEGER, settings_left_out),
     .help = "settings that are not in `settings`, which has at most 10,000"},
    {CONFIG(STATUS_INTEGER, sequences_left_out),
     .help = "settings of sequences that are not in `settings`, since no "
             "pattern was given"},
    {.name = NULL},
};

#define SETTING(kind_of, member)                                               \
    .name = #member, .kind = (kind_of), MEMBER(seqb_setting_value, member)

const struct status_field setting_fields[] = {
    {SETTING(STATUS_STRING, path),
     .help = "the setting, as `pools.main.timeout`"},
    {SETTING(STATUS_STRING, value),
     .help = "its value as a topology writes it, without quotes; `***`: a "
             "secret"},
    {SETTING(STATUS_BOOLEAN, is_default),
     .help = "whether the topology leaves the setting out"},
    {.name = NULL},
};
