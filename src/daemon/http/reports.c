/* SPDX-License-Identifier: Apache-2.0 */
/* The routes that are answered by reports. */
#include <stdlib.h>
#include <string.h>

#include "daemon/http/exchange.h"
#include "daemon/http/metrics/metrics.h"
#include "daemon/http/problem.h"
#include "daemon/http/report.h"
#include "daemon/http/route.h"
#include "daemon/http/status_json.h"

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
        .write = status_json_write,
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
