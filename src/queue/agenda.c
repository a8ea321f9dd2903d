/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/agenda.h"

#include "platform/minmax.h"
#include "platform/thread.h"
#include "queue/sequence.h"

void agenda_init(struct agenda *agenda)
{
    *agenda = (struct agenda){.poll_ms = INT64_MAX};
    pthread_mutex_init(&agenda->lock, NULL);
    condition_init(&agenda->changed);
}

void agenda_fini(struct agenda *agenda)
{
    pthread_cond_destroy(&agenda->changed);
    pthread_mutex_destroy(&agenda->lock);
}

/* With the lock held. */
static void activate(struct agenda *agenda, struct seqb_sequence *sequence)
{
    sequence->is_active = true;
    sequence->next_active = agenda->active;
    agenda->active = sequence;
}

void agenda_wake(struct agenda *agenda, struct seqb_sequence *sequence)
{
    pthread_mutex_lock(&agenda->lock);
    sequence->is_woken = true;
    if (!sequence->is_active)
        activate(agenda, sequence);
    agenda->is_woken = true;
    pthread_cond_signal(&agenda->changed);
    pthread_mutex_unlock(&agenda->lock);
}

void agenda_poll_at(struct agenda *agenda, int64_t poll_ms)
{
    pthread_mutex_lock(&agenda->lock);
    if (poll_ms < agenda->poll_ms)
        agenda->poll_ms = poll_ms;
    pthread_mutex_unlock(&agenda->lock);
}

void agenda_stop(struct agenda *agenda)
{
    pthread_mutex_lock(&agenda->lock);
    agenda->is_stopping = true;
    pthread_cond_signal(&agenda->changed);
    pthread_mutex_unlock(&agenda->lock);
}

bool agenda_wait(struct agenda *agenda, int64_t until_ms, int64_t latest_ms,
                 struct seqb_sequence **list)
{
    bool in_time = true;
    bool goes_on;

    *list = NULL;
    pthread_mutex_lock(&agenda->lock);
    while (!agenda->is_woken && !agenda->is_stopping && in_time) {
        if (agenda->active == NULL || agenda->poll_ms < until_ms)
            until_ms = agenda->poll_ms;
        in_time = condition_wait(&agenda->changed, &agenda->lock,
                                 min_of(until_ms, latest_ms));
    }
    if (agenda->is_woken || until_ms <= latest_ms) {
        agenda->is_woken = false;
        *list = agenda->active;
        agenda->active = NULL;
    }
    goes_on = !agenda->is_stopping;
    pthread_mutex_unlock(&agenda->lock);
    return goes_on;
}

bool agenda_is_due(struct agenda *agenda, int64_t now_ms)
{
    bool is_due;

    pthread_mutex_lock(&agenda->lock);
    is_due = agenda->poll_ms <= now_ms;
    if (is_due)
        agenda->poll_ms = INT64_MAX;
    pthread_mutex_unlock(&agenda->lock);
    return is_due;
}

struct seqb_sequence *agenda_begin(struct agenda *agenda,
                                   struct seqb_sequence *sequence)
{
    struct seqb_sequence *next = sequence->next_active;

    pthread_mutex_lock(&agenda->lock);
    sequence->is_woken = false;
    pthread_mutex_unlock(&agenda->lock);
    return next;
}

void agenda_end(struct agenda *agenda, struct seqb_sequence *sequence,
                bool stays)
{
    pthread_mutex_lock(&agenda->lock);
    sequence->is_active = false;
    if (stays || sequence->is_woken)
        activate(agenda, sequence);
    pthread_mutex_unlock(&agenda->lock);
}
