/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenes whose sequences have a period, and machines whose wall clocks leap:
 * what is drawn, when clocks step, what may be refused because of it, and that
 * stamps never go back.
 */
#pragma once

#include "run.h"

/* Gives the scene one sequence with that period. */
void clocks_use(struct scene *scene, enum period_unit unit);

/* Some scenes have periods, or ids; some of those stores a clock. */
void clocks_draw(struct scene *scene, uint64_t seed);

/* Gives the broker's queue a guarded clock if the scene needs one, kept in its
 * machine's file. */
void clocks_set(struct machine *machine, struct broker *broker);

/* Steps of the machines' clocks from now on, as the scene's seed draws them. */
void clocks_schedule(struct run *run);

/* Whether a broker there may say that its clock is not to be trusted. */
bool clocks_excuse(const struct machine *machine);

/*
 * A caller was given numbers of that stamp: it must not be before one that the
 * caller, or an earlier broker of the machine, had handed out. Numbers that are
 * no ids become unique ones.
 */
void clocks_record(struct broker *broker, int32_t key, int64_t *last_ms,
                   const struct seqb_stamp *stamp, int64_t *numbers, size_t n);

/* The folder of the state files, made if the scene needs it. */
void clocks_begin(struct run *run);
void clocks_end(struct run *run);
