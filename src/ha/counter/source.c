/* SPDX-License-Identifier: Apache-2.0 */
/* The windows that are leased for a slot, by an authority or by neighbours. */
#include "ha/counter/source.h"

#include <stdlib.h>

#include "ha/counter/window.h"
#include "platform/clock.h"
#include "platform/minmax.h"
#include "platform/text.h"

void source_result(struct window_source *source, bool is_refused,
                   const struct seqb_error *why)
{
    free(source->why);
    source->why = why == NULL ? NULL : text_copy_of(why->text);
    source->status = why == NULL ? SEQB_OK : why->status;
    source->is_refused = is_refused;
}

/* The pool counts the sources that have windows left. */
static void source_count(struct window_source *source)
{
    struct ha_pool *pool = slot_pool(&source->lease);
    const bool has_spare = source->run.left > 0;

    pool->spares[source->lease.partition] +=
        (int)has_spare - (int)source->has_spare;
    source->has_spare = has_spare;
}

/* --- runs --- */

void source_leased(struct window_source *source, int64_t first, int64_t step,
                   int64_t count)
{
    struct run *run = source->run.left == 0 ? &source->run : &source->after;

    *run = (struct run){
        .next = first, .step = step, .left = count, .resumed = source->resumed};
    pace_leased(&source->pace, count, clock_now_ms());
    source_count(source);
}

static void run_skip(struct run *run, int64_t count)
{
    run->next += count * run->step;
    run->left -= count;
}

static void run_follow(struct window_source *source)
{
    if (source->run.left > 0)
        return;
    source->run = source->after;
    source->after.left = 0;
}

/* True if any window was too low. */
static bool run_drop(struct run *run, int64_t floor)
{
    if (run->left == 0 || run->next > floor)
        return false;
    run_skip(run, min_of((floor - run->next) / run->step + 1, run->left));
    return true;
}

/* Drops what was leased before this process was resumed from an image. */
static void run_forget(struct run *run, uint32_t resumed)
{
    if (run->resumed != resumed)
        run->left = 0;
}

void source_drop(struct window_source *source, int64_t floor)
{
    const uint32_t resumed = slot_pool(&source->lease)->resumed;
    const int64_t taken = source->run.taken;

    run_forget(&source->run, resumed);
    run_forget(&source->after, resumed);
    run_follow(source);
    if (run_drop(&source->run, floor) && source->run.left == 0) {
        pace_dropped(&source->pace, taken);
        (void)run_drop(&source->after, floor);
        run_follow(source);
    }
    source_count(source);
}

int64_t source_last(const struct window_source *source)
{
    const struct run *run =
        source->after.left > 0 ? &source->after : &source->run;

    return run->left > 0 ? run->next + (run->left - 1) * run->step
                         : SEQB_NO_WINDOW;
}

struct windows source_next(struct window_source *source, int64_t most)
{
    struct run *run = &source->run;
    const struct windows taken = {.first = run->next,
                                  .step = run->step,
                                  .count = min_of(most, run->left)};

    run_skip(run, taken.count);
    run->taken += taken.count;
    run_follow(source);
    source_count(source);
    pace_taken(&source->pace, taken.count, clock_now_ms());
    return taken;
}

/* --- starting again --- */

void window_source_free(struct window_source *source)
{
    if (source == NULL)
        return;
    pthread_cond_destroy(&source->changed);
    free(source->why);
    free(source->neighbours);
    free(source);
}

/* The marks of the lessors are of the old stamp. NULL is allowed. */
static void lease_forget(struct lease *lease)
{
    if (lease == NULL)
        return;
    for (int32_t i = 0; i < slot_pool(&lease->source->lease)->lessors.count;
         i++)
        lease->marks[i].run = 0;
}

bool window_is_asked(const struct slot *slot)
{
    return slot->windows != NULL && slot->windows->is_asked;
}

void window_renew(struct slot *slot)
{
    struct window_source *source = slot->windows;

    if (source == NULL)
        return;
    source->run.left = 0;
    source->after.left = 0;
    source->pace = (struct pace){.last = 0};
    source_count(source);
    source->lease.mark = FENCE_NOTHING;
    source->lease.is_recalled = false;
    source_result(source, false, NULL);
    lease_forget(source->neighbours);
}
