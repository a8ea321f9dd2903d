/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is this the first start? If any store holds a claim of the pool, that claim
 * is the layout. Stores that cannot be reached may come later, and a store that
 * does not know the pool is refused alone. If no store holds a claim, every
 * direct store must be reached, since its id belongs to the layout.
 */
#include "ha/startup.h"

#include <stdlib.h>
#include <string.h>

#include "ha/ask.h"
#include "ha/worker_connection.h"
#include "ha/worker_pools.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

#define LOOK_TRIES 3

/* A step of the start that a worker carries out on its own thread. */
struct step {
    struct ask ask;             /* first: the answer is in the fields below */
    const struct ha_pool *pool; /* whose claim to read */
    struct layout_store store;
    char lessees[STORE_PARTITIONS_MAX][LAYOUT_STORE_SIZE]; /* of an authority */
    struct seqb_error error; /* of this step or an earlier one */
};

/* What is known of a backend. */
struct found {
    struct step *step; /* under way; NULL: no step */
    bool is_silent;    /* did not answer in time: not asked again */
    bool is_stranger;  /* does not know the pool, which is in use: see
                          is_stranger */
    struct layout_store store;
    char lessees[STORE_PARTITIONS_MAX][LAYOUT_STORE_SIZE];
    struct seqb_error error;
};

struct startup {
    struct ha *ha;
    struct found *found; /* one for each backend */
};

static struct found *found_of(const struct startup *startup,
                              const struct worker *worker)
{
    return &startup->found[worker - startup->ha->workers];
}

/* Steps that a worker carries out on its own thread. */

/* False if the connection was made and then broke. */
static bool poll_once(struct worker *worker, struct step *step)
{
    struct layout_store *store = &step->store;
    enum seqb_status status = SEQB_OK;

    if (!connection_is_open(&worker->connection))
        status = worker_open(worker, false, &step->error);
    if (status != SEQB_OK)
        return true;
    status = claim_read(&worker->connection, &step->pool->options->layout,
                        store, &step->error);
    if (status == SEQB_OK && worker == step->pool->authority)
        status = claim_read_lessees(
            &worker->connection, &step->pool->options->layout,
            step->pool->claim.backends, step->lessees, &step->error);
    if (status != SEQB_OK)
        connection_close(&worker->connection);
    store->is_reached = status == SEQB_OK;
    return status != SEQB_UNREACHABLE;
}

/* Several brokers that start at once may all find that a store's history
 * changed. The first one binds it, and the connections of the others become
 * invalid: they try again. */
static enum seqb_status step_read(struct worker *worker, struct ask *ask,
                                  struct seqb_error *err)
{
    struct step *step = (struct step *)ask;

    (void)err;
    step->store.is_reached = false;
    for (int i = 0; i < LOOK_TRIES; i++) {
        if (poll_once(worker, step))
            break;
    }
    return SEQB_OK;
}

static enum seqb_status step_identify(struct worker *worker, struct ask *ask,
                                      struct seqb_error *err)
{
    struct step *step = (struct step *)ask;
    enum seqb_status status = SEQB_OK;

    (void)err;
    if (!connection_is_open(&worker->connection))
        status = worker_open(worker, true, &step->error);
    if (status == SEQB_OK)
        status =
            claim_identify(&worker->connection, &step->store, &step->error);
    if (status != SEQB_OK)
        connection_close(&worker->connection);
    step->store.is_reached = status == SEQB_OK;
    return SEQB_OK;
}

static enum seqb_status step_verify(struct worker *worker, struct ask *ask,
                                    struct seqb_error *err)
{
    struct step *step = (struct step *)ask;
    const int64_t start_us = clock_now_us();
    enum seqb_status status = step->error.status;

    (void)err;
    if (connection_is_open(&worker->connection)) {
        step->error.status = SEQB_OK;
        status = worker_verify(worker, &step->error);
    }
    if (status == SEQB_OK)
        worker_note(worker, NULL, clock_now_us() - start_us);
    else
        worker_fail(worker, &step->error, clock_now_us() - start_us);
    atomic_store_explicit(&worker->is_serving, true, memory_order_relaxed);
    return SEQB_OK;
}

/* Posting steps, and waiting for them. */

/* Posts nothing to a worker that did not answer an earlier step. */
static enum seqb_status
step_post(const struct startup *startup, struct worker *worker,
          const struct ha_pool *pool,
          enum seqb_status (*call)(struct worker *worker, struct ask *ask,
                                   struct seqb_error *err),
          struct seqb_error *err)
{
    struct found *found = found_of(startup, worker);
    struct step *step;

    if (found->is_silent)
        return SEQB_OK;
    step = calloc(1, sizeof *step);
    if (step == NULL)
        return error_set(err, SEQB_NO_MEMORY, "backend %s: out of memory",
                         worker_name(worker));
    ask_init(&step->ask, call, ask_free);
    step->pool = pool;
    step->store = found->store;
    step->error = found->error;
    memcpy(step->lessees, found->lessees, sizeof step->lessees);
    found->is_silent = !ask_post(worker, &step->ask);
    if (found->is_silent)
        ask_free(&step->ask);
    else
        found->step = step;
    return SEQB_OK;
}

static void step_wait(const struct startup *startup, struct worker *worker,
                      int64_t until_ms)
{
    struct found *found = found_of(startup, worker);
    struct step *step = found->step;

    if (step == NULL)
        return;
    found->is_silent = !ask_wait(&step->ask, until_ms);
    if (!found->is_silent) {
        found->store = step->store;
        found->error = step->error;
        memcpy(found->lessees, step->lessees, sizeof found->lessees);
    }
    found->step = NULL;
    ask_release(&step->ask);
}

/* The stores of a pool as the workers found them. */
static void stores_read(const struct startup *startup,
                        const struct ha_pool *pool,
                        struct layout_stores *stores)
{
    for (int32_t i = 0; i < stores->count; i++) {
        const struct worker *worker = pool->workers[i];
        const struct store_options *backend = worker->connection.options;
        struct layout_store *store = &stores->stores[i];
        const bool is_windowed = store->is_windowed;

        *store = found_of(startup, worker)->is_silent
                     ? layout_store_of(backend)
                     : found_of(startup, worker)->store;
        store->is_windowed = is_windowed;
        if (store->forgets)
            (void)text_copy(store->id, sizeof store->id, backend->options.name);
    }
    if (pool->authority != NULL &&
        !found_of(startup, pool->authority)->is_silent)
        memcpy(stores->lessees, found_of(startup, pool->authority)->lessees,
               sizeof stores->lessees);
}

/* Keeps the first fault of the stores. */
static void keep_first(void *context, int32_t member,
                       const struct seqb_error *why)
{
    struct seqb_error *first = context;

    (void)member;
    if (first->status == SEQB_OK)
        *first = *why;
}

static struct compare compare_of(const struct ha_pool *pool,
                                 struct layout_stores *stores,
                                 struct seqb_error *first)
{
    first->status = SEQB_OK;
    return (struct compare){&pool->options->layout, stores, keep_first, first};
}

/* Each step gets the whole time-out. If the first step waits for a hung store,
 * the others still have time for their steps, and the hung store is not waited
 * for again. */
static enum seqb_status
pool_step(const struct startup *startup, struct ha_pool *pool,
          enum seqb_status (*call)(struct worker *worker, struct ask *ask,
                                   struct seqb_error *err),
          struct seqb_error *err)
{
    const int64_t until_ms =
        clock_now_ms() + startup->ha->options->open_timeout_ms;
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < pool->members && status == SEQB_OK; i++)
        status = step_post(startup, pool->workers[i], pool, call, err);
    for (int32_t i = 0; i < pool->members; i++)
        step_wait(startup, pool->workers[i], until_ms);
    return status;
}

/* As long as no store knows the pool, it is not known whether the pool is
 * new. */
static enum seqb_status first_start_fails(const struct startup *startup,
                                          const struct ha_pool *pool,
                                          const struct worker *worker,
                                          struct seqb_error *err)
{
    const struct seqb_error *why = &found_of(startup, worker)->error;
    enum seqb_status status = why->status;

    if (found_of(startup, worker)->is_silent)
        return error_set(err, SEQB_UNAVAILABLE,
                         "pool %s: backend %s does not answer within "
                         "open_timeout, and no other one says whether this "
                         "is the first start; try again",
                         pool->options->layout.name, worker_name(worker));
    if (status_blame(status) == BLAME_BACKEND && status != SEQB_CORRUPT)
        status = SEQB_UNAVAILABLE;
    return error_set(err, status,
                     "pool %s: no backend that answers knows the pool; if it "
                     "is new, the first start needs every direct backend, and "
                     "%s fails: %s",
                     pool->options->layout.name, worker_name(worker),
                     why->text);
}

/* A wrong option was found by the first step already. No store is created
 * before the option is corrected. */
static enum seqb_status check_options(const struct startup *startup,
                                      const struct ha_pool *pool,
                                      const struct layout_stores *stores,
                                      struct seqb_error *err)
{
    for (int32_t i = 0; i < stores->count; i++) {
        const struct layout_store *store = &stores->stores[i];
        const struct worker *worker = pool->workers[i];
        const struct seqb_error *why = &found_of(startup, worker)->error;

        if (store->forgets || store->is_reached ||
            found_of(startup, worker)->is_silent ||
            status_blame(why->status) != BLAME_CALLER)
            continue;
        return error_set(err, why->status,
                         "pool %s: backend %s cannot be used as it is "
                         "configured: %s",
                         pool->options->layout.name, store->backend, why->text);
    }
    return SEQB_OK;
}

/* No store has a claim of the pool: creates the stores and gives them ids. */
static enum seqb_status first_start(const struct startup *startup,
                                    struct ha_pool *pool,
                                    struct layout_stores *stores,
                                    struct seqb_error *err)
{
    struct seqb_error why;
    const struct compare compare = compare_of(pool, stores, &why);
    const enum seqb_status status = check_options(startup, pool, stores, err);

    if (status != SEQB_OK)
        return status;
    if (pool->options->layout.generation > 1)
        return layout_not_migrated(&pool->options->layout, err);
    /* A store that belongs to another pool: most likely this pool was renamed,
     * and would count from 1 again. */
    compare_places(&compare);
    if (why.status != SEQB_OK)
        return error_copy(err, &why);
    if (pool_step(startup, pool, step_identify, err) != SEQB_OK)
        return SEQB_NO_MEMORY;
    stores_read(startup, pool, stores);
    for (int32_t i = 0; i < stores->count; i++) {
        if (!stores->stores[i].forgets && !stores->stores[i].is_reached)
            return first_start_fails(startup, pool, pool->workers[i], err);
    }
    compare_twins(&compare);
    return why.status == SEQB_OK ? SEQB_OK : error_copy(err, &why);
}

/* `*claim` is the pool's; NULL if there is none. */
static enum seqb_status poll_all(const struct startup *startup,
                                 struct ha_pool *pool,
                                 struct layout_stores *stores,
                                 const struct layout_store **claim,
                                 struct seqb_error *err)
{
    if (pool_step(startup, pool, step_read, err) != SEQB_OK)
        return SEQB_NO_MEMORY;
    stores_read(startup, pool, stores);
    *claim = layout_find_claim(stores);
    return SEQB_OK;
}

/* Whether a store does not know a pool that is in use, as `claim` says. It may
 * have gone back, so its partition is refused, but not the start. That does not
 * apply if the store says that it belongs elsewhere, which is a mistake of the
 * topology, nor if others depend on it: an authority. */
static bool is_stranger(const struct ha_pool *pool,
                        const struct layout_stores *stores,
                        const struct layout_store *claim, int32_t i)
{
    const struct layout_store *store = &stores->stores[i];
    char named[LAYOUT_STORE_SIZE];

    if (!layout_is_unclaimed(store) || store->place[0] != '\0' ||
        pool->workers[i]->membership_count > 1 ||
        pool->workers[i] == pool->authority)
        return false;
    layout_named(claim->layout, stores, i, named);
    return pool->options->layout.generation > 1 ||
           strcmp(store->id, named) != 0;
}

/* Settles what each store has to keep, and compares the claims that stores
 * have. */
static enum seqb_status claim_finish(struct ha_pool *pool,
                                     struct layout_stores *stores,
                                     const struct layout_store *claim,
                                     struct seqb_error *err)
{
    struct layout_claim *settled = &pool->claim;
    struct seqb_error why;
    const struct compare compare = compare_of(pool, stores, &why);

    if (compare_claims(&compare, claim, settled->text, sizeof settled->text,
                       err) != SEQB_OK)
        return SEQB_LAYOUT;
    for (int32_t i = 0; i < stores->count; i++)
        (void)text_copy(settled->store_ids[i], sizeof settled->store_ids[i],
                        stores->stores[i].id);
    return why.status == SEQB_OK ? SEQB_OK : error_copy(err, &why);
}

static enum seqb_status finish_stores(const struct startup *startup,
                                      struct ha_pool *pool,
                                      struct layout_stores *stores,
                                      struct seqb_error *err)
{
    const struct layout_store *claim = NULL;
    enum seqb_status status;

    pool->claim.backends = startup->ha->options->backends;
    status = poll_all(startup, pool, stores, &claim, err);
    if (status != SEQB_OK)
        return status;
    if (claim == NULL)
        status = first_start(startup, pool, stores, err);
    for (int32_t i = 0; claim != NULL && i < stores->count; i++)
        found_of(startup, pool->workers[i])->is_stranger =
            is_stranger(pool, stores, claim, i);
    return status == SEQB_OK ? claim_finish(pool, stores, claim, err) : status;
}

static enum seqb_status pool_finish(const struct startup *startup,
                                    struct ha_pool *pool,
                                    struct seqb_error *err)
{
    struct layout_stores stores;
    enum seqb_status status = layout_stores_init(
        &stores, &pool->options->layout, startup->ha->options->backends, err);

    if (status == SEQB_OK)
        status = finish_stores(startup, pool, &stores, err);
    layout_stores_fini(&stores);
    return status;
}

/* A worker that did not answer in time continues as one whose store is down. */
static void abandon(struct worker *worker, int64_t waited_ms)
{
    struct seqb_error why;

    (void)error_set(&why, SEQB_UNREACHABLE, "no answer at start");
    worker_note(worker, &why, waited_ms * 1000);
    atomic_store_explicit(&worker->is_serving, true, memory_order_relaxed);
    worker_wake(worker);
}

/* SEQB_OK if any backend answers. */
static enum seqb_status verify_end(const struct startup *startup,
                                   struct seqb_error *err)
{
    struct ha *ha = startup->ha;
    size_t usable = 0;

    for (size_t i = 0; i < ha->options->backend_count; i++) {
        const struct seqb_error *why = &startup->found[i].error;

        if (startup->found[i].is_silent)
            abandon(&ha->workers[i], ha->options->open_timeout_ms);
        else if (why->status == SEQB_LAYOUT && !startup->found[i].is_stranger)
            return error_copy(err, why);
        else
            usable += why->status == SEQB_OK;
    }
    if (usable > 0)
        return SEQB_OK;
    return error_set(err, SEQB_UNAVAILABLE, "no backend answers; %s: %s",
                     worker_name(&ha->workers[0]),
                     startup->found[0].is_silent
                         ? "no answer in time"
                         : startup->found[0].error.text);
}

static enum seqb_status verify_all(const struct startup *startup,
                                   struct seqb_error *err)
{
    struct ha *ha = startup->ha;
    const int64_t until_ms = clock_now_ms() + ha->options->open_timeout_ms;
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < ha->options->backend_count && status == SEQB_OK; i++)
        status = step_post(startup, &ha->workers[i], NULL, step_verify, err);
    for (size_t i = 0; i < ha->options->backend_count; i++)
        step_wait(startup, &ha->workers[i], until_ms);
    return status == SEQB_OK ? verify_end(startup, err) : status;
}

enum seqb_status startup_run(struct ha *ha, struct seqb_error *err)
{
    struct startup startup = {
        .ha = ha,
        .found = calloc(ha->options->backend_count, sizeof *startup.found)};
    enum seqb_status status = SEQB_OK;

    if (startup.found == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < ha->options->backend_count; i++)
        startup.found[i].store = layout_store_of(&ha->options->backends[i]);
    for (size_t i = 0; i < ha->options->pool_count && status == SEQB_OK; i++)
        status = pool_finish(&startup, &ha->pools[i], err);
    if (status == SEQB_OK)
        status = verify_all(&startup, err);
    free(startup.found);
    return status;
}
