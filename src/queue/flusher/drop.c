/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An advance first sets the sequence's floor and then drops blocks of the file,
 * under the file's lock. A round that gives blocks checks the floor under that
 * lock. So a block is in the file when the advance looks, or the round sees the
 * floor.
 */
#include "queue/flusher/drop.h"

#include <string.h>

struct drop {
    const struct seqb_sequence *sequence;
    int64_t to;
};

static enum spool_choice drop_choose(void *context,
                                     const struct spool_block *block,
                                     int32_t *memory_bits)
{
    const struct drop *drop = context;
    const struct seqb_sequence *sequence = drop->sequence;

    (void)memory_bits;
    return strcmp(block->key, sequence->key) == 0 &&
                   block->pool == (size_t)sequence->options->pool &&
                   block->first <= drop->to
               ? SPOOL_DROP
               : SPOOL_KEEP;
}

enum seqb_status drop_below(struct spool *spool,
                            const struct seqb_sequence *sequence, int64_t to,
                            int64_t until_ms, struct seqb_error *err)
{
    struct drop drop = {sequence, to};
    const struct spool_exchange_options options = {.choose = drop_choose,
                                                   .context = &drop};

    return spool_exchange(spool, &options, until_ms, err);
}

bool drop_has_passed(struct seqb_sequence *sequence, int64_t first)
{
    bool has_passed;

    pthread_mutex_lock(&sequence->lock);
    has_passed = first <= sequence->floor;
    pthread_mutex_unlock(&sequence->lock);
    return has_passed;
}
