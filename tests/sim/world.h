/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine in which time is a number: tasks that run one at a time on stacks
 * of their own, events at a moment, and chance from a seed. There is one
 * world at a time, as there is one clock; a run of a seed is always the same.
 *
 * When nothing is to be done now, time jumps to what comes next, so that an
 * hour costs what happens in it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random.h"

#define WORLD_NEVER INT64_MAX
#define MS          ((int64_t)1000) /* us */
#define SECOND      (1000 * MS)

struct task;

/* The wall clock of a machine; whoever steps it changes the field. */
struct world_clock {
    int64_t ahead_ms; /* of the world's */
};

/* `preempt`: a task that takes a lock lets another one run first, one time in
 * so many; 0: never. */
void world_begin(uint64_t seed, int32_t preempt);

/* All tasks must have ended. */
void world_end(void);

int64_t world_now_us(void);

/* ms since 1970: the right time, and what the current task's machine says. */
int64_t world_wall_ms(void);
int64_t world_clock_ms(void);

/* Runs what there is to do before `until_us`, then that is the time; false if
 * tasks wait that nothing will ever wake. */
bool world_run(int64_t until_us);

/* Runs until no task is left; false if some never end. */
bool world_drain(void);

/* The function is called at that time, and must not wait. */
void world_at(int64_t at_us, void (*act)(void *context), void *context);

/* A task that begins at once. Must be joined if `is_joined`. */
struct task *world_spawn(void *(*run)(void *argument), void *argument,
                         bool is_joined);

/* The rest is for tasks. */

/* The current task, and those that it begins from now on, run on the machine
 * with this clock, which outlives them. */
void world_use_clock(const struct world_clock *clock);

void world_join(struct task *task);
void world_sleep(int64_t us);
void world_sleep_until(int64_t at_us);

/* Lets the others run that can; comes back without time having passed. */
void world_yield(void);

/* By chance, as preemption does, a yield or nothing. */
void world_may_yield(void);

/* Waits until `what` is woken; false if that time came first. */
bool world_wait(const void *what, int64_t until_us);

void world_wake(const void *what, bool all);

/* The chance of who is next, and of nothing else. */
uint64_t world_random(void);
