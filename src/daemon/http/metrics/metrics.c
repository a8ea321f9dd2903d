/* SPDX-License-Identifier: Apache-2.0 */
/* The list of metrics: the broker's are made from the tables of the status, the
 * daemon's are written one by one. text.c formats the lines. */
#include "daemon/http/metrics/metrics.h"

#include <stdio.h>
#include <string.h>

#include "daemon/commands/commands.h"
#include "daemon/http/snapshot.h"
#include "daemon/wire/wire.h"
#include "status/status.h"

/* The rows of one table, and the labels of each row. */
struct rows {
    enum status_of of;
    const void *(*at)(const void *context, size_t i);
    const void *context;
    size_t count;
    /* Appends '{' and labels, without '}'; NULL: rows have no labels. */
    void (*label)(struct buffer *out, const void *row);
};

static void label_integer(struct buffer *out, const char *name, int64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)value);
    metric_label(out, ',', name, text);
}

static void row_write(struct buffer *out, const struct rows *rows,
                      const struct status_field *field, const void *row)
{
    if (!metric_has_sample(field, row))
        return;
    buffer_append_text(out, field->metric);
    if (rows->label != NULL) {
        rows->label(out, row);
        buffer_append(out, "}", 1);
    }
    metric_value(out, field, row);
}

static void rows_write_field(struct buffer *out, const struct rows *rows,
                             const struct status_field *field)
{
    metric_begin(out, field->metric, field->help);
    for (size_t i = 0; i < rows->count; i++)
        row_write(out, rows, field, rows->at(rows->context, i));
}

static void rows_write(struct buffer *out, const struct rows *rows)
{
    const struct status_field *field = status_tables[rows->of].fields;

    for (; field->name != NULL; field++)
        if (field->metric != NULL && rows->count > 0)
            rows_write_field(out, rows, field);
}

static const void *single_at(const void *context, size_t i)
{
    (void)i;
    return context;
}

/* Writes one sample for each possible state, 1 for the current one, 0 for the
 * others. */
static void states_write(struct buffer *out, const char *metric,
                         const struct buffer *labels, const char *const *states,
                         const char *present)
{
    for (; *states != NULL; states++) {
        struct buffer line = {0};

        buffer_append(&line, buffer_content(labels), labels->length);
        metric_label(&line, labels->length == 0 ? '{' : ',', "state", *states);
        metric_sample(out, metric, &line, strcmp(*states, present) == 0);
        buffer_fini(&line);
    }
}

/* --- partitions --- */

static const void *partition_at(const void *context, size_t i)
{
    return (const struct status_partition *)context + i;
}

static void partition_label(struct buffer *out, const void *row)
{
    const struct status_partition *partition = row;

    metric_label(out, '{', "pool", partition->known.pool);
    label_integer(out, "partition", partition->known.partition);
    metric_label(out, ',', "backend", partition->known.backend);
}

static void partition_states(struct buffer *out,
                             const struct status_partition *partition)
{
    const char *states[SEQB_PARTITION_POISONED + 2] = {NULL};
    struct buffer labels = {0};

    for (size_t i = 0; i <= SEQB_PARTITION_POISONED; i++)
        states[i] = seqb_partition_state_name(i);
    partition_label(&labels, partition);
    states_write(out, "seqbroker_partition_state", &labels, states,
                 seqb_partition_state_name(partition->known.state));
    buffer_fini(&labels);
}

/* Whether the partition may be asked for numbers. */
static bool is_up(const struct seqb_partition_status *partition)
{
    return partition->state == SEQB_PARTITION_UP ||
           partition->state == SEQB_PARTITION_SUSPECT ||
           partition->state == SEQB_PARTITION_RAMPING;
}

static void partition_info(struct buffer *out,
                           const struct status_partition *partition)
{
    const struct seqb_partition_status *known = &partition->known;
    struct buffer labels = {0};

    partition_label(&labels, partition);
    metric_label(&labels, ',', "engine", known->engine);
    metric_label(&labels, ',', "class",
                 known->is_windowed ? "windowed" : "direct");
    metric_label(&labels, ',', "authority", known->is_authority ? "yes" : "no");
    metric_sample(out, "seqbroker_partition_info", &labels, 1);
    buffer_fini(&labels);
}

static void partitions_write(struct buffer *out,
                             const struct snapshot *snapshot)
{
    const struct status_partition *all = snapshot->partitions;
    const size_t count = snapshot->partition_count;
    const struct rows rows = {STATUS_OF_PARTITIONS, partition_at, all, count,
                              partition_label};

    metric_begin(out, "seqbroker_partition_info",
                 "what a partition is: its engine, the class of its guarantees,"
                 " whether it leases the pool's windows");
    for (size_t i = 0; i < count; i++)
        partition_info(out, &all[i]);
    metric_begin(out, "seqbroker_partition_state",
                 "1 for the state that the partition is in");
    for (size_t i = 0; i < count; i++)
        partition_states(out, &all[i]);
    metric_begin(out, "seqbroker_partition_up",
                 "1 if the partition may be asked for numbers");
    for (size_t i = 0; i < count; i++) {
        struct buffer labels = {0};

        partition_label(&labels, &all[i]);
        metric_sample(out, "seqbroker_partition_up", &labels,
                      is_up(&all[i].known));
        buffer_fini(&labels);
    }
    rows_write(out, &rows);
}

/* --- lessors --- */

static const void *lessor_at(const void *context, size_t i)
{
    return (const struct seqb_lessor *)context + i;
}

static void lessor_label(struct buffer *out, const void *row)
{
    const struct seqb_lessor *lessor = row;

    metric_label(out, '{', "pool", lessor->pool);
    label_integer(out, "partition", lessor->partition);
    metric_label(out, ',', "backend", lessor->backend);
}

static void lessors_write(struct buffer *out, const struct snapshot *snapshot)
{
    static const char *const states[] = {"level", "syncing", "waiting",
                                         "unknown", NULL};
    const struct seqb_lessor *all = snapshot->lessors;
    const struct rows rows = {STATUS_OF_LESSORS, lessor_at, all,
                              snapshot->lessor_count, lessor_label};

    if (snapshot->lessor_count == 0)
        return;
    metric_begin(out, "seqbroker_lessor_state",
                 "1 for the state that the lessor is in");
    for (size_t i = 0; i < snapshot->lessor_count; i++) {
        struct buffer labels = {0};

        lessor_label(&labels, &all[i]);
        states_write(out, "seqbroker_lessor_state", &labels, states,
                     all[i].state);
        buffer_fini(&labels);
    }
    rows_write(out, &rows);
}

/* --- worker ids --- */

static void leases_write(struct buffer *out, const struct snapshot *snapshot)
{
    static const char *const all[][2] = {
        {"seqbroker_worker_held",
         "1 if the broker holds a worker id for the pool's snowflakes"},
        {"seqbroker_worker_id", "the worker id that it holds"},
        {"seqbroker_worker_lease_seconds",
         "how long it may use that without a renewal"},
    };

    for (size_t i = 0; i < 3 && snapshot->lease_count > 0; i++) {
        metric_begin(out, all[i][0], all[i][1]);
        for (size_t j = 0; j < snapshot->lease_count; j++) {
            const struct seqb_worker_lease *lease = &snapshot->leases[j];
            const bool is_held = lease->worker >= 0;
            const int64_t values[] = {is_held, lease->worker,
                                      lease->left_ms / 1000};

            if (i == 0 || is_held)
                metric_labelled(out, all[i][0], "pool", lease->pool, values[i]);
        }
    }
}

/* --- sequences --- */

static const void *sequence_at(const void *context, size_t i)
{
    const struct snapshot *snapshot = context;

    return &snapshot->sequences[i];
}

static void sequence_label(struct buffer *out, const void *row)
{
    const struct seqb_sequence_status *sequence = row;

    metric_label(out, '{', "sequence", sequence->key);
    metric_label(out, ',', "pool", sequence->pool);
}

/* A metric of all sequences that are not among the busiest, as one sequence
 * "other". It has no label "pool", which tells it from a real sequence of that
 * name. */
static void other_write(struct buffer *out, const struct status_field *field,
                        const struct snapshot_sums *sums)
{
    static const char *const metrics[] = {
        "seqbroker_sequence_stock_numbers",
        "seqbroker_sequence_numbers_per_second",
        "seqbroker_sequence_runway_seconds",
        "seqbroker_sequence_runs_out_seconds",
    };
    const struct seqb_sequence_status other = {
        .key = "other",
        .stock = sums->stock,
        .rate = sums->rate,
        .runway_ms = sums->runway_ms,
        .runs_out_ms = sums->runs_out_ms,
    };
    const struct rows rows = {STATUS_OF_SEQUENCES, single_at, &other, 1,
                              sequence_label};

    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++)
        if (strcmp(field->metric, metrics[i]) == 0)
            row_write(out, &rows, field, &other);
}

static void totals_write(struct buffer *out, const struct snapshot_sums *sums)
{
    metric_single(out, "seqbroker_sequences", "sequences in use",
                  sums->sequences);
    metric_single(out, "seqbroker_taken_total",
                  "numbers handed out since the start, of all sequences",
                  sums->taken);
    metric_single(out, "seqbroker_waits_total",
                  "calls that found no number at hand, of all sequences",
                  sums->waits);
    metric_single(out, "seqbroker_dropped_total",
                  "numbers of stamps that were over, unused, of all sequences",
                  sums->dropped);
}

static void sequences_write(struct buffer *out, const struct snapshot *snapshot)
{
    const struct snapshot_sums *sums = &snapshot->sums;
    const struct rows rows = {STATUS_OF_SEQUENCES, sequence_at, snapshot,
                              snapshot->sequence_count, sequence_label};
    const struct status_field *field =
        status_tables[STATUS_OF_SEQUENCES].fields;

    totals_write(out, sums);
    for (; field->name != NULL && rows.count > 0; field++) {
        if (field->metric == NULL)
            continue;
        rows_write_field(out, &rows, field);
        if (sums->sequences > (int64_t)sums->busiest_count)
            other_write(out, field, sums);
    }
}

/* --- the daemon --- */

/* A stop is a state of its own, as in /readyz: no alert is for it, and a broker
 * that waits for its stop_delay still serves. */
static void health_write(struct buffer *out, const struct snapshot *snapshot)
{
    const char *states[SEQB_HEALTH_UNKNOWN + 3] = {NULL};
    const struct buffer none = {0};

    for (size_t i = 0; i <= SEQB_HEALTH_UNKNOWN; i++)
        states[i] = seqb_health_name(i);
    states[SEQB_HEALTH_UNKNOWN + 1] = "stopping";
    metric_begin(out, "seqbroker_health", "1 for how the broker is");
    states_write(out, "seqbroker_health", &none, states,
                 snapshot->is_stopping ? "stopping"
                                       : seqb_health_name(snapshot->health));
}

static void broker_write(struct buffer *out, const struct snapshot *snapshot)
{
    const struct rows self = {STATUS_OF_BROKER, single_at, &snapshot->self, 1,
                              NULL};
    const struct rows clock = {STATUS_OF_CLOCK, single_at, &snapshot->clock,
                               snapshot->clock.is_used, NULL};
    struct buffer labels = {0};

    metric_label(&labels, '{', "version", snapshot->self.version);
    metric_label(&labels, ',', "broker", snapshot->self.broker);
    metric_begin(out, "seqbroker_build_info",
                 "the version, and the broker's name in its topology");
    metric_sample(out, "seqbroker_build_info", &labels, 1);
    buffer_fini(&labels);
    rows_write(out, &self);
    health_write(out, snapshot);
    rows_write(out, &clock);
}

static const void *user_at(const void *context, size_t i)
{
    return &((const struct snapshot_limit *)context)[i].status;
}

/* `row` is the status, which is the first member of its snapshot_limit. */
static void user_label(struct buffer *out, const void *row)
{
    metric_label(out, '{', "user", ((const struct snapshot_limit *)row)->name);
}

void metrics_write(struct buffer *out, const struct snapshot *snapshot)
{
    const struct rows stats = {STATUS_OF_STATS, single_at, &snapshot->stats, 1,
                               NULL};
    const struct rows users = {STATUS_OF_LIMITS, user_at, snapshot->users,
                               snapshot->user_count, user_label};

    broker_write(out, snapshot);
    partitions_write(out, snapshot);
    lessors_write(out, snapshot);
    leases_write(out, snapshot);
    sequences_write(out, snapshot);
    metrics_write_events(out, snapshot);
    metric_begin(out, "seqbroker_connections", "clients that are connected");
    metric_sample(out, "seqbroker_connections", NULL, snapshot->connections);
    metric_begin(out, "seqbroker_connections_received_total",
                 "clients that connected since the start");
    metric_sample(out, "seqbroker_connections_received_total", NULL,
                  snapshot->connections_received);
    rows_write(out, &stats);
    rows_write(out, &users);
    metrics_write_limits(out, snapshot);
    metrics_write_counts(out, &snapshot->counts);
    metrics_write_process(out);
}

void openmetrics_write(struct buffer *out, const struct snapshot *snapshot)
{
    struct buffer text = {0};

    metrics_write(&text, snapshot);
    openmetrics_append(out, &text);
    buffer_fini(&text);
}
