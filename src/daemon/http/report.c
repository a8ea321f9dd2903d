/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a report, and the exchanges that wait; see report.h. */
#include "daemon/http/report.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "daemon/http/exchange.h"
#include "daemon/http/problem.h"
#include "daemon/http/snapshot.h"
#include "daemon/signals.h"

/* Reports that may wait. Further requests are refused, because each report
 * takes memory for every sequence. */
#define WAITING_MAX 16

struct report {
    struct pending pending; /* first; its exchange is NULL once cancelled */
    struct reports *reports;
    struct report_order order;
    TAILQ_ENTRY(report) entry; /* in reports->waiting, unless it runs */
    pthread_t thread;
    /* Owned by the thread until is_done. */
    struct snapshot snapshot;
    struct buffer text;
    atomic_bool is_done;
};

TAILQ_HEAD(report_list, report);

struct reports {
    struct daemon *daemon;
    struct report *running; /* or NULL */
    struct report_list waiting;
    size_t waiting_count;
    int done_fd; /* an eventfd: the running report is done */
    struct event *done;
};

static void report_free(struct report *report)
{
    snapshot_fini(&report->snapshot);
    buffer_fini(&report->text);
    free(report);
}

/* The release pairs with the acquire in reports_on_done: a reader that sees
 * is_done sees the text. */
static void *report_run(void *argument)
{
    struct report *report = argument;
    const uint64_t one = 1;

    if (snapshot_read(&report->snapshot))
        report->order.write(&report->text, &report->snapshot);
    else
        report->text.is_broken = true;
    atomic_store_explicit(&report->is_done, true, memory_order_release);
    /* Fails only if the eventfd's counter is full: the loop is awake then. */
    if (write(report->reports->done_fd, &one, sizeof one) < 0)
        return NULL;
    return NULL;
}

static void text_free(const void *data, size_t length, void *context)
{
    (void)data;
    (void)length;
    free(context);
}

/* Releases unused capacity: the buffer grew by doubling, and may be held for
 * long. */
static void text_trim(struct buffer *text)
{
    char *data = text->length > 0 && text->start == 0
                     ? realloc(text->data, text->length)
                     : NULL;

    if (data == NULL)
        return;
    text->data = data;
    text->capacity = text->length;
}

/* Answers that clients hold too much memory already. */
static void report_refuse(struct exchange *exchange)
{
    exchange->exchanges->daemon->limits.answers_refused++;
    problem_answer(exchange, HTTP_SERVUNAVAIL, "OOM",
                   "clients hold all of max_client_memory, try again");
}

/* Answers with the text, without copying it. */
static void report_answer(struct report *report)
{
    struct exchange *exchange = report->pending.exchange;
    struct evbuffer *body = evbuffer_new();
    struct buffer *text = &report->text;

    exchange_resume(exchange);
    text_trim(text);
    if (!exchange_may_hold(exchange, text->length)) {
        report_refuse(exchange);
    } else if (body == NULL || text->is_broken ||
               evbuffer_add_reference(body, buffer_content(text), text->length,
                                      text_free, text->data) != 0) {
        problem_answer_short(exchange);
    } else {
        *text = (struct buffer){0};
        exchange_answer(exchange, HTTP_OK, report->order.type, body);
    }
    if (body != NULL)
        evbuffer_free(body);
}

/* Removes and returns the first waiting report; NULL if there is none. */
static struct report *reports_take(struct reports *reports)
{
    struct report *report = TAILQ_FIRST(&reports->waiting);

    if (report == NULL)
        return NULL;
    TAILQ_REMOVE(&reports->waiting, report, entry);
    reports->waiting_count--;
    return report;
}

/* Runs a report that was removed from the queue. Answers that were made while
 * it waited may have used up the memory. */
static void report_run_next(struct reports *reports, struct report *report)
{
    struct exchange *exchange = report->pending.exchange;
    const bool is_full = limits_are_full(&reports->daemon->limits);

    if (!is_full) {
        snapshot_begin(&report->snapshot, reports->daemon, report->order.most);
        if (signals_thread(&report->thread, report_run, report)) {
            reports->running = report;
            return;
        }
    }
    exchange_resume(exchange);
    report_free(report);
    if (is_full)
        report_refuse(exchange);
    else
        problem_answer_short(exchange);
}

/* Starts waiting reports until one runs. */
static void reports_run(struct reports *reports)
{
    struct report *report = NULL;

    while (reports->running == NULL && (report = reports_take(reports)) != NULL)
        report_run_next(reports, report);
}

static void reports_on_done(evutil_socket_t fd, short events, void *context)
{
    struct reports *reports = context;
    struct report *report = reports->running;
    uint64_t count = 0;

    (void)events;
    (void)!read(fd, &count, sizeof count);
    if (report == NULL ||
        !atomic_load_explicit(&report->is_done, memory_order_acquire))
        return;
    pthread_join(report->thread, NULL);
    reports->running = NULL;
    if (report->pending.exchange != NULL)
        report_answer(report);
    report_free(report);
    reports_run(reports);
}

/* A running report is freed later, when it is done. */
static void report_cancel(struct pending *pending)
{
    struct report *report = (struct report *)pending;
    struct reports *reports = report->reports;

    pending->exchange = NULL;
    if (report == reports->running)
        return;
    TAILQ_REMOVE(&reports->waiting, report, entry);
    reports->waiting_count--;
    report_free(report);
}

void report_start(struct exchange *exchange, const struct report_order *order)
{
    struct reports *reports = exchange->exchanges->reports;
    struct report *report = NULL;

    if (limits_are_full(&reports->daemon->limits)) {
        report_refuse(exchange);
        return;
    }
    if (reports->waiting_count < WAITING_MAX)
        report = calloc(1, sizeof *report);
    if (report == NULL) {
        problem_answer(exchange, HTTP_SERVUNAVAIL, "AGAIN",
                       "too many requests wait for a report, try again");
        return;
    }
    report->pending.cancel = report_cancel;
    report->reports = reports;
    report->order = *order;
    atomic_init(&report->is_done, false);
    TAILQ_INSERT_TAIL(&reports->waiting, report, entry);
    reports->waiting_count++;
    exchange_wait(exchange, &report->pending);
    reports_run(reports);
}

struct reports *reports_open(struct daemon *daemon, struct event_base *base)
{
    struct reports *reports = calloc(1, sizeof *reports);

    if (reports == NULL)
        return NULL;
    reports->daemon = daemon;
    TAILQ_INIT(&reports->waiting);
    reports->done_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (reports->done_fd >= 0)
        reports->done = event_new(base, reports->done_fd, EV_READ | EV_PERSIST,
                                  reports_on_done, reports);
    if (reports->done == NULL || event_add(reports->done, NULL) != 0) {
        reports_close(reports);
        return NULL;
    }
    return reports;
}

void reports_close(struct reports *reports)
{
    if (reports == NULL)
        return;
    if (reports->running != NULL) {
        pthread_join(reports->running->thread, NULL);
        report_free(reports->running);
    }
    if (reports->done != NULL)
        event_free(reports->done);
    if (reports->done_fd >= 0)
        close(reports->done_fd);
    free(reports);
}
