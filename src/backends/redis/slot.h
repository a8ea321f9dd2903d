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

/* Of a key: CRC16 of what stands in its first {...}, or of the whole key. */
unsigned slot_of_key(const char *key);

/* Where the command has to go; it was not carried out. */
struct redirection {
    bool is_ask; /* this time only, behind an ASKING; else the slot's server
                    from now on */
    unsigned slot;
    struct address to; /* host "": that of the server which said so */
};

/* From the text of an error reply; false if it is none of "MOVED 3999
 * 127.0.0.1:6381" and "ASK 3999 127.0.0.1:6381". */
bool redirection_parse(const char *error, struct redirection *out);
