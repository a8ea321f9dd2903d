/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens in a broker, as it happens. A part of the operator API, see
 * admin.h.
 */
#pragma once

#include <seqbroker/admin.h>

#ifdef __cplusplus
extern "C" {
#endif

enum seqb_event_kind {
    SEQB_EVENT_STATE,     /* a partition changed its state */
    SEQB_EVENT_RAISED,    /* a fenced counter was raised, and is used again */
    SEQB_EVENT_EXHAUSTED, /* a counter has no values left in a partition; with
                             partition -1: a number did not fit the template */
    SEQB_EVENT_LAYOUT,    /* a sequence was used with other memory_bits */
    SEQB_EVENT_FORECAST,  /* a sequence will run out within a year */
    SEQB_EVENT_ADVANCED,  /* a sequence was advanced by an operator */
    SEQB_EVENT_COUNTER_REFUSED,   /* a partition that is up refuses a counter */
    SEQB_EVENT_COUNTER_RECOVERED, /* it grants it again, or need not */
    SEQB_EVENT_LESSOR_WAITS, /* a partition's store leases no windows to its
                                neighbours: it was restarted, and a store that
                                `reason` names cannot be asked */
    SEQB_EVENT_LESSOR_LEVEL  /* the lessor is level again, and leases */
};

/* Something that an operator may want to know. The strings are valid during the
 * callback only. */
struct seqb_event {
    enum seqb_event_kind kind;
    enum seqb_partition_state from; /* of SEQB_EVENT_STATE; else both are ... */
    enum seqb_partition_state to;   /* ... the partition's current state */
    const char *pool;
    int32_t partition;   /* -1: the pool's authority, or the whole pool */
    const char *backend; /* "": the whole pool */
    const char *key;     /* the sequence's; NULL: not about a sequence */
    const char *counter; /* its name in the store; NULL: not about a counter */
    const char *reason;  /* the backend's own words where it has some; or "" */
};

/*
 * A partition refuses a counter if it answers that this counter alone cannot be
 * served: denied rights, a damaged row, a missing table. The event comes once,
 * and again only if the refusal gets another status. A refusal that may pass by
 * itself (a lock that another session holds, a clock that is behind) is
 * reported once it has lasted for 3 s. The partition stays up for other
 * counters. The refused counter is tried again, less and less often but at
 * least every 30 s, even if no caller wants its numbers, until it is granted:
 * SEQB_EVENT_COUNTER_RECOVERED. If a partition refuses more than 3,000
 * counters, one of them is tried every 10 ms. SEQB_EVENT_EXHAUSTED and
 * SEQB_EVENT_LAYOUT are refusals as well, but are never tried again.
 * SEQB_EVENT_EXHAUSTED with partition -1 is none of a partition: it ends with
 * SEQB_EVENT_COUNTER_RECOVERED when the stamp is over, the template has room
 * again, or the topology no longer lists the sequence. All refusals count as
 * errors of the partition, and are shown in its `refused` and `reason` and by
 * seqb_get_health.
 */

/* "state", "raised", ... Never NULL. */
SEQB_API const char *seqb_event_name(enum seqb_event_kind kind);

/* Calls `callback` for every event from now on, once each, as it happens; NULL
 * stops that. The callback runs on a thread of the broker, or inside
 * seqb_command and seqb_advance, one call at a time, and blocks that thread
 * meanwhile. So it must be short, and must not call seqb_command, seqb_advance,
 * seqb_on_event or seqb_close. Every event is a line of the log as well. Once
 * this function has returned, no call of the previous callback is running.
 * Errors: SEQB_FORKED. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_on_event(struct seqb_broker *broker,
              void (*callback)(void *context, const struct seqb_event *event),
              void *context, struct seqb_error *err);

#ifdef __cplusplus
}
#endif
