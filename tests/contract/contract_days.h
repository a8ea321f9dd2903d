/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of days, for the contract's tests of periods. Day 1 of a counter KEY
 * is "KEY@20261101"; it begins at 0:00 UTC. */
#pragma once

#include <stdint.h>

#include "contract/contract_suite.h"

#define DAY_MS             INT64_C(86400000)
#define DAY_BEGINS_MS(day) (INT64_C(1793491200000) + ((day)-1) * DAY_MS)

void day_name(char out[SEQB_COUNTER_SIZE], const char *counter, int day);

/* Reserves one value of a counter whose period begins at `begins_ms`. Returns
 * the call's status or, if that is SEQB_OK, the request's. */
enum seqb_status contract_reserve_of(const struct contract *contract,
                                     struct seqb_backend *backend,
                                     const char *counter, int64_t begins_ms,
                                     struct seqb_request *out);

/* The same for a day, on the test's backend. */
enum seqb_status day_reserve(const struct contract *contract,
                             const char *counter, int day,
                             struct seqb_request *out);

/* The same as contract_take, for a day. */
int64_t day_take(const struct contract *contract, const char *counter, int day,
                 int64_t want, int64_t before);
