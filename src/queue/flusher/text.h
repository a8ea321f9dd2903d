/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spool's file as text that an operator can read, and back. Pure.
 *
 *   seqbroker-spool 1
 *   id <32 hexadecimal digits>
 *   ticket <value> <pool> <member> <origin>
 *   pool <bits> <layout>                       for each pool, counted from 0
 *   origin <pool> <partition> <origin>
 *   sequence <pool> <memory_bits> <key>
 *   block <first> <length>                     of the sequence above it
 *   end <number of blocks> <checksum of all before it>
 *
 * Order and form are fixed, so that the same contents always give the same
 * text.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ha/ha.h"
#include "platform/chance.h"
#include "queue/flusher/block.h"

#define SPOOL_ID_SIZE  CHANCE_ID_SIZE
#define SPOOL_SIZE_MAX ((size_t)1 << 30) /* bytes of a file */
#define SPOOL_POOLS    1024              /* at most */

struct spool_pool {
    const char *layout;
    int32_t bits;
    const char *origins[HA_PARTITIONS_MAX]; /* NULL: not known */
};

/* The contents of the file. `id` and `ticket` together distinguish this text
 * from every other. The ticket was granted by the store at `place`, which had
 * this origin. */
struct spool_text {
    char id[SPOOL_ID_SIZE];
    int64_t ticket;
    struct ha_place place;
    const char *origin;
    struct spool_pool *pools;
    size_t pool_count;
    struct spool_block *blocks; /* in order; the origins of all are known */
    size_t block_count;
};

/* The caller frees `*out`. SEQB_INVALID: the text is too large, or a layout or
 * origin in it has control characters; SEQB_NO_MEMORY. */
enum seqb_status spool_text_write(const struct spool_text *text, char **out,
                                  size_t *size, struct seqb_error *err);

/*
 * Reads what spool_text_write wrote, in place: `out` points into `bytes`, which
 * must have room for one more byte. SEQB_CORRUPT, with the reason, for anything
 * that was not written so, byte for byte; SEQB_NO_MEMORY. On success free it
 * with spool_text_fini.
 */
enum seqb_status spool_text_read(char *bytes, size_t size,
                                 struct spool_text *out,
                                 struct seqb_error *err);
void spool_text_fini(struct spool_text *text);
