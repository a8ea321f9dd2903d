/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only seeds from EXTRAS_FROM on have, so that earlier seeds remain the
 * runs that they were: differences between the brokers of a pool, and what an
 * operator does to them while there are faults. See README.md.
 */
#pragma once

#include "run.h"

#define EXTRAS_FROM 3000000

void extras_draw(struct scene *scene, uint64_t seed);

/* Sets what is this broker's own. */
void extras_set(struct broker *broker);

/* Call it before the brokers start. */
void extras_begin(struct run *run);

/* From now on an operator advances sequences, and reloads brokers, as drawn
 * from the scene's seed. */
void extras_schedule(struct run *run);

/* Whether a broker ends in order instead of being killed. */
bool extras_halts(struct run *run);

/* Before a broker starts again: stores may go back without another origin. */
void extras_put_back(struct run *run);

/* Whether that key may be unknown, since a reload removed it. */
bool extras_excuse(const struct run *run, int32_t key, enum seqb_status status);
