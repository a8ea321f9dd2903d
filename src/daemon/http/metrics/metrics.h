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

/* Appends all of them. On any thread. */
void metrics_write(struct buffer *out, const struct snapshot *snapshot);

/* The same as OpenMetrics. */
void openmetrics_write(struct buffer *out, const struct snapshot *snapshot);

/* --- counts.c --- */

/* Appends those of commands and of requests of HTTP. */
void metrics_write_counts(struct buffer *out, const struct counts *counts);

/* --- text.c: what a metric is written with --- */

/* The lines before a metric's samples. The help ends at its first semicolon:
 * what follows says how a status shows it. */
void metric_begin(struct buffer *out, const char *name, const char *help);

/* Whether a sample of the field is there to be written. */
bool metric_has_sample(const struct status_field *field, const void *status);

/* A field's value in base units, and the end of the line. */
void metric_value(struct buffer *out, const struct status_field *field,
                  const void *status);

/* name="value", escaped; `before` is '{' or ','. */
void metric_label(struct buffer *out, char before, const char *name,
                  const char *value);

/* A whole sample; `labels` (may be NULL) begin with '{' and end without '}'. */
void metric_sample(struct buffer *out, const char *name,
                   const struct buffer *labels, int64_t value);

/* The whole text of the older format as OpenMetrics, where a counter is named
 * without its "_total" but in its samples. */
void openmetrics_append(struct buffer *out, const struct buffer *text);
