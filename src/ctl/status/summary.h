/* SPDX-License-Identifier: Apache-2.0 */
/* The status of several brokers, a line for each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

#include "ctl/ctl.h"
#include "ctl/status/status.h"

struct summary {
    const char *at; /* of the command line */
    char name[64];
    char health[32];
    char *reason; /* NULL: none */
    bool is_silent;
    size_t up;
    size_t partitions;
    int64_t rate;      /* of all sequences */
    int64_t runway_ms; /* the lowest; -1: no sequence is used */
};

struct summaries {
    struct summary broker[CTL_SERVERS_MAX];
    size_t count;
};

/* Adds the next broker, by its answers to SEQ.STATUS and SEQ.HEALTH. */
void summary_add(struct summaries *summaries, const char *at,
                 const redisReply *status, const redisReply *health,
                 const struct selection *selection);

/* Adds one that gave no answer. */
void summary_add_silent(struct summaries *summaries, const char *at);

void summaries_print(const struct summaries *summaries,
                     const struct view *view);

void summaries_fini(struct summaries *summaries);
