/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenes whose sequences have a period, and machines whose wall clocks leap:
 * which ones are drawn, when clocks step, which refusals this excuses, and the
 * check that stamps never go back.
 */
#pragma once

#include "run.h"

/* Gives the scene one sequence with that period. */
void clocks_use(struct scene *scene, enum period_unit unit);

/* Draws whether the scene has periods or ids, and whether some of its stores
 * have a clock. */
void clocks_draw(struct scene *scene, uint64_t seed);

/* Gives the broker's queue a guarded clock, with its file on the broker's
 * machine, if the scene needs one. */
void clocks_set(struct machine *machine, struct broker *broker);

/* From now on, steps the machines' clocks as drawn from the scene's seed. */
void clocks_schedule(struct run *run);

/* Whether a broker on that machine may report that its clock cannot be
 * trusted. */
bool clocks_excuse(const struct machine *machine);

/*
 * A caller got numbers of that stamp. The stamp must not be before one that
 * this caller got, or that an earlier broker of the machine had issued. Numbers
 * that are not ids are changed to unique ones.
 */
void clocks_record(struct broker *broker, int32_t key, int64_t *last_ms,
                   const struct seqb_stamp *stamp, int64_t *numbers, size_t n);

/* clocks_begin makes the folder of the state files if the scene needs it.
 * clocks_end removes it. */
void clocks_begin(struct run *run);
void clocks_end(struct run *run);
