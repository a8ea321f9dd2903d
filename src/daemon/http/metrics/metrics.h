/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics, in the text format of Prometheus 0.0.4 and in OpenMetrics 1.0.
 */
#pragma once

#include "daemon/http/snapshot.h"
#include "daemon/wire/wire.h"
#include "status/status.h"

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define OPENMETRICS  "application/openmetrics-text"
#define OPENMETRICS_TYPE                                                       \
    "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Appends all metrics. Any thread. */
void metrics_write(struct buffer *out, const struct snapshot *snapshot);

/* The same in OpenMetrics. Any thread. */
void openmetrics_write(struct buffer *out, const struct snapshot *snapshot);

/* --- counts.c --- */

/* Appends the metrics of commands and of HTTP requests. */
void metrics_write_counts(struct buffer *out, const struct counts *counts);

/* --- events.c --- */

/* Appends the metrics of the events of the log: how many there were, the last
 * line of each, and what their lines count. */
void metrics_write_events(struct buffer *out, const struct snapshot *snapshot);

/* --- limits.c --- */

/* Appends the metrics of keys with limits, and of refused connections. */
void metrics_write_limits(struct buffer *out, const struct snapshot *snapshot);

/* --- process.c --- */

/* Appends the metrics of this process. */
void metrics_write_process(struct buffer *out);

/* --- text.c: what a metric is written with --- */

/* Writes the lines before a metric's samples. The help is cut at its first
 * semicolon, since the rest describes how a status shows the field. */
void metric_begin(struct buffer *out, const char *name, const char *help);

/* Whether the field has a sample in this status. */
bool metric_has_sample(const struct status_field *field, const void *status);

/* Writes a field's value in base units, and the end of the line. */
void metric_value(struct buffer *out, const struct status_field *field,
                  const void *status);

/* Writes name="value", escaped, after `before`, which is '{' or ','. */
void metric_label(struct buffer *out, char before, const char *name,
                  const char *value);

/* Writes a whole sample. `labels` (may be NULL) begin with '{' and end without
 * '}'. */
void metric_sample(struct buffer *out, const char *name,
                   const struct buffer *labels, int64_t value);

/* Writes the sample of one label. */
void metric_labelled(struct buffer *out, const char *name, const char *label,
                     const char *value, int64_t amount);

/* Writes a metric that has one sample, without labels. */
void metric_single(struct buffer *out, const char *name, const char *help,
                   int64_t value);

/* Appends a complete text of the older format as OpenMetrics, where the name of
 * a counter has "_total" in its samples only. */
void openmetrics_append(struct buffer *out, const struct buffer *text);
