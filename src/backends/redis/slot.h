/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash slots of a Redis Cluster, and redirections. Pure. (Source: the Redis
 * Cluster specification, "Key distribution model" and "Redirection and
 * resharding".)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "net/net.h"

#define REDIS_SLOTS 16384

/* The slot of a key: CRC16 of the text in its first {...}, or of the whole
 * key. */
unsigned slot_of_key(const char *key);

/* Where to send the command, which was not executed. */
struct redirection {
    bool is_ask; /* this time only, after ASKING; else the slot's server from
                    now on */
    unsigned slot;
    struct address to; /* host "": that of the server that redirected */
};

/* Parses an error reply; false if it is neither "MOVED 3999 127.0.0.1:6381" nor
 * "ASK 3999 127.0.0.1:6381". */
bool redirection_parse(const char *error, struct redirection *out);
