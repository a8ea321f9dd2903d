/* SPDX-License-Identifier: Apache-2.0 */
/* Notes of grants, and their use after a restart: see
 * docs/decisions/0050-granted.md. */
#include "ha/counter/recall.h"

#define DAY_MS INT64_C(86400000)

/* Leases of neighbours are not noted, because they are compared with other
 * stores. A ticket is not noted, because only one spool uses it. */
static bool is_noted(const struct worker *worker, const struct slot *slot)
{
    return worker->granted != NULL && slot->counter != NULL &&
           !slot_is_lessors(slot);
}

/* A cell's value as it is in numbers: the window above the position in it. */
static int64_t mark_value(const struct slot *slot)
{
    if (!slot->is_windowed)
        return slot->mark.value;
    return slot->mark.window << counter_window_bits(slot->counter) |
           slot->mark.value;
}

static struct fence_mark value_mark(const struct slot *slot, int64_t value)
{
    const int64_t size = INT64_C(1) << counter_window_bits(slot->counter);

    if (!slot->is_windowed)
        return (struct fence_mark){.value = value};
    return (struct fence_mark){.window = value / size, .value = value % size};
}

/* The last day before other brokers may purge the slot's stamp. */
static int64_t last_day(const struct slot *slot)
{
    const struct ha_stamp stamp = slot_stamp(slot);

    if (stamp.digits == 0)
        return GRANTED_FOREVER;
    return (stamp.ends_ms + slot->counter->attributes->keep_ms) / DAY_MS + 1;
}

static struct granted_counter noted_counter(const struct worker *worker,
                                            const struct slot *slot,
                                            const char *name)
{
    return (struct granted_counter){.backend = worker_name(worker),
                                    .name = name,
                                    .last_day = last_day(slot)};
}

void recall_mark(struct worker *worker, struct slot *slot, const char *name)
{
    struct granted_counter counter;
    uint32_t line = slot->line;
    int64_t value;

    if (slot->is_recalled || !is_noted(worker, slot))
        return;
    slot->is_recalled = true;
    counter = noted_counter(worker, slot, name);
    value = granted_find(worker->granted, &counter, &line);
    slot->line = line;
    if (value == 0)
        return;
    slot->mark = value_mark(slot, value);
    slot->history = 0;
}

void recall_note(struct worker *worker, struct slot *slot, const char *name)
{
    struct granted_counter counter;
    uint32_t line = slot->line;

    if (!is_noted(worker, slot))
        return;
    counter = noted_counter(worker, slot, name);
    granted_note(worker->granted, &counter, mark_value(slot), &line);
    slot->line = line;
}
