/* SPDX-License-Identifier: Apache-2.0 */
/* The broker's handle, shared by the files of this folder alone. */
#pragma once

#include <pthread.h>

#include <seqbroker/admin.h>

#include "config/config.h"
#include "ha/ha.h"
#include "queue/queue.h"

struct seqb_broker {
    struct config *first;                          /* that it was opened with */
    const struct seqb_backend_ops *const *engines; /* as given to open, with a
                                                      list of our own */

    pthread_mutex_t reload_lock; /* held by a reload */
    pthread_mutex_t config_lock; /* guards the next one */
    struct config *config;       /* of the last reload; or the first one */
    struct kept_config *kept;    /* earlier ones that are still pointed to */
    struct ha *ha;
    struct queue *queue;
};

/* Of reload.c: closes all topologies that it has. */
void configs_close(struct seqb_broker *broker);

/* Of topology.c: what was read; the handle is freed. */
struct config *topology_take(struct seqb_topology *topology);

/* The same: see seqb_topology_daemon. */
void daemon_settings_tell(const struct config *config,
                          void (*report)(void *context, const char *setting,
                                         const char *value),
                          void *context);
