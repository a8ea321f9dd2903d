/* SPDX-License-Identifier: Apache-2.0 */
/* A topology between its reading and its opening. */
#include <stdlib.h>

#include "api/broker.h"
#include "platform/error.h"

struct seqb_topology {
    struct config *config;
};

enum seqb_status seqb_read_topology(const char *file,
                                    struct seqb_topology **out,
                                    struct seqb_error *err)
{
    const struct config_request request = {.path = file};
    struct seqb_topology *topology = calloc(1, sizeof *topology);
    enum seqb_status status;

    if (topology == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    status = config_open(&request, &topology->config, err);
    if (status != SEQB_OK) {
        free(topology);
        return status;
    }
    *out = topology;
    return SEQB_OK;
}

struct config *topology_take(struct seqb_topology *topology)
{
    struct config *config = topology->config;

    free(topology);
    return config;
}

void seqb_topology_free(struct seqb_topology *topology)
{
    if (topology != NULL)
        config_close(topology_take(topology));
}

void daemon_settings_report(const struct config *config,
                            void (*report)(void *context, const char *setting,
                                           const char *value),
                            void *context)
{
    const struct config_topology *topology = config_topology(config);

    report(context, "state_dir", topology->state_dir);
    report(context, "name", topology->broker_name);
    for (const struct config_daemon *at = topology->daemon; at->setting != NULL;
         at++)
        report(context, at->setting, at->value);
}

void seqb_topology_daemon(const struct seqb_topology *topology,
                          void (*report)(void *context, const char *setting,
                                         const char *value),
                          void *context)
{
    daemon_settings_report(topology->config, report, context);
}

enum seqb_status seqb_daemon_settings(const char *topology,
                                      void (*report)(void *context,
                                                     const char *setting,
                                                     const char *value),
                                      void *context, struct seqb_error *err)
{
    struct seqb_topology *read = NULL;
    const enum seqb_status status = seqb_read_topology(topology, &read, err);

    if (read == NULL)
        return status;
    seqb_topology_daemon(read, report, context);
    seqb_topology_free(read);
    return SEQB_OK;
}
