/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of an errand, and how the loop hears of its end. */
#include "daemon/errand.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "daemon/session.h"
#include "daemon/signals.h"

#define WORKERS_ROOM 1024 /* as many as a snowflake has by default */

static enum seqb_status workers_read(struct errand *errand, size_t room)
{
    struct seqb_worker *workers =
        realloc(errand->workers, room * sizeof *workers);

    if (workers == NULL) {
        errand->err.status = SEQB_NO_MEMORY;
        snprintf(errand->err.text, sizeof errand->err.text, "out of memory");
        return SEQB_NO_MEMORY;
    }
    errand->workers = workers;
    return seqb_workers(errand->broker, workers, sizeof *workers, room,
                        &errand->worker_count, &errand->err);
}

/* Those that are taken first between two calls are left out. */
static enum seqb_status workers_list(struct errand *errand)
{
    size_t room = WORKERS_ROOM;
    enum seqb_status status = workers_read(errand, room);

    if (status == SEQB_OK && errand->worker_count > room) {
        room = errand->worker_count;
        status = workers_read(errand, room);
    }
    if (errand->worker_count > room)
        errand->worker_count = room;
    return status;
}

static enum seqb_status errand_call(struct errand *errand)
{
    switch (errand->order.kind) {
    case ERRAND_ADVANCE:
        return seqb_advance(errand->broker, errand->order.key, errand->order.to,
                            &errand->err);
    case ERRAND_WORKERS:
        return workers_list(errand);
    }
    return SEQB_OK;
}

/* The release pairs with the acquire in errand_poll: who sees the mark sees
 * what was answered. */
static void *errand_run(void *argument)
{
    struct errand *errand = argument;
    const uint64_t one = 1;

    if (errand_call(errand) == SEQB_OK)
        errand->err.status = SEQB_OK;
    atomic_store_explicit(&errand->is_done, true, memory_order_release);
    /* It fails only if 2^64 - 2 wake-ups are waiting to be seen. */
    if (write(errand->wake_fd, &one, sizeof one) < 0)
        return NULL;
    return NULL;
}

bool errand_start(struct session *session, const struct errand_order *order)
{
    struct daemon *daemon = session->daemon;
    struct errand *errand;

    if (daemon->errand != NULL) {
        reply_error(&session->out, "ERR",
                    "another command is waiting for the stores, try again");
        return false;
    }
    errand = calloc(1, sizeof *errand);
    if (errand != NULL) {
        errand->order = *order;
        errand->broker = daemon->broker;
        errand->wake_fd = daemon->wake_fd;
        errand->session = session;
        atomic_init(&errand->is_done, false);
    }
    if (errand == NULL ||
        !signals_thread(&errand->thread, errand_run, errand)) {
        reply_error(&session->out, "ERR", "out of memory");
        free(errand);
        return false;
    }
    daemon->errand = errand;
    session->errand = errand;
    return true;
}

struct session *errand_poll(struct daemon *daemon)
{
    const struct errand *errand = daemon->errand;

    if (errand == NULL ||
        !atomic_load_explicit(&errand->is_done, memory_order_acquire))
        return NULL;
    if (errand->session != NULL)
        return errand->session;
    errand_end(daemon);
    return NULL;
}

void errand_end(struct daemon *daemon)
{
    if (daemon->errand == NULL)
        return;
    pthread_join(daemon->errand->thread, NULL);
    if (daemon->errand->session != NULL)
        daemon->errand->session->errand = NULL;
    free(daemon->errand->workers);
    free(daemon->errand);
    daemon->errand = NULL;
}
