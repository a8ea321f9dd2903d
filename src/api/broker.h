/* SPDX-License-Identifier: Apache-2.0 */
/* The broker's handle, for the files of this folder alone. */
#pragma once

#include <pthread.h>

#include <seqbroker/admin.h>

#include "config/config.h"
#include "ha/ha.h"
#include "queue/queue.h"

struct seqb_broker {
    struct config *first;                          /* the topology that
                                                      seqb_open read */
    const struct seqb_backend_ops *const *engines; /* the engines given to
                                                      seqb_open, in a list that
                                                      the broker owns */

    pthread_mutex_t reload_lock; /* held during a reload */
    pthread_mutex_t config_lock; /* guards `config` */
    struct config *config;       /* the topology of the last reload, or the
                                    first one */
    struct kept_config *kept;    /* topologies to which sequences may still
                                    point */
    struct ha *ha;
    struct queue *queue;
};

/* Of reload.c: closes all topologies of the broker. */
void configs_close(struct seqb_broker *broker);

/* Of topology.c: what was read; the handle is freed. */
struct config *topology_take(struct seqb_topology *topology);

/* The same: see seqb_topology_daemon. */
void daemon_settings_report(const struct config *config,
                            void (*report)(void *context, const char *setting,
                                           const char *value),
                            void *context);
