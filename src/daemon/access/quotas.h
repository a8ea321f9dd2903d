/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The quotas of a process, of users and of keys, and what one request takes out
 * of both. They outlive the table of users that they are of, so that a reload
 * gives nobody new numbers of today. Private to the folder, but by access.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/access/quota.h"

struct users;

struct quotas {
    struct quota_list list; /* keys that were refused last come first */
    uint64_t version;       /* of the table of users */
    int64_t refused;        /* requests since the start */
};

void quotas_init(struct quotas *quotas);

/* Frees all quotas. Takes a zeroed one. */
void quotas_fini(struct quotas *quotas);

/* A key's limits, looked up again when the table is another one. Zeroed at
 * first. */
struct key_quota {
    struct quota *quota; /* NULL: no limit, so far */
    uint64_t version;
};

/* False if memory is short. */
bool key_quota_update(struct key_quota *key_quota, struct quotas *quotas,
                      const struct users *users, const char *key);

/* What a request has taken of the quotas, beyond the numbers that it got. */
struct charge {
    struct quota *user, *key; /* NULL: none */
    int64_t left;             /* to be given back */
};

#define CHARGE_REFUSAL_SIZE 256

/* Why a request is refused. */
struct charge_refusal {
    const char *code; /* "LIMIT": later; "ERR": never */
    int64_t wait_ms;  /* after LIMIT */
    char text[CHARGE_REFUSAL_SIZE];
};

/* Takes `count`, which is at least 1, of the quotas that are in the charge.
 * False, and nothing is taken: `*refusal` says why, and a line of the log, now
 * and then. */
bool charge_take(struct charge *charge, struct quotas *quotas, int64_t count,
                 struct quota_time time, struct charge_refusal *refusal);

/* The most that it may take more, without being refused, up to `most`. */
int64_t charge_most(const struct charge *charge, int64_t most,
                    struct quota_time time);

/* Gives back what is left. A second time it does nothing. */
void charge_end(struct charge *charge);
