/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/admitter.h"

#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/log.h"
#include "platform/thread.h"
#include "queue/key_list.h"
#include "queue/queue_state.h"
#include "queue/sequence_take.h"

#define BATCH    64     /* sequences that the stores are asked about at once */
#define AGAIN_US 100000 /* before they are asked again, after a failure */
#define LOOK_MS  200    /* between two looks at which stores can be asked */

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

/* With the catalog locked. A reload may have listed the key meanwhile, or
 * excluded it: it then has not counted the sequence as automatic. */
static bool counts_as_automatic(const struct queue *queue, const char *key)
{
    const struct queue_options *options = queue->options;
    bool is_listed = false;

    for (size_t i = 0; i < options->sequence_count && !is_listed; i++)
        is_listed = strcmp(options->sequences[i].key, key) == 0;
    return !is_listed && options_match(options, key);
}

/* It does not count as automatic any more. */
static void refuse(struct queue *queue, struct seqb_sequence *sequence)
{
    pthread_rwlock_wrlock(&queue->catalog_lock);
    queue->automatic -= counts_as_automatic(queue, sequence->key);
    sequence_has_number(sequence);
    sequence_settle(sequence, SEQUENCE_REFUSED);
    pthread_rwlock_unlock(&queue->catalog_lock);
}

/* --- sequences that are put off --- */

/* What a batch changed, for the log: the sequences that it put off, and those
 * that need not wait any more. */
struct put_off_changes {
    struct key_list unasked;
    struct key_list asked;
    struct seqb_sequence *first; /* of `unasked` */
};

/* Returns how many wait now. */
static size_t waiting_change(struct admitter *admitter, int by)
{
    size_t waiting;

    pthread_mutex_lock(&admitter->lock);
    admitter->waiting += (size_t)by;
    waiting = admitter->waiting;
    pthread_mutex_unlock(&admitter->lock);
    return waiting;
}

size_t admitter_waiting(struct queue *queue)
{
    return waiting_change(&queue->admitter, 0);
}

static void report_changes(struct queue *queue,
                           const struct put_off_changes *changes)
{
    const size_t waiting = waiting_change(&queue->admitter, 0);
    const struct key_list *unasked = &changes->unasked;
    const struct key_list *asked = &changes->asked;
    struct seqb_error why = {.text = ""};

    if (unasked->count > 0) {
        (void)ha_counter_availability(changes->first->counter, &why);
        log_reason(SEQB_LOG_WARN, why.text,
                   "event=unasked sequences=%zu keys=%s%s waiting=%zu",
                   unasked->count, unasked->names, key_list_rest(unasked),
                   waiting);
    }
    if (asked->count > 0)
        log_line(SEQB_LOG_INFO,
                 "event=asked sequences=%zu keys=%s%s waiting=%zu",
                 asked->count, asked->names, key_list_rest(asked), waiting);
}

/* The thread, or no other thread knows the sequence. */
static void put_off(struct queue *queue, struct seqb_sequence *sequence,
                    struct put_off_changes *changes)
{
    struct admitter *admitter = &queue->admitter;
    const uint64_t usable = ha_usable(queue->ha);
    const bool is_new = !sequence->is_put_off;
    const bool is_waiting = !sequence_is_removed(sequence);

    if (is_new) {
        if (changes->unasked.count == 0)
            changes->first = sequence;
        key_list_add(&changes->unasked, sequence->key);
    }
    sequence->is_put_off = true;
    pthread_mutex_lock(&admitter->lock);
    admitter->waiting += (size_t)(is_waiting - sequence->is_waiting);
    sequence->is_waiting = is_waiting;
    if (is_new && admitter->put_off == NULL)
        retry_begin(&admitter->retry, usable, clock_now_ms());
    sequence->next_aside = admitter->put_off;
    admitter->put_off = sequence;
    pthread_cond_signal(&admitter->changed);
    pthread_mutex_unlock(&admitter->lock);
}

/* The stores answered: the sequence has begun, or is refused. */
static void put_off_end(struct queue *queue, struct seqb_sequence *sequence,
                        struct put_off_changes *changes)
{
    if (!sequence->is_put_off)
        return;
    sequence->is_put_off = false;
    (void)waiting_change(&queue->admitter, -(int)sequence->is_waiting);
    sequence->is_waiting = false;
    key_list_add(&changes->asked, sequence->key);
}

/* With the lock held: those that were put off are next, if it is time. */
static bool put_off_ends(struct queue *queue)
{
    struct admitter *admitter = &queue->admitter;

    if (!retry_is_due(&admitter->retry, ha_usable(queue->ha), clock_now_ms()))
        return false;
    admitter->first = admitter->put_off;
    admitter->put_off = NULL;
    return true;
}

void admitter_retry_now(struct queue *queue)
{
    struct admitter *admitter = &queue->admitter;

    pthread_mutex_lock(&admitter->lock);
    admitter->retry.at_ms = clock_now_ms();
    pthread_cond_signal(&admitter->changed);
    pthread_mutex_unlock(&admitter->lock);
}

/* --- batches --- */

enum settled {
    SETTLED,
    SETTLED_NOT,  /* memory is short, or a store turned out to have another
                     layout. The next time that store is not asked */
    SETTLED_LATER /* a store of another pool, or every store of its own one,
                     cannot be asked */
};

/* `status` is of ha_admit. */
static enum settled settle(struct queue *queue, struct seqb_sequence *sequence,
                           enum seqb_status status,
                           struct put_off_changes *changes)
{
    if (ha_counter_availability(sequence->counter, NULL) == SEQB_LAYOUT) {
        put_off_end(queue, sequence, changes);
        refuse(queue, sequence);
        return SETTLED;
    }
    if (status != SEQB_OK)
        return SETTLED_NOT;
    if (ha_counter_is_unasked(sequence->counter))
        return SETTLED_LATER;
    put_off_end(queue, sequence, changes);
    sequence_settle(sequence, SEQUENCE_ADMITTED);
    return SETTLED;
}

static void put(struct admitter *admitter, struct seqb_sequence *sequence)
{
    pthread_mutex_lock(&admitter->lock);
    sequence->next_aside = admitter->first;
    admitter->first = sequence;
    pthread_cond_signal(&admitter->changed);
    pthread_mutex_unlock(&admitter->lock);
}

/* A sequence that the topology no longer lists is not claimed, since it may go
 * back to another pool. It stays put off until it is listed again. Returns how
 * many are left. */
static size_t skip_removed(struct queue *queue, struct seqb_sequence **batch,
                           size_t count)
{
    struct put_off_changes none = {.first = NULL};
    size_t left = 0;

    for (size_t i = 0; i < count; i++) {
        if (batch[i]->settings->is_removed)
            put_off(queue, batch[i], &none);
        else
            batch[left++] = batch[i];
    }
    return left;
}

static void admit_batch(struct queue *queue, struct seqb_sequence **batch,
                        size_t count)
{
    struct ha_counter *counters[BATCH];
    struct put_off_changes changes = {.first = NULL};
    struct seqb_error err;
    enum seqb_status status;
    bool is_settled = true;

    for (size_t i = 0; i < count; i++)
        counters[i] = batch[i]->counter;
    status = admit(queue, counters, count, &err);
    for (size_t i = 0; i < count; i++) {
        const enum settled settled = settle(queue, batch[i], status, &changes);

        if (settled == SETTLED_LATER)
            put_off(queue, batch[i], &changes);
        if (settled != SETTLED_NOT)
            continue;
        is_settled = false;
        put(&queue->admitter, batch[i]);
    }
    report_changes(queue, &changes);
    if (!is_settled)
        thread_rest_us(AGAIN_US);
}

/* With the lock held: waits for sequences. */
static void take_await(struct queue *queue)
{
    struct admitter *admitter = &queue->admitter;

    while (admitter->first == NULL && !admitter->is_stopping) {
        if (admitter->put_off == NULL)
            pthread_cond_wait(&admitter->changed, &admitter->lock);
        else if (!put_off_ends(queue))
            (void)condition_wait(&admitter->changed, &admitter->lock,
                                 clock_now_ms() + LOOK_MS);
    }
}

/* Waits for sequences, and takes some. 0: the thread has to end. */
static size_t take(struct queue *queue, struct seqb_sequence **batch)
{
    struct admitter *admitter = &queue->admitter;
    size_t count = 0;

    pthread_mutex_lock(&admitter->lock);
    take_await(queue);
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

    while ((count = take(queue, batch)) > 0) {
        count = skip_removed(queue, batch, count);
        if (count > 0)
            admit_batch(queue, batch, count);
    }
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

static enum seqb_status admitter_start(struct queue *queue,
                                       struct seqb_error *err)
{
    struct admitter *admitter = &queue->admitter;
    enum seqb_status status = SEQB_OK;

    pthread_mutex_lock(&admitter->lock);
    if (admitter->is_stopping)
        status = error_set(err, SEQB_CLOSED, "the broker is closing");
    else if (!admitter->is_started)
        status = thread_start(&admitter->thread, "seqb:admit", admitter_run,
                              queue, err);
    admitter->is_started = admitter->is_started || status == SEQB_OK;
    pthread_mutex_unlock(&admitter->lock);
    return status;
}

enum seqb_status admitter_add(struct queue *queue,
                              struct seqb_sequence *sequence,
                              struct seqb_error *err)
{
    const enum seqb_status status = admitter_start(queue, err);

    if (status != SEQB_OK)
        return status;
    atomic_store(&sequence->settings->admission, SEQUENCE_ADMITTING);
    put(&queue->admitter, sequence);
    return SEQB_OK;
}

enum seqb_status admitter_expect(struct queue *queue,
                                 struct seqb_sequence *const *sequences,
                                 size_t count, struct seqb_error *err)
{
    bool is_any = false;

    for (size_t i = 0; i < count; i++) {
        if (!ha_counter_is_unasked(sequences[i]->counter))
            continue;
        atomic_store(&sequences[i]->settings->admission, SEQUENCE_ADMITTING);
        is_any = true;
    }
    return is_any ? admitter_start(queue, err) : SEQB_OK;
}

void admitter_put_off(struct queue *queue,
                      struct seqb_sequence *const *sequences, size_t count)
{
    struct put_off_changes changes = {.first = NULL};

    for (size_t i = 0; i < count; i++) {
        if (sequence_admission(sequences[i]) == SEQUENCE_ADMITTING)
            put_off(queue, sequences[i], &changes);
    }
    report_changes(queue, &changes);
}

enum seqb_status admitter_wait(struct seqb_sequence *sequence,
                               struct seqb_error *err)
{
    const int64_t until_ms = sequence_until(sequence);
    bool goes_on = true;

    pthread_mutex_lock(&sequence->lock);
    while (sequence_admission(sequence) == SEQUENCE_ADMITTING &&
           !sequence_is_removed(sequence) && goes_on)
        goes_on = condition_wait(&sequence->filled, &sequence->lock, until_ms);
    pthread_mutex_unlock(&sequence->lock);
    if (sequence_is_removed(sequence))
        return sequence_unlisted(sequence, err);
    return sequence_admission(sequence) == SEQUENCE_ADMITTING
               ? sequence_admitting(sequence, SEQB_UNAVAILABLE, err)
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
