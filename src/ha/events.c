/* SPDX-License-Identifier: Apache-2.0 */
/* The log's line of each event, and the callback. */
#include "ha/events.h"

#include <stddef.h>

#include "ha/worker.h"
#include "platform/log.h"

const char *seqb_event_name(enum seqb_event_kind kind)
{
    static const char *const names[] = {
        [SEQB_EVENT_STATE] = "state",
        [SEQB_EVENT_RAISED] = "raised",
        [SEQB_EVENT_EXHAUSTED] = "exhausted",
        [SEQB_EVENT_LAYOUT] = "layout",
        [SEQB_EVENT_FORECAST] = "forecast",
        [SEQB_EVENT_ADVANCED] = "advanced",
        [SEQB_EVENT_COUNTER_REFUSED] = "counter_refused",
        [SEQB_EVENT_COUNTER_RECOVERED] = "counter_recovered",
        [SEQB_EVENT_LESSOR_WAITS] = "lessor_waits",
        [SEQB_EVENT_LESSOR_LEVEL] = "lessor_level",
    };

    return (size_t)kind < sizeof names / sizeof names[0] ? names[kind]
                                                         : "unknown";
}

void events_init(struct events *events)
{
    *events = (struct events){.callback = NULL};
    pthread_mutex_init(&events->lock, NULL);
}

void events_fini(struct events *events)
{
    pthread_mutex_destroy(&events->lock);
}

void events_listen(struct events *events,
                   void (*callback)(void *context,
                                    const struct seqb_event *event),
                   void *context)
{
    pthread_mutex_lock(&events->lock);
    events->callback = callback;
    events->context = context;
    pthread_mutex_unlock(&events->lock);
}

static enum seqb_log_level event_level(const struct seqb_event *event)
{
    switch (event->kind) {
    case SEQB_EVENT_EXHAUSTED:
    case SEQB_EVENT_LAYOUT:
    case SEQB_EVENT_COUNTER_REFUSED:
        return SEQB_LOG_ERROR;
    case SEQB_EVENT_ADVANCED:
    case SEQB_EVENT_COUNTER_RECOVERED:
    case SEQB_EVENT_LESSOR_LEVEL:
        return SEQB_LOG_INFO;
    case SEQB_EVENT_STATE:
        break;
    default:
        return SEQB_LOG_WARN;
    }
    if (event->to == SEQB_PARTITION_POISONED ||
        event->to == SEQB_PARTITION_REFUSED)
        return SEQB_LOG_ERROR;
    return event->to == SEQB_PARTITION_UP || event->to == SEQB_PARTITION_RAMPING
               ? SEQB_LOG_INFO
               : SEQB_LOG_WARN;
}

/* The event of a change of state has the name of the new state. */
static void event_log(enum seqb_log_level level, const struct seqb_event *event)
{
    const char *backend = event->backend[0] != '\0' ? event->backend : "\"\"";

    if (event->kind == SEQB_EVENT_STATE)
        log_reason(level, event->reason,
                   "event=%s was=%s pool=%s partition=%d backend=%s",
                   seqb_partition_state_name(event->to),
                   seqb_partition_state_name(event->from), event->pool,
                   (int)event->partition, backend);
    else if (event->key == NULL)
        log_reason(level, event->reason,
                   "event=%s pool=%s partition=%d backend=%s",
                   seqb_event_name(event->kind), event->pool,
                   (int)event->partition, backend);
    else
        log_reason(level, event->reason,
                   "event=%s pool=%s partition=%d backend=%s key=%s%s%s",
                   seqb_event_name(event->kind), event->pool,
                   (int)event->partition, backend, event->key,
                   event->counter != NULL ? " counter=" : "",
                   event->counter != NULL ? event->counter : "");
}

static void emit(struct events *events, enum seqb_log_level level,
                 const struct seqb_event *event)
{
    event_log(level, event);
    if (events == NULL)
        return;
    pthread_mutex_lock(&events->lock);
    if (events->callback != NULL)
        events->callback(events->context, event);
    pthread_mutex_unlock(&events->lock);
}

void events_emit(struct events *events, const struct seqb_event *event)
{
    emit(events, event_level(event), event);
}

void events_emit_info(struct events *events, const struct seqb_event *event)
{
    emit(events, SEQB_LOG_INFO, event);
}

static struct seqb_event slot_event(const struct worker *worker,
                                    const struct slot *slot,
                                    enum seqb_event_kind kind, const char *name,
                                    const char *reason)
{
    return (struct seqb_event){
        .kind = kind,
        .from = SEQB_PARTITION_UP,
        .to = SEQB_PARTITION_UP,
        .pool = slot_pool(slot)->options->layout.name,
        .partition = slot->partition,
        .backend = worker_name(worker),
        .key = slot_key(slot),
        .counter = name,
        .reason = reason,
    };
}

void slot_report(const struct worker *worker, const struct slot *slot,
                 enum seqb_event_kind kind, const char *name,
                 const char *reason)
{
    const struct seqb_event event =
        slot_event(worker, slot, kind, name, reason);

    events_emit(worker->events, &event);
}

void slot_report_info(const struct worker *worker, const struct slot *slot,
                      enum seqb_event_kind kind, const char *name,
                      const char *reason)
{
    const struct seqb_event event =
        slot_event(worker, slot, kind, name, reason);

    events_emit_info(worker->events, &event);
}

void ha_counter_report(const struct ha_counter *counter,
                       enum seqb_event_kind kind, const char *reason)
{
    const struct seqb_event event = {
        .kind = kind,
        .from = SEQB_PARTITION_UP,
        .to = SEQB_PARTITION_UP,
        .pool = counter->pool->options->layout.name,
        .partition = -1,
        .backend = "",
        .key = counter->key,
        .reason = reason,
    };

    events_emit(counter->pool->workers[0]->events, &event);
}
