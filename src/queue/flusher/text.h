/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spool's file as text that an operator can read, and back. Pure.
 *
 *   seqbroker-spool 1
 *   id <32 hexadecimal digits>
 *   ticket <value> <pool> <member> <origin>
 *   pool <bits> <layout>                       one a pool, counted from 0
 *   origin <pool> <partition> <origin>
 *   sequence <pool> <memory_bits> <key>
 *   block <first> <length>                     of the sequence above it
 *   end <number of blocks> <checksum of all before it>
 *
 * Everything is in one order and has one form, so that there is one text for
 * what it says.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ha/ha.h"
#include "queue/flusher/block.h"

#define SPOOL_ID_SIZE  33
#define SPOOL_SIZE_MAX ((size_t)1 << 30) /* bytes of a file */
#define SPOOL_POOLS    1024              /* at most */

struct spool_pool {
    const char *layout;
    int32_t bits;
    const char *origins[HA_PARTITIONS_MAX]; /* NULL: not known */
};

/* Whose numbers these are: `id` and `ticket` tell this text from every other,
 * the ticket is of the store at `place`, which had that origin. */
struct spool_text {
    char id[SPOOL_ID_SIZE];
    int64_t ticket;
    struct ha_place place;
    const char *origin;
    struct spool_pool *pools;
    size_t pool_count;
    struct spool_block *blocks; /* in order; origins of all are known */
    size_t block_count;
};

/* `*out` is the caller's to free. SEQB_INVALID if it is too large, or a text
 * in it has control characters; SEQB_NO_MEMORY. */
enum seqb_status spool_text_write(const struct spool_text *text, char **out,
                                  size_t *size, struct seqb_error *err);

/*
 * Reads what was written, in place: `out` points into `bytes`, which have room
 * for one more. SEQB_CORRUPT, with the reason, for anything that was not
 * written so, byte for byte; SEQB_NO_MEMORY. On success free it with
 * spool_text_fini.
 */
enum seqb_status spool_text_read(char *bytes, size_t size,
                                 struct spool_text *out,
                                 struct seqb_error *err);
void spool_text_fini(struct spool_text *text);
