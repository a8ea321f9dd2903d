/* SPDX-License-Identifier: Apache-2.0 */
/* Formatting of metrics as text; see metrics.h. */
#include <stdio.h>
#include <string.h>

#include "daemon/http/metrics/metrics.h"
#include "daemon/http/snapshot.h"

#define LINE_SIZE 128

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text);

    return length >= strlen(end) &&
           strcmp(text + length - strlen(end), end) == 0;
}

static const char *type_of(const char *name)
{
    if (ends_in(name, "_total"))
        return "counter";
    return ends_in(name, "_duration_seconds") ? "histogram" : "gauge";
}

void metric_begin(struct buffer *out, const char *name, const char *help)
{
    snapshot_yield();
    buffer_append_text(out, "# HELP ");
    buffer_append_text(out, name);
    buffer_append_text(out, " ");
    buffer_append(out, help, strcspn(help, ";"));
    buffer_append_text(out, "\n# TYPE ");
    buffer_append_text(out, name);
    buffer_append_text(out, " ");
    buffer_append_text(out, type_of(name));
    buffer_append_text(out, "\n");
}

bool metric_has_sample(const struct status_field *field, const void *status)
{
    return status_is_present(field, status) &&
           (field->kind != STATUS_SPAN || status_integer(field, status) >= 0);
}

/* The divisor that converts a value to base units, and the number of
 * decimals. */
static double divisor_of(const char *unit, int *digits)
{
    static const struct {
        const char *unit;
        double divisor;
        int digits;
    } units[] = {{"ms", 1e3, 3}, {"us", 1e6, 6}, {"leases/min", 60, 3}};

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(unit, units[i].unit) != 0)
            continue;
        *digits = units[i].digits;
        return units[i].divisor;
    }
    *digits = 0;
    return 1;
}

void metric_value(struct buffer *out, const struct status_field *field,
                  const void *status)
{
    const int64_t value = status_integer(field, status);
    char line[LINE_SIZE];
    int digits = 0;
    const double divisor =
        divisor_of(field->unit != NULL ? field->unit : "", &digits);

    if (digits == 0)
        snprintf(line, sizeof line, " %lld\n", (long long)value);
    else
        snprintf(line, sizeof line, " %.*f\n", digits, (double)value / divisor);
    buffer_append_text(out, line);
}

void metric_label(struct buffer *out, char before, const char *name,
                  const char *value)
{
    buffer_append(out, &before, 1);
    buffer_append_text(out, name);
    buffer_append_text(out, "=\"");
    for (; *value != '\0'; value++) {
        if (*value == '\n') {
            buffer_append_text(out, "\\n");
            continue;
        }
        if (*value == '"' || *value == '\\')
            buffer_append_text(out, "\\");
        buffer_append(out, value, 1);
    }
    buffer_append_text(out, "\"");
}

void metric_sample(struct buffer *out, const char *name,
                   const struct buffer *labels, int64_t value)
{
    char line[LINE_SIZE];

    buffer_append_text(out, name);
    if (labels != NULL) {
        buffer_append(out, buffer_content(labels), labels->length);
        buffer_append_text(out, "}");
    }
    snprintf(line, sizeof line, " %lld\n", (long long)value);
    buffer_append_text(out, line);
}

void metric_labelled(struct buffer *out, const char *name, const char *label,
                     const char *value, int64_t amount)
{
    struct buffer labels = {0};

    metric_label(&labels, '{', label, value);
    metric_sample(out, name, &labels, amount);
    buffer_fini(&labels);
}

void metric_single(struct buffer *out, const char *name, const char *help,
                   int64_t value)
{
    metric_begin(out, name, help);
    metric_sample(out, name, NULL, value);
}

/* Removes "_total" from the lines "# TYPE NAME_total counter" and "# HELP
 * NAME_total ...". */
static void openmetrics_line(struct buffer *out, const char *line,
                             size_t length)
{
    static const char end[] = "_total";
    size_t name = 0;

    if (line[0] == '#' && length > strlen("# TYPE "))
        name = strlen("# TYPE ") + strcspn(line + strlen("# TYPE "), " \n");
    if (name <= strlen(end) ||
        memcmp(line + name - strlen(end), end, strlen(end)) != 0) {
        buffer_append(out, line, length);
        return;
    }
    buffer_append(out, line, name - strlen(end));
    buffer_append(out, line + name, length - name);
}

void openmetrics_append(struct buffer *out, const struct buffer *text)
{
    const char *at = buffer_content(text);
    const char *const end = at + text->length;

    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t length =
            stop != NULL ? (size_t)(stop - at) + 1 : (size_t)(end - at);

        openmetrics_line(out, at, length);
        at += length;
    }
    out->is_broken = out->is_broken || text->is_broken;
    buffer_append_text(out, "# EOF\n");
}
