/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/refilling.h"

#include <pthread.h>

#include "queue/sequence.h"
#include "support/rig.h"

static struct {
    pthread_mutex_t lock; /* guards the next one */
    pthread_cond_t changed;
    bool is_held;
} refilling = {.lock = PTHREAD_MUTEX_INITIALIZER,
               .changed = PTHREAD_COND_INITIALIZER};

static void set_held(bool is_held)
{
    pthread_mutex_lock(&refilling.lock);
    refilling.is_held = is_held;
    pthread_cond_broadcast(&refilling.changed);
    pthread_mutex_unlock(&refilling.lock);
}

static void await(bool is_held)
{
    pthread_mutex_lock(&refilling.lock);
    while (refilling.is_held != is_held)
        pthread_cond_wait(&refilling.changed, &refilling.lock);
    pthread_mutex_unlock(&refilling.lock);
}

static bool poll_held(struct seqb_sequence *sequence, int64_t now_ms,
                      int64_t *next_ms)
{
    (void)sequence;
    (void)now_ms;
    *next_ms = INT64_MAX;
    set_held(true);
    await(false);
    return false;
}

/* What the refill thread polls no more may be changed. */
static bool is_left_alone(void *context)
{
    struct seqb_sequence *sequence = context;
    struct agenda *agenda = &sequence->context->agenda;
    bool is_active;

    pthread_mutex_lock(&agenda->lock);
    is_active = sequence->is_active;
    pthread_mutex_unlock(&agenda->lock);
    return !is_active;
}

void refilling_hold_at(struct seqb_sequence *sequence)
{
    static struct source source;

    rig_await(is_left_alone, sequence);
    source = *sequence->source;
    source.refill = poll_held;
    sequence->source = &source;
    sequence_wake(sequence);
    await(true);
}

void refilling_release(void)
{
    set_held(false);
}
