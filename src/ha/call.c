/* SPDX-License-Identifier: Apache-2.0 */
/* Begins and ends the watch over each call. */
#include "ha/call.h"

#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/error.h"

/* An engine that keeps the time itself is to answer first: its words say
 * more, and its connection may still be closed in order. */
#define CALL_SLACK_MS 50

static struct seqb_backend *call_begin(struct worker *worker)
{
    const int64_t now_ms = clock_now_ms();

    worker_call_begins(worker, now_ms);
    watch_begin(&worker->watch,
                now_ms + worker->options->options.timeout_ms + CALL_SLACK_MS);
    return worker->backend;
}

/* An answer that came with the shutdown is as good as any. The next call will
 * find the connection dead. */
static enum seqb_status call_end(struct worker *worker, enum seqb_status status,
                                 struct seqb_error *err)
{
    struct seqb_error why;

    worker_call_ends(worker);
    if (!watch_end(&worker->watch) || status == SEQB_OK)
        return status;
    why = *err;
    return error_set(err, status, "no answer within %d ms, ended: %s",
                     (int)worker->options->options.timeout_ms, why.text);
}

bool call_was_refused(enum seqb_status status)
{
    return status == SEQB_REFUSED || status == SEQB_CORRUPT ||
           status_blame(status) != BLAME_BACKEND;
}

enum seqb_status call_reserve(struct worker *worker, size_t n,
                              struct seqb_error *err)
{
    struct seqb_backend *backend = call_begin(worker);

    return call_end(
        worker, backend->ops->reserve(backend, worker->requests, n, err), err);
}

enum seqb_status call_raise(struct worker *worker,
                            const struct seqb_raise *raise, int64_t *out,
                            struct seqb_error *err)
{
    struct seqb_backend *backend = call_begin(worker);

    return call_end(worker, backend->ops->raise(backend, raise, out, err), err);
}

enum seqb_status call_install(struct worker *worker,
                              const struct seqb_window *window,
                              int64_t *standing, struct seqb_error *err)
{
    struct seqb_backend *backend = call_begin(worker);

    return call_end(worker,
                    backend->ops->install(backend, window, standing, err), err);
}

enum seqb_status call_claim(struct worker *worker, const char *name,
                            const char *text, char *standing, size_t size,
                            struct seqb_error *err)
{
    struct seqb_backend *backend = call_begin(worker);

    return call_end(
        worker, backend->ops->claim(backend, name, text, standing, size, err),
        err);
}

enum seqb_status call_purge(struct worker *worker,
                            const struct seqb_purge *purge, int32_t *deleted,
                            struct seqb_error *err)
{
    struct seqb_backend *backend = call_begin(worker);

    return call_end(worker, backend->ops->purge(backend, purge, deleted, err),
                    err);
}

enum seqb_status call_clock(struct worker *worker, int64_t *out_ms,
                            struct seqb_error *err)
{
    struct seqb_backend *backend = call_begin(worker);

    return call_end(worker, backend->ops->clock(backend, out_ms, err), err);
}

enum seqb_status call_swap(struct worker *worker, const struct seqb_swap *swap,
                           char *standing, size_t size, struct seqb_error *err)
{
    struct seqb_backend *backend = call_begin(worker);

    return call_end(
        worker, backend->ops->swap(backend, swap, standing, size, err), err);
}

void call_close(struct worker *worker)
{
    struct seqb_backend *backend = call_begin(worker);

    backend->ops->close(backend);
    worker_call_ends(worker);
    (void)watch_end(&worker->watch);
}
