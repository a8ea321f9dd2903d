/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenes whose pool makes snowflakes in addition to its counters: which ones,
 * how their worker ids are leased, and what is required of them besides that
 * none repeats.
 */
#pragma once

#include "run.h"

/* Gives the pool one more sequence, of snowflakes. Call it after the neighbours
 * are drawn. */
/* Adds them. */
void flakes_add(struct scene *scene, struct random *random);

void flakes_draw(struct scene *scene, uint64_t seed);

/* Sets the snowflakes in the options of the broker's queue, if the pool has
 * some. */
void flakes_set(const struct scene *scene, struct broker *broker);

static inline bool flakes_are(const struct scene *scene, int32_t key)
{
    return scene->sequences[key].snowflake != NULL;
}

/* Whether a call that got no snowflake may have that status. */
bool flakes_excuse(enum seqb_status status);

/* How long after the last fault a broker may be without a worker id, in
 * addition to the time that its stores need to recover. */
int64_t flakes_settle_us(const struct scene *scene);

/* Whether the broker has made some since then, or the pool has none, or all ids
 * may be ahead. */
bool flakes_settled(const struct broker *broker, int64_t since_us);
