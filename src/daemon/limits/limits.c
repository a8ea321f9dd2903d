/* SPDX-License-Identifier: Apache-2.0 */
/* Counting what clients use, and the limits; see limits.h. */
#include "daemon/limits/limits.h"

#include <stdlib.h>
#include <string.h>

#define MIB (INT64_C(1) << 20) /* bytes */

/* Descriptors that the process needs itself: listening sockets, the state
 * directory, the loop, reports, programs of alarms. */
#define OWN_DESCRIPTORS 96

/* Descriptors for a partition: an SQLite file has three, its second lock and
 * its note. A server has one, and one more while its name is looked up. */
#define STORE_DESCRIPTORS 6

const char *const limit_names[LIMITS_OF_CONNECTIONS] = {
    [LIMIT_OF_ALL] = "max_connections",
    [LIMIT_OF_ADDRESS] = "max_connections_per_address",
    [LIMIT_OF_USER] = "users.max_connections",
    [LIMIT_OF_MEMORY] = "max_client_memory",
    [LIMIT_OF_HEAP] = "memory",
};

const struct limits_options limits_defaults = {
    .max_connections = 10000,
    .max_client_memory = INT64_C(32) << 20,
    .client_timeout_ms = 60000,
    .login_timeout_ms = 10000,
};

bool limits_take(struct limits_options *options, const char *setting,
                 const char *value)
{
    const struct {
        const char *setting;
        int64_t *number;
        int64_t unit;
    } numbers[] = {
        {"max_connections", &options->max_connections, 1},
        {"max_connections_per_address", &options->max_connections_per_address,
         1},
        {"max_client_memory", &options->max_client_memory, MIB},
        {"client_timeout", &options->client_timeout_ms, 1},
        {"idle_timeout", &options->idle_timeout_ms, 1},
        {"login_timeout", &options->login_timeout_ms, 1},
    };

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(setting, numbers[i].setting) != 0)
            continue;
        *numbers[i].number = strtoll(value, NULL, 10) * numbers[i].unit;
        return true;
    }
    return false;
}

void limits_count_refused(struct limits *limits, enum connection_limit limit)
{
    limits->connections_refused++;
    limits->refused_by[limit]++;
}

bool limits_are_full(const struct limits *limits)
{
    return limits->client_memory > limits->options.max_client_memory;
}

bool limits_are_passed(const struct limits *limits, size_t more)
{
    return limits->client_memory + (int64_t)more >
           limits->options.max_client_memory;
}

void limits_hold(struct limits *limits, int64_t *held, size_t now)
{
    limits->client_memory += (int64_t)now - *held;
    *held = (int64_t)now;
}

bool limits_admit(const struct limits *limits, int64_t connections,
                  int64_t more)
{
    return connections + limits->http_connections <
           limits->options.max_connections + more;
}

bool limits_fit(struct limits *limits, int64_t descriptors, int64_t partitions)
{
    const int64_t kept = OWN_DESCRIPTORS + LIMITS_LOCAL + LIMITS_HTTP +
                         STORE_DESCRIPTORS * partitions;
    int64_t left = descriptors - kept;

    if (left < 1)
        left = 1;
    if (left >= limits->options.max_connections)
        return false;
    limits->options.max_connections = left;
    return true;
}
