/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two fake engines over a fake store: what open, reserve and the others
 * do when the script lets them. Stores and script are in fake_store.c.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/error.h"
#include "platform/text.h"
#include "support/fake_store.h"

/* A read that nothing ends, since what should is broken, ends here. */
#define BLOCK_PATIENCE_S 30

struct fake {
    struct seqb_backend base;
    int peer; /* the other end of base.fd; nobody writes to it */
    struct fake_store *store;
    int64_t generation;
    int32_t timeout_ms;
    bool is_busy; /* guarded by the store's lock, like `is_dead` */
    bool is_dead;
};

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Reads the socket, without the lock, until it is shut down. */
static void call_block(struct fake *fake)
{
    struct fake_store *store = fake->store;
    ssize_t got;
    char byte;

    store->hanging++;
    pthread_cond_broadcast(&store->changed);
    pthread_mutex_unlock(&store->lock);
    got = recv(fake->base.fd, &byte, 1, 0);
    pthread_mutex_lock(&store->lock);
    store->hanging--;
    store->ended += got == 0;
}

static bool socket_is_dead(const struct fake *fake)
{
    char byte;

    return fake->base.fd >= 0 &&
           recv(fake->base.fd, &byte, 1, MSG_DONTWAIT) == 0;
}

/* Waits as the script says; false if the answer is lost. */
static bool call_wait(struct fake *fake, enum fake_call call)
{
    bool *blocks = &fake->store->script.blocks[call];

    if (fake->base.fd < 0 || !*blocks)
        return fake_script_wait(fake->store, fake->timeout_ms);
    *blocks = false;
    call_block(fake);
    return false;
}

/* The lock is held before and after. SEQB_OK: the call is to be done, and if
 * `*is_lost` its answer must then be lost. */
static enum seqb_status call_enter(struct fake *fake, enum fake_call call,
                                   bool *is_lost, struct seqb_error *err)
{
    struct fake_store *store = fake->store;
    enum seqb_status status;
    bool is_broken;

    fake_call_count(store, call);
    if (fake->is_dead || fake->is_busy)
        store->misuses++;
    fake->is_busy = true;
    is_broken = socket_is_dead(fake);
    *is_lost = !call_wait(fake, call);
    fake->is_busy = false;
    status = fake_script_verdict(store, call, err);
    if (status == SEQB_OK &&
        (is_broken || fake->generation != store->generation))
        status = error_set(err, SEQB_UNREACHABLE,
                           "fake %s: the connection broke", store->name);
    if (status == SEQB_OK && store->script.losses[call] > 0) {
        store->script.losses[call]--;
        *is_lost = true;
    }
    fake->is_dead = fake->is_dead || status != SEQB_OK || *is_lost;
    return status;
}

static enum seqb_status call_lose(const struct fake *fake,
                                  struct seqb_error *err)
{
    return error_set(err, SEQB_UNCERTAIN, "fake %s: no answer after %d ms",
                     fake->store->name, (int)fake->timeout_ms);
}

static const char *fake_library(void)
{
    return "fake 1.0";
}

static void sockets_open(struct fake *fake)
{
    const struct timeval patience = {BLOCK_PATIENCE_S, 0};
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        abort();
    (void)setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience,
                     sizeof patience);
    fake->base.fd = ends[0];
    fake->peer = ends[1];
}

/* A connection to the store, all but the waiting and the refusing. */
static void fake_init(struct fake *fake, struct fake_store *store,
                      const struct seqb_backend_ops *ops, int32_t timeout_ms)
{
    fake->base.ops = ops;
    fake->base.fd = -1;
    fake->store = store;
    fake->generation = store->generation;
    fake->timeout_ms = timeout_ms;
    (void)text_format(fake->base.origin, sizeof fake->base.origin,
                      "fake:%s:%" PRId64, store->name, store->origin);
    (void)text_copy(fake->base.server, sizeof fake->base.server,
                    fake_library());
    store->is_windowed = ops->guarantee == SEQB_WINDOWED;
    store->open_backends++;
    if (store->script.has_sockets)
        sockets_open(fake);
}

static enum seqb_status fake_connect(const struct seqb_backend_ops *ops,
                                     const struct seqb_backend_options *options,
                                     struct seqb_backend **out,
                                     struct seqb_error *err)
{
    struct fake_store *store = fake_store_find(options->path);
    struct fake *fake = calloc(1, sizeof *fake);
    enum seqb_status status;

    if (fake == NULL)
        return error_set(err, SEQB_NO_MEMORY, "fake: out of memory");
    if (store == NULL) {
        free(fake);
        return error_set(err, SEQB_UNREACHABLE, "fake %s: is not there",
                         options->path != NULL ? options->path : "(null)");
    }
    pthread_mutex_lock(&store->lock);
    fake_call_count(store, FAKE_OPEN);
    if (fake_script_wait(store, options->connect_timeout_ms))
        status = fake_script_verdict(store, FAKE_OPEN, err);
    else
        status =
            error_set(err, SEQB_UNREACHABLE, "fake %s: no answer", store->name);
    if (status == SEQB_OK)
        fake_init(fake, store, ops, options->timeout_ms);
    pthread_mutex_unlock(&store->lock);
    if (status != SEQB_OK) {
        free(fake);
        return status;
    }
    *out = &fake->base;
    return SEQB_OK;
}

static enum seqb_status fake_open(const struct seqb_backend_options *options,
                                  struct seqb_backend **out,
                                  struct seqb_error *err)
{
    return fake_connect(&backend_fake, options, out, err);
}

static enum seqb_status
fake_windowed_open(const struct seqb_backend_options *options,
                   struct seqb_backend **out, struct seqb_error *err)
{
    return fake_connect(&backend_fake_windowed, options, out, err);
}

static void fake_close(struct seqb_backend *backend)
{
    struct fake *fake = (struct fake *)backend;

    if (fake == NULL)
        return;
    pthread_mutex_lock(&fake->store->lock);
    fake->store->open_backends--;
    pthread_cond_broadcast(&fake->store->changed);
    pthread_mutex_unlock(&fake->store->lock);
    if (fake->base.fd >= 0) {
        close(fake->base.fd);
        close(fake->peer);
    }
    free(fake);
}

static void request_answer(struct seqb_request *request,
                           enum seqb_status status, const char *store)
{
    request->status =
        error_set(&request->error, status, "fake %s: %s: %s", store,
                  request->counter, seqb_status_text(status));
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
    request->block.first = cell->value + (store->is_windowed ? 0 : 1);
    request->block.count = count;
    request->status = SEQB_OK;
    cell->value += count;
}

static void request_serve_direct(struct fake_store *store,
                                 struct seqb_request *request)
{
    const struct fake_cell *base = fake_cell_find(store, FAKE_BASE);
    struct fake_cell *cell = fake_cell_find(store, request->counter);

    if (!fake_cell_is_bound(store, cell != NULL ? cell : base)) {
        request_answer(request, SEQB_FENCED, store->name);
        return;
    }
    if (cell == NULL && base->value >= request->limit) {
        request_answer(request, SEQB_EXHAUSTED, store->name);
        return;
    }
    if (cell == NULL)
        fake_cell_put(store, request->counter, base->value);
    request_grant(store, fake_cell_find(store, request->counter),
                  request->limit, request);
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
           request->limit >= 0 && strlen(request->counter) < SEQB_COUNTER_SIZE;
}

static void request_serve(struct fake_store *store,
                          struct seqb_request *request)
{
    if (!request_is_fair(request))
        store->misuses++;
    request->window = SEQB_NO_WINDOW;
    if (store->is_windowed)
        request_serve_windowed(store, request);
    else
        request_serve_direct(store, request);
}

static enum seqb_status fake_reserve(struct seqb_backend *backend,
                                     struct seqb_request *requests, size_t n,
                                     struct seqb_error *err)
{
    struct fake *fake = (struct fake *)backend;
    struct seqb_error error = {SEQB_OK, ""};
    enum seqb_status status;
    bool is_lost;

    pthread_mutex_lock(&fake->store->lock);
    if (n < 1 || n > 1024)
        fake->store->misuses++;
    status = call_enter(fake, FAKE_RESERVE, &is_lost, &error);
    for (size_t i = 0; i < n && status == SEQB_OK; i++)
        request_serve(fake->store, &requests[i]);
    pthread_mutex_unlock(&fake->store->lock);
    if (status == SEQB_OK && is_lost)
        status = call_lose(fake, &error);
    for (size_t i = 0; i < n && status != SEQB_OK; i++)
        requests[i].status = error_copy(&requests[i].error, &error);
    return status == SEQB_OK ? SEQB_OK : error_copy(err, &error);
}

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
    int64_t start = base != NULL ? base->value : 0;
    int64_t value = cell != NULL ? cell->value : 0;
    bool fits = true;

    if (!fake_cell_is_bound(store, base))
        fits = value_add(&start, raise->base_gap, INT64_MAX);
    if (base == NULL && start < raise->base_floor)
        start = raise->base_floor;
    if (cell == NULL)
        value = start;
    else if (!fake_cell_is_bound(store, cell))
        fits = value_add(&value, raise->gap, INT64_MAX) && fits;
    value = value > raise->floor ? value : raise->floor;
    if (!fits || value > raise->limit)
        return error_set(err, SEQB_EXHAUSTED, "fake %s: %s: nothing is left",
                         store->name, raise->counter);
    fake_cell_put(store, FAKE_BASE, start);
    fake_cell_put(store, raise->counter, value);
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

static enum seqb_status fake_raise(struct seqb_backend *backend,
                                   const struct seqb_raise *raise, int64_t *out,
                                   struct seqb_error *err)
{
    struct fake *fake = (struct fake *)backend;
    enum seqb_status status;
    int64_t value = 0;
    bool is_lost;

    pthread_mutex_lock(&fake->store->lock);
    status = call_enter(fake, FAKE_RAISE, &is_lost, err);
    if (status == SEQB_OK)
        status = fake->store->is_windowed
                     ? raise_windowed(fake->store, raise, &value)
                     : raise_direct(fake->store, raise, &value, err);
    pthread_mutex_unlock(&fake->store->lock);
    if (status == SEQB_OK && is_lost)
        return call_lose(fake, err);
    if (status == SEQB_OK)
        *out = value;
    return status;
}

static enum seqb_status install_window(struct fake_store *store,
                                       const struct seqb_window *window,
                                       int64_t *standing,
                                       struct seqb_error *err)
{
    struct fake_cell *cell = fake_cell_find(store, window->counter);

    *standing = cell != NULL ? cell->window : window->window;
    if (cell != NULL && fake_cell_is_bound(store, cell) &&
        cell->value < cell->size)
        return SEQB_OK;
    if (cell != NULL && cell->window >= window->window)
        return error_set(err, SEQB_FENCED,
                         "fake %s: %s: window %" PRId64 " stands there",
                         store->name, window->counter, cell->window);
    fake_cell_put(store, window->counter, 0);
    cell = fake_cell_find(store, window->counter);
    cell->window = window->window;
    cell->size = window->size;
    *standing = window->window;
    return SEQB_OK;
}

static enum seqb_status fake_install(struct seqb_backend *backend,
                                     const struct seqb_window *window,
                                     int64_t *standing, struct seqb_error *err)
{
    struct fake *fake = (struct fake *)backend;
    enum seqb_status status;
    bool is_lost;

    if (backend->ops->guarantee == SEQB_DIRECT)
        return error_set(err, SEQB_INVALID, "fake %s: has no windows",
                         fake->store->name);
    pthread_mutex_lock(&fake->store->lock);
    status = call_enter(fake, FAKE_INSTALL, &is_lost, err);
    if (status == SEQB_OK)
        status = install_window(fake->store, window, standing, err);
    pthread_mutex_unlock(&fake->store->lock);
    return status == SEQB_OK && is_lost ? call_lose(fake, err) : status;
}

static enum seqb_status fake_claim(struct seqb_backend *backend,
                                   const char *name, const char *text,
                                   char *standing, size_t size,
                                   struct seqb_error *err)
{
    struct fake *fake = (struct fake *)backend;
    enum seqb_status status;
    bool fits = true;
    bool is_lost;

    pthread_mutex_lock(&fake->store->lock);
    status = call_enter(fake, FAKE_CLAIM, &is_lost, err);
    if (status == SEQB_OK)
        fits = text_copy(standing, size,
                         fake_claim_stand(fake->store, name, text));
    pthread_mutex_unlock(&fake->store->lock);
    if (status == SEQB_OK && is_lost)
        return call_lose(fake, err);
    if (status == SEQB_OK && !fits)
        return error_set(err, SEQB_PROTOCOL, "fake %s: claim %s is too long",
                         fake->store->name, name);
    return status;
}

const struct seqb_backend_ops backend_fake = {
    .engine = "fake",
    .guarantee = SEQB_DIRECT,
    .library = fake_library,
    .open = fake_open,
    .reserve = fake_reserve,
    .raise = fake_raise,
    .install = fake_install,
    .claim = fake_claim,
    .close = fake_close,
};

const struct seqb_backend_ops backend_fake_windowed = {
    .engine = "fake-windowed",
    .guarantee = SEQB_WINDOWED,
    .library = fake_library,
    .open = fake_windowed_open,
    .reserve = fake_reserve,
    .raise = fake_raise,
    .install = fake_install,
    .claim = fake_claim,
    .close = fake_close,
};
