/* SPDX-License-Identifier: Apache-2.0 */
/* The broker's handle, shared by the files of this folder alone. */
#pragma once

#include <seqbroker/admin.h>

#include "config/config.h"
#include "ha/ha.h"
#include "queue/queue.h"

struct seqb_broker {
    struct config *config;
    struct ha *ha;
    struct queue *queue;
};
