/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which sequences the refill thread polls next, and when. Any thread adds
 * sequences; the refill thread waits for them. Private to this folder.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct seqb_sequence;

struct agenda {
    pthread_mutex_t lock; /* guards what follows, and the sequences' flags */
    pthread_cond_t changed;
    struct seqb_sequence *active; /* the list of those to poll in the next
                                     interval */
    int64_t poll_ms; /* when a sequence that is not in the list is due;
                        INT64_MAX: none is */
    bool is_woken;
    bool is_stopping;
};

void agenda_init(struct agenda *agenda);
void agenda_fini(struct agenda *agenda);

/* Has the refill thread poll the sequence now. */
void agenda_wake(struct agenda *agenda, struct seqb_sequence *sequence);

/* At `poll_ms` the refill thread looks for sequences that are due, if it is not
 * woken before. */
void agenda_poll_at(struct agenda *agenda, int64_t poll_ms);

/* Ends the refill thread's wait, now and later. */
void agenda_stop(struct agenda *agenda);

/*
 * Only the refill thread calls the rest. Waits for a wake-up; without one,
 * until `until_ms` if sequences are active, or until a sequence is due. Then
 * `*list` is the list of the sequences to poll. At `latest_ms` the call returns
 * in any case, with an empty list. False when the thread is to stop.
 */
bool agenda_wait(struct agenda *agenda, int64_t until_ms, int64_t latest_ms,
                 struct seqb_sequence **list);

/* Whether the time of agenda_poll_at has come. If so, the time is cleared. */
bool agenda_is_due(struct agenda *agenda, int64_t now_ms);

/* Call these before and after polling one sequence of the list. agenda_begin
 * returns the next one. A sequence that `stays`, or was woken meanwhile, is
 * polled again. */
struct seqb_sequence *agenda_begin(struct agenda *agenda,
                                   struct seqb_sequence *sequence);
void agenda_end(struct agenda *agenda, struct seqb_sequence *sequence,
                bool stays);
