/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenes whose pool makes snowflakes beside its counters: which ones, how their
 * worker ids are leased, and what is claimed of them besides that none repeats.
 */
#pragma once

#include "run.h"

/* Gives the pool one sequence more, of snowflakes; after the neighbours. */
void flakes_draw(struct scene *scene, uint64_t seed);

/* Gives the broker's queue the pool's snowflakes, if it has some. */
void flakes_set(const struct scene *scene, struct broker *broker);

static inline bool flakes_are(const struct scene *scene, int32_t key)
{
    return scene->sequences[key].snowflake != NULL;
}

/* Whether a call without a snowflake may be answered so. */
bool flakes_excuse(enum seqb_status status);

/* How long after the last fault a broker may be without a worker id, besides
 * what its stores take to come back. */
int64_t flakes_settle_us(const struct scene *scene);

/* Whether the broker made some since then, or there are none. */
bool flakes_settled(const struct broker *broker, int64_t since_us);
