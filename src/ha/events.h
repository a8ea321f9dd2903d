/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happened to a partition or to one of its counters: reported once, as a
 * line of the log and to the host's callback.
 */
#pragma once

#include <pthread.h>

#include "ha/ha.h"

struct events {
    pthread_mutex_t lock; /* held over the callback: one call at a time */
    void (*callback)(void *context, const struct seqb_event *event);
    void *context;
};

void events_init(struct events *events);
void events_fini(struct events *events);

/* `callback` NULL: no callback. When this returns, no call of the old one
 * runs. */
void events_listen(struct events *events,
                   void (*callback)(void *context,
                                    const struct seqb_event *event),
                   void *context);

/* Hold no lock of this folder. If `events` is NULL, the event is only
 * logged. */
void events_emit(struct events *events, const struct seqb_event *event);

/* The same for an event that an operator ordered or that is routine: logged as
 * info, whatever its kind. */
void events_emit_info(struct events *events, const struct seqb_event *event);
