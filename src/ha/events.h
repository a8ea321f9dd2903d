/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happened to a partition or to a counter in it: told once, as a line of
 * the log and to the host's callback.
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

/* NULL: nobody is called. When it returns, no call of the old one runs. */
void events_listen(struct events *events,
                   void (*callback)(void *context,
                                    const struct seqb_event *event),
                   void *context);

/* With no lock of this folder held. `events` may be NULL: only the log. */
void events_emit(struct events *events, const struct seqb_event *event);

/* The same for what an operator ordered, or what is in the ordinary course of
 * things: it is logged as info, whatever its kind. */
void events_emit_info(struct events *events, const struct seqb_event *event);
