/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two fake engines over a fake store: when open, reserve and the others do
 * something, as the script lets them. What they do is in fake_serve.c, stores
 * and script are in fake_store.c.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"
#include "support/fake_serve.h"

/* A read that nothing ends, since what should is broken, ends here. */
#define BLOCK_PATIENCE_S 30

#define FAKE_MANY 8 /* claims in one call at most */

struct fake {
    struct seqb_backend base;
    int peer; /* the other end of base.fd; nobody writes to it */
    struct fake_store *store;
    int64_t generation;
    int32_t timeout_ms;
    bool is_busy; /* guarded by the store's lock, like `is_dead` */
    bool is_dead;
};

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
        return fake_script_wait(fake->store, call, fake->timeout_ms);
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
                      const struct seqb_backend_ops *ops,
                      const struct seqb_backend_options *options)
{
    fake->base.ops = ops;
    fake->base.fd = -1;
    fake->store = store;
    fake->generation = store->generation;
    fake->timeout_ms = options->timeout_ms;
    (void)text_format(fake->base.origin, sizeof fake->base.origin,
                      "fake:%s:%" PRId64, store->name, store->origin);
    (void)text_copy(fake->base.server, sizeof fake->base.server,
                    fake_library());
    store->is_windowed = ops->guarantee == SEQB_WINDOWED;
    if (options->needs_incarnation)
        fake_incarnation(store, fake->base.incarnation,
                         sizeof fake->base.incarnation);
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
    if (fake_script_wait(store, FAKE_OPEN, options->connect_timeout_ms))
        status = fake_script_verdict(store, FAKE_OPEN, err);
    else
        status =
            error_set(err, SEQB_UNREACHABLE, "fake %s: no answer", store->name);
    if (status == SEQB_OK)
        fake_init(fake, store, ops, options);
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

/* A guard compares what only a connection that was asked for it knows. */
static enum seqb_status guard_permit(const struct fake *fake,
                                     struct seqb_guard *guard,
                                     struct seqb_error *err)
{
    if (guard == NULL || fake->base.incarnation[0] != '\0')
        return SEQB_OK;
    guard->has_failed = false;
    return error_set(err, SEQB_REFUSED, "fake %s: the incarnation is not known",
                     fake->store->name);
}

static void request_serve(struct fake *fake, struct seqb_request *request)
{
    request->status = guard_permit(fake, request->guard, &request->error);
    if (request->status == SEQB_OK)
        fake_serve_request(fake->store, request);
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
        request_serve(fake, &requests[i]);
    pthread_mutex_unlock(&fake->store->lock);
    if (status == SEQB_OK && is_lost)
        status = call_lose(fake, &error);
    for (size_t i = 0; i < n && status != SEQB_OK; i++)
        requests[i].status = error_copy(&requests[i].error, &error);
    return status == SEQB_OK ? SEQB_OK : error_copy(err, &error);
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
        status = guard_permit(fake, raise->guard, err);
    if (status == SEQB_OK)
        status = fake_serve_raise(fake->store, raise, &value, err);
    pthread_mutex_unlock(&fake->store->lock);
    if (status == SEQB_OK && is_lost)
        return call_lose(fake, err);
    if (status == SEQB_OK)
        *out = value;
    return status;
}

static enum seqb_status fake_install(struct seqb_backend *backend,
                                     const struct seqb_window *window,
                                     int64_t *standing, struct seqb_error *err)
{
    struct fake *fake = (struct fake *)backend;
    enum seqb_status status;
    bool is_lost;

    pthread_mutex_lock(&fake->store->lock);
    status = call_enter(fake, FAKE_INSTALL, &is_lost, err);
    if (status == SEQB_OK)
        status = fake_serve_install(fake->store, window, standing, err);
    pthread_mutex_unlock(&fake->store->lock);
    return status == SEQB_OK && is_lost ? call_lose(fake, err) : status;
}

/* Copies what stands while the lock is held. */
static enum seqb_status text_answer(const struct fake *fake, const char *name,
                                    const char *text, char *standing,
                                    size_t size, struct seqb_error *err)
{
    if (text_copy(standing, size, text))
        return SEQB_OK;
    return error_set(err, SEQB_PROTOCOL, "fake %s: claim %s is too long",
                     fake->store->name, name);
}

static enum seqb_status fake_claim(struct seqb_backend *backend,
                                   const char *name, const char *text,
                                   char *standing, size_t size,
                                   struct seqb_error *err)
{
    struct fake *fake = (struct fake *)backend;
    enum seqb_status status;
    bool is_lost;

    pthread_mutex_lock(&fake->store->lock);
    status = call_enter(fake, FAKE_CLAIM, &is_lost, err);
    if (status == SEQB_OK)
        status = fake_script_refuses(fake->store, FAKE_CLAIM, name, err);
    if (status == SEQB_OK)
        status =
            text_answer(fake, name, fake_claim_stand(fake->store, name, text),
                        standing, size, err);
    pthread_mutex_unlock(&fake->store->lock);
    return status == SEQB_OK && is_lost ? call_lose(fake, err) : status;
}

/* A few calls in one, each of which the script may have fail. */
static enum seqb_status fake_claim_many(struct seqb_backend *backend,
                                        struct seqb_claim *claims, size_t n,
                                        size_t *done, struct seqb_error *err)
{
    char standing[SEQB_CLAIM_SIZE];
    enum seqb_status status = SEQB_OK;

    for (*done = 0; *done < n && *done < FAKE_MANY && status == SEQB_OK;
         ++*done) {
        struct seqb_claim *claim = &claims[*done];

        status = fake_claim(backend, claim->name, claim->text, standing,
                            sizeof standing, err);
        if (status == SEQB_OK)
            (void)text_copy(claim->standing, sizeof claim->standing, standing);
    }
    return status;
}

static enum seqb_status fake_swap(struct seqb_backend *backend,
                                  const struct seqb_swap *swap, char *standing,
                                  size_t size, struct seqb_error *err)
{
    struct fake *fake = (struct fake *)backend;
    const char *stands;
    enum seqb_status status;
    bool is_lost;

    pthread_mutex_lock(&fake->store->lock);
    status = call_enter(fake, FAKE_SWAP, &is_lost, err);
    if (status == SEQB_OK)
        status = fake_script_refuses(fake->store, FAKE_SWAP, swap->name, err);
    if (status == SEQB_OK)
        status = fake_serve_swap(fake->store, swap, &stands, err);
    if (status == SEQB_OK)
        status = text_answer(fake, swap->name, stands, standing, size, err);
    pthread_mutex_unlock(&fake->store->lock);
    return status == SEQB_OK && is_lost ? call_lose(fake, err) : status;
}

static enum seqb_status fake_purge(struct seqb_backend *backend,
                                   const struct seqb_purge *purge,
                                   int32_t *deleted, struct seqb_error *err)
{
    struct fake *fake = (struct fake *)backend;
    enum seqb_status status;
    int32_t count = 0;
    bool is_lost;

    pthread_mutex_lock(&fake->store->lock);
    status = call_enter(fake, FAKE_PURGE, &is_lost, err);
    if (status == SEQB_OK)
        count = fake_serve_purge(fake->store, purge);
    pthread_mutex_unlock(&fake->store->lock);
    if (status == SEQB_OK && is_lost)
        return call_lose(fake, err);
    if (status == SEQB_OK)
        *deleted = count;
    return status;
}

static enum seqb_status fake_list(struct seqb_backend *backend,
                                  struct seqb_page *page,
                                  struct seqb_error *err)
{
    struct fake *fake = (struct fake *)backend;
    const size_t length = strlen(page->prefix);
    enum seqb_status status;
    bool is_lost;

    if (length == 0 || page->prefix[length - 1] == '@')
        return error_set(err, SEQB_INVALID, "fake: no page begins with '%s'",
                         page->prefix);
    pthread_mutex_lock(&fake->store->lock);
    status = call_enter(fake, FAKE_LIST, &is_lost, err);
    if (status == SEQB_OK)
        fake_serve_list(fake->store, page);
    pthread_mutex_unlock(&fake->store->lock);
    return status == SEQB_OK && is_lost ? call_lose(fake, err) : status;
}

static enum seqb_status fake_clock(struct seqb_backend *backend,
                                   int64_t *out_ms, struct seqb_error *err)
{
    struct fake *fake = (struct fake *)backend;
    enum seqb_status status;
    int64_t ms = 0;
    bool is_lost;

    pthread_mutex_lock(&fake->store->lock);
    status = call_enter(fake, FAKE_CLOCK, &is_lost, err);
    if (fake->store->script.has_clock)
        ms = clock_wall_ms() + fake->store->script.ahead_ms;
    pthread_mutex_unlock(&fake->store->lock);
    if (status == SEQB_OK && is_lost)
        return call_lose(fake, err);
    if (status == SEQB_OK)
        *out_ms = ms;
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
    .swap = fake_swap,
    .purge = fake_purge,
    .list = fake_list,
    .clock = fake_clock,
    .close = fake_close,
    .claim_many = fake_claim_many,
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
    .clock = fake_clock,
    .close = fake_close,
};
