/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One counter in one partition: asked, answered, refused, tried again. All but
 * slot_init with the pool's lock held.
 */
#pragma once

#include "ha/state.h"

void slot_init(struct slot *slot, struct ha_counter *counter,
               int32_t partition);

/* It is to be asked for `want` values, near the level of its class. */
void slot_ask(struct slot *slot, int64_t want, int64_t now_ms);

/* Whether it may be asked now, if its partition may. */
bool slot_is_open(const struct slot *slot, int64_t now_ms);

/* EXHAUSTED or LAYOUT if it is never to be asked again; else SEQB_OK. */
enum seqb_status slot_closed(const struct slot *slot);

/* As new as it was when it was made, for another stamp. What was compared in
 * its store, and who it is, stays; so does what its store refuses whatever the
 * stamp, until the next answer. */
void slot_renew(struct slot *slot);

/* A slot of partition `i` that is to be posted, since what it is refused is
 * tried again though nobody asks; or NULL. `*next_ms`: when to look again,
 * INT64_MAX: not by itself. */
struct slot *slot_retry(struct ha_pool *pool, int32_t i, int64_t now_ms,
                        int64_t *next_ms);

/* Appends in words what partition `i` refuses, which must be something. */
void slot_refusals_tell(const struct ha_pool *pool, int32_t i, char *out,
                        size_t size);
