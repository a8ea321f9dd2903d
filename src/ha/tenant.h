/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker id of a local partition: leased from the pool's authority on its
 * worker's thread, renewed whether it is used or not, given back at the end,
 * and taken note of when it is lost. What the rows mean is lease.h's.
 */
#pragma once

#include "ha/worker.h"

struct ha;

/* Makes the tenant of each local partition, before any worker runs.
 * SEQB_CONFIG: the pool has no authority; SEQB_NO_MEMORY. */
enum seqb_status tenants_make(struct ha *ha, struct seqb_error *err);

/* The pools serve: asks for the ids. Waits for the first answers, whatever
 * they are, until `until_ms`. */
void tenants_start(struct ha *ha, int64_t until_ms);

/* On the watchdog's thread: has the work done that is due. Returns when to be
 * called again. */
int64_t tenants_judge(struct ha *ha, int64_t now_ms);

/* Ends the workers of local partitions and gives the ids back, as far as the
 * authorities answer soon. The other workers run still. */
void tenants_end(struct ha *ha);

/* When all workers have stopped. */
void tenants_free(struct ha *ha);

/* The rest is for the thread of a local partition's worker. */

/*
 * Installs the newest lease in the engine. False if there is none that is
 * valid: `err` is SEQB_UNAVAILABLE with the reason, and the partition is
 * quarantined until there is. True for other workers.
 */
bool tenant_is_ready(struct worker *worker, struct seqb_error *err);

/* Values up to that one were granted. */
void tenant_used(struct tenant *tenant, int64_t value);

/* Any thread: whether a row with that key is this tenant's. */
bool tenant_owns(const struct tenant *tenant, uint64_t key);

/* "worker/<pool>/<id>", as the authority has it. */
void tenant_row_name(const struct ha_pool *pool, int64_t id, char *out,
                     size_t size);
