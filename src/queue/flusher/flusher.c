/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A round takes the numbers of idle sequences out of their rings, exchanges
 * them for what the spool has of sequences that are used again, and puts that
 * into the rings of those. If the exchange fails, everything is put back.
 */
#include "queue/flusher/flusher.h"

#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/log.h"
#include "platform/thread.h"
#include "queue/flusher/drop.h"
#include "queue/flusher/span.h"
#include "queue/flusher/spool.h"
#include "queue/queue_state.h"

/* The rest between two rounds, so that many sequences share one. It is longer
 * if the last round took long, because each round writes the whole file. */
#define ROUND_REST_MS    1000
#define ROUND_REST_TIMES 10

/* How long a round waits for other brokers and for its store. */
#define ROUND_MS 5000

/* At the start, at most this many automatic sequences are made because the
 * spool has numbers of them: the first ones in the file. The others get their
 * numbers when they are used. */
#define MADE_MOST 1000

struct flusher {
    struct queue *queue;
    struct spool *spool;
    _Atomic int64_t poll_ms; /* between two polls of all sequences */
    int64_t rest_ms;         /* used by the thread only: the rest after the last
                                round */

    pthread_t thread;
    bool is_started;
};

enum flush {
    FLUSH_FIRST, /* before callers take numbers */
    FLUSH_USUAL,
    FLUSH_REMOVED, /* only gives, of sequences that are no longer listed */
    FLUSH_LAST     /* gives everything, takes nothing */
};

/* What was taken out of a ring. */
struct spooled {
    struct seqb_sequence *sequence;
    struct ring_slice slice;
};

struct round {
    struct flusher *flusher;
    int64_t now_ms;
    bool is_first;
    bool is_last;
    bool is_removal;
    size_t made;
    bool is_wanting;
    struct seqb_sequence *taker; /* the sequence of the last chosen block, and
                                    what it gets */
    uint32_t taken_spans;
    int64_t taken_numbers;
    struct span chosen; /* its last span */
    struct span taken;  /* the span that is put into a ring next */
    struct spool_block *blocks;
    size_t count;
    size_t capacity;
    struct spooled *spooled;
    size_t spooled_count;
    size_t spooled_capacity;
};

/* --- what is given --- */

static size_t grown(size_t capacity)
{
    return capacity == 0 ? 64 : 2 * capacity;
}

static bool round_reserve_block(struct round *round)
{
    const size_t capacity = grown(round->capacity);
    struct spool_block *blocks;

    if (round->count < round->capacity)
        return true;
    blocks = realloc(round->blocks, capacity * sizeof *blocks);
    if (blocks == NULL)
        return false;
    round->blocks = blocks;
    round->capacity = capacity;
    return true;
}

static bool round_reserve_spooled(struct round *round)
{
    const size_t capacity = grown(round->spooled_capacity);
    struct spooled *spooled;

    if (round->spooled_count < round->spooled_capacity)
        return true;
    spooled = realloc(round->spooled, capacity * sizeof *spooled);
    if (spooled == NULL)
        return false;
    round->spooled = spooled;
    round->spooled_capacity = capacity;
    return true;
}

static void round_fini(struct round *round)
{
    free(round->blocks);
    free(round->spooled);
}

static bool is_kept(const struct seqb_sequence *sequence)
{
    return sequence->source->permits(sequence, SOURCE_SPOOL, NULL) == SEQB_OK;
}

/* Makes a block for each window, because a block continues with the next number
 * of its partition. Numbers that there is no memory for are a gap. */
static void round_give(struct round *round,
                       const struct seqb_sequence *sequence,
                       struct ring_slice slice)
{
    const struct ring *ring = sequence->ring;

    while (slice.count > 0 && round_reserve_block(round)) {
        const uint64_t left = ring_left_of_window(ring, slice.position);
        const uint64_t length = slice.count < left ? slice.count : left;

        round->blocks[round->count++] = (struct spool_block){
            .key = sequence->key,
            .pool = (size_t)sequence->options->pool,
            .memory_bits = sequence->options->memory_bits,
            .first = ring_number(ring->shape, slice.base, slice.position),
            .length = (int64_t)length,
        };
        slice.position += length;
        slice.count -= length;
    }
}

/* Takes all numbers out of a ring. */
static void round_empty_ring(struct round *round,
                             struct seqb_sequence *sequence)
{
    struct ring_slice slice;

    while (round_reserve_spooled(round) &&
           ring_take_slice(sequence->ring, UINT64_MAX, RING_SEGMENT, &slice) !=
               RING_EMPTY) {
        round->spooled[round->spooled_count++] =
            (struct spooled){sequence, slice};
        round_give(round, sequence, slice);
    }
}

/* Empties the ring first, so that it has a free segment for each stripe. */
static void round_empty(struct round *round, struct seqb_sequence *sequence)
{
    do
        round_empty_ring(round, sequence);
    while (sequence_gather(sequence) > 0);
}

/* With the catalog locked. */
static void round_poll(void *context, struct seqb_sequence *sequence)
{
    struct round *round = context;

    if (!is_kept(sequence))
        return;
    if (round->is_removal && !sequence_is_removed(sequence))
        return;
    if (round->is_last || round->is_removal) {
        round_empty(round, sequence);
        atomic_store(&sequence->may_be_kept, true);
        return;
    }
    if (atomic_exchange(&sequence->is_missed, false))
        sequence->is_wanted = true;
    round->is_wanting |= sequence->is_wanted;
    if (!sequence_is_idle(sequence, round->now_ms))
        return;
    round_empty(round, sequence);
    sequence->is_wanted = false;
    atomic_store(&sequence->may_be_kept, true);
}

static void round_poll_all(struct round *round)
{
    size_t at = 0;

    while (queue_visit(round->flusher->queue, &at, round_poll, round))
        continue;
}

/* Nothing was given: puts everything back. */
static void round_undo(struct round *round)
{
    for (size_t i = 0; i < round->spooled_count; i++)
        sequence_give_back(round->spooled[i].sequence,
                           &round->spooled[i].slice);
}

/* --- what is wanted --- */

/* With the catalog locked. What was wanted was taken, or is not in the
 * spool. */
static void round_finish(void *context, struct seqb_sequence *sequence)
{
    (void)context;
    if (!sequence->is_wanted)
        return;
    sequence->is_wanted = false;
    atomic_store(&sequence->may_be_kept, false);
}

/* Makes an automatic sequence. NULL if the key has none, or if MADE_MOST were
 * made. A sequence that is not admitted yet gets its numbers when it is
 * used. */
static struct seqb_sequence *round_make(struct round *round, const char *key)
{
    struct seqb_sequence *sequence;

    if (round->made == MADE_MOST ||
        queue_find(round->flusher->queue, key, &sequence, NULL) != SEQB_OK)
        return NULL;
    round->made++;
    if (sequence_admission(sequence) != SEQUENCE_ADMITTED || !is_kept(sequence))
        return NULL;
    sequence->is_wanted = true;
    return sequence;
}

/* Adds a block to the spans and numbers that the taker gets. */
static void round_count(struct round *round, const struct spool_block *block)
{
    struct spool_block rest = *block;

    while (rest.length > 0) {
        const struct span next = span_cut(round->taker, &rest);

        if (span_join(&round->chosen, &next))
            continue;
        round->chosen = next;
        round->taken_spans++;
    }
    round->taken_numbers += block->length;
}

/* Of a block of another pool. If the sequence is served by its own pool now,
 * that one may have issued the block's numbers. A sequence that waits or is
 * refused may go back to the other pool. */
static enum spool_choice choose_moved(const struct seqb_sequence *sequence)
{
    return sequence_admission(sequence) == SEQUENCE_ADMITTED &&
                   !sequence->is_refused
               ? SPOOL_DROP
               : SPOOL_KEEP;
}

static enum spool_choice round_choose(void *context,
                                      const struct spool_block *block,
                                      int32_t *memory_bits)
{
    struct round *round = context;
    struct seqb_sequence *sequence =
        queue_peek(round->flusher->queue, block->key);

    if (sequence == NULL && round->is_first)
        sequence = round_make(round, block->key);
    if (sequence != NULL && (size_t)sequence->options->pool != block->pool)
        return choose_moved(sequence);
    if (sequence == NULL || !sequence->is_wanted)
        return SPOOL_KEEP;
    if (sequence != round->taker) {
        round->taker = sequence;
        round->taken_spans = 0;
        round->taken_numbers = 0;
    }
    round_count(round, block);
    if (!sequence_has_capacity(sequence, round->taken_spans,
                               round->taken_numbers))
        return SPOOL_KEEP;
    *memory_bits = sequence->options->memory_bits;
    return SPOOL_TAKE;
}

/* Puts the span that was taken into its ring. */
static void round_put(struct round *round)
{
    const struct span *span = &round->taken;

    if (span->sequence != NULL)
        sequence_put(span->sequence, span->first, (uint64_t)span->count);
}

static void round_take(void *context, const struct spool_block *block)
{
    struct round *round = context;
    struct seqb_sequence *sequence =
        queue_peek(round->flusher->queue, block->key);
    struct spool_block rest = *block;

    while (rest.length > 0) {
        const struct span next = span_cut(sequence, &rest);

        if (span_join(&round->taken, &next))
            continue;
        round_put(round);
        round->taken = next;
    }
}

/* --- rounds --- */

/* The sequence was advanced after its ring was emptied. */
static bool round_is_stale(void *context, const struct spool_block *block)
{
    const struct round *round = context;
    struct seqb_sequence *sequence =
        queue_peek(round->flusher->queue, block->key);

    return sequence != NULL && drop_has_passed(sequence, block->first);
}

static enum seqb_status round_exchange(struct round *round, int64_t until_ms,
                                       struct seqb_error *err)
{
    const struct spool_exchange_options options = {
        .give = round->blocks,
        .give_count = round->count,
        .is_stale = round_is_stale,
        .is_repeated = round->is_last,
        .choose = round->is_wanting || round->is_first ? round_choose : NULL,
        .take = round_take,
        .context = round,
    };
    const enum seqb_status status =
        spool_exchange(round->flusher->spool, &options, until_ms, err);

    round_put(round);
    if (status == SEQB_OK || status == SEQB_UNCERTAIN)
        return status;
    round_undo(round);
    return status;
}

static void log_failed(const struct round *round, const struct seqb_error *err)
{
    log_reason(SEQB_LOG_WARN, err->text, "event=spool_failed blocks=%zu",
               round->count);
}

static void flusher_round(struct flusher *flusher, enum flush flush,
                          int64_t until_ms)
{
    struct round round = {.flusher = flusher,
                          .now_ms = clock_now_ms(),
                          .is_first = flush == FLUSH_FIRST,
                          .is_last = flush == FLUSH_LAST,
                          .is_removal = flush == FLUSH_REMOVED};
    struct seqb_error err;
    size_t at = 0;

    round_poll_all(&round);
    if (round.count > 0 || round.is_wanting || round.is_first) {
        if (round_exchange(&round, until_ms, &err) != SEQB_OK)
            log_failed(&round, &err);
        else
            while (!round.is_removal &&
                   queue_visit(flusher->queue, &at, round_finish, &round))
                continue;
    }
    round_fini(&round);
}

/* Waits until it is woken, but at least rest_ms, or until the next poll. False
 * when the thread is to stop. */
static bool flusher_wait(struct flusher *flusher)
{
    const int64_t now_ms = clock_now_ms();

    return wakeup_wait(&flusher->queue->context.flusher,
                       now_ms + flusher->rest_ms, now_ms + flusher->poll_ms);
}

static void *flusher_run(void *argument)
{
    struct flusher *flusher = argument;

    flusher->rest_ms = ROUND_REST_MS;
    while (flusher_wait(flusher)) {
        const int64_t begin_ms = clock_now_ms();

        flusher_round(flusher, FLUSH_USUAL, begin_ms + ROUND_MS);
        flusher->rest_ms =
            ROUND_REST_MS + ROUND_REST_TIMES * (clock_now_ms() - begin_ms);
    }
    return NULL;
}

/* With the catalog locked. A sequence that is not admitted yet gets its numbers
 * when it is used. */
static void want(void *context, struct seqb_sequence *sequence)
{
    (void)context;
    atomic_store(&sequence->is_missed,
                 is_kept(sequence) &&
                     sequence_admission(sequence) == SEQUENCE_ADMITTED);
    atomic_store(&sequence->may_be_kept, is_kept(sequence));
}

enum seqb_status flusher_open(struct queue *queue,
                              const struct queue_options *options,
                              struct ha *ha, int64_t until_ms,
                              struct flusher **out, struct seqb_error *err)
{
    struct flusher *flusher = calloc(1, sizeof *flusher);
    enum seqb_status status;
    size_t at = 0;

    if (flusher == NULL)
        return error_set(err, SEQB_NO_MEMORY, "spool: out of memory");
    flusher->queue = queue;
    flusher->poll_ms = flusher_looks(options);
    *out = flusher;
    status = spool_open(options->spool_path, ha, &flusher->spool, err);
    if (status != SEQB_OK)
        return status;
    while (queue_visit(queue, &at, want, NULL))
        continue;
    flusher_round(flusher, FLUSH_FIRST, until_ms);
    return SEQB_OK;
}

enum seqb_status flusher_start(struct flusher *flusher, struct seqb_error *err)
{
    const enum seqb_status status = thread_start(
        &flusher->thread, "seqb:flusher", flusher_run, flusher, err);

    flusher->is_started = status == SEQB_OK;
    return status;
}

enum seqb_status flusher_drop(struct flusher *flusher,
                              const struct seqb_sequence *sequence, int64_t to,
                              int64_t until_ms, struct seqb_error *err)
{
    return flusher == NULL
               ? SEQB_OK
               : drop_below(flusher->spool, sequence, to, until_ms, err);
}

void flusher_stop(struct flusher *flusher)
{
    if (flusher == NULL || !flusher->is_started)
        return;
    wakeup_stop(&flusher->queue->context.flusher);
    pthread_join(flusher->thread, NULL);
    flusher->is_started = false;
}

void flusher_keep_all(struct flusher *flusher, int64_t until_ms)
{
    if (flusher != NULL)
        flusher_round(flusher, FLUSH_LAST, until_ms);
}

void flusher_set(struct flusher *flusher, const struct queue_options *options)
{
    if (flusher != NULL)
        flusher->poll_ms = flusher_looks(options);
}

void flusher_keep_removed(struct flusher *flusher)
{
    if (flusher != NULL)
        flusher_round(flusher, FLUSH_REMOVED, clock_now_ms() + ROUND_MS);
}

void flusher_close(struct flusher *flusher)
{
    if (flusher == NULL)
        return;
    spool_close(flusher->spool);
    free(flusher);
}
