/* SPDX-License-Identifier: Apache-2.0 */
/* A worker as others see it: what is posted to it. Its thread is in serve.c. */
#include "ha/worker.h"

#include <stdlib.h>

#include "platform/error.h"
#include "platform/thread.h"

enum seqb_status worker_init(struct worker *worker, size_t duties,
                             struct seqb_error *err)
{
    worker->duties = calloc(duties + 1, sizeof *worker->duties);
    if (worker->duties == NULL)
        return error_set(err, SEQB_NO_MEMORY, "backend %s: out of memory",
                         worker_name(worker));
    pthread_mutex_init(&worker->lock, NULL);
    condition_init(&worker->changed);
    return SEQB_OK;
}

void worker_fini(struct worker *worker)
{
    if (worker->duties == NULL)
        return;
    pthread_cond_destroy(&worker->changed);
    pthread_mutex_destroy(&worker->lock);
    free(worker->duties);
}

bool worker_post(struct worker *worker, struct worker_job *job)
{
    bool is_open;

    pthread_mutex_lock(&worker->lock);
    is_open = !worker->is_stopping;
    if (is_open) {
        job->next = NULL;
        if (worker->first == NULL)
            worker->first = job;
        else
            worker->last->next = job;
        worker->last = job;
        pthread_cond_signal(&worker->changed);
    }
    pthread_mutex_unlock(&worker->lock);
    return is_open;
}

void worker_wake(struct worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->is_woken = true;
    pthread_cond_signal(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
}

struct worker_job *worker_take(struct worker *worker)
{
    struct worker_job *jobs;

    pthread_mutex_lock(&worker->lock);
    jobs = worker->first;
    worker->first = NULL;
    worker->last = NULL;
    pthread_mutex_unlock(&worker->lock);
    return jobs;
}

void worker_stop(struct worker *worker)
{
    if (worker->duties == NULL)
        return;
    pthread_mutex_lock(&worker->lock);
    worker->is_stopping = true;
    pthread_cond_signal(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
}

void worker_join(struct worker *worker)
{
    if (worker->is_started)
        pthread_join(worker->thread, NULL);
    worker->is_started = false;
}

struct bits_layout worker_local_bits(const struct worker *worker)
{
    const struct seqb_backend_options *options =
        &worker->connection.options->options;

    return (struct bits_layout){.epoch_ms = options->epoch_ms,
                                .unit_ms = 1,
                                .time = options->time_bits,
                                .shard = options->worker_bits,
                                .counter = options->counter_bits};
}
