/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue of work that takes several turns of the loop. All of it together has
 * a slice of each turn, as the queue of connections has (loop/fairness.h), so
 * that other clients wait no longer, however many ask for much. Private to this
 * folder.
 */
#pragma once

#include <stdbool.h>
#include <sys/queue.h>

struct event_base;
struct turns;

/* A member of the struct that does the work. Zeroed is not in the queue. */
struct turn {
    TAILQ_ENTRY(turn) entry;
    bool is_queued;
    /* Does a part of the work. It is out of the queue then, and may enter it
     * again. */
    void (*run)(struct turn *turn);
};

/* `base` must live as long as the result. NULL if memory is short. */
struct turns *turns_open(struct event_base *base);

/* Adds it at the end, unless it is in the queue. */
void turns_add(struct turns *turns, struct turn *turn);

/* Removes it, if it is in the queue. */
void turns_remove(struct turns *turns, struct turn *turn);

/* The queue must be empty. NULL is allowed. */
void turns_close(struct turns *turns);
