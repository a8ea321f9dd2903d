/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/admitter.h"

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/thread.h"
#include "queue/queue_state.h"
#include "queue/sequence_take.h"

#define BATCH    64     /* sequences that the stores are asked about at once */
#define AGAIN_US 100000 /* before they are asked again, after a failure */

static enum seqb_status admit(struct queue *queue,
                              struct ha_counter *const *counters, size_t count,
                              struct seqb_error *err)
{
    enum seqb_status status;

    pthread_mutex_lock(&queue->admit_lock);
    status = ha_admit(queue->ha, counters, count, err);
    pthread_mutex_unlock(&queue->admit_lock);
    return status;
}

/* It does not count as automatic any more. */
static void refuse(struct queue *queue, struct seqb_sequence *sequence)
{
    pthread_rwlock_wrlock(&queue->catalog_lock);
    queue->automatic--;
    sequence_has_number(sequence);
    sequence_settle(sequence, SEQUENCE_REFUSED);
    pthread_rwlock_unlock(&queue->catalog_lock);
}

/* `status` is of ha_admit. False if the sequence has to be asked about again:
 * memory is short, or a store turned out to have another layout. The next time
 * that store is not asked. */
static bool settle(struct queue *queue, struct seqb_sequence *sequence,
                   enum seqb_status status)
{
    if (ha_counter_availability(sequence->counter, NULL) == SEQB_LAYOUT)
        refuse(queue, sequence);
    else if (status == SEQB_OK)
        sequence_settle(sequence, SEQUENCE_ADMITTED);
    else
        return false;
    return true;
}

static void put(struct admitter *admitter, struct seqb_sequence *sequence)
{
    pthread_mutex_lock(&admitter->lock);
    sequence->next_aside = admitter->first;
    admitter->first = sequence;
    pthread_cond_signal(&admitter->changed);
    pthread_mutex_unlock(&admitter->lock);
}

static void admit_batch(struct queue *queue, struct seqb_sequence **batch,
                        size_t count)
{
    struct ha_counter *counters[BATCH];
    struct seqb_error err;
    enum seqb_status status;
    bool is_settled = true;

    for (size_t i = 0; i < count; i++)
        counters[i] = batch[i]->counter;
    status = admit(queue, counters, count, &err);
    for (size_t i = 0; i < count; i++) {
        if (settle(queue, batch[i], status))
            continue;
        is_settled = false;
        put(&queue->admitter, batch[i]);
    }
    if (!is_settled)
        thread_rest_us(AGAIN_US);
}

/* Waits for sequences, and takes some. 0: the thread has to end. */
static size_t take(struct admitter *admitter, struct seqb_sequence **batch)
{
    size_t count = 0;

    pthread_mutex_lock(&admitter->lock);
    while (admitter->first == NULL && !admitter->is_stopping)
        pthread_cond_wait(&admitter->changed, &admitter->lock);
    while (admitter->first != NULL && count < BATCH && !admitter->is_stopping) {
        batch[count++] = admitter->first;
        admitter->first = admitter->first->next_aside;
    }
    pthread_mutex_unlock(&admitter->lock);
    return count;
}

static void *admitter_run(void *argument)
{
    struct queue *queue = argument;
    struct seqb_sequence *batch[BATCH];
    size_t count;

    while ((count = take(&queue->admitter, batch)) > 0)
        admit_batch(queue, batch, count);
    return NULL;
}

void admitter_init(struct admitter *admitter)
{
    pthread_mutex_init(&admitter->lock, NULL);
    condition_init(&admitter->changed);
}

void admitter_fini(struct admitter *admitter)
{
    pthread_cond_destroy(&admitter->changed);
    pthread_mutex_destroy(&admitter->lock);
}

enum seqb_status admitter_add(struct queue *queue,
                              struct seqb_sequence *sequence,
                              struct seqb_error *err)
{
    struct admitter *admitter = &queue->admitter;
    enum seqb_status status = SEQB_OK;

    pthread_mutex_lock(&admitter->lock);
    if (!admitter->is_started)
        status = thread_start(&admitter->thread, "seqb:admit", admitter_run,
                              queue, err);
    admitter->is_started = status == SEQB_OK;
    pthread_mutex_unlock(&admitter->lock);
    if (status != SEQB_OK)
        return status;
    atomic_store(&sequence->settings->admission, SEQUENCE_ADMITTING);
    put(admitter, sequence);
    return SEQB_OK;
}

enum seqb_status admitter_wait(struct seqb_sequence *sequence,
                               struct seqb_error *err)
{
    const int64_t until_ms = sequence_until(sequence);
    bool goes_on = true;

    pthread_mutex_lock(&sequence->lock);
    while (sequence_admission(sequence) == SEQUENCE_ADMITTING && goes_on)
        goes_on = condition_wait(&sequence->filled, &sequence->lock, until_ms);
    pthread_mutex_unlock(&sequence->lock);
    if (sequence_admission(sequence) == SEQUENCE_ADMITTING)
        return sequence_admitting(sequence, SEQB_UNAVAILABLE, err);
    return sequence_is_removed(sequence) ? sequence_unlisted(sequence, err)
                                         : SEQB_OK;
}

void admitter_stop(struct admitter *admitter)
{
    pthread_mutex_lock(&admitter->lock);
    admitter->is_stopping = true;
    pthread_cond_signal(&admitter->changed);
    pthread_mutex_unlock(&admitter->lock);
    if (admitter->is_started)
        pthread_join(admitter->thread, NULL);
    admitter->is_started = false;
}
