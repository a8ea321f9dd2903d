/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of keys with limits, and of refused connections; see
 * metrics.h. */
#include <string.h>

#include "daemon/http/metrics/metrics.h"
#include "daemon/limits/limits.h"

static void refusals_write(struct buffer *out, const struct snapshot *snapshot)
{
    static const char name[] = "seqbroker_limit_refused_connections_total";

    metric_begin(out, name, "connections refused, by the limit");
    for (size_t i = 0; i < LIMITS_OF_CONNECTIONS; i++)
        metric_labelled(out, name, "limit", limit_names[i],
                        snapshot->refused_by[i]);
}

/* Those of users are in the table of the status, which names their metrics. A
 * key has these of its fields. */
static const struct {
    const char *field;
    const char *metric;
} key_metrics[] = {{"taken", "seqbroker_key_taken_total"},
                   {"today", "seqbroker_key_today"},
                   {"daily_limit", "seqbroker_key_daily_limit"},
                   {"refused", "seqbroker_key_refused_total"}};

static const char *metric_of(const struct status_field *field)
{
    for (size_t i = 0; i < sizeof key_metrics / sizeof key_metrics[0]; i++)
        if (strcmp(field->name, key_metrics[i].field) == 0)
            return key_metrics[i].metric;
    return NULL;
}

static void keys_write(struct buffer *out, const struct snapshot *snapshot,
                       const struct status_field *field, const char *name)
{
    metric_begin(out, name, field->help);
    for (size_t i = 0; i < snapshot->key_count; i++) {
        const struct snapshot_limit *key = &snapshot->keys[i];

        metric_labelled(out, name, "key", key->name,
                        status_integer(field, &key->status));
    }
}

void metrics_write_limits(struct buffer *out, const struct snapshot *snapshot)
{
    const struct status_field *field = status_tables[STATUS_OF_LIMITS].fields;

    refusals_write(out, snapshot);
    for (; field->name != NULL && snapshot->key_count > 0; field++) {
        const char *name = metric_of(field);

        if (name != NULL)
            keys_write(out, snapshot, field, name);
    }
}
