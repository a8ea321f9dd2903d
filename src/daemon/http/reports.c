/* SPDX-License-Identifier: Apache-2.0 */
/* The routes that are answered by reports, and the status as JSON. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "daemon/http/exchange.h"
#include "daemon/http/metrics/metrics.h"
#include "daemon/http/problem.h"
#include "daemon/http/report.h"
#include "daemon/http/route.h"
#include "daemon/http/snapshot.h"
#include "daemon/wire/wire.h"
#include "status/json/json.h"

/* --- the status --- */

/* Appends the value and frees it. NULL means that memory was short. */
static void value_append(struct buffer *out, json_t *value, size_t flags)
{
    char *text =
        value != NULL ? json_to_text(value, JSON_ENCODE_ANY | flags) : NULL;

    json_decref(value);
    if (text == NULL)
        out->is_broken = true;
    else
        buffer_append_text(out, text);
    free(text);
}

static void list_begin(struct buffer *out, enum status_of of)
{
    buffer_append_text(out, ",\n  \"");
    buffer_append_text(out, status_tables[of].name);
    buffer_append_text(out, "\": [");
}

static void element_append(struct buffer *out, enum status_of of, size_t i,
                           const void *row)
{
    buffer_append_text(out, i > 0 ? ",\n    " : "\n    ");
    value_append(out, json_of_status(status_tables[of].fields, row), 0);
}

static void list_end(struct buffer *out, size_t count)
{
    buffer_append_text(out, count > 0 ? "\n  ]" : "]");
}

/* Each member and list element is on its own line, as seqctl prints it. Lists
 * are written one element at a time. */
static void status_write(struct buffer *out, const struct snapshot *snapshot)
{
    const struct status_table *clock = &status_tables[STATUS_OF_CLOCK];

    buffer_append_text(out, "{\n  ");
    value_append(
        out,
        json_of_status(status_tables[STATUS_OF_BROKER].fields, &snapshot->self),
        JSON_EMBED);
    buffer_append_text(out, ",\n  \"libraries\": ");
    value_append(out, json_of_libraries(), 0);
    buffer_append_text(out, ",\n  \"clock\": ");
    value_append(out,
                 snapshot->clock.is_used
                     ? json_of_status(clock->fields, &snapshot->clock)
                     : json_null(),
                 0);
    list_begin(out, STATUS_OF_PARTITIONS);
    for (size_t i = 0; i < snapshot->partition_count; i++)
        element_append(out, STATUS_OF_PARTITIONS, i, &snapshot->partitions[i]);
    list_end(out, snapshot->partition_count);
    list_begin(out, STATUS_OF_LESSORS);
    for (size_t i = 0; i < snapshot->lessor_count; i++)
        element_append(out, STATUS_OF_LESSORS, i, &snapshot->lessors[i]);
    list_end(out, snapshot->lessor_count);
    list_begin(out, STATUS_OF_SEQUENCES);
    for (size_t i = 0; i < snapshot->sequence_count; i++)
        element_append(out, STATUS_OF_SEQUENCES, i, &snapshot->sequences[i]);
    list_end(out, snapshot->sequence_count);
    buffer_append_text(out, "\n}\n");
}

/* --- the routes --- */

/* Prometheus asks for OpenMetrics, and accepts the older format as well. */
static bool wants_openmetrics(const struct exchange *exchange)
{
    const char *accept = evhttp_find_header(
        evhttp_request_get_input_headers(exchange->request), "Accept");

    return accept != NULL && strstr(accept, OPENMETRICS) != NULL;
}

void metrics_route(struct exchange *exchange, const struct target *target)
{
    static const struct report_order older = {
        .type = METRICS_TYPE,
        .most = SNAPSHOT_BUSIEST_MAX,
        .write = metrics_write,
    };
    static const struct report_order openmetrics = {
        .type = OPENMETRICS_TYPE,
        .most = SNAPSHOT_BUSIEST_MAX,
        .write = openmetrics_write,
    };

    (void)target;
    report_start(exchange, wants_openmetrics(exchange) ? &openmetrics : &older);
}

void status_route(struct exchange *exchange, const struct target *target)
{
    const char *most = evhttp_find_header(&target->query, "sequences");
    struct report_order order = {
        .type = "application/json",
        .write = status_write,
    };

    if (most != NULL) {
        const long value = strtol(most, NULL, 10);

        if (value < 1 || value > SNAPSHOT_BUSIEST_MAX) {
            problem_answer(exchange, HTTP_BADREQUEST, "ERR",
                           "sequences is 1 to 100: the busiest ones");
            return;
        }
        order.most = (size_t)value;
    }
    report_start(exchange, &order);
}
