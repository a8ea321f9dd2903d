/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of a model store, each one atomic. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "platform/error.h"
#include "platform/text.h"
#include "store_cell.h"

#define US_PER_S   1000000
#define STAMP_MARK '@' /* in no key */
#define BASE_MS    "@" /* beside the base: see STORE_TIME */

/* False also for NULL. */
static bool is_bound(const struct store *store, int32_t side,
                     const struct store_cell *cell)
{
    if (cell == NULL || (store->without & STORE_ORIGIN) != 0)
        return cell != NULL;
    return cell->origin == store_origin(store, side) &&
           (store->is_windowed || cell->window == 0 ||
            cell->run == store->sides[side].run);
}

static bool counts_in_windows(const struct store *store, const char *counter)
{
    return store->is_windowed ||
           strncmp(counter, SEQB_CELL, sizeof SEQB_CELL - 1) == 0;
}

/* SEQB_OK also without one. */
static enum seqb_status guard_check(struct store *store, int32_t side,
                                    struct seqb_guard *guard)
{
    char incarnation[SEQB_INCARNATION_SIZE];
    char expected[STORE_TEXT_SIZE];

    if (guard == NULL)
        return SEQB_OK;
    store_incarnation(store, side, incarnation, sizeof incarnation);
    (void)text_format(expected, sizeof expected, "%s%s", guard->text,
                      incarnation);
    guard->has_failed =
        strcmp(store_claim(store, side, guard->name, NULL), expected) != 0;
    return guard->has_failed ? SEQB_FENCED : SEQB_OK;
}

static void request_answer(struct seqb_request *request,
                           enum seqb_status status)
{
    request->status = error_set(&request->error, status, "model: %s",
                                seqb_status_text(status));
}

/* Takes what there is between the cell's value and `end`, or nothing. */
static void request_grant(const struct store *store, struct store_cell *cell,
                          int64_t end, struct seqb_request *request)
{
    int64_t count = request->want;

    if (cell->value >= end) {
        request_answer(request, SEQB_EXHAUSTED);
        return;
    }
    if (count > end - cell->value)
        count = end - cell->value;
    request->block.first =
        cell->value + (counts_in_windows(store, request->counter) ? 0 : 1);
    request->block.count = count;
    request->status = SEQB_OK;
    cell->value += count;
}

/* --- what is kept of times --- */

static int64_t time_find(struct store *store, int32_t side, const char *name)
{
    const struct store_cell *cell = store_find(store, side, name);

    return cell != NULL ? cell->value : 0;
}

static void time_raise(struct store *store, int32_t side, const char *name,
                       int64_t ms)
{
    if (time_find(store, side, name) < ms)
        (void)store_put(store, side, name, ms);
}

/* Where the end of the counter's purged periods is kept. */
static void end_name(char out[SEQB_COUNTER_SIZE], const char *counter)
{
    const char *mark = strrchr(counter, STAMP_MARK);
    const size_t length =
        mark != NULL ? (size_t)(mark - counter) : strlen(counter);

    (void)text_format(out, SEQB_COUNTER_SIZE, "%c%.*s", STORE_TIME, (int)length,
                      counter);
}

static bool is_over(struct store *store, int32_t side,
                    const struct seqb_request *request)
{
    char name[SEQB_COUNTER_SIZE];

    if (request->begins_ms == 0)
        return false;
    end_name(name, request->counter);
    return request->begins_ms < time_find(store, side, name);
}

/* --- reserve --- */

/* The counter's cell, made if it can be; else NULL, and it is answered. */
static struct store_cell *cell_begin(struct store *store, int32_t side,
                                     struct seqb_request *request)
{
    const struct store_cell *base = store_find(store, side, STORE_BASE_CELL);
    int64_t before = base != NULL ? base->value : 0;
    enum seqb_status status = SEQB_EXHAUSTED;

    if (request->begins_ms > time_find(store, side, BASE_MS))
        before = 0;
    if (!is_over(store, side, request)) {
        if (!is_bound(store, side, base) || before > 0)
            status = SEQB_FENCED;
        else if (before < request->limit)
            return store_put(store, side, request->counter, before);
    }
    request_answer(request, status);
    return NULL;
}

static void serve_direct(struct store *store, int32_t side,
                         struct seqb_request *request)
{
    struct store_cell *cell = store_find(store, side, request->counter);

    if (cell == NULL)
        cell = cell_begin(store, side, request);
    if (cell == NULL)
        return;
    if (request->guard != NULL && is_over(store, side, request))
        request_answer(request, SEQB_EXHAUSTED);
    else if (is_bound(store, side, cell))
        request_grant(store, cell, request->limit, request);
    else
        request_answer(request, SEQB_FENCED);
}

static void serve_windowed(struct store *store, int32_t side,
                           struct seqb_request *request)
{
    struct store_cell *cell = store_find(store, side, request->counter);

    if (cell != NULL)
        request->window = cell->window;
    if (!is_bound(store, side, cell))
        request_answer(request, SEQB_FENCED);
    else if (cell->size != request->limit)
        request_answer(request, SEQB_LAYOUT);
    else
        request_grant(store, cell, cell->size, request);
}

void store_reserve(struct store *store, int32_t side,
                   struct seqb_request *request)
{
    request->window = SEQB_NO_WINDOW;
    if (guard_check(store, side, request->guard) != SEQB_OK)
        request_answer(request, SEQB_FENCED);
    else if (counts_in_windows(store, request->counter))
        serve_windowed(store, side, request);
    else
        serve_direct(store, side, request);
}

/* What a cell becomes when it is bound: as it is if it was, else higher. */
static int64_t rebound(const struct store *store, int32_t side,
                       const struct store_cell *cell, int64_t gap)
{
    const int64_t value = cell != NULL ? cell->value : 0;

    if (is_bound(store, side, cell))
        return value;
    return value > INT64_MAX - gap ? INT64_MAX : value + gap;
}

static enum seqb_status raise_direct(struct store *store, int32_t side,
                                     const struct seqb_raise *raise,
                                     int64_t *out)
{
    const bool has_gap = (store->without & STORE_GAP) == 0;
    const bool has_base = (store->without & STORE_BASE) == 0;
    const bool has_spread = (store->without & STORE_SPREAD) == 0;
    const struct store_cell *cell = store_find(store, side, raise->counter);
    const int64_t granted = cell != NULL ? cell->value - cell->skipped : 0;
    const struct store_cell *found = store_find(store, side, STORE_BASE_CELL);
    int64_t base = rebound(store, side, found, has_base ? raise->base_gap : 0);
    int64_t before;
    int64_t value;

    if (found == NULL && has_base && base < raise->base_floor)
        base = raise->base_floor;
    value = cell == NULL ? base
                         : rebound(store, side, cell, has_gap ? raise->gap : 0);
    before = value;
    if (value < raise->floor)
        value = raise->floor;
    if (cell == NULL ? base > 0 : !is_bound(store, side, cell))
        value += has_spread ? seqb_raise_spread(raise, value) : 0;
    if (value > raise->limit)
        return SEQB_EXHAUSTED;
    if (!is_bound(store, side, found))
        time_raise(store, side, BASE_MS, raise->base_ms);
    (void)store_put(store, side, STORE_BASE_CELL, base);
    store_put(store, side, raise->counter, value)->skipped = value - granted;
    if (raise->before != NULL)
        *raise->before = before;
    *out = value;
    return SEQB_OK;
}

enum seqb_status store_raise(struct store *store, int32_t side,
                             const struct seqb_raise *raise, int64_t *out)
{
    struct store_cell *cell;

    if (guard_check(store, side, raise->guard) != SEQB_OK)
        return SEQB_FENCED;
    if (!counts_in_windows(store, raise->counter))
        return raise_direct(store, side, raise, out);
    cell = store_find(store, side, raise->counter);
    *out = raise->floor;
    if (cell == NULL)
        return SEQB_OK;
    if (cell->window > raise->floor)
        *out = cell->window;
    else
        store_drop(store, side, cell);
    return SEQB_OK;
}

/* As SQL stores do: an engine need not grant with an install. */
static bool store_takes(const struct store *store)
{
    return !store->is_windowed;
}

enum seqb_status store_install(struct store *store, int32_t side,
                               const struct seqb_window *window, int64_t now_us,
                               int64_t *standing)
{
    struct store_cell *cell = store_find(store, side, window->counter);

    *standing = cell != NULL ? cell->window : window->window;
    if (is_bound(store, side, cell)) {
        if (cell->size != window->size)
            return SEQB_LAYOUT;
        if (cell->value < cell->size && cell->window != window->over)
            return SEQB_OK; /* somebody was faster */
    }
    if (cell != NULL && cell->window >= window->window)
        return SEQB_FENCED;
    cell = store_put(store, side, window->counter,
                     store_takes(store) ? window->take : 0);
    if (store_takes(store) && window->taken != NULL)
        *window->taken = window->take;
    cell->window = window->window;
    cell->size = window->size;
    cell->until_us =
        window->keep_s > 0 ? now_us + window->keep_s * US_PER_S : 0;
    *standing = window->window;
    return SEQB_OK;
}

int32_t store_purge(struct store *store, int32_t side,
                    const struct seqb_purge *purge)
{
    struct store_content *content = &store->sides[side].content;
    const size_t length = strlen(purge->counter);
    char name[SEQB_COUNTER_SIZE];
    int32_t deleted = 0;

    end_name(name, purge->counter);
    time_raise(store, side, name, purge->before_ms);
    for (int32_t i = content->count - 1; i >= 0 && deleted < purge->most; i--) {
        struct store_cell *cell = &content->cells[i];

        if (strncmp(cell->counter, purge->counter, length) != 0 ||
            cell->counter[length] != STAMP_MARK ||
            strcmp(cell->counter, purge->keep) >= 0)
            continue;
        store_drop(store, side, cell);
        deleted++;
    }
    return deleted;
}

enum seqb_status store_swap(struct store *store, int32_t side,
                            const struct seqb_swap *swap, const char **standing)
{
    char incarnation[SEQB_INCARNATION_SIZE];

    store_incarnation(store, side, incarnation, sizeof incarnation);
    if (swap->incarnation != NULL &&
        strcmp(swap->incarnation, incarnation) != 0)
        return SEQB_FENCED;
    *standing = store_claim(store, side, swap->name, NULL);
    if (strcmp(*standing, swap->expected) == 0) {
        store_row_put(store, side, swap->name, swap->text);
        *standing = store_claim(store, side, swap->name, NULL);
    }
    return SEQB_OK;
}

/* The cell with the lowest name above `after` that begins so, or NULL. */
static const struct store_cell *cell_next(const struct store_content *content,
                                          const char *prefix, const char *after)
{
    const size_t length = strlen(prefix);
    const struct store_cell *next = NULL;

    for (int32_t i = 0; i < content->count; i++) {
        const struct store_cell *cell = &content->cells[i];

        if (strncmp(cell->counter, prefix, length) == 0 &&
            strcmp(cell->counter, after) > 0 &&
            (next == NULL || strcmp(cell->counter, next->counter) < 0))
            next = cell;
    }
    return next;
}

void store_list(struct store *store, int32_t side, struct seqb_page *page)
{
    const char *after = page->after;

    if (page->is_of_claims)
        abort(); /* scenarios name their keys */
    for (page->count = 0; page->count < page->most; page->count++) {
        const struct store_cell *cell =
            cell_next(&store->sides[side].content, page->prefix, after);
        struct seqb_listed *listed = &page->listed[page->count];

        if (cell == NULL)
            return;
        (void)text_copy(listed->counter, sizeof listed->counter, cell->counter);
        listed->value = cell->value;
        after = cell->counter;
    }
}
