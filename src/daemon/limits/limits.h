/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clients may use up of the daemon, and what they use: connections, and
 * bytes of memory. Pure counting, on the loop's thread; who is over a limit is
 * told by others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/limits/sources.h"

/* While the memory of all clients is used up, each still has so many bytes of
 * input and of output: those who ask for little notice nothing. */
#define LIMITS_SMALL 1000

/* Connections that unix sockets have beside max_connections: the operator's. */
#define LIMITS_LOCAL 16

/* Which limit of connections was met: a setting's name. */
#define LIMIT_OF_ALL     "max_connections"
#define LIMIT_OF_ADDRESS "max_connections_per_address"
#define LIMIT_OF_USER    "users.max_connections"

/* Requests of HTTP that are answered 503, beside max_connections. */
#define LIMITS_HTTP 16

struct limits_options {
    int64_t max_connections;             /* of both protocols */
    int64_t max_connections_per_address; /* the same; 0: no limit */
    int64_t max_client_memory;           /* bytes */
    int64_t client_timeout_ms;           /* these two: 0 is none */
    int64_t idle_timeout_ms;
};

/* What holds where the topology says nothing. */
extern const struct limits_options limits_defaults;

/* Takes a setting of section `daemon`, as the library tells it. False: it is
 * none of these. */
bool limits_take(struct limits_options *options, const char *setting,
                 const char *value);

struct limits {
    struct limits_options options; /* of the last reload */
    int64_t client_memory;         /* bytes that clients hold now */
    int64_t http_connections;
    struct sources sources; /* of connections by TCP, of both protocols */
    /* Since the start. */
    int64_t connections_refused, answers_refused, connections_timed_out;
    int64_t refused_told;    /* connections_refused, as logged last */
    int64_t tell_refused_ms; /* not logged again before that */
};

/* Whether clients hold all the memory that they may. */
bool limits_are_full(const struct limits *limits);

/* Whether so many bytes more are too many. */
bool limits_are_passed(const struct limits *limits, size_t more);

/* What a client holds has changed from `*held` to `now`. */
void limits_hold(struct limits *limits, int64_t *held, size_t now);

/* Whether a further client may connect, beside `connections` of the Redis
 * protocol; `more` of them beside max_connections. */
bool limits_admit(const struct limits *limits, int64_t connections,
                  int64_t more);

/* Keeps descriptors back for `partitions` stores, for the operator and for the
 * files of the process: lowers max_connections to what `descriptors` leave.
 * Whether it did. */
bool limits_fit(struct limits *limits, int64_t descriptors, int64_t partitions);
