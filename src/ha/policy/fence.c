/* SPDX-License-Identifier: Apache-2.0 */
/* The fencing decisions of docs/guarantees.md. */
#include "ha/policy/fence.h"

#include "platform/minmax.h"

/* I4: the reply must lie above the mark held when the request was sent. If the
 * window is another one, leased by another broker, the mark says nothing about
 * it. */
static bool went_back(enum seqb_guarantee guarantee,
                      const struct fence_mark *mark,
                      const struct seqb_request *reply)
{
    if (guarantee == SEQB_WINDOWED && reply->window != mark->window)
        return false;
    return reply->block.first <= mark->value;
}

enum fence_verdict fence_evaluate(enum seqb_guarantee guarantee,
                                  const struct fence_mark *mark, int64_t floor,
                                  const struct seqb_request *reply)
{
    const bool is_windowed = guarantee == SEQB_WINDOWED;

    if (reply->status == SEQB_FENCED)
        return is_windowed ? FENCE_WINDOW : FENCE_RAISE;
    if (reply->status == SEQB_EXHAUSTED)
        return is_windowed ? FENCE_WINDOW : FENCE_EXHAUSTED;
    if (reply->status != SEQB_OK)
        return FENCE_FAIL;
    if (went_back(guarantee, mark, reply))
        return FENCE_POISON;
    if ((is_windowed ? reply->window : reply->block.first) <= floor)
        return FENCE_RAISE;
    return FENCE_ACCEPT;
}

void fence_trim(const struct fence_mark *mark, int64_t floor,
                struct seqb_request *reply)
{
    struct seqb_block *block = &reply->block;
    int64_t low;

    if (reply->status != SEQB_OK || block->first <= mark->value ||
        block->first > floor || block->count > reply->want)
        return;
    low = floor - block->first + 1;
    if (low >= block->count)
        return;
    block->first += low;
    block->count -= low;
}

struct fence_mark fence_advance(const struct seqb_request *reply,
                                enum seqb_guarantee guarantee)
{
    return (struct fence_mark){
        .window = guarantee == SEQB_WINDOWED ? reply->window : 0,
        .value = reply->block.first + (reply->block.count - 1),
    };
}

int64_t fence_raise_floor(const struct fence_mark *mark, int64_t floor,
                          int64_t gap, const struct seqb_request *reply)
{
    int64_t known = mark->value;

    if (known > 0 && reply->status == SEQB_FENCED)
        known = known > INT64_MAX - gap ? INT64_MAX : known + gap;
    return max_of(known, floor);
}

int64_t fence_window_floor(const struct fence_mark *mark, int64_t floor,
                           const struct seqb_request *reply)
{
    return max_of(max_of(floor, mark->window), reply->window);
}

int64_t fence_level_floor(enum seqb_guarantee guarantee, int64_t level,
                          int64_t highest, int64_t want)
{
    const int64_t lag =
        (guarantee == SEQB_WINDOWED ? FENCE_LAG_WINDOWS : FENCE_LAG_VALUES) +
        4 * want;

    if (level > highest / 2)
        return 0;
    return max_of(level - lag, 0);
}

bool fence_is_sane(enum seqb_guarantee guarantee, int64_t window_max,
                   const struct seqb_request *reply)
{
    const struct seqb_block *block = &reply->block;
    const bool is_windowed = guarantee == SEQB_WINDOWED;
    const int64_t lowest = is_windowed ? 0 : 1;
    const int64_t highest = is_windowed ? reply->limit - 1 : reply->limit;

    if (block->count < 1 || block->count > reply->want)
        return false;
    if (block->first < lowest || block->first > highest - (block->count - 1))
        return false;
    return !is_windowed || (reply->window >= 1 && reply->window <= window_max);
}
