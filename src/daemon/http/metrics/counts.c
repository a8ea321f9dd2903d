/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of commands and HTTP requests; see metrics.h. */
#include <stdio.h>

#include "daemon/commands/commands.h"
#include "daemon/http/metrics/metrics.h"

static void commands_write(struct buffer *out, const struct counts *counts)
{
    metric_begin(out, "seqbroker_commands_total",
                 "commands answered, by their name");
    for (size_t i = 0; command_at(i) != NULL; i++) {
        struct buffer labels = {0};

        metric_label(&labels, '{', "command", command_at(i)->name);
        metric_sample(out, "seqbroker_commands_total", &labels,
                      counts->commands[i]);
        buffer_fini(&labels);
    }
    metric_begin(out, "seqbroker_command_errors_total",
                 "commands answered by an error, by its code");
    for (size_t i = 0; i < COUNTS_ERRORS && counts->errors[i].count > 0; i++) {
        struct buffer labels = {0};

        metric_label(&labels, '{', "code", counts->errors[i].code);
        metric_sample(out, "seqbroker_command_errors_total", &labels,
                      counts->errors[i].count);
        buffer_fini(&labels);
    }
}

static void durations_write(struct buffer *out, const struct counts *counts)
{
    static const char name[] = "seqbroker_command_duration_seconds";
    int64_t within = 0;

    metric_begin(out, name,
                 "from when a command was read until its answer was sent");
    for (size_t i = 0; i <= COUNTS_BOUNDS; i++) {
        within += counts->durations[i];
        if (i < COUNTS_BOUNDS)
            buffer_format(out, "%s_bucket{le=\"%g\"} %lld\n", name,
                          (double)counts_bounds_us[i] / 1e6, (long long)within);
        else
            buffer_format(out, "%s_bucket{le=\"+Inf\"} %lld\n", name,
                          (long long)within);
    }
    buffer_format(out, "%s_sum %.6f\n%s_count %lld\n", name,
                  (double)counts->duration_us / 1e6, name, (long long)within);
}

static void responses_write(struct buffer *out, const struct counts *counts)
{
    metric_begin(out, "seqbroker_http_responses_total",
                 "requests of HTTP answered, by the class of their status");
    for (int i = 2; i < COUNTS_CLASSES; i++) {
        char name[] = "0xx";
        struct buffer labels = {0};

        name[0] = (char)('0' + i);
        metric_label(&labels, '{', "code", name);
        metric_sample(out, "seqbroker_http_responses_total", &labels,
                      counts->responses[i]);
        buffer_fini(&labels);
    }
}

void metrics_write_counts(struct buffer *out, const struct counts *counts)
{
    commands_write(out, counts);
    durations_write(out, counts);
    responses_write(out, counts);
}
