/* SPDX-License-Identifier: Apache-2.0 */
/* The routes for probes: liveness (the loop turns) and readiness (there are
 * numbers). */
#include <stdio.h>

#include <seqbroker/admin.h>

#include "daemon/daemon.h"
#include "daemon/http/exchange.h"
#include "daemon/http/route.h"

#define TEXT_TYPE "text/plain; charset=utf-8"

void live_route(struct exchange *exchange, const struct target *target)
{
    (void)target;
    exchange_answer_text(exchange, HTTP_OK, TEXT_TYPE, "ok\n");
}

/* Degraded counts as ready: each pool has a partition that answers. */
void ready_route(struct exchange *exchange, const struct target *target)
{
    const struct daemon *daemon = exchange->exchanges->daemon;
    enum seqb_health health = SEQB_HEALTH_UNKNOWN;
    char reason[SEQB_HEALTH_SIZE] = "";
    char warning[DAEMON_WARNING_SIZE];
    char line[SEQB_HEALTH_SIZE + DAEMON_WARNING_SIZE + 64];
    bool is_ready = false;

    (void)target;
    if (seqb_get_health(daemon->broker, &health, reason, sizeof reason, NULL) !=
        SEQB_OK)
        health = SEQB_HEALTH_UNKNOWN;
    is_ready =
        daemon_leaves(daemon) == NULL &&
        (health == SEQB_HEALTH_SERVING || health == SEQB_HEALTH_DEGRADED);
    daemon_warn(daemon, warning);
    snprintf(line, sizeof line, "%s%s%s%s%s\n",
             daemon_leaves(daemon) != NULL ? "stopping"
                                           : seqb_health_name(health),
             reason[0] != '\0' ? ": " : "", reason,
             warning[0] != '\0' ? "; warning: " : "", warning);
    exchange_answer_text(exchange, is_ready ? HTTP_OK : HTTP_SERVUNAVAIL,
                         TEXT_TYPE, line);
}
