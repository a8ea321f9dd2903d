/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine with simulated time: tasks that run one at a time, each on its own
 * stack, events at given times, and random choices from a seed. There is only
 * one world at a time, because there is only one clock. A run of a seed is
 * always the same.
 *
 * When there is nothing to do, time jumps to the next event, so that a
 * simulated hour takes only as long as its events.
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

/* The wall clock of a machine. To step it, change the field. */
struct world_clock {
    int64_t ahead_ms; /* of the right time */
};

/* `preempt`: one in `preempt` times, a task that takes a lock lets another task
 * run first; 0: never. */
void world_begin(uint64_t seed, int32_t preempt);

/* All tasks must have ended. */
void world_end(void);

int64_t world_now_us(void);

/* ms since 1970: the right time, and the time on the current task's machine. */
int64_t world_wall_ms(void);
int64_t world_clock_ms(void);

/* Runs everything that is due before `until_us`, and sets the time to it. False
 * if tasks wait that nothing will ever wake. */
bool world_run(int64_t until_us);

/* Runs until no task is left; false if some tasks never end. */
bool world_drain(void);

/* Calls `act` at that time. It must not wait. */
void world_at(int64_t at_us, void (*act)(void *context), void *context);

/* Starts a task at once. If `is_joined`, it must be joined. */
struct task *world_spawn(void *(*run)(void *argument), void *argument,
                         bool is_joined);

/* The functions below are for tasks. */

/* The current task, and tasks that it starts from now on, run on the machine
 * with this clock, which must outlive them. */
void world_use_clock(const struct world_clock *clock);

void world_join(struct task *task);
void world_sleep(int64_t us);
void world_sleep_until(int64_t at_us);

/* Lets other runnable tasks run. The time does not change. */
void world_yield(void);

/* Yields or does nothing, at random, like preemption. */
void world_may_yield(void);

/* Waits until `what` is woken; false if `until_us` came first. */
bool world_wait(const void *what, int64_t until_us);

void world_wake(const void *what, bool all);

/* Random numbers for the choice of the next task only. */
uint64_t world_random(void);
