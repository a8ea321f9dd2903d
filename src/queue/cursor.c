/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cursors: a slice of the ring that belongs to one thread. The caller sees the
 * rest of one run of the slice, and takes numbers from it without a call. This
 * file then shows the next run, or takes the next slice.
 */
#include "platform/error.h"
#include "platform/fork_wiped.h"
#include "queue/sequence_take.h"

#define SLICE_USUAL 1024
#define SLICE_MAX   (1 << 20)

/* In memory that is zero in a forked child: there it is an empty cursor without
 * a sequence. */
struct cursor {
    struct seqb_cursor view; /* must be first */
    struct seqb_sequence *sequence;
    uint64_t slice;         /* numbers to take at once */
    uint32_t resumed;       /* context->resumed, before the slice was taken */
    struct ring_slice rest; /* what follows the run that the caller sees */
};

enum seqb_status queue_cursor_open(struct seqb_sequence *sequence, size_t slice,
                                   struct seqb_cursor **out,
                                   struct seqb_error *err)
{
    struct cursor *cursor;

    if (slice > SLICE_MAX)
        return error_set(err, SEQB_INVALID,
                         "sequence %s: a slice of %zu numbers is not in 0 ... "
                         "%d",
                         sequence->key, slice, SLICE_MAX);
    if (sequence->source->permits(sequence, SOURCE_CURSOR, err) != SEQB_OK)
        return SEQB_INVALID;
    if (!sequence->ring->is_alive)
        return queue_forked(err);
    cursor = fork_wiped_take(sequence->context->memory, sizeof *cursor);
    if (cursor == NULL)
        return error_set(err, SEQB_NO_MEMORY, "sequence %s: out of memory",
                         sequence->key);
    cursor->sequence = sequence;
    cursor->slice = slice == 0 ? SLICE_USUAL : slice;
    *out = &cursor->view;
    return SEQB_OK;
}

static uint32_t times_resumed(const struct cursor *cursor)
{
    return atomic_load_explicit(&cursor->sequence->context->resumed,
                                memory_order_relaxed);
}

/* The process was resumed from an image after the slice was taken, so its
 * numbers may have been used before. */
static bool is_stale(const struct cursor *cursor)
{
    return cursor->resumed != times_resumed(cursor);
}

/* Returns the first number of the next run of the rest, and shows the others to
 * the caller. The number 2^63 - 1 is a run of its own, since the end of another
 * would be 2^63. */
static int64_t show_run(struct cursor *cursor)
{
    const struct ring_shape shape = cursor->sequence->ring->shape;
    struct ring_slice *rest = &cursor->rest;
    const uint64_t left =
        shape.run_mask + 1 - (rest->position & shape.run_mask);
    const int64_t first = ring_number(shape, rest->base, rest->position);
    uint64_t n = rest->count < left ? rest->count : left;

    if (n > 1 && first > INT64_MAX - (int64_t)n)
        n--;
    cursor->view.next = n > 1 ? first + 1 : first;
    cursor->view.end = cursor->view.next + (int64_t)(n - 1);
    rest->position += n;
    rest->count -= n;
    return first;
}

enum seqb_status queue_cursor_refill(struct seqb_cursor *view, int64_t *out,
                                     struct seqb_error *err)
{
    struct cursor *cursor = (struct cursor *)view;
    enum seqb_status status = SEQB_OK;

    if (cursor->sequence == NULL)
        return queue_forked(err);
    if (is_stale(cursor))
        cursor->rest.count = 0;
    if (cursor->rest.count == 0) {
        cursor->resumed = times_resumed(cursor);
        status = sequence_take_slice(cursor->sequence, cursor->slice,
                                     &cursor->rest, err);
    }
    if (status != SEQB_OK)
        return status;
    *out = show_run(cursor);
    return SEQB_OK;
}

/* The numbers that the caller left of its run are given back with the rest. */
void queue_cursor_close(struct seqb_cursor *view)
{
    struct cursor *cursor = (struct cursor *)view;
    uint64_t seen;

    if (cursor == NULL || cursor->sequence == NULL)
        return;
    seen = (uint64_t)(cursor->view.end - cursor->view.next);
    cursor->rest.position -= seen;
    cursor->rest.count += seen;
    if (cursor->rest.count > 0 && !is_stale(cursor))
        sequence_give_back(cursor->sequence, &cursor->rest);
    fork_wiped_give(cursor->sequence->context->memory, cursor, sizeof *cursor);
}
