/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clients may use of the daemon, and what they use now: connections, and
 * bytes of memory. Pure counting, on the loop's thread. Its callers refuse
 * clients that are over a limit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/limits/sources.h"

/* When all memory for clients is in use, each client may still hold this many
 * bytes of input and of output, so that clients with small requests are not
 * affected. */
#define LIMITS_SMALL 1000

/* A request before the login may have this many bytes: a password and the names
 * beside it. */
#define LIMITS_LOGIN 2000

/* What a connection by TLS and one by HTTP are counted as, beside their input
 * and output. Measured: 15.2 and 2.1 KiB, 16.1 with both. */
#define LIMITS_TLS_BYTES  16384
#define LIMITS_HTTP_BYTES 2560

/* What a connection by TLS is counted as until its handshake is done, beside
 * the above. Measured: 71 KiB in all, for a ClientHello of the greatest length
 * that is not complete. */
#define LIMITS_HANDSHAKE_BYTES 57344

/* What it is counted as at the start of its handshake. */
#define LIMITS_OPENING_BYTES (LIMITS_TLS_BYTES + LIMITS_HANDSHAKE_BYTES)

/* The same while a record is not complete, or not read completely, after the
 * handshake: OpenSSL's buffer for one. Measured: 16,720. */
#define LIMITS_RECORD_BYTES 16896

/* Connections by unix sockets beyond max_connections, reserved for those who
 * may give orders. */
#define LIMITS_LOCAL 16

/* What refuses a connection. */
enum connection_limit {
    LIMIT_OF_ALL,          /* max_connections */
    LIMIT_OF_ADDRESS,      /* max_connections_per_address */
    LIMIT_OF_USER,         /* users.max_connections */
    LIMIT_OF_MEMORY,       /* max_client_memory */
    LIMIT_OF_HEAP,         /* no setting: the process has no memory for it */
    LIMITS_OF_CONNECTIONS, /* their number */
};

/* Their names in the log and the metrics, those of the settings. */
extern const char *const limit_names[LIMITS_OF_CONNECTIONS];

/* HTTP connections beyond max_connections, which are answered 503. */
#define LIMITS_HTTP 16

struct limits_options {
    int64_t max_connections;             /* of both protocols */
    int64_t max_connections_per_address; /* of both protocols; 0: no limit */
    int64_t max_client_memory;           /* bytes */
    int64_t client_timeout_ms;           /* these three: 0 means no time-out */
    int64_t idle_timeout_ms;
    int64_t login_timeout_ms;
};

/* The defaults. */
extern const struct limits_options limits_defaults;

/* Takes a setting of section `daemon`, as the library reports it. False if it
 * is not one of these limits. */
bool limits_take(struct limits_options *options, const char *setting,
                 const char *value);

struct limits {
    struct limits_options options; /* as of the last reload */
    int64_t client_memory;         /* bytes that clients hold now */
    int64_t http_connections;
    struct sources sources; /* of connections of both protocols */
    /* Since the start. */
    int64_t connections_refused, answers_refused, connections_timed_out;
    int64_t refused_by[LIMITS_OF_CONNECTIONS];
    int64_t refused_logged; /* connections_refused when it was logged last */
    int64_t log_refused_ms; /* the next time it may be logged */
};

/* Counts a connection that was refused. */
void limits_count_refused(struct limits *limits, enum connection_limit limit);

/* Whether clients hold more memory than they may. */
bool limits_are_full(const struct limits *limits);

/* Whether `more` further bytes would be too many. */
bool limits_are_passed(const struct limits *limits, size_t more);

/* The memory of a client has changed from `*held` to `now` bytes. Sets
 * `*held`. */
void limits_hold(struct limits *limits, int64_t *held, size_t now);

/* Whether a further client may connect when the Redis protocol has
 * `connections` already. max_connections is raised by `more`. */
bool limits_admit(const struct limits *limits, int64_t connections,
                  int64_t more);

/* Reserves descriptors for `partitions` stores, for the operator and for the
 * files of the process: lowers max_connections to what remains of
 * `descriptors`. Returns whether it lowered the limit. */
bool limits_fit(struct limits *limits, int64_t descriptors, int64_t partitions);
