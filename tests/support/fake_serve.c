/* SPDX-License-Identifier: Apache-2.0 */
/* What the calls of the fakes do to a store's cells, each one atomic. */
#include "support/fake_serve.h"

#include <inttypes.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

#define STAMP_MARK '@' /* in no key */
#define BASE_MS    "@" /* beside the base: see FAKE_TIME */

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void request_answer(struct seqb_request *request,
                           enum seqb_status status, const char *store)
{
    request->status =
        error_set(&request->error, status, "fake %s: %s: %s", store,
                  request->counter, seqb_status_text(status));
}

static bool counts_in_windows(const struct fake_store *store,
                              const char *counter)
{
    return store->is_windowed ||
           strncmp(counter, SEQB_CELL, sizeof SEQB_CELL - 1) == 0;
}

/* Takes what there is between the cell's value and `end`, or nothing. */
static void request_grant(struct fake_store *store, struct fake_cell *cell,
                          int64_t end, struct seqb_request *request)
{
    int64_t count = min64(request->want, store->script.grant_max);

    if (cell->value >= end) {
        request_answer(request, SEQB_EXHAUSTED, store->name);
        return;
    }
    count = min64(count, end - cell->value);
    request->block.first =
        cell->value + (counts_in_windows(store, request->counter) ? 0 : 1);
    request->block.count = count;
    request->status = SEQB_OK;
    cell->value += count;
}

/* --- what is kept of times --- */

static int64_t time_find(struct fake_store *store, const char *name)
{
    const struct fake_cell *cell = fake_cell_find(store, name);

    return cell != NULL ? cell->value : 0;
}

static void time_raise(struct fake_store *store, const char *name, int64_t ms)
{
    if (time_find(store, name) < ms)
        (void)fake_cell_put(store, name, ms);
}

/* Where the end of the counter's purged periods is kept. */
static void end_name(char out[SEQB_COUNTER_SIZE], const char *counter)
{
    const char *mark = strrchr(counter, STAMP_MARK);
    const size_t length =
        mark != NULL ? (size_t)(mark - counter) : strlen(counter);

    (void)text_format(out, SEQB_COUNTER_SIZE, "%c%.*s", FAKE_TIME, (int)length,
                      counter);
}

static bool request_is_over(struct fake_store *store,
                            const struct seqb_request *request)
{
    char name[SEQB_COUNTER_SIZE];

    if (request->begins_ms == 0)
        return false;
    end_name(name, request->counter);
    return request->begins_ms < time_find(store, name);
}

/* --- guards --- */

/* SEQB_OK also without one. */
static enum seqb_status guard_check(struct fake_store *store,
                                    struct seqb_guard *guard,
                                    struct seqb_error *err)
{
    char incarnation[SEQB_INCARNATION_SIZE];
    char expected[SEQB_GUARD_SIZE];
    const char *standing;

    if (guard == NULL)
        return SEQB_OK;
    fake_incarnation(store, incarnation, sizeof incarnation);
    (void)text_format(expected, sizeof expected, "%s%s", guard->text,
                      incarnation);
    standing = fake_claim_stand(store, guard->name, NULL);
    guard->has_failed = strcmp(standing, expected) != 0;
    if (!guard->has_failed)
        return SEQB_OK;
    return error_set(err, SEQB_FENCED, "fake %s: claim %s is '%s', not '%s'",
                     store->name, guard->name, standing, expected);
}

/* --- reserve --- */

/* The counter's cell, made if it can be; else NULL, and it is answered. */
static struct fake_cell *request_begin(struct fake_store *store,
                                       struct seqb_request *request)
{
    const struct fake_cell *base = fake_cell_find(store, FAKE_BASE);
    int64_t before = base != NULL ? base->value : 0;
    enum seqb_status status = SEQB_EXHAUSTED;

    if (request->begins_ms != 0 &&
        request->begins_ms > time_find(store, BASE_MS))
        before = 0;
    if (!request_is_over(store, request)) {
        if (!fake_cell_is_bound(store, base) || before > 0)
            status = SEQB_FENCED;
        else if (before < request->limit)
            return fake_cell_put(store, request->counter, before);
    }
    request_answer(request, status, store->name);
    return NULL;
}

static void request_serve_direct(struct fake_store *store,
                                 struct seqb_request *request)
{
    struct fake_cell *cell = fake_cell_find(store, request->counter);

    if (cell == NULL)
        cell = request_begin(store, request);
    if (cell == NULL)
        return;
    if (request->guard != NULL && request_is_over(store, request))
        request_answer(request, SEQB_EXHAUSTED, store->name);
    else if (fake_cell_is_bound(store, cell))
        request_grant(store, cell, request->limit, request);
    else
        request_answer(request, SEQB_FENCED, store->name);
}

static void request_serve_windowed(struct fake_store *store,
                                   struct seqb_request *request)
{
    struct fake_cell *cell = fake_cell_find(store, request->counter);

    request->window = cell != NULL ? cell->window : SEQB_NO_WINDOW;
    if (cell == NULL || !fake_cell_is_bound(store, cell))
        request_answer(request, SEQB_FENCED, store->name);
    else if (cell->size != request->limit)
        request_answer(request, SEQB_LAYOUT, store->name);
    else
        request_grant(store, cell, cell->size, request);
}

static bool request_is_fair(const struct seqb_request *request)
{
    return request->want >= 1 && request->want <= SEQB_GRANT_MAX &&
           request->limit >= 0 && request->begins_ms >= 0 &&
           strlen(request->counter) < SEQB_COUNTER_SIZE;
}

void fake_serve_request(struct fake_store *store, struct seqb_request *request)
{
    if (!request_is_fair(request))
        store->misuses++;
    request->window = SEQB_NO_WINDOW;
    request->status = fake_script_refuses(store, FAKE_RESERVE, request->counter,
                                          &request->error);
    if (request->status == SEQB_OK)
        request->status = guard_check(store, request->guard, &request->error);
    if (request->status != SEQB_OK)
        return;
    if (counts_in_windows(store, request->counter))
        request_serve_windowed(store, request);
    else
        request_serve_direct(store, request);
}

/* --- raise --- */

/* `*value` += `by`; false if that is above `limit`. */
static bool value_add(int64_t *value, int64_t by, int64_t limit)
{
    if (*value > limit || by > limit - *value)
        return false;
    *value += by;
    return true;
}

static enum seqb_status raise_direct(struct fake_store *store,
                                     const struct seqb_raise *raise,
                                     int64_t *out, struct seqb_error *err)
{
    const struct fake_cell *base = fake_cell_find(store, FAKE_BASE);
    const struct fake_cell *cell = fake_cell_find(store, raise->counter);
    struct fake_cell *raised;
    int64_t start = base != NULL ? base->value : 0;
    int64_t value = cell != NULL ? cell->value : 0;
    int64_t before;
    bool fits = true;
    bool is_spread;

    if (!fake_cell_is_bound(store, base))
        fits = value_add(&start, raise->base_gap, INT64_MAX);
    if (base == NULL && start < raise->base_floor)
        start = raise->base_floor;
    is_spread = cell == NULL ? start > 0 : !fake_cell_is_bound(store, cell);
    if (cell == NULL)
        value = start;
    else if (!fake_cell_is_bound(store, cell))
        fits = value_add(&value, raise->gap, INT64_MAX) && fits;
    before = value;
    value = value > raise->floor ? value : raise->floor;
    if (is_spread)
        value += seqb_raise_spread(raise, value);
    if (!fits || value > raise->limit)
        return error_set(err, SEQB_EXHAUSTED, "fake %s: %s: nothing is left",
                         store->name, raise->counter);
    if (!fake_cell_is_bound(store, base))
        time_raise(store, BASE_MS, raise->base_ms);
    fake_cell_put(store, FAKE_BASE, start);
    raised = fake_cell_put(store, raise->counter, value);
    if (raised->first_raise.limit == 0)
        raised->first_raise = *raise;
    raised->first_raise.counter = NULL;
    raised->first_raise.guard = NULL;
    raised->first_raise.before = NULL;
    if (raise->before != NULL)
        *raise->before = before;
    *out = value;
    return SEQB_OK;
}

static enum seqb_status raise_windowed(struct fake_store *store,
                                       const struct seqb_raise *raise,
                                       int64_t *out)
{
    struct fake_cell *cell = fake_cell_find(store, raise->counter);

    if (cell != NULL && cell->window <= raise->floor) {
        cell->is_used = false;
        cell = NULL;
    }
    *out = cell != NULL ? cell->window : raise->floor;
    return SEQB_OK;
}

enum seqb_status fake_serve_raise(struct fake_store *store,
                                  const struct seqb_raise *raise, int64_t *out,
                                  struct seqb_error *err)
{
    enum seqb_status status =
        fake_script_refuses(store, FAKE_RAISE, raise->counter, err);

    if (status == SEQB_OK)
        status = guard_check(store, raise->guard, err);
    if (status != SEQB_OK)
        return status;
    return counts_in_windows(store, raise->counter)
               ? raise_windowed(store, raise, out)
               : raise_direct(store, raise, out, err);
}

/* --- install --- */

enum seqb_status fake_serve_install(struct fake_store *store,
                                    const struct seqb_window *window,
                                    int64_t *standing, struct seqb_error *err)
{
    struct fake_cell *cell = fake_cell_find(store, window->counter);
    const enum seqb_status status =
        fake_script_refuses(store, FAKE_INSTALL, window->counter, err);

    if (status != SEQB_OK)
        return status;
    if (!counts_in_windows(store, window->counter))
        store->misuses++;
    *standing = cell != NULL ? cell->window : window->window;
    if (cell != NULL && fake_cell_is_bound(store, cell) &&
        cell->size != window->size)
        return error_set(err, SEQB_LAYOUT, "fake %s: %s: another window size",
                         store->name, window->counter);
    if (cell != NULL && fake_cell_is_bound(store, cell) &&
        cell->value < cell->size && cell->window != window->over)
        return SEQB_OK;
    if (cell != NULL && cell->window >= window->window)
        return error_set(err, SEQB_FENCED,
                         "fake %s: %s: window %" PRId64 " stands there",
                         store->name, window->counter, cell->window);
    fake_cell_put(store, window->counter,
                  store->script.takes ? window->take : 0);
    if (store->script.takes && window->taken != NULL)
        *window->taken = window->take;
    cell = fake_cell_find(store, window->counter);
    cell->window = window->window;
    cell->size = window->size;
    cell->until_ms =
        window->keep_s > 0 ? clock_now_ms() + window->keep_s * 1000 : 0;
    *standing = window->window;
    return SEQB_OK;
}

/* --- purge --- */

int32_t fake_serve_purge(struct fake_store *store,
                         const struct seqb_purge *purge)
{
    const size_t length = strlen(purge->counter);
    char name[SEQB_COUNTER_SIZE];
    int32_t deleted = 0;

    end_name(name, purge->counter);
    time_raise(store, name, purge->before_ms);
    for (size_t i = 0; i < FAKE_CELLS_MAX && deleted < purge->most; i++) {
        struct fake_cell *cell = &store->cells[i];

        if (!cell->is_used ||
            strncmp(cell->counter, purge->counter, length) != 0 ||
            cell->counter[length] != STAMP_MARK ||
            strcmp(cell->counter, purge->keep) >= 0)
            continue;
        cell->is_used = false;
        deleted++;
    }
    return deleted;
}

/* --- swap --- */

enum seqb_status fake_serve_swap(struct fake_store *store,
                                 const struct seqb_swap *swap,
                                 const char **stands, struct seqb_error *err)
{
    char incarnation[SEQB_INCARNATION_SIZE];

    fake_incarnation(store, incarnation, sizeof incarnation);
    if (swap->incarnation != NULL &&
        strcmp(swap->incarnation, incarnation) != 0)
        return error_set(err, SEQB_FENCED,
                         "fake %s: claim %s: the incarnation is %s, not %s",
                         store->name, swap->name, incarnation,
                         swap->incarnation);
    *stands = fake_claim_stand(store, swap->name, NULL);
    if (strcmp(*stands, swap->expected) == 0)
        *stands = fake_claim_replace(store, swap->name, swap->text);
    return SEQB_OK;
}

/* --- list --- */

static bool is_next(const char *name, const char *next,
                    const struct seqb_page *page, const char *after)
{
    return strncmp(name, page->prefix, strlen(page->prefix)) == 0 &&
           strcmp(name, after) > 0 && (next == NULL || strcmp(name, next) < 0);
}

/* The lowest name above `after` that begins so, and its value. NULL: none. */
static const char *name_next(const struct fake_store *store,
                             const struct seqb_page *page, const char *after,
                             int64_t *value)
{
    const char *next = NULL;

    *value = 0;
    for (size_t i = 0; page->is_of_claims && i < FAKE_CLAIMS_MAX; i++) {
        const char *name = store->claims[i].name;

        if (name != NULL && is_next(name, next, page, after))
            next = name;
    }
    for (size_t i = 0; !page->is_of_claims && i < FAKE_CELLS_MAX; i++) {
        const struct fake_cell *cell = &store->cells[i];

        if (cell->is_used && is_next(cell->counter, next, page, after)) {
            next = cell->counter;
            *value = cell->value;
        }
    }
    return next;
}

void fake_serve_list(struct fake_store *store, struct seqb_page *page)
{
    const char *after = page->after;

    for (page->count = 0; page->count < page->most; page->count++) {
        struct seqb_listed *listed = &page->listed[page->count];
        const char *name = name_next(store, page, after, &listed->value);

        if (name == NULL)
            return;
        (void)text_copy(listed->counter, sizeof listed->counter, name);
        after = name;
    }
}
