/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which sequences the refill thread looks at next, and when. Any thread adds to
 * it; the refill thread waits for it. Private to this folder.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct seqb_sequence;

struct agenda {
    pthread_mutex_t lock; /* guards what follows, and the sequences' flags */
    pthread_cond_t changed;
    struct seqb_sequence *active; /* to be looked at in the next interval */
    int64_t poll_ms; /* when one that is in no list is due; INT64_MAX */
    bool is_woken;
    bool is_stopping;
};

void agenda_init(struct agenda *agenda);
void agenda_fini(struct agenda *agenda);

/* The refill thread looks at the sequence now. */
void agenda_wake(struct agenda *agenda, struct seqb_sequence *sequence);

/* The thread looks again then for sequences that are due, if nobody wakes it
 * before. */
void agenda_poll_at(struct agenda *agenda, int64_t poll_ms);

/* Ends the refill thread's wait, now and later. */
void agenda_stop(struct agenda *agenda);

/*
 * The rest is the refill thread's. Waits for a wake-up, or until then while
 * sequences are active, or until one is due. Takes the list of those to look
 * at; at `latest_ms` it takes an empty one. False when the thread is to stop.
 */
bool agenda_wait(struct agenda *agenda, int64_t until_ms, int64_t latest_ms,
                 struct seqb_sequence **list);

/* Whether the moment of agenda_poll_at has come; then there is none any more.
 */
bool agenda_is_due(struct agenda *agenda, int64_t now_ms);

/* Around the look at one sequence of the list; begin returns the next one. A
 * sequence that stays, or was woken meanwhile, is looked at again. */
struct seqb_sequence *agenda_begin(struct agenda *agenda,
                                   struct seqb_sequence *sequence);
void agenda_end(struct agenda *agenda, struct seqb_sequence *sequence,
                bool stays);
