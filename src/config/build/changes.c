/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two topologies, setting by setting: what differs, and what each
 * difference needs while a broker runs. It applies nothing. Groups are matched
 * by name, so their order in the file does not matter. */
#include <stdlib.h>
#include <string.h>

#include "config/build/build.h"
#include "config/build/effective.h"
#include "platform/error.h"
#include "platform/hash.h"
#include "platform/text.h"

/* The running topology's groups, and an index of them by name. */
struct group_index {
    const struct setting_item **items;
    bool *is_found;
    /* Hash table of 1 + index of `items`; NULL: not yet made. */
    uint32_t *places;
    size_t count;
    size_t capacity;
};

struct comparison {
    const struct config_topology *runs;
    const struct config_topology *next;
    struct arena *arena;
    struct config_changes *changes;
    struct group_index index;
    size_t at;     /* index of the running group that is likely to match next */
    bool is_mixed; /* groups before `at` may be unmatched */
    size_t sequence; /* index of the next topology's current sequence */
    size_t likely;   /* index of the running sequence that is likely to match */
    const struct setting_item *added; /* the last new group; NULL: none yet */
    enum seqb_reload_need added_need;
};

/* --- the running groups --- */

static uint32_t group_hash(const struct setting_item *item)
{
    uint64_t hash = hash_text(item->name != NULL ? item->name : "");

    hash = hash_add(hash, &item->section, sizeof item->section);
    return (uint32_t)hash_add(hash, &item->outer, sizeof item->outer);
}

static bool is_same_group(const struct setting_item *a,
                          const struct setting_item *b)
{
    if (a->section != b->section || a->outer != b->outer)
        return false;
    return a->name == NULL || b->name == NULL ? a->name == b->name
                                              : strcmp(a->name, b->name) == 0;
}

/* The slot of the hash table that holds the group, or the free slot for it. */
static size_t index_place(const struct group_index *index,
                          const struct setting_item *item)
{
    size_t place = group_hash(item) & (index->capacity - 1);

    while (index->places[place] != 0 &&
           !is_same_group(index->items[index->places[place] - 1], item))
        place = (place + 1) & (index->capacity - 1);
    return place;
}

static bool index_init(struct group_index *index,
                       const struct config_settings *settings)
{
    *index = (struct group_index){.count = 0};
    index->items =
        calloc(settings->count + 1, sizeof(const struct setting_item *));
    index->is_found = calloc(settings->count + 1, sizeof *index->is_found);
    if (index->items == NULL || index->is_found == NULL)
        return false;
    for (const struct setting_item *at = settings->first; at != NULL;
         at = at->next)
        index->items[index->count++] = at;
    return true;
}

static void index_fini(struct group_index *index)
{
    free(index->items);
    free(index->is_found);
    free(index->places);
}

/* Makes the hash table, when a group is out of order for the first time. */
static bool index_sort(struct group_index *index)
{
    if (index->places != NULL)
        return true;
    index->capacity = 16;
    while (index->capacity < 2 * index->count)
        index->capacity *= 2;
    index->places = calloc(index->capacity, sizeof *index->places);
    for (size_t i = 0; index->places != NULL && i < index->count; i++)
        index->places[index_place(index, index->items[i])] = (uint32_t)i + 1;
    return index->places != NULL;
}

/* Whether the group is new: all running groups before `at` are matched, and the
 * others belong to later sections. So the list's end needs no hash table. */
static bool is_behind_all(const struct comparison *comparison,
                          const struct setting_item *item)
{
    const struct group_index *index = &comparison->index;

    return !comparison->is_mixed &&
           (comparison->at == index->count ||
            index->items[comparison->at]->outer > item->outer);
}

/* The running group of that name; NULL: none. */
static const struct setting_item *group_find(struct comparison *comparison,
                                             const struct setting_item *item)
{
    struct group_index *index = &comparison->index;
    size_t place;

    if (comparison->at < index->count &&
        is_same_group(index->items[comparison->at], item)) {
        index->is_found[comparison->at] = true;
        return index->items[comparison->at++];
    }
    if (is_behind_all(comparison, item))
        return NULL;
    if (!index_sort(index)) {
        comparison->arena->is_out_of_memory = true;
        return NULL;
    }
    place = index_place(index, item);
    if (index->places[place] == 0)
        return NULL;
    comparison->is_mixed = true;
    comparison->at = index->places[place];
    index->is_found[comparison->at - 1] = true;
    return index->items[comparison->at - 1];
}

/* --- what a change needs, and what to do about it --- */

static const char *advice_of(enum seqb_reload_need need)
{
    if (need == SEQB_RELOAD_RESTART)
        return "restart the broker to apply it; SIGUSR2 refuses no client";
    if (need == SEQB_RELOAD_NOTHING)
        return "";
    return "numbers would get another meaning: seqctl migrate, or a new "
           "sequence";
}

static struct config_change *change_add(struct comparison *comparison,
                                        enum seqb_reload_need need,
                                        const struct setting_item *item,
                                        const struct schema_row *row)
{
    struct config_changes *changes = comparison->changes;
    struct config_change *change =
        arena_take(comparison->arena, 1, sizeof *change);
    char path[SETTING_PATH_SIZE];

    if (change == NULL)
        return NULL;
    setting_path(item, row != NULL ? row->name : NULL, path);
    change->report = (struct seqb_reload_change){
        need, arena_format(comparison->arena, "%s", path), "", "",
        advice_of(need)};
    change->row = row;
    *changes->last = change;
    changes->last = &change->next;
    changes->counts[need]++;
    return change;
}

static bool pool_runs(const struct comparison *comparison, int32_t pool)
{
    const char *name = comparison->next->ha.pools[pool].layout.name;

    for (const struct setting_item *at = comparison->runs->settings->first;
         at != NULL && at->section <= SCHEMA_POOLS; at = at->next) {
        if (at->section == SCHEMA_POOLS && strcmp(at->name, name) == 0)
            return true;
    }
    return false;
}

/* What a new sequence, or a new group auto_sequences, needs. */
static enum seqb_reload_need
sequence_need(const struct comparison *comparison,
              const struct queue_sequence_options *options)
{
    return queue_needs_restart(&comparison->runs->queue, options) ||
                   !pool_runs(comparison, options->pool)
               ? SEQB_RELOAD_RESTART
               : SEQB_RELOAD_NOTHING;
}

static enum seqb_reload_need added_need(const struct comparison *comparison,
                                        const struct setting_item *item)
{
    const struct queue_options *queue = &comparison->next->queue;

    switch (item->section) {
    case SCHEMA_SEQUENCES:
        return sequence_need(comparison,
                             &queue->sequences[comparison->sequence]);
    case SCHEMA_AUTOMATIC:
        return sequence_need(comparison, queue->automatic);
    case SCHEMA_IDS:
    case SCHEMA_SNOWFLAKE:
        return SEQB_RELOAD_REFUSED;
    case SCHEMA_USERS:
    case SCHEMA_KEY_LIMITS:
        return SEQB_RELOAD_NOTHING;
    default:
        return SEQB_RELOAD_RESTART;
    }
}

static enum seqb_reload_need removed_need(const struct setting_item *item)
{
    switch (item->section) {
    case SCHEMA_SEQUENCES:
    case SCHEMA_AUTOMATIC:
    case SCHEMA_USERS:
    case SCHEMA_KEY_LIMITS:
        return SEQB_RELOAD_NOTHING;
    case SCHEMA_IDS:
    case SCHEMA_SNOWFLAKE:
        return SEQB_RELOAD_REFUSED;
    default:
        return SEQB_RELOAD_RESTART;
    }
}

/* Whether it is nested in a group that came or went as a whole. */
static bool is_part_of(const struct setting_item *item,
                       const struct setting_item *group)
{
    return group != NULL && item->section != item->outer &&
           group->section == item->outer && group->name == item->name;
}

static void group_came(struct comparison *comparison, struct setting_item *item)
{
    struct config_change *change;

    if (is_part_of(item, comparison->added)) {
        item->is_left_out = comparison->added->is_left_out;
        return;
    }
    change = change_add(comparison, added_need(comparison, item), item, NULL);
    comparison->added = item;
    if (change == NULL)
        return;
    change->report.after = "present";
    item->is_left_out = change->report.need == SEQB_RELOAD_RESTART;
}

static void group_went(struct comparison *comparison,
                       const struct setting_item *item)
{
    struct config_change *change =
        change_add(comparison, removed_need(item), item, NULL);

    if (change == NULL)
        return;
    change->report.before = "present";
    change->stays = change->report.need == SEQB_RELOAD_RESTART ? item : NULL;
}

static void groups_went(struct comparison *comparison)
{
    const struct group_index *index = &comparison->index;
    const struct setting_item *last = NULL;

    for (size_t i = 0; i < index->count; i++) {
        const struct setting_item *item = index->items[i];

        if (index->is_found[i] || is_part_of(item, last))
            continue;
        last = item;
        group_went(comparison, item);
    }
}

/* --- values --- */

/* Compares durations by value, because a default may use another unit. */
static bool is_same_value(const struct schema_row *row, const char *a,
                          const char *b)
{
    int64_t a_ms;
    int64_t b_ms;

    if (a == NULL || b == NULL)
        return a == b;
    if (strcmp(a, b) == 0)
        return true;
    return row->type == SCHEMA_DURATION && duration_parse(a, &a_ms) &&
           duration_parse(b, &b_ms) && a_ms == b_ms;
}

/* The two values of a row in a group. */
struct pair {
    const struct schema_row *row;
    const struct setting_item *group; /* the running group */
    const struct setting_value *runs; /* the running value; NULL: not set */
    const struct setting_value *next;
};

/* See changes_template_advice. */
static const char *template_advice(struct comparison *comparison,
                                   const struct setting_item *runs,
                                   const struct setting_item *next)
{
    size_t at = comparison->sequence;
    const struct template_change change = {
        .before = changes_template(&comparison->runs->queue, runs,
                                   &comparison->likely),
        .after = changes_template(&comparison->next->queue, next, &at),
        .runs = runs,
        .next = next,
    };

    return changes_template_advice(&change, comparison->arena);
}

/* Stores keep the largest failover_gap, and values that a store lost may have
 * been granted with it. So the broker keeps a larger gap until a restart. */
static bool is_lower_gap(const struct schema_row *row, const char *before,
                         const char *after)
{
    return strcmp(row->name, "failover_gap") == 0 &&
           strtoll(after, NULL, 10) < strtoll(before, NULL, 10);
}

static void value_changed(struct comparison *comparison,
                          struct setting_item *item, const struct pair *pair,
                          const char *before, const char *after)
{
    enum seqb_reload_need need = schema_need(pair->row);
    const char *advice = NULL;
    struct config_change *change;

    if (strcmp(pair->row->name, "template") == 0)
        advice = template_advice(comparison, pair->group, item);
    if (advice != NULL && advice[0] == '\0')
        need = SEQB_RELOAD_NOTHING;
    if (is_lower_gap(pair->row, before, after))
        need = SEQB_RELOAD_RESTART;
    change = change_add(comparison, need, item, pair->row);
    if (change == NULL)
        return;
    if (advice != NULL)
        change->report.advice = advice;
    change->report.before = before != NULL ? before : "";
    change->report.after = after != NULL ? after : "";
    change->item = item;
    change->runs = pair->runs;
}

static uint64_t secret_of(const struct setting_value *value)
{
    return value == NULL ? 0 : value->secret;
}

static void value_compare(struct comparison *comparison,
                          const struct setting_item *runs,
                          struct setting_item *next, const struct pair *pair)
{
    const char *before = pair->runs != NULL ? pair->runs->text
                                            : setting_default(runs, pair->row);
    const char *after = pair->next != NULL ? pair->next->text
                                           : setting_default(next, pair->row);

    if (!is_same_value(pair->row, before, after) ||
        secret_of(pair->runs) != secret_of(pair->next))
        value_changed(comparison, next, pair, before, after);
}

static const struct setting_value *value_of(const struct setting_value **at,
                                            const struct schema_row *row)
{
    const struct setting_value *value = *at;

    if (value == NULL || value->row != row)
        return NULL;
    *at = value->next;
    return value;
}

/* The first row of the two. Both lists are in the table's order. */
static const struct schema_row *row_first(const struct setting_value *a,
                                          const struct setting_value *b)
{
    if (a == NULL)
        return b->row;
    return b == NULL || a->row < b->row ? a->row : b->row;
}

static void group_compare(struct comparison *comparison,
                          const struct setting_item *runs,
                          struct setting_item *next)
{
    const struct setting_value *before_at = runs->first;
    const struct setting_value *after_at = next->first;

    while (before_at != NULL || after_at != NULL) {
        struct pair pair = {.row = row_first(before_at, after_at),
                            .group = runs};

        pair.runs = value_of(&before_at, pair.row);
        pair.next = value_of(&after_at, pair.row);
        value_compare(comparison, runs, next, &pair);
    }
}

static void compare_all(struct comparison *comparison)
{
    for (struct setting_item *item = comparison->next->settings->first;
         item != NULL && !comparison->arena->is_out_of_memory;
         item = item->next) {
        const struct setting_item *runs = group_find(comparison, item);

        if (runs == NULL)
            group_came(comparison, item);
        else
            group_compare(comparison, runs, item);
        comparison->sequence += item->section == SCHEMA_SEQUENCES;
    }
    groups_went(comparison);
}

enum seqb_status changes_find(const struct config_topology *runs,
                              struct config_topology *next, struct arena *arena,
                              struct config_changes **out,
                              struct seqb_error *err)
{
    struct comparison comparison = {
        .runs = runs,
        .next = next,
        .arena = arena,
        .changes = arena_take(arena, 1, sizeof *comparison.changes)};

    if (comparison.changes != NULL &&
        index_init(&comparison.index, runs->settings)) {
        comparison.changes->last = &comparison.changes->first;
        compare_all(&comparison);
    } else {
        arena->is_out_of_memory = true;
    }
    index_fini(&comparison.index);
    if (arena->is_out_of_memory)
        return error_set(err, SEQB_NO_MEMORY, "reload: out of memory");
    *out = comparison.changes;
    return SEQB_OK;
}

void config_report_changes(
    const struct config_changes *changes,
    void (*tell)(void *context, const struct seqb_reload_change *change),
    void *context)
{
    for (const struct config_change *at = changes->first; at != NULL;
         at = at->next)
        tell(context, &at->report);
}

size_t config_count(const struct config_changes *changes,
                    enum seqb_reload_need need)
{
    return changes->counts[need];
}
