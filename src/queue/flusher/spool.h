/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps unused numbers in one file over a clean stop, or while a sequence is
 * idle. All brokers of a state directory share the file. The numbers in it
 * belong to the first broker that takes them. Every change is an exchange:
 * wanted numbers are taken out of the file and given numbers are put into it,
 * in one durable step.
 *
 * Whatever happens to the file, to copies of it and to older states of it, no
 * number is taken twice: docs/decisions/0014-spool.md.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ha/ha.h"
#include "queue/flusher/block.h"

struct spool;

enum spool_choice {
    SPOOL_KEEP, /* stays in the file */
    SPOOL_TAKE, /* becomes the caller's */
    SPOOL_DROP  /* never used: a gap */
};

/* What an exchange gives, and what it takes. */
struct spool_exchange_options {
    /* Numbers that nobody else uses from now on. Each was granted to this
     * broker by the block's partition. `bits` need not be set. */
    const struct spool_block *give;
    size_t give_count;

    /* Called for every block that is given, with the file locked: whether its
     * numbers must not be used any more. They are lost then. NULL: all may be
     * used. */
    bool (*is_stale)(void *context, const struct spool_block *block);

    /* Whether an exchange that fails with SEQB_UNAVAILABLE is made again while
     * time is left: a store that failed may answer by then. */
    bool is_repeated;

    /* Called for every block in the file before anything is changed; the blocks
     * of a sequence come together. For SPOOL_TAKE it sets the memory bits that
     * the sequence has in this broker; a block with other memory bits is
     * dropped. NULL: all blocks stay. */
    enum spool_choice (*choose)(void *context, const struct spool_block *block,
                                int32_t *memory_bits);

    /* Called for every block that was taken, once that is durable. The key is
     * valid during the call only. */
    void (*take)(void *context, const struct spool_block *block);
    void *context;
};

/* Keeps numbers of the ha's pools in the file at `path`. The folder exists. The
 * ha must outlive the spool's last exchange. SEQB_INVALID, SEQB_NO_MEMORY. */
enum seqb_status spool_open(const char *path, struct ha *ha, struct spool **out,
                            struct seqb_error *err);
void spool_close(struct spool *spool); /* NULL is allowed */

/*
 * Makes one exchange. Any thread. Reads and writes the whole file and asks a
 * store for a ticket, unless there is nothing to change. Waits for other
 * brokers and for the store until `until_ms`.
 *
 * SEQB_OK: what was given is in the file, or lost if its partition cannot be
 * trusted; what was wanted was taken. A file that must not be used is moved to
 * `<path>.refused`, with a warning.
 *
 * SEQB_UNCERTAIN: nothing was taken; what was given is lost, or is in the file.
 *
 * Any other status: nothing was taken, and what was given still belongs to the
 * caller. SEQB_UNAVAILABLE: no ticket, or the file is locked; SEQB_STATE_DIR:
 * the file cannot be read or written; SEQB_INVALID: what is given makes no
 * sense, or was given twice; SEQB_CLOSED, SEQB_NO_MEMORY.
 */
enum seqb_status spool_exchange(struct spool *spool,
                                const struct spool_exchange_options *options,
                                int64_t until_ms, struct seqb_error *err);
