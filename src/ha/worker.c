/* SPDX-License-Identifier: Apache-2.0 */
/* Posting jobs to a worker, and its start and end. Its thread is in serve.c. */
#include "ha/worker.h"

#include <stdlib.h>

#include "platform/error.h"
#include "platform/thread.h"

enum seqb_status worker_init(struct worker *worker, pthread_mutex_t *lock,
                             size_t memberships, struct seqb_error *err)
{
    worker->memberships = calloc(memberships + 1, sizeof *worker->memberships);
    if (worker->memberships == NULL)
        return error_set(err, SEQB_NO_MEMORY, "backend %s: out of memory",
                         worker_name(worker));
    worker->lock = lock;
    worker->wanted = worker->connection.options;
    worker->wanted_endpoint = worker->connection.endpoint;
    condition_init(&worker->changed);
    return SEQB_OK;
}

void worker_fini(struct worker *worker)
{
    if (worker->memberships == NULL)
        return;
    pthread_cond_destroy(&worker->changed);
    free(worker->memberships);
}

bool worker_post(struct worker *worker, struct worker_job *job)
{
    bool is_open;

    pthread_mutex_lock(worker->lock);
    is_open = worker_push(worker, job);
    pthread_mutex_unlock(worker->lock);
    return is_open;
}

/* On the worker's thread, which then connects again, as always when it is not
 * connected. */
static void again_run(struct worker *worker, struct worker_job *job)
{
    const struct store_options *options;
    struct endpoint *endpoint;

    (void)job;
    pthread_mutex_lock(worker->lock);
    worker->is_again_posted = false;
    options = worker->wanted;
    endpoint = worker->wanted_endpoint;
    pthread_mutex_unlock(worker->lock);
    connection_close(&worker->connection);
    connection_change(&worker->connection, options, endpoint);
}

void worker_connect_again(struct worker *worker)
{
    if (worker->is_again_posted)
        return;
    worker->again.call = again_run;
    worker->is_again_posted = worker_push(worker, &worker->again);
}

void worker_change(struct worker *worker, const struct store_options *options,
                   struct endpoint *endpoint)
{
    worker->wanted = options;
    worker->wanted_endpoint = endpoint;
    worker_connect_again(worker);
}

void worker_wake(struct worker *worker)
{
    pthread_mutex_lock(worker->lock);
    pthread_cond_signal(&worker->changed);
    pthread_mutex_unlock(worker->lock);
}

void worker_stop(struct worker *worker)
{
    if (worker->memberships == NULL)
        return;
    pthread_mutex_lock(worker->lock);
    worker->is_stopping = true;
    pthread_cond_signal(&worker->changed);
    pthread_mutex_unlock(worker->lock);
}

void worker_join(struct worker *worker)
{
    if (worker->is_started)
        pthread_join(worker->thread, NULL);
    worker->is_started = false;
}
