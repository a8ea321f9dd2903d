/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of commands and HTTP requests; see metrics.h. */
#include <stdio.h>
#include <string.h>

#include "daemon/commands/commands.h"
#include "daemon/http/metrics/metrics.h"

static void commands_write(struct buffer *out, const struct counts *counts)
{
    static const char name[] = "seqbroker_commands_total";

    metric_begin(out, name, "commands answered, by their name");
    for (size_t i = 0; command_at(i) != NULL; i++)
        metric_labelled(out, name, "command", command_at(i)->name,
                        counts->commands[i]);
}

static bool is_counted(const struct counts *counts, const char *code)
{
    for (size_t i = 0; i < COUNTS_ERRORS && counts->errors[i].count > 0; i++)
        if (strcmp(counts->errors[i].code, code) == 0)
            return true;
    return false;
}

/* Those of which alerts are made have a sample before the first one: rate()
 * does not see an error with which its counter begins. */
static void errors_write(struct buffer *out, const struct counts *counts)
{
    static const char name[] = "seqbroker_command_errors_total";
    static const char *const codes[] = {"TIMEOUT", "UNAVAILABLE", "EXHAUSTED",
                                        "LAYOUT", "CLOCK"};

    metric_begin(out, name, "commands answered by an error, by its code");
    for (size_t i = 0; i < COUNTS_ERRORS && counts->errors[i].count > 0; i++)
        metric_labelled(out, name, "code", counts->errors[i].code,
                        counts->errors[i].count);
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (!is_counted(counts, codes[i]))
            metric_labelled(out, name, "code", codes[i], 0);
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
    static const char name[] = "seqbroker_http_responses_total";

    metric_begin(out, name,
                 "requests of HTTP answered, by the class of their status");
    for (int i = 2; i < COUNTS_CLASSES; i++) {
        const char class[] = {(char)('0' + i), 'x', 'x', '\0'};

        metric_labelled(out, name, "code", class, counts->responses[i]);
    }
}

void metrics_write_counts(struct buffer *out, const struct counts *counts)
{
    commands_write(out, counts);
    errors_write(out, counts);
    durations_write(out, counts);
    responses_write(out, counts);
}
