/* SPDX-License-Identifier: Apache-2.0 */
/* Posting a question, waiting for the answer, and freeing the question. */
#include "ha/ask.h"

#include <stdlib.h>

#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/thread.h"

#define LOOK_MS 50 /* between two looks at whether the broker closes */

void ask_answer(struct ask *ask, const struct seqb_error *why)
{
    bool is_abandoned;

    pthread_mutex_lock(&ask->lock);
    ask->error.status = SEQB_OK;
    if (why != NULL)
        ask->error = *why;
    ask->is_answered = true;
    is_abandoned = ask->is_abandoned;
    pthread_cond_signal(&ask->changed);
    pthread_mutex_unlock(&ask->lock);
    if (is_abandoned)
        ask->free(ask);
}

void ask_step(struct ask *ask)
{
    pthread_mutex_lock(&ask->lock);
    ask->steps++;
    pthread_cond_signal(&ask->changed);
    pthread_mutex_unlock(&ask->lock);
}

static void ask_run(struct worker *worker, struct worker_job *job)
{
    struct ask *ask = (struct ask *)job;
    struct seqb_error err;
    const enum seqb_status status = ask->call(worker, ask, &err);

    ask_answer(ask, status == SEQB_OK ? NULL : &err);
}

static void ask_closed(struct worker_job *job)
{
    struct seqb_error why;

    (void)error_set(&why, SEQB_CLOSED, "the broker is closing");
    ask_answer((struct ask *)job, &why);
}

void ask_init(struct ask *ask,
              enum seqb_status (*call)(struct worker *worker, struct ask *ask,
                                       struct seqb_error *err),
              void (*free)(struct ask *ask))
{
    ask->job.call = ask_run;
    ask->job.abandon = ask_closed;
    ask->posted = &ask->job;
    ask->call = call;
    ask->free = free;
    pthread_mutex_init(&ask->lock, NULL);
    condition_init(&ask->changed);
}

void ask_fini(struct ask *ask)
{
    pthread_cond_destroy(&ask->changed);
    pthread_mutex_destroy(&ask->lock);
}

void ask_free(struct ask *ask)
{
    ask_fini(ask);
    free(ask);
}

/* When the broker closes: the time until which it still waits; else
 * INT64_MAX. */
static int64_t limit_of(const struct ask *ask)
{
    return ask->limit_ms == NULL
               ? INT64_MAX
               : atomic_load_explicit(ask->limit_ms, memory_order_relaxed);
}

bool ask_is_over(const struct ask *ask)
{
    return limit_of(ask) != INT64_MAX;
}

bool ask_post(struct worker *worker, struct ask *ask)
{
    ask->limit_ms = worker->limit_ms;
    return worker_post(worker, ask->posted);
}

/* With the lock held: waits a moment for a change. False if the time is
 * over. */
static bool ask_rest(struct ask *ask, int64_t until_ms)
{
    const int64_t now_ms = clock_now_ms();
    const int64_t latest_ms = min_of(until_ms, limit_of(ask));

    if (now_ms >= latest_ms)
        return false;
    (void)condition_wait(&ask->changed, &ask->lock,
                         min_of(latest_ms, now_ms + LOOK_MS));
    return true;
}

bool ask_wait(struct ask *ask, int64_t until_ms)
{
    bool in_time = true;
    bool is_answered;

    pthread_mutex_lock(&ask->lock);
    while (!ask->is_answered && in_time)
        in_time = ask_rest(ask, until_ms);
    is_answered = ask->is_answered;
    pthread_mutex_unlock(&ask->lock);
    return is_answered;
}

bool ask_wait_steps(struct ask *ask, int64_t patience_ms)
{
    int64_t until_ms = clock_now_ms() + patience_ms;
    bool gets_on = true;
    bool is_answered;

    pthread_mutex_lock(&ask->lock);
    while (!ask->is_answered && gets_on) {
        const uint64_t steps = ask->steps;

        gets_on = ask_rest(ask, until_ms);
        if (ask->steps != steps)
            until_ms = clock_now_ms() + patience_ms;
    }
    is_answered = ask->is_answered;
    pthread_mutex_unlock(&ask->lock);
    return is_answered;
}

void ask_release(struct ask *ask)
{
    bool is_answered;

    pthread_mutex_lock(&ask->lock);
    is_answered = ask->is_answered;
    ask->is_abandoned = !is_answered;
    pthread_mutex_unlock(&ask->lock);
    if (is_answered)
        ask->free(ask);
}

bool worker_ask(struct worker *worker, struct ask *ask, int64_t until_ms,
                struct seqb_error *err)
{
    if (!ask_post(worker, ask)) {
        ask->free(ask);
        (void)error_set(err, SEQB_CLOSED, "the broker is closing");
        return false;
    }
    if (ask_wait(ask, until_ms))
        return true;
    ask_release(ask);
    (void)error_set(err, SEQB_UNAVAILABLE, "no answer in time");
    return false;
}
