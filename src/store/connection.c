/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, closing, and the watchdog's supervision of each call. */
#include "store/connection.h"

#include <assert.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"
#include "store/secret.h"

void connection_init(struct connection *connection,
                     const struct store_options *options,
                     struct watchdog *watchdog, struct endpoint *endpoint)
{
    atomic_init(&connection->options, options);
    atomic_init(&connection->endpoint, endpoint);
    connection->watchdog = watchdog;
    atomic_init(&connection->call_ms, -1);
    atomic_init(&connection->answered_ms, -1);
    atomic_init(&connection->clock_ms, CONNECTION_NO_CLOCK);
}

void connection_change(struct connection *connection,
                       const struct store_options *options,
                       struct endpoint *endpoint)
{
    assert(connection->backend == NULL);
    atomic_store(&connection->options, options);
    atomic_store(&connection->endpoint, endpoint);
}

const char *connection_name(const struct connection *connection)
{
    return connection->options->options.name;
}

enum seqb_guarantee connection_guarantee(const struct connection *connection)
{
    return connection->options->ops->guarantee;
}

/* --- calls --- */

static void call_begins(struct connection *connection, int64_t now_ms)
{
    atomic_store_explicit(&connection->call_ms, now_ms, memory_order_relaxed);
    if (connection->slow_ms > 0)
        watchdog_expect(connection->watchdog, now_ms + connection->slow_ms);
}

static void call_ends(struct connection *connection)
{
    atomic_store_explicit(&connection->call_ms, -1, memory_order_relaxed);
}

static struct seqb_backend *call_begin(struct connection *connection)
{
    const int64_t now_ms = clock_now_ms();

    call_begins(connection, now_ms);
    watch_begin(&connection->watch,
                now_ms + connection->options->options.timeout_ms +
                    CONNECTION_SLACK_MS);
    return connection->backend;
}

/* A success that arrived together with the shutdown is still valid. The next
 * call will find the connection dead. */
static enum seqb_status call_end(struct connection *connection,
                                 enum seqb_status status,
                                 struct seqb_error *err)
{
    struct seqb_error why;

    call_ends(connection);
    if (status == SEQB_OK)
        atomic_store_explicit(&connection->answered_ms, clock_now_ms(),
                              memory_order_relaxed);
    if (!watch_end(&connection->watch) || status == SEQB_OK)
        return status;
    why = *err;
    return error_set(err, status, "no answer within %d ms, ended: %s",
                     (int)connection->options->options.timeout_ms, why.text);
}

enum seqb_status connection_reserve(struct connection *connection,
                                    struct seqb_request *requests, size_t n,
                                    struct seqb_error *err)
{
    struct seqb_backend *backend = call_begin(connection);

    return call_end(connection,
                    backend->ops->reserve(backend, requests, n, err), err);
}

enum seqb_status connection_raise(struct connection *connection,
                                  const struct seqb_raise *raise, int64_t *out,
                                  struct seqb_error *err)
{
    struct seqb_backend *backend = call_begin(connection);

    return call_end(connection, backend->ops->raise(backend, raise, out, err),
                    err);
}

enum seqb_status connection_install(struct connection *connection,
                                    const struct seqb_window *window,
                                    int64_t *standing, struct seqb_error *err)
{
    struct seqb_backend *backend = call_begin(connection);

    assert(backend->ops->install != NULL);
    return call_end(connection,
                    backend->ops->install(backend, window, standing, err), err);
}

enum seqb_status connection_claim(struct connection *connection,
                                  const char *name, const char *text,
                                  char *standing, size_t size,
                                  struct seqb_error *err)
{
    struct seqb_backend *backend = call_begin(connection);

    return call_end(
        connection,
        backend->ops->claim(backend, name, text, standing, size, err), err);
}

static enum seqb_status claim_alone(struct connection *connection,
                                    struct seqb_claim *claim,
                                    struct seqb_error *err)
{
    char standing[SEQB_CLAIM_SIZE];
    const enum seqb_status status = connection_claim(
        connection, claim->name, claim->text, standing, sizeof standing, err);

    if (status == SEQB_OK)
        (void)text_copy(claim->standing, sizeof claim->standing, standing);
    return status;
}

enum seqb_status connection_claim_many(struct connection *connection,
                                       struct seqb_claim *claims, size_t n,
                                       size_t *done, struct seqb_error *err)
{
    struct seqb_backend *backend = connection->backend;

    *done = 1;
    if (backend->ops->claim_many == NULL)
        return claim_alone(connection, &claims[0], err);
    backend = call_begin(connection);
    return call_end(connection,
                    backend->ops->claim_many(backend, claims, n, done, err),
                    err);
}

enum seqb_status connection_swap(struct connection *connection,
                                 const struct seqb_swap *swap, char *standing,
                                 size_t size, struct seqb_error *err)
{
    struct seqb_backend *backend = call_begin(connection);

    assert(backend->ops->swap != NULL);
    return call_end(connection,
                    backend->ops->swap(backend, swap, standing, size, err),
                    err);
}

enum seqb_status connection_purge(struct connection *connection,
                                  const struct seqb_purge *purge,
                                  int32_t *deleted, struct seqb_error *err)
{
    struct seqb_backend *backend = call_begin(connection);

    assert(backend->ops->purge != NULL);
    return call_end(connection,
                    backend->ops->purge(backend, purge, deleted, err), err);
}

enum seqb_status connection_list(struct connection *connection,
                                 struct seqb_page *page, struct seqb_error *err)
{
    struct seqb_backend *backend = call_begin(connection);

    assert(backend->ops->list != NULL);
    return call_end(connection, backend->ops->list(backend, page, err), err);
}

enum seqb_status connection_permits(struct connection *connection,
                                    const char *counter, struct seqb_error *err)
{
    struct seqb_backend *backend = connection->backend;

    if (backend->ops->permits == NULL)
        return SEQB_OK;
    backend = call_begin(connection);
    return call_end(connection, backend->ops->permits(backend, counter, err),
                    err);
}

enum seqb_status connection_describe(struct connection *connection,
                                     struct seqb_details *out,
                                     struct seqb_error *err)
{
    struct seqb_backend *backend = connection->backend;

    if (backend->ops->describe == NULL)
        return SEQB_OK;
    backend = call_begin(connection);
    return call_end(connection, backend->ops->describe(backend, out, err), err);
}

enum seqb_status connection_clock(struct connection *connection,
                                  int64_t *out_ms, struct seqb_error *err)
{
    struct seqb_backend *backend = connection->backend;

    if (backend->ops->clock == NULL) {
        *out_ms = 0;
        return SEQB_OK;
    }
    backend = call_begin(connection);
    return call_end(connection, backend->ops->clock(backend, out_ms, err), err);
}

bool connection_was_refused(enum seqb_status status)
{
    return status == SEQB_REFUSED || status == SEQB_CORRUPT ||
           status_blame(status) != BLAME_BACKEND;
}

/* --- open and close --- */

int64_t connection_enter(const struct connection *connection, int64_t now_ms)
{
    if (connection->backend != NULL || connection->endpoint == NULL)
        return 0;
    return endpoint_enter(connection->endpoint, now_ms);
}

static void connection_forget_passwords(struct connection *connection)
{
    secret_free(connection->password);
    secret_free(connection->sentinel_password);
    connection->password = NULL;
    connection->sentinel_password = NULL;
}

/* Reads the passwords that are in files into the options. */
static enum seqb_status
connection_read_passwords(struct connection *connection,
                          struct seqb_backend_options *options,
                          struct seqb_error *err)
{
    const struct store_options *store = connection->options;
    enum seqb_status status = SEQB_OK;

    if (store->password_file != NULL) {
        status = secret_read(store->password_file, "password",
                             &connection->password, err);
        options->password = connection->password;
    }
    if (status == SEQB_OK && store->sentinel_password_file != NULL) {
        status = secret_read(store->sentinel_password_file, "password",
                             &connection->sentinel_password, err);
        options->sentinel_password = connection->sentinel_password;
    }
    return status;
}

enum seqb_status connection_open(struct connection *connection, bool create,
                                 struct seqb_error *err)
{
    const struct store_options *store = connection->options;
    struct seqb_backend_options options = store->options;
    enum seqb_status status;

    options.create = create && options.auto_create;
    status = connection_read_passwords(connection, &options, err);
    if (status == SEQB_OK) {
        call_begins(connection, clock_now_ms());
        status = store->ops->open(&options, &connection->backend, err);
        call_ends(connection);
    }
    if (status != SEQB_OK) {
        connection_forget_passwords(connection);
        return status;
    }
    if (connection->endpoint != NULL)
        endpoint_note(connection->endpoint, false);
    connection->serial++;
    (void)text_copy(connection->incarnation, sizeof connection->incarnation,
                    connection->backend->incarnation);
    status = watch_open(connection->watchdog, connection->backend->fd,
                        &connection->watch, err);
    if (status != SEQB_OK)
        connection_close(connection);
    return status;
}

bool connection_is_open(const struct connection *connection)
{
    return connection->backend != NULL;
}

bool connection_may_list(const struct connection *connection)
{
    return connection_is_open(connection) &&
           connection->backend->ops->list != NULL;
}

void connection_close(struct connection *connection)
{
    if (connection->backend != NULL) {
        struct seqb_backend *backend = call_begin(connection);

        backend->ops->close(backend);
        call_ends(connection);
        (void)watch_end(&connection->watch);
    }
    connection->backend = NULL;
    connection_forget_passwords(connection);
    watch_close(&connection->watch);
}

void connection_report(const struct connection *connection,
                       const struct seqb_error *why)
{
    if (connection->endpoint != NULL &&
        (why->status == SEQB_UNREACHABLE || why->status == SEQB_UNCERTAIN))
        endpoint_note(connection->endpoint, true);
}

void connection_set_verified(struct connection *connection)
{
    connection->verified_on = connection->serial;
}

bool connection_is_verified(const struct connection *connection)
{
    return connection->backend != NULL &&
           connection->verified_on == connection->serial;
}
