/* SPDX-License-Identifier: Apache-2.0 */
/* The routes that are answered by a report. */
#include "daemon/http/reports.h"

#include <stdlib.h>

#include "daemon/http/exchange.h"
#include "daemon/http/metrics.h"
#include "daemon/http/problem.h"
#include "daemon/http/report.h"
#include "daemon/http/route.h"

void metrics_route(struct exchange *exchange, const struct target *target)
{
    static const struct report_order order = {
        .type = METRICS_TYPE,
        .most = SNAPSHOT_BUSIEST_MAX,
        .write = metrics_write,
    };

    (void)target;
    report_start(exchange, &order);
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
