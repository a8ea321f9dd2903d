/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of the events of the log; see metrics.h. */
#include "daemon/http/metrics/metrics.h"

#include <string.h>

static const struct log_tally *event_find(const struct snapshot *snapshot,
                                          const char *event)
{
    static const struct log_tally none = {.event = ""};

    for (size_t i = 0; i < LOG_EVENTS_MAX; i++)
        if (strcmp(snapshot->events[i].event, event) == 0)
            return &snapshot->events[i];
    return &none;
}

static void gaps_write(struct buffer *out, const struct snapshot *snapshot)
{
    static const char name[] = "seqbroker_gap_numbers_total";
    static const char *const events[] = {"dropped", "spool_lost", "resumed"};

    metric_begin(out, name,
                 "numbers that nobody will get though a store granted them, by "
                 "the event of the log that told");
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        metric_labelled(out, name, "cause", events[i],
                        event_find(snapshot, events[i])->numbers);
    metric_labelled(out, name, "cause", "stamp_over", snapshot->sums.dropped);
}

/* Writes a sample for each of the event's levels, and for each level that it
 * had. A counter that appeared only with its first event would hide that event
 * from rate() and increase(). */
static void tally_write(struct buffer *out, const char *event,
                        const struct log_tally *tally, unsigned levels)
{
    for (int level = 0; level < LOG_LEVELS; level++) {
        struct buffer labels = {0};

        if ((levels >> level & 1U) == 0 && tally->lines[level] == 0)
            continue;
        metric_label(&labels, '{', "event", event);
        metric_label(&labels, ',', "level", log_level_name(level));
        metric_sample(out, "seqbroker_events_total", &labels,
                      tally->lines[level]);
        buffer_fini(&labels);
    }
}

static bool is_listed(const char *event)
{
    const struct log_event_kind *kind = log_event_kinds;

    while (kind->name != NULL && strcmp(kind->name, event) != 0)
        kind++;
    return kind->name != NULL;
}

/* Of two events that begin and end a state, the later one says which it is. */
static void last_lines_write(struct buffer *out,
                             const struct snapshot *snapshot)
{
    static const char name[] = "seqbroker_event_last_line";

    metric_begin(out, name,
                 "the number of the event's last line of the log; "
                 "0 before the first");
    for (const struct log_event_kind *kind = log_event_kinds;
         kind->name != NULL; kind++)
        metric_labelled(out, name, "event", kind->name,
                        (int64_t)event_find(snapshot, kind->name)->last);
}

void metrics_write_events(struct buffer *out, const struct snapshot *snapshot)
{
    const struct log_tally *spool = event_find(snapshot, "spool");
    const struct log_tally *asked = event_find(snapshot, "asked");
    const struct log_tally *unasked = event_find(snapshot, "unasked");

    metric_begin(out, "seqbroker_events_total", "lines of the log, by event");
    for (const struct log_event_kind *kind = log_event_kinds;
         kind->name != NULL; kind++)
        tally_write(out, kind->name, event_find(snapshot, kind->name),
                    kind->levels);
    for (size_t i = 0;
         i < LOG_EVENTS_MAX && snapshot->events[i].event[0] != '\0'; i++)
        if (!is_listed(snapshot->events[i].event))
            tally_write(out, snapshot->events[i].event, &snapshot->events[i],
                        0);
    last_lines_write(out, snapshot);
    gaps_write(out, snapshot);
    metric_single(out, "seqbroker_sequences_unasked",
                  "sequences that wait for a store of another pool",
                  (asked->last > unasked->last ? asked : unasked)->waiting);
    metric_single(out, "seqbroker_spool_taken_total",
                  "numbers taken out of the spool, for their sequences",
                  spool->taken);
    metric_single(out, "seqbroker_spool_given_total",
                  "unused numbers given to the spool", spool->given);
    metric_single(out, "seqbroker_spool_numbers",
                  "numbers that the last exchange left in the spool",
                  spool->kept);
}
