/* SPDX-License-Identifier: Apache-2.0 */
/* The routes that are answered by a report. */
#include "daemon/http/metrics.h"
#include "daemon/http/report.h"
#include "daemon/http/route.h"

void metrics_route(struct exchange *exchange, const struct target *target)
{
    static const struct report_order order = {
        .type = METRICS_TYPE,
        .write = metrics_write,
    };

    (void)target;
    report_start(exchange, &order);
}
