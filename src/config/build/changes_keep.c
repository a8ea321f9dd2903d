/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings in effect after a reload: those of the file, except for those
 * that need a restart. The latter keep their running values, so that the status
 * shows them and the next reload finds the difference again.
 */
#include <string.h>

#include "config/build/build.h"
#include "config/build/effective.h"
#include "number/number.h"
#include "platform/error.h"

static struct setting_value *value_copy(struct arena *arena,
                                        const struct setting_value *from)
{
    struct setting_value *value = arena_take(arena, 1, sizeof *value);

    if (value == NULL)
        return NULL;
    *value = *from;
    value->text = arena_format(arena, "%s", from->text);
    value->next = NULL;
    return value;
}

/* Replaces the row's value, or inserts it in the order of the rows. NULL
 * removes it. Values may be shared with other groups, so those before it are
 * copied, and none is changed. */
static void value_put(struct setting_item *item, const struct schema_row *row,
                      struct setting_value *value, struct arena *arena)
{
    struct setting_value **at = &item->first;

    while (*at != NULL && (*at)->row < row) {
        struct setting_value *copy = arena_take(arena, 1, sizeof *copy);

        if (copy == NULL)
            return;
        *copy = **at;
        *at = copy;
        at = &copy->next;
    }
    if (*at != NULL && (*at)->row == row)
        *at = (*at)->next;
    if (value == NULL)
        return;
    value->next = *at;
    *at = value;
}

/* Inserts a group after the others of its section. */
static void item_put(struct config_settings *settings,
                     struct setting_item *item)
{
    struct setting_item **at = &settings->first;

    while (*at != NULL && (*at)->outer <= item->outer)
        at = &(*at)->next;
    item->next = *at;
    if (*at == NULL)
        settings->last = &item->next;
    *at = item;
    settings->count++;
}

static void keep_group(struct config_settings *settings, struct arena *arena,
                       const struct setting_item *from)
{
    struct setting_item *item = arena_take(arena, 1, sizeof *item);

    if (item == NULL)
        return;
    *item = *from;
    item->name = arena_format(arena, "%s", from->name);
    if (from->engine != NULL)
        item->engine = arena_format(arena, "%s", from->engine);
    item->first = NULL;
    item->last = &item->first;
    for (const struct setting_value *at = from->first; at != NULL;
         at = at->next) {
        *item->last = value_copy(arena, at);
        if (*item->last == NULL)
            return;
        item->last = &(*item->last)->next;
    }
    item_put(settings, item);
}

static void leave_out(struct config_settings *settings)
{
    struct setting_item **at = &settings->first;

    while (*at != NULL) {
        if ((*at)->is_left_out) {
            *at = (*at)->next;
            settings->count--;
        } else {
            at = &(*at)->next;
        }
    }
    settings->last = at;
}

/* Whether no sequence is left out, and all pools have the same index as in the
 * broker. */
static bool are_all_kept(const struct config_kept *kept,
                         const struct config_topology *next)
{
    size_t i = 0;

    while (i < next->ha.pool_count && kept->pools[i] == (int32_t)i)
        i++;
    return i == next->ha.pool_count &&
           config_count(kept->changes, SEQB_RELOAD_RESTART) == 0;
}

/* Keeps the sequences that are not left out, and sets their pools to the
 * broker's indexes. Groups of settings and options are in the same order. */
static void keep_sequences(struct config_topology *next, struct arena *arena,
                           const int32_t *pools)
{
    struct queue_options *queue = &next->queue;
    struct queue_sequence_options *out =
        arena_take(arena, queue->sequence_count + 1, sizeof *out);
    size_t count = 0;
    size_t i = 0;

    if (out == NULL)
        return;
    for (const struct setting_item *at = next->settings->first; at != NULL;
         at = at->next) {
        if (at->section != SCHEMA_SEQUENCES)
            continue;
        out[count] = queue->sequences[i++];
        out[count].pool = pools[out[count].pool];
        count += !at->is_left_out;
    }
    queue->sequences = out;
    queue->sequence_count = count;
}

/* Whether the next template differs. The change was allowed already. */
static bool has_other_template(const struct queue_sequence_options *runs,
                               const struct queue_sequence_options *next)
{
    struct seqb_error why;
    bool is_same;

    return runs->template != NULL && next->template != NULL &&
           template_compare(runs->template, next->template, &is_same, &why) ==
               SEQB_OK &&
           !is_same;
}

/* Keeps everything except what a reload may change. The running pointers are
 * kept, because sequences may exist that use what they point to. */
static void keep_layout(const struct queue_sequence_options *runs,
                        struct queue_sequence_options *out)
{
    const struct queue_sequence_options next = *out;

    *out = *runs;
    out->deadline_ms = next.deadline_ms;
    out->runway_ms = next.runway_ms;
    out->max_unused = next.max_unused;
    out->prefetch = next.prefetch;
    out->idle_after_ms = next.idle_after_ms;
    out->full_waits = next.full_waits;
    if (has_other_template(runs, &next)) {
        out->template = next.template;
        out->width_numbers = next.width_numbers;
        out->pool_numbers = next.pool_numbers;
        out->text_max = next.text_max;
    }
}

static void keep_automatic(struct config_topology *next, struct arena *arena,
                           const struct config_kept *kept)
{
    struct queue_options *queue = &next->queue;
    struct queue_sequence_options *out;
    const struct setting_item *at = next->settings->first;

    if (queue->automatic == NULL)
        return;
    while (at->section != SCHEMA_AUTOMATIC)
        at = at->next;
    out = arena_take(arena, 1, sizeof *out);
    if (out == NULL)
        return;
    *out = *queue->automatic;
    out->pool = kept->pools[out->pool];
    if (kept->queue->automatic != NULL)
        keep_layout(kept->queue->automatic, out);
    queue->automatic = at->is_left_out ? NULL : out;
}

static void keep_settings(const struct config_changes *changes,
                          struct config_settings *settings, struct arena *arena)
{
    for (const struct config_change *at = changes->first; at != NULL;
         at = at->next) {
        if (at->report.need != SEQB_RELOAD_RESTART)
            continue;
        if (at->row != NULL)
            value_put(at->item, at->row,
                      at->runs == NULL ? NULL : value_copy(arena, at->runs),
                      arena);
        else if (at->stays != NULL)
            keep_group(settings, arena, at->stays);
    }
}

enum seqb_status changes_keep(const struct config_kept *kept,
                              struct config_topology *next, struct arena *arena,
                              struct seqb_error *err)
{
    if (!are_all_kept(kept, next))
        keep_sequences(next, arena, kept->pools);
    keep_automatic(next, arena, kept);
    leave_out(next->settings);
    keep_settings(kept->changes, next->settings, arena);
    next->queue.clock = kept->queue->clock;
    next->queue.snowflakes = kept->queue->snowflakes;
    next->queue.snowflake_count = kept->queue->snowflake_count;
    return arena->is_out_of_memory
               ? error_set(err, SEQB_NO_MEMORY, "reload: out of memory")
               : SEQB_OK;
}
