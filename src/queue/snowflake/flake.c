/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/snowflake/flake.h"

#define US_OF_MS 1000

/* Percent of a ms: a decision by ticks may come a little late. */
#define SPAN_PART 98

static struct flake_rules rules_of(const struct bits_layout *layout)
{
    return (struct flake_rules){
        .first_ms = layout->epoch_ms + 1, /* so that no id is 0 */
        .end_ms = bits_end_ms(layout),
        .ms_values = bits_counter_max(layout) + 1,
    };
}

void flake_init(struct flake *flake, const struct bits_layout *layout,
                struct flake_gate *memory)
{
    *flake = (struct flake){
        .gate = memory, .layout = *layout, .rules = rules_of(layout)};
    memory->worker_bits = layout->shard;
    memory->counter_bits = layout->counter;
}

static int64_t id_at(const struct flake_gate *gate, uint64_t worker,
                     uint64_t position)
{
    const uint64_t mask = ((uint64_t)1 << gate->counter_bits) - 1;

    return (int64_t)((position & ~mask) << gate->worker_bits | worker |
                     (position & mask));
}

/* Takes ids of the open ms, without checking whether it is over. */
static inline size_t take_open(struct flake_gate *gate, size_t count,
                               uint64_t limit, uint64_t worker, int64_t *out)
{
    const uint64_t ms = (uint64_t)1 << gate->counter_bits;
    const uint64_t want = count < ms ? count : ms;
    const uint64_t position =
        atomic_fetch_add_explicit(&gate->head, want, memory_order_relaxed);
    size_t n;

    if (position >= limit)
        return 0;
    n = want < limit - position ? want : limit - position;
    for (size_t i = 0; i < n; i++)
        out[i] = id_at(gate, worker, position + i);
    return n;
}

size_t flake_take(struct flake_gate *gate, size_t count, int64_t *out)
{
    const uint64_t limit =
        atomic_load_explicit(&gate->limit, memory_order_acquire);
    const uint64_t worker =
        atomic_load_explicit(&gate->worker, memory_order_acquire);
    const uint64_t begin =
        atomic_load_explicit(&gate->begin, memory_order_acquire);
    const uint64_t span =
        atomic_load_explicit(&gate->span, memory_order_acquire);

    if (ticks_now() - begin >= span)
        return 0;
    return take_open(gate, count, limit, worker, out);
}

size_t flake_take_locked(struct flake *flake, size_t count, int64_t *out)
{
    struct flake_gate *gate = flake->gate;

    return take_open(
        gate, count, atomic_load_explicit(&gate->limit, memory_order_relaxed),
        atomic_load_explicit(&gate->worker, memory_order_relaxed), out);
}

bool flake_take_run(struct flake *flake, size_t count, int64_t *first)
{
    struct flake_gate *gate = flake->gate;
    const uint64_t limit =
        atomic_load_explicit(&gate->limit, memory_order_relaxed);
    const uint64_t position =
        atomic_fetch_add_explicit(&gate->head, count, memory_order_relaxed);

    if (position + count > limit)
        return false;
    *first =
        id_at(gate, atomic_load_explicit(&gate->worker, memory_order_relaxed),
              position);
    return true;
}

/* For how many ticks ids may be taken: to the end of the ms or of the lease. A
 * clock may be up to a us ahead of what was read. */
static uint64_t span_of(const struct flake *flake,
                        const struct flake_reading *now)
{
    const int64_t ms_us = US_OF_MS - now->wall_us % US_OF_MS;
    const int64_t lease_us = flake->until_ms * US_OF_MS - now->boot_us;
    const int64_t us = lease_us < ms_us ? lease_us : ms_us;

    return us <= 1 ? 0
                   : flake->ticks.per_ms * (uint64_t)(us - 1) / US_OF_MS *
                         SPAN_PART / 100;
}

static void span_set(struct flake *flake, const struct flake_reading *now)
{
    struct flake_gate *gate = flake->gate;

    atomic_store_explicit(&gate->span, 0, memory_order_release);
    atomic_store_explicit(&gate->begin, now->ticks, memory_order_release);
    atomic_store_explicit(&gate->span, span_of(flake, now),
                          memory_order_release);
}

int64_t flake_taken(const struct flake *flake)
{
    const uint64_t limit =
        atomic_load_explicit(&flake->gate->limit, memory_order_relaxed);
    const uint64_t head =
        atomic_load_explicit(&flake->gate->head, memory_order_relaxed);

    if (limit == 0)
        return flake->taken;
    return flake->taken +
           (int64_t)((head < limit ? head : limit) - flake->start);
}

bool flake_go_on(struct flake *flake, int64_t worker,
                 const struct flake_lease *lease,
                 const struct flake_reading *now)
{
    const uint64_t limit =
        atomic_load_explicit(&flake->gate->limit, memory_order_relaxed);

    ticks_measure(&flake->ticks);
    if (limit == 0 || flake->worker != worker ||
        flake->last.time_ms != now->time_ms ||
        now->boot_us >= lease->until_ms * US_OF_MS ||
        atomic_load_explicit(&flake->gate->head, memory_order_relaxed) >= limit)
        return false;
    flake->until_ms = lease->until_ms;
    span_set(flake, now);
    return true;
}

enum flake_verdict flake_poll(const struct flake *flake,
                              const struct flake_lease *lease,
                              const struct flake_reading *now,
                              struct flake_block *block)
{
    struct flake_last last = flake->last;

    return flake_next(&flake->rules, lease,
                      (struct flake_now){now->time_ms, now->boot_us / US_OF_MS},
                      flake->rules.ms_values, &last, block);
}

void flake_open(struct flake *flake, int64_t worker,
                const struct flake_lease *lease,
                const struct flake_reading *now,
                const struct flake_block *block)
{
    struct flake_gate *gate = flake->gate;
    const uint64_t time = (uint64_t)(block->time_ms - flake->layout.epoch_ms);
    const int32_t counter_bits = flake->layout.counter;

    flake->taken = flake_taken(flake);
    flake->start = time << counter_bits | (uint64_t)block->counter;
    flake->last = (struct flake_last){.time_ms = block->time_ms,
                                      .values = block->counter + block->count,
                                      .boot_ms = now->boot_us / US_OF_MS};
    flake->worker = worker;
    flake->until_ms = lease->until_ms;
    /* The head first, and the limit last: see flake.h. */
    atomic_store_explicit(&gate->head, flake->start, memory_order_release);
    atomic_store_explicit(&gate->worker, (uint64_t)worker << counter_bits,
                          memory_order_release);
    span_set(flake, now);
    atomic_store_explicit(&gate->limit, flake->start + (uint64_t)block->count,
                          memory_order_release);
}

void flake_shut(struct flake *flake)
{
    flake->taken = flake_taken(flake);
    atomic_store_explicit(&flake->gate->limit, 0, memory_order_release);
}
