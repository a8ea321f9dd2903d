/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a blocking call, and how it reports its end to the loop; see
 * blocking_call.h. */
#include "daemon/blocking_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "daemon/session.h"
#include "daemon/signals.h"

#define WORKERS_ROOM 1024 /* ids, as many as a snowflake has by default */
#define WORD_SIZE    64   /* of the audit's before and after */

static enum seqb_status workers_read(struct blocking_call *blocking_call,
                                     size_t room)
{
    struct seqb_worker *workers =
        realloc(blocking_call->workers, room * sizeof *workers);

    if (workers == NULL) {
        blocking_call->err.status = SEQB_NO_MEMORY;
        snprintf(blocking_call->err.text, sizeof blocking_call->err.text,
                 "out of memory");
        return SEQB_NO_MEMORY;
    }
    blocking_call->workers = workers;
    return seqb_workers(blocking_call->broker, workers, sizeof *workers, room,
                        &blocking_call->worker_count, &blocking_call->err);
}

/* Worker ids that are leased for the first time between the two calls are left
 * out. */
static enum seqb_status workers_list(struct blocking_call *blocking_call)
{
    size_t room = WORKERS_ROOM;
    enum seqb_status status = workers_read(blocking_call, room);

    if (status == SEQB_OK && blocking_call->worker_count > room) {
        room = blocking_call->worker_count;
        status = workers_read(blocking_call, room);
    }
    if (blocking_call->worker_count > room)
        blocking_call->worker_count = room;
    return status;
}

/* Refuses an advance that is too far, because an advance cannot be undone. */
static enum seqb_status advance_check(struct blocking_call *blocking_call)
{
    const struct blocking_call_order *order = &blocking_call->order;
    struct seqb_error *err = &blocking_call->err;
    int64_t burnt;

    if (seqb_highest(blocking_call->broker, order->key, &blocking_call->highest,
                     err) != SEQB_OK)
        return err->status;
    if (order->is_forced || order->to <= blocking_call->highest)
        return SEQB_OK;
    burnt = order->to - blocking_call->highest;
    if (burnt <= ADVANCE_MAX)
        return SEQB_OK;
    err->status = SEQB_INVALID;
    snprintf(
        err->text, sizeof err->text,
        "sequence %s: to advance it to %lld burns %lld numbers above %lld, "
        "the highest that this broker was granted, and nothing brings them "
        "back; nothing was changed; if that is meant, say FORCE (seqctl "
        "advance --force)",
        order->key, (long long)order->to, (long long)burnt,
        (long long)blocking_call->highest);
    return err->status;
}

/* Within seqb_advance, whose status does not tell an advance that was carried
 * out in part from one that was not begun. */
static void on_event(void *context, const struct seqb_event *event)
{
    struct blocking_call *blocking_call = context;

    if (event->kind == SEQB_EVENT_ADVANCED &&
        strcmp(event->key, blocking_call->order.key) == 0)
        blocking_call->is_advanced = true;
}

static enum seqb_status advance_make(struct blocking_call *blocking_call)
{
    const struct blocking_call_order *order = &blocking_call->order;
    enum seqb_status status = advance_check(blocking_call);
    struct seqb_error ignored;

    if (status == SEQB_OK)
        status = seqb_on_event(blocking_call->broker, on_event, blocking_call,
                               &blocking_call->err);
    if (status != SEQB_OK)
        return status;
    status = seqb_advance(blocking_call->broker, order->key, order->to,
                          &blocking_call->err);
    if (seqb_on_event(blocking_call->broker, NULL, NULL, &ignored) != SEQB_OK)
        blocking_call->is_advanced = false; /* forked: it has no listener */
    return status;
}

static enum seqb_status blocking_call_make(struct blocking_call *blocking_call)
{
    switch (blocking_call->order.kind) {
    case BLOCKING_CALL_ADVANCE:
        return advance_make(blocking_call);
    case BLOCKING_CALL_WORKERS:
        return workers_list(blocking_call);
    case BLOCKING_CALL_RELOAD:
        reloader_run(blocking_call->reloader, blocking_call->order.is_check,
                     "command", &blocking_call->report);
        return SEQB_OK;
    }
    return SEQB_OK;
}

/* The release pairs with the acquire in blocking_call_poll: a reader that sees
 * is_done sees the results. */
static void *blocking_call_run(void *argument)
{
    struct blocking_call *blocking_call = argument;
    const uint64_t one = 1;

    if (blocking_call_make(blocking_call) == SEQB_OK)
        blocking_call->err.status = SEQB_OK;
    atomic_store_explicit(&blocking_call->is_done, true, memory_order_release);
    /* Fails only if the eventfd's counter is full: the loop is awake then. */
    if (write(blocking_call->wake_fd, &one, sizeof one) < 0)
        return NULL;
    return NULL;
}

/* Where the daemon keeps its call of that kind. */
static struct blocking_call **blocking_call_place(struct daemon *daemon,
                                                  enum blocking_call_kind kind)
{
    return kind == BLOCKING_CALL_WORKERS ? &daemon->read_call
                                         : &daemon->order_call;
}

bool blocking_call_start(struct session *session,
                         const struct blocking_call_order *order)
{
    struct daemon *daemon = session->daemon;
    struct blocking_call **place = blocking_call_place(daemon, order->kind);
    struct blocking_call *blocking_call;

    if (*place != NULL) {
        reply_error(&session->out, "ERR",
                    "another %s is waiting for the stores, try again",
                    place == &daemon->read_call ? "SEQ.WORKERS" : "order");
        return false;
    }
    blocking_call = calloc(1, sizeof *blocking_call);
    if (blocking_call != NULL) {
        blocking_call->order = *order;
        blocking_call->broker = daemon->broker;
        blocking_call->reloader = daemon->reloader;
        blocking_call->wake_fd = daemon->wake_fd;
        blocking_call->session = session;
        (void)identity_name(&session->identity, blocking_call->user);
        identity_from(session->fd, blocking_call->from);
        blocking_call->by = identity_means_name(&session->identity);
        atomic_init(&blocking_call->is_done, false);
    }
    if (blocking_call == NULL ||
        !signals_thread(&blocking_call->thread, blocking_call_run,
                        blocking_call)) {
        reply_error(&session->out, "ERR", "out of memory");
        free(blocking_call);
        return false;
    }
    *place = blocking_call;
    session->blocking_call = blocking_call;
    return true;
}

/* --- the audit --- */

/* `done` writes the line of an order that was carried out. */
static audit_function *audit_of(const struct blocking_call *call,
                                enum seqb_status status, audit_function *done)
{
    if (status == SEQB_OK)
        return done;
    return call->is_advanced ? audit_order_in_part : audit_order_refused;
}

static void order_audit(struct daemon *daemon, const struct blocking_call *call,
                        audit_function *done, struct audit_entry *entry,
                        const struct seqb_error *err)
{
    entry->user = call->user;
    entry->by = call->by;
    entry->from = call->from;
    entry->reason = err->status == SEQB_OK ? "" : err->text;
    audit_of(call, err->status,
             done)(&daemon->access.audit, entry,
                   (struct audit_time){daemon_now_ms(), daemon_wall_ms()});
}

static void advance_audit(struct daemon *daemon,
                          const struct blocking_call *call)
{
    char before[WORD_SIZE];
    char after[WORD_SIZE];
    struct audit_entry entry = {
        .command = call->order.is_forced ? "SEQ.ADVANCE FORCE" : "SEQ.ADVANCE",
        .target = call->order.key,
        .before = before,
        .after = after};

    snprintf(before, sizeof before, "%lld", (long long)call->highest);
    snprintf(after, sizeof after, "%lld", (long long)call->order.to);
    order_audit(daemon, call, audit_order_for_good, &entry, &call->err);
}

static void reload_audit(struct daemon *daemon,
                         const struct blocking_call *call)
{
    char after[WORD_SIZE];
    struct audit_entry entry = {.command = "SEQ.RELOAD", .after = after};

    snprintf(after, sizeof after, "applied %zu, need a restart %zu",
             call->report.applied, call->report.restart);
    order_audit(daemon, call, audit_order, &entry, &call->report.err);
}

static void blocking_call_audit(struct daemon *daemon,
                                const struct blocking_call *call)
{
    if (call->order.kind == BLOCKING_CALL_ADVANCE)
        advance_audit(daemon, call);
    else if (call->order.kind == BLOCKING_CALL_RELOAD && !call->order.is_check)
        reload_audit(daemon, call);
}

void blocking_call_end(struct daemon *daemon,
                       struct blocking_call *blocking_call)
{
    if (blocking_call == NULL)
        return;
    pthread_join(blocking_call->thread, NULL);
    blocking_call_audit(daemon, blocking_call);
    if (blocking_call->session != NULL)
        blocking_call->session->blocking_call = NULL;
    *blocking_call_place(daemon, blocking_call->order.kind) = NULL;
    free(blocking_call->workers);
    reload_report_free(&blocking_call->report);
    free(blocking_call);
}

void blocking_calls_end(struct daemon *daemon)
{
    blocking_call_end(daemon, daemon->order_call);
    blocking_call_end(daemon, daemon->read_call);
}

/* --- the end, as the loop sees it --- */

static void blocking_call_poll(struct daemon *daemon,
                               struct blocking_call *blocking_call,
                               void (*resume)(struct session *session))
{
    if (blocking_call == NULL ||
        !atomic_load_explicit(&blocking_call->is_done, memory_order_acquire))
        return;
    if (blocking_call->session != NULL)
        resume(blocking_call->session);
    else
        blocking_call_end(daemon, blocking_call);
}

void blocking_calls_poll(struct daemon *daemon,
                         void (*resume)(struct session *session))
{
    blocking_call_poll(daemon, daemon->order_call, resume);
    blocking_call_poll(daemon, daemon->read_call, resume);
}
