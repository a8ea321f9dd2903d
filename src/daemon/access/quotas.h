/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All quotas of the process, of users and of keys, and what one request is
 * charged to both. They outlive the table of users, so that a reload does not
 * reset the numbers of the current day. Private to the folder, except through
 * access.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/access/quota.h"

struct users;

struct quotas {
    struct quota_list list;  /* users, then keys, the last refused first */
    struct quota *first_key; /* of the list, or NULL */
    uint64_t version;        /* incremented when the table of users changes */
    int64_t refused;         /* requests refused since the start */
};

void quotas_init(struct quotas *quotas);

/* Frees all quotas. A zeroed struct is allowed. */
void quotas_fini(struct quotas *quotas);

/* The quota of a key, looked up again when the table of users has changed.
 * Zeroed at first. */
struct key_quota {
    struct quota *quota; /* NULL: no limit */
    uint64_t version;
};

/* False if memory is short. */
bool key_quota_update(struct key_quota *key_quota, struct quotas *quotas,
                      const struct users *users, const char *key);

/* A connection of the user was refused because it has its maximum. Counts it
 * as a refused request, and logs a line as charge_take does. */
void quota_refuse_connection(struct quota *quota, int64_t now_ms);

/* What a request was charged, and has not used up by numbers that it got. */
struct charge {
    struct quota *user, *key; /* NULL: none */
    int64_t left;             /* numbers charged but not delivered yet */
    int64_t charged;          /* all of them */
    /* Numbers that the request may use up and not get; charge_take sets it to
     * those that it has charged. */
    int64_t beside;
};

#define CHARGE_REFUSAL_SIZE 256

/* Why a request is refused. */
struct charge_refusal {
    const char *code; /* "LIMIT": try again later; "ERR": never possible */
    int64_t wait_ms;  /* after LIMIT */
    char text[CHARGE_REFUSAL_SIZE];
};

/* Charges `count` numbers (at least 1) to the quotas in the charge, and
 * charge->beside as far as the quotas can ever charge that at once. If one of
 * them refuses, nothing is charged: returns false, fills `*refusal`, and logs a
 * line, at most every 10 s for each quota. */
bool charge_take(struct charge *charge, struct quotas *quotas, int64_t count,
                 struct quota_time time, struct charge_refusal *refusal);

/* How many more numbers, up to `most`, may be charged without a refusal. */
int64_t charge_most(const struct charge *charge, int64_t most,
                    struct quota_time time);

/* Counts the numbers that were delivered as taken, and returns the others to
 * the quotas. A second call does nothing. */
void charge_end(struct charge *charge);
