/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unused numbers, kept in one file over a clean stop, or while a sequence is
 * idle. All brokers of a state directory share the file; what is in it
 * belongs to whoever takes it first. Every change is an exchange: out of the
 * file what is wanted, into it what is given, in one step that lasts.
 *
 * Whatever becomes of the file, of its copies and of older states of it, no
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
    SPOOL_DROP  /* is never used: a gap */
};

/* What an exchange gives and wants. */
struct spool_exchange_options {
    /* Numbers that nobody uses from now on, and of every partition only what
     * it granted to this broker; `bits` need not be set. */
    const struct spool_block *give;
    size_t give_count;

    /* Asked of every block in the file, those of a sequence together, before
     * anything is done. For SPOOL_TAKE it sets the memory bits with which the
     * sequence counts here; a block of others is dropped. NULL: all stay. */
    enum spool_choice (*choose)(void *context, const struct spool_block *block,
                                int32_t *memory_bits);

    /* Told every block taken, once that lasts. The key lives for the call. */
    void (*take)(void *context, const struct spool_block *block);
    void *context;
};

/* Keeps numbers of the ha's pools in the file at `path`, whose folder exists.
 * The ha must outlive the spool's last exchange. SEQB_INVALID, SEQB_NO_MEMORY.
 */
enum seqb_status spool_open(const char *path, struct ha *ha, struct spool **out,
                            struct seqb_error *err);
void spool_close(struct spool *spool); /* takes NULL */

/*
 * One exchange, by any thread. Reads and writes the whole file and asks a store
 * for a ticket, unless there is nothing to change; waits for other brokers and
 * for the store until `until_ms`.
 *
 * SEQB_OK: what was given is in the file, or lost if its partition is not to
 * be trusted; what was wanted was taken. A file that may not be used is put
 * aside as `<path>.refused`, with a warning.
 * SEQB_UNCERTAIN: nothing was taken; what was given is lost, or in the file.
 * Any other: nothing was taken, and what was given is still the caller's:
 * SEQB_UNAVAILABLE (no ticket, or the file is locked), SEQB_STATE_DIR (the
 * file cannot be read or written), SEQB_INVALID (what is given makes no sense,
 * or was given twice), SEQB_CLOSED, SEQB_NO_MEMORY.
 */
enum seqb_status spool_exchange(struct spool *spool,
                                const struct spool_exchange_options *options,
                                int64_t until_ms, struct seqb_error *err);
