/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fake stores: where they live, and the script that tests write into them. What
 * happens to them is in fake_past.c, what a call then does in fake_serve.c.
 */
#include "support/fake_store.h"

#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"
#include "platform/thread.h"

#define STORES_MAX 64

/* The stores that live, by name; only tests have such a global. */
static struct {
    pthread_mutex_t lock;
    struct fake_store *stores[STORES_MAX];
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* --- for the engines --- */

struct fake_store *fake_store_find(const char *name)
{
    struct fake_store *found = NULL;

    pthread_mutex_lock(&registry.lock);
    for (size_t i = 0; i < STORES_MAX && name != NULL; i++) {
        if (registry.stores[i] != NULL &&
            strcmp(registry.stores[i]->name, name) == 0)
            found = registry.stores[i];
    }
    pthread_mutex_unlock(&registry.lock);
    return found;
}

static bool cell_is_there(const struct fake_cell *cell)
{
    return cell->is_used &&
           (cell->until_ms == 0 || clock_now_ms() < cell->until_ms);
}

struct fake_cell *fake_cell_find(struct fake_store *store, const char *counter)
{
    for (size_t i = 0; i < FAKE_CELLS_MAX; i++) {
        if (cell_is_there(&store->cells[i]) &&
            strcmp(store->cells[i].counter, counter) == 0)
            return &store->cells[i];
    }
    return NULL;
}

struct fake_cell *fake_cell_put(struct fake_store *store, const char *counter,
                                int64_t value)
{
    struct fake_cell *cell = fake_cell_find(store, counter);

    for (size_t i = 0; i < FAKE_CELLS_MAX && cell == NULL; i++) {
        if (cell_is_there(&store->cells[i]))
            continue;
        cell = &store->cells[i];
        *cell = (struct fake_cell){.is_used = true};
    }
    if (cell == NULL)
        abort();
    (void)text_copy(cell->counter, sizeof cell->counter, counter);
    cell->value = value;
    cell->origin = store->origin;
    cell->incarnation = store->incarnation;
    return cell;
}

bool fake_cell_is_bound(const struct fake_store *store,
                        const struct fake_cell *cell)
{
    return cell != NULL && cell->origin == store->origin &&
           (store->is_windowed || cell->window == 0 ||
            cell->incarnation == store->incarnation);
}

/* The claim of that name, or one that is free. */
static struct fake_claim *claim_find(struct fake_store *store, const char *name)
{
    for (size_t i = 0; i < FAKE_CLAIMS_MAX; i++) {
        struct fake_claim *claim = &store->claims[i];

        if (claim->name == NULL || strcmp(claim->name, name) == 0)
            return claim;
    }
    abort(); /* a test with too many claims */
}

const char *fake_claim_stand(struct fake_store *store, const char *name,
                             const char *text)
{
    const struct fake_claim *claim = claim_find(store, name);

    if (claim->name != NULL && claim->text[0] != '\0')
        return claim->text;
    return text != NULL ? fake_claim_replace(store, name, text) : "";
}

const char *fake_claim_replace(struct fake_store *store, const char *name,
                               const char *text)
{
    struct fake_claim *claim = claim_find(store, name);

    if (claim->name == NULL)
        claim->name = text_copy_of(name);
    free(claim->text);
    claim->text = text_copy_of(text);
    return text;
}

void fake_claims_free(struct fake_claim *claims)
{
    for (size_t i = 0; i < FAKE_CLAIMS_MAX; i++) {
        free(claims[i].name);
        free(claims[i].text);
        claims[i] = (struct fake_claim){NULL, NULL};
    }
}

void fake_call_count(struct fake_store *store, enum fake_call call)
{
    store->calls[call]++;
    pthread_cond_broadcast(&store->changed);
}

bool fake_script_wait(struct fake_store *store, enum fake_call call,
                      int32_t timeout_ms)
{
    const int64_t now_ms = clock_now_ms();
    const int64_t end_ms = now_ms + timeout_ms;
    const int64_t due_ms = now_ms + store->script.delay_ms;
    const bool *hangs = &store->script.hangs[call];
    bool is_late;

    while (clock_now_ms() < min64(due_ms, end_ms))
        (void)condition_wait(&store->changed, &store->lock,
                             min64(due_ms, end_ms));
    if (!*hangs)
        return due_ms <= end_ms;
    store->hanging++;
    pthread_cond_broadcast(&store->changed);
    while (*hangs && clock_now_ms() < end_ms)
        (void)condition_wait(&store->changed, &store->lock, end_ms);
    is_late = *hangs;
    store->hanging--;
    return !is_late;
}

enum seqb_status fake_script_verdict(struct fake_store *store,
                                     enum fake_call call,
                                     struct seqb_error *err)
{
    struct fake_script *script = &store->script;

    if (script->failures[call] > 0) {
        script->failures[call]--;
        return error_set(err, script->failure[call], "fake %s: told to fail",
                         store->name);
    }
    if (script->is_down)
        return error_set(err, SEQB_UNREACHABLE, "fake %s: is down",
                         store->name);
    if (script->is_replica)
        return error_set(err, SEQB_ROLE, "fake %s: is a replica", store->name);
    return SEQB_OK;
}

/* The entry of that call and counter, else NULL. */
static struct fake_refusal *
refusal_find(struct fake_store *store, enum fake_call call, const char *counter)
{
    for (size_t i = 0; i < FAKE_REFUSALS_MAX; i++) {
        struct fake_refusal *refusal = &store->script.refusals[i];

        if (strcmp(refusal->counter, counter) == 0 &&
            (refusal->call == call || counter[0] == '\0'))
            return refusal;
    }
    return NULL;
}

enum seqb_status fake_script_refuses(struct fake_store *store,
                                     enum fake_call call, const char *counter,
                                     struct seqb_error *err)
{
    const struct fake_refusal *refusal = refusal_find(store, call, counter);

    if (refusal == NULL || counter[0] == '\0')
        return SEQB_OK;
    store->refusals++;
    return error_set(err, refusal->status, "fake %s: %s: told to refuse",
                     store->name, counter);
}

/* --- for the tests --- */

struct fake_store *fake_store_new(const char *name)
{
    struct fake_store *store = calloc(1, sizeof *store);
    size_t i = 0;

    if (store == NULL)
        return NULL;
    (void)text_copy(store->name, sizeof store->name, name);
    pthread_mutex_init(&store->lock, NULL);
    condition_init(&store->changed);
    store->script.grant_max = INT64_MAX;
    (void)fake_cell_put(store, FAKE_BASE, 0);
    pthread_mutex_lock(&registry.lock);
    while (i < STORES_MAX && registry.stores[i] != NULL)
        i++;
    if (i < STORES_MAX)
        registry.stores[i] = store;
    pthread_mutex_unlock(&registry.lock);
    if (i < STORES_MAX)
        return store;
    fake_store_free(store);
    return NULL;
}

void fake_store_free(struct fake_store *store)
{
    if (store == NULL)
        return;
    pthread_mutex_lock(&registry.lock);
    for (size_t i = 0; i < STORES_MAX; i++) {
        if (registry.stores[i] == store)
            registry.stores[i] = NULL;
    }
    pthread_mutex_unlock(&registry.lock);
    fake_claims_free(store->claims);
    fake_claims_free(store->saved_claims);
    pthread_cond_destroy(&store->changed);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

/* Ends what `store_enter` began, and wakes the calls that wait. */
static void store_leave(struct fake_store *store)
{
    pthread_cond_broadcast(&store->changed);
    pthread_mutex_unlock(&store->lock);
}

/* For changing the script or the store: its fields, locked. */
static struct fake_store *store_enter(struct fake_store *store)
{
    pthread_mutex_lock(&store->lock);
    return store;
}

void fake_fail(struct fake_store *store, enum fake_call call, int64_t times,
               enum seqb_status status)
{
    store_enter(store)->script.failures[call] = times;
    store->script.failure[call] = status;
    store_leave(store);
}

void fake_refuse(struct fake_store *store, enum fake_call call,
                 const char *counter, enum seqb_status status)
{
    struct fake_refusal *refusal =
        refusal_find(store_enter(store), call, counter);

    if (refusal == NULL)
        refusal = refusal_find(store, call, "");
    if (refusal == NULL)
        abort(); /* a test with too many */
    *refusal = (struct fake_refusal){.call = call, .status = status};
    if (status != SEQB_OK)
        (void)text_copy(refusal->counter, sizeof refusal->counter, counter);
    store_leave(store);
}

void fake_lose_answers(struct fake_store *store, enum fake_call call,
                       int64_t times)
{
    store_enter(store)->script.losses[call] = times;
    store_leave(store);
}

void fake_set_down(struct fake_store *store, bool is_down)
{
    store_enter(store)->script.is_down = is_down;
    store_leave(store);
}

void fake_set_primary(struct fake_store *store, bool is_primary)
{
    store_enter(store)->script.is_replica = !is_primary;
    store_leave(store);
}

void fake_set_delay(struct fake_store *store, int32_t ms)
{
    store_enter(store)->script.delay_ms = ms;
    store_leave(store);
}

void fake_set_grant_max(struct fake_store *store, int64_t most)
{
    store_enter(store)->script.grant_max = most;
    store_leave(store);
}

void fake_set_takes(struct fake_store *store)
{
    store_enter(store)->script.takes = true;
    store_leave(store);
}

void fake_set_clock(struct fake_store *store, int64_t ahead_ms)
{
    store_enter(store)->script.has_clock = true;
    store->script.ahead_ms = ahead_ms;
    store_leave(store);
}

static void all_hang(struct fake_store *store, bool hangs)
{
    struct fake_script *script = &store_enter(store)->script;

    for (int i = 0; i < FAKE_CALLS; i++)
        script->hangs[i] = hangs;
    store_leave(store);
}

void fake_hang(struct fake_store *store)
{
    all_hang(store, true);
}

void fake_hang_call(struct fake_store *store, enum fake_call call)
{
    store_enter(store)->script.hangs[call] = true;
    store_leave(store);
}

void fake_release(struct fake_store *store)
{
    all_hang(store, false);
}

void fake_use_sockets(struct fake_store *store)
{
    store_enter(store)->script.has_sockets = true;
    store_leave(store);
}

void fake_block(struct fake_store *store, enum fake_call call)
{
    store_enter(store)->script.blocks[call] = true;
    store_leave(store);
}

int64_t fake_calls(struct fake_store *store, enum fake_call call)
{
    const int64_t calls = store_enter(store)->calls[call];

    store_leave(store);
    return calls;
}

/* Waits until a number that the store's lock guards is at least `count`. */
static bool number_wait(struct fake_store *store, const int64_t *number,
                        int64_t count, int32_t timeout_ms)
{
    const int64_t end_ms = clock_now_ms() + timeout_ms;
    bool is_reached;

    pthread_mutex_lock(&store->lock);
    while (*number < count && clock_now_ms() < end_ms)
        (void)condition_wait(&store->changed, &store->lock, end_ms);
    is_reached = *number >= count;
    pthread_mutex_unlock(&store->lock);
    return is_reached;
}

bool fake_wait_for_calls(struct fake_store *store, enum fake_call call,
                         int64_t count, int32_t timeout_ms)
{
    return number_wait(store, &store->calls[call], count, timeout_ms);
}

bool fake_wait_for_hanging(struct fake_store *store, int64_t count,
                           int32_t timeout_ms)
{
    return number_wait(store, &store->hanging, count, timeout_ms);
}

int64_t fake_value(struct fake_store *store, const char *counter)
{
    const struct fake_cell *cell = fake_cell_find(store_enter(store), counter);
    const int64_t value = cell != NULL ? cell->value : -1;

    store_leave(store);
    return value;
}

struct seqb_raise fake_first_raise(struct fake_store *store,
                                   const char *counter)
{
    const struct fake_cell *cell = fake_cell_find(store_enter(store), counter);
    const struct seqb_raise raise =
        cell != NULL ? cell->first_raise : (struct seqb_raise){.limit = 0};

    store_leave(store);
    return raise;
}

int64_t fake_window(struct fake_store *store, const char *counter)
{
    const struct fake_cell *cell = fake_cell_find(store_enter(store), counter);
    const int64_t window = cell != NULL ? cell->window : SEQB_NO_WINDOW;

    store_leave(store);
    return window;
}

int64_t fake_until_ms(struct fake_store *store, const char *counter)
{
    const struct fake_cell *cell = fake_cell_find(store_enter(store), counter);
    const int64_t until_ms = cell != NULL ? cell->until_ms : -1;

    store_leave(store);
    return until_ms;
}

void fake_put(struct fake_store *store, const char *counter, int64_t value)
{
    (void)fake_cell_put(store_enter(store), counter, value);
    store_leave(store);
}

int64_t fake_ended(struct fake_store *store)
{
    const int64_t ended = store_enter(store)->ended;

    store_leave(store);
    return ended;
}

int64_t fake_open_backends(struct fake_store *store)
{
    const int64_t open_backends = store_enter(store)->open_backends;

    store_leave(store);
    return open_backends;
}

int64_t fake_refusals(struct fake_store *store)
{
    const int64_t refusals = store_enter(store)->refusals;

    store_leave(store);
    return refusals;
}

int64_t fake_misuses(struct fake_store *store)
{
    const int64_t misuses = store_enter(store)->misuses;

    store_leave(store);
    return misuses;
}
