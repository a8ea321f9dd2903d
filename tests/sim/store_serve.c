/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of a model store, each one atomic. */
#include <stddef.h>

#include "platform/error.h"
#include "store_cell.h"

/* False also for NULL. */
static bool is_bound(const struct store *store, int32_t side,
                     const struct store_cell *cell)
{
    return cell != NULL && ((store->without & STORE_ORIGIN) != 0 ||
                            cell->origin == store_origin(store, side));
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
    request->block.first = cell->value + (store->is_windowed ? 0 : 1);
    request->block.count = count;
    request->status = SEQB_OK;
    cell->value += count;
}

static void serve_direct(struct store *store, int32_t side,
                         struct seqb_request *request)
{
    const struct store_cell *base = store_find(store, side, STORE_BASE_CELL);
    struct store_cell *cell = store_find(store, side, request->counter);

    if (!is_bound(store, side, cell != NULL ? cell : base)) {
        request_answer(request, SEQB_FENCED);
        return;
    }
    if (cell == NULL && base->value >= request->limit) {
        request_answer(request, SEQB_EXHAUSTED);
        return;
    }
    if (cell == NULL)
        cell = store_put(store, side, request->counter, base->value);
    request_grant(store, cell, request->limit, request);
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
    if (store->is_windowed)
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
    const struct store_cell *cell = store_find(store, side, raise->counter);
    const struct store_cell *found = store_find(store, side, STORE_BASE_CELL);
    int64_t base = rebound(store, side, found, has_base ? raise->base_gap : 0);
    int64_t value;

    if (found == NULL && has_base && base < raise->base_floor)
        base = raise->base_floor;
    value = cell == NULL ? base
                         : rebound(store, side, cell, has_gap ? raise->gap : 0);
    if (value < raise->floor)
        value = raise->floor;
    if (value > raise->limit)
        return SEQB_EXHAUSTED;
    (void)store_put(store, side, STORE_BASE_CELL, base);
    (void)store_put(store, side, raise->counter, value);
    *out = value;
    return SEQB_OK;
}

enum seqb_status store_raise(struct store *store, int32_t side,
                             const struct seqb_raise *raise, int64_t *out)
{
    struct store_cell *cell;

    if (!store->is_windowed)
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

enum seqb_status store_install(struct store *store, int32_t side,
                               const struct seqb_window *window,
                               int64_t *standing)
{
    struct store_cell *cell = store_find(store, side, window->counter);

    if (!store->is_windowed)
        return SEQB_INVALID;
    *standing = cell != NULL ? cell->window : window->window;
    if (is_bound(store, side, cell)) {
        if (cell->size != window->size)
            return SEQB_LAYOUT;
        if (cell->value < cell->size)
            return SEQB_OK; /* somebody was faster */
    }
    if (cell != NULL && cell->window >= window->window)
        return SEQB_FENCED;
    cell = store_put(store, side, window->counter, 0);
    cell->window = window->window;
    cell->size = window->size;
    *standing = window->window;
    return SEQB_OK;
}
