/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a blocking call, and how it reports its end to the loop; see
 * blocking_call.h. */
#include "daemon/blocking_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seqbroker/counts.h>
#include <seqbroker/events.h>

#include "daemon/daemon.h"
#include "daemon/session.h"
#include "daemon/signals.h"

#define WORKERS_ROOM 1024 /* ids, as many as a snowflake has by default */
#define WORD_SIZE    64   /* of the audit's before and after */
#define SHARE_SIZE   96

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

/* How many numbers above `highest` fit the width of the sequence's template.
 * INT64_MAX: it has no width, or its numbers are beyond it. */
static int64_t width_left(struct seqb_broker *broker, const char *key,
                          int64_t highest)
{
    struct seqb_sequence_status status;
    enum seqb_status found = SEQB_OK;

    for (size_t i = 0; found == SEQB_OK || found == SEQB_UNKNOWN_KEY; i++) {
        found = seqb_sequence_at(broker, i, &status, sizeof status, NULL);
        if (found == SEQB_OK && strcmp(status.key, key) == 0)
            return status.width_numbers > highest &&
                           status.width_numbers < INT64_MAX
                       ? status.width_numbers - highest
                       : INT64_MAX;
    }
    return INT64_MAX;
}

/* Writes which part of its width an advance burns; nothing if it has none. */
static void share_print(int64_t burnt, int64_t left, char out[SHARE_SIZE])
{
    const int64_t part = burnt < left ? burnt : left;

    out[0] = '\0';
    if (left < INT64_MAX)
        snprintf(out, SHARE_SIZE,
                 ": %.1f %% of the %lld that the width of its template has "
                 "left",
                 100.0 * (double)part / (double)left, (long long)left);
}

/* Refuses an advance that is too far, because an advance cannot be undone. */
static enum seqb_status advance_check(struct blocking_call *blocking_call)
{
    const struct blocking_call_order *order = &blocking_call->order;
    struct seqb_error *err = &blocking_call->err;
    char share[SHARE_SIZE];
    int64_t burnt;
    int64_t left;

    if (seqb_highest(blocking_call->broker, order->key, &blocking_call->highest,
                     err) != SEQB_OK)
        return err->status;
    if (order->is_forced || order->to <= blocking_call->highest)
        return SEQB_OK;
    burnt = order->to - blocking_call->highest;
    left =
        width_left(blocking_call->broker, order->key, blocking_call->highest);
    if (burnt <= ADVANCE_MAX && ((burnt <= ADVANCE_FEW && burnt < left) ||
                                 burnt <= left / ADVANCE_PART))
        return SEQB_OK;
    share_print(burnt, left, share);
    err->status = SEQB_INVALID;
    snprintf(
        err->text, sizeof err->text,
        "sequence %s: to advance it to %lld burns %lld numbers above %lld, "
        "the highest that this broker was granted%s, and nothing brings them "
        "back; nothing was changed; if that is meant, say FORCE (seqctl "
        "advance --force)",
        order->key, (long long)order->to, (long long)burnt,
        (long long)blocking_call->highest, share);
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

/* --- the audit of an order --- */

struct advance_words {
    char before[WORD_SIZE];
    char after[WORD_SIZE];
};

/* The entry's texts are those of `words`. */
static struct audit_entry advance_entry(const struct blocking_call *call,
                                        struct advance_words *words)
{
    snprintf(words->before, sizeof words->before, "%lld",
             (long long)call->highest);
    snprintf(words->after, sizeof words->after, "%lld",
             (long long)call->order.to);
    return (struct audit_entry){
        .command = call->order.is_forced ? "SEQ.ADVANCE FORCE" : "SEQ.ADVANCE",
        .target = call->order.key,
        .before = words->before,
        .after = words->after};
}

static void order_write(const struct blocking_call *call, audit_function *audit,
                        struct audit_entry *entry)
{
    entry->user = call->user;
    entry->by = call->by;
    entry->from = call->from;
    audit(call->audit, entry,
          (struct audit_time){daemon_now_ms(), daemon_wall_ms()});
}

/* Before the stores are asked: the process may end before they have answered,
 * as by a second signal, and nothing takes an advance back. */
static void advance_begin(const struct blocking_call *call)
{
    struct advance_words words;
    struct audit_entry entry = advance_entry(call, &words);

    order_write(call, audit_order_begun, &entry);
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
    advance_begin(blocking_call);
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

/* The release pairs with the acquire in blocking_call_is_done: a reader that
 * sees is_done sees the results. */
static void *blocking_call_run(void *argument)
{
    struct blocking_call *blocking_call = argument;
    const uint64_t one = 1;

    blocking_call->err.status = blocking_call_make(blocking_call);
    atomic_store_explicit(&blocking_call->is_done, true, memory_order_release);
    /* Fails only if the eventfd's counter is full: the loop is awake then. */
    if (write(blocking_call->wake_fd, &one, sizeof one) < 0)
        return NULL;
    return NULL;
}

static bool blocking_call_begin(struct blocking_call *blocking_call)
{
    blocking_call->has_begun = signals_thread(&blocking_call->thread,
                                              blocking_call_run, blocking_call);
    return blocking_call->has_begun;
}

/* --- which call a session gets --- */

/* Those who may only read can keep theirs busy, and not the operator's. */
static struct blocking_reads *reads_of(struct daemon *daemon,
                                       bool is_of_operator)
{
    return is_of_operator ? &daemon->admin_reads : &daemon->reads;
}

/* Where the daemon keeps the call that a session can get. */
static struct blocking_call **blocking_call_place(struct daemon *daemon,
                                                  enum blocking_call_kind kind,
                                                  struct blocking_reads *reads)
{
    if (kind != BLOCKING_CALL_WORKERS)
        return &daemon->order_call;
    return reads->current == NULL ? &reads->current : &reads->next;
}

static bool is_operator(const struct session *session)
{
    return (session->identity.rights & RIGHT_ADMIN) != 0;
}

/* What SEQ.WORKERS reads, and a reload that only checks, is no order. */
static void refusal_audit(struct session *session,
                          const struct blocking_call_order *order,
                          const char *reason)
{
    const bool is_advance = order->kind == BLOCKING_CALL_ADVANCE;

    if (is_advance || (order->kind == BLOCKING_CALL_RELOAD && !order->is_check))
        session_audit(session, audit_order_refused,
                      &(struct audit_entry){
                          .command = is_advance ? "SEQ.ADVANCE" : "SEQ.RELOAD",
                          .target = order->key,
                          .reason = reason});
}

static void refuse_busy(struct session *session,
                        const struct blocking_call_order *order)
{
    reply_error(&session->out, "ERR",
                "another order is waiting for the stores, try again");
    refusal_audit(session, order, "another order is waiting");
}

/* NULL if memory is short. */
static struct blocking_call *
blocking_call_new(const struct session *session,
                  const struct blocking_call_order *order)
{
    struct daemon *daemon = session->daemon;
    struct blocking_call *blocking_call = calloc(1, sizeof *blocking_call);

    if (blocking_call == NULL)
        return NULL;
    blocking_call->order = *order;
    blocking_call->broker = daemon->broker;
    blocking_call->reloader = daemon->reloader;
    blocking_call->audit = &daemon->access.audit;
    blocking_call->wake_fd = daemon->wake_fd;
    blocking_call->is_of_operator = is_operator(session);
    TAILQ_INIT(&blocking_call->sessions);
    (void)identity_name(&session->identity, blocking_call->user);
    identity_from(session->fd, blocking_call->from);
    blocking_call->by = identity_means_name(&session->identity);
    atomic_init(&blocking_call->is_done, false);
    return blocking_call;
}

bool blocking_call_start(struct session *session,
                         const struct blocking_call_order *order)
{
    struct daemon *daemon = session->daemon;
    struct blocking_reads *reads = reads_of(daemon, is_operator(session));
    struct blocking_call **place =
        blocking_call_place(daemon, order->kind, reads);
    struct blocking_call *blocking_call = *place;

    if (blocking_call != NULL && order->kind != BLOCKING_CALL_WORKERS) {
        refuse_busy(session, order);
        return false;
    }
    if (blocking_call == NULL)
        blocking_call = blocking_call_new(session, order);
    if (blocking_call == NULL ||
        (place != &reads->next && !blocking_call_begin(blocking_call))) {
        reply_error(&session->out, "ERR", "out of memory");
        refusal_audit(session, order, "out of memory");
        free(blocking_call);
        return false;
    }
    *place = blocking_call;
    TAILQ_INSERT_TAIL(&blocking_call->sessions, session, blocking_entry);
    session->blocking_call = blocking_call;
    return true;
}

/* --- the audit of its end --- */

/* `done` writes the line of an order that was carried out. */
static audit_function *audit_of(const struct blocking_call *call,
                                enum seqb_status status, audit_function *done)
{
    if (status == SEQB_OK)
        return done;
    return call->is_advanced ? audit_order_in_part : audit_order_refused;
}

static void order_audit(const struct blocking_call *call, audit_function *done,
                        struct audit_entry *entry, const struct seqb_error *err)
{
    entry->reason = err->status == SEQB_OK ? "" : err->text;
    order_write(call, audit_of(call, err->status, done), entry);
}

static void advance_audit(const struct blocking_call *call)
{
    struct advance_words words;
    struct audit_entry entry = advance_entry(call, &words);

    order_audit(call, audit_order_for_good, &entry, &call->err);
}

static void reload_audit(const struct blocking_call *call)
{
    char after[WORD_SIZE];
    struct audit_entry entry = {.command = "SEQ.RELOAD", .after = after};

    snprintf(after, sizeof after, "applied %zu, need a restart %zu",
             call->report.applied, call->report.restart);
    order_audit(call, audit_order, &entry, &call->report.err);
}

static void blocking_call_audit(const struct blocking_call *call)
{
    if (call->order.kind == BLOCKING_CALL_ADVANCE)
        advance_audit(call);
    else if (call->order.kind == BLOCKING_CALL_RELOAD && !call->order.is_check)
        reload_audit(call);
}

/* --- the end --- */

bool blocking_call_is_done(const struct blocking_call *blocking_call)
{
    return atomic_load_explicit(&blocking_call->is_done, memory_order_acquire);
}

/* Waits for its thread. */
static void blocking_call_free(struct blocking_call *blocking_call)
{
    if (blocking_call == NULL)
        return;
    if (blocking_call->has_begun) {
        pthread_join(blocking_call->thread, NULL);
        blocking_call_audit(blocking_call);
    }
    free(blocking_call->workers);
    reload_report_free(&blocking_call->report);
    free(blocking_call);
}

/* The current one has ended. If the next one cannot begin, it is done at
 * once. */
static void reads_advance(struct blocking_reads *reads)
{
    struct blocking_call *next = reads->next;
    const uint64_t one = 1;

    reads->current = next;
    reads->next = NULL;
    if (next == NULL || blocking_call_begin(next))
        return;
    next->err = (struct seqb_error){SEQB_NO_MEMORY, "out of memory"};
    atomic_store_explicit(&next->is_done, true, memory_order_release);
    (void)!write(next->wake_fd, &one, sizeof one);
}

static void blocking_call_remove(struct daemon *daemon,
                                 struct blocking_call *blocking_call)
{
    struct blocking_reads *reads =
        reads_of(daemon, blocking_call->is_of_operator);
    const bool is_current = reads->current == blocking_call;

    if (daemon->order_call == blocking_call)
        daemon->order_call = NULL;
    if (reads->next == blocking_call)
        reads->next = NULL;
    blocking_call_free(blocking_call);
    if (is_current)
        reads_advance(reads);
}

void blocking_call_leave(struct session *session)
{
    struct blocking_call *blocking_call = session->blocking_call;

    if (blocking_call == NULL)
        return;
    TAILQ_REMOVE(&blocking_call->sessions, session, blocking_entry);
    session->blocking_call = NULL;
    if (TAILQ_EMPTY(&blocking_call->sessions) && !blocking_call->has_begun)
        blocking_call_remove(session->daemon, blocking_call);
}

void blocking_call_end(struct session *session)
{
    struct blocking_call *blocking_call = session->blocking_call;
    const bool has_begun = blocking_call->has_begun;

    blocking_call_leave(session);
    if (has_begun && TAILQ_EMPTY(&blocking_call->sessions))
        blocking_call_remove(session->daemon, blocking_call);
}

void blocking_calls_end(struct daemon *daemon)
{
    struct blocking_call *const all[] = {
        daemon->order_call, daemon->reads.next, daemon->reads.current,
        daemon->admin_reads.next, daemon->admin_reads.current};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        blocking_call_free(all[i]);
    daemon->order_call = NULL;
    daemon->reads = daemon->admin_reads = (struct blocking_reads){NULL, NULL};
}

/* --- the end, as the loop sees it --- */

/* Whether sessions are left that have to be resumed. */
static bool blocking_call_poll(struct daemon *daemon,
                               struct blocking_call *blocking_call)
{
    struct session *session = NULL;
    bool has_more = false;

    if (blocking_call == NULL || !blocking_call_is_done(blocking_call))
        return false;
    session = TAILQ_FIRST(&blocking_call->sessions);
    if (session == NULL) {
        blocking_call_remove(daemon, blocking_call);
        return false;
    }
    has_more = TAILQ_NEXT(session, blocking_entry) != NULL;
    session->resume(session);
    return has_more;
}

bool blocking_calls_poll(struct daemon *daemon)
{
    const bool order = blocking_call_poll(daemon, daemon->order_call);
    const bool read = blocking_call_poll(daemon, daemon->reads.current);
    const bool admin = blocking_call_poll(daemon, daemon->admin_reads.current);

    return order || read || admin;
}
