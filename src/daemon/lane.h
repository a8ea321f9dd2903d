/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane is one sequence as the loop sees it: its handle, and the sessions
 * that wait in line for its numbers. It knows nothing of sockets; the library
 * wakes the loop through an eventfd.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include <seqbroker/seqbroker.h>

#include "daemon/wire/wire.h"

struct lane;
struct session;

/* A session's place in a line; a member of it. */
struct waiter {
    TAILQ_ENTRY(waiter) entry;
    struct lane *lane; /* NULL: in none */
    struct session *session;
};

TAILQ_HEAD(waiter_line, waiter);
TAILQ_HEAD(lane_list, lane);

struct lane {
    char key[SEQB_KEY_MAX + 1];
    size_t key_length;
    struct seqb_sequence *sequence; /* the broker's */
    struct waiter_line line;
    TAILQ_ENTRY(lane) waiting; /* in lanes.waiting if the line has someone */
    bool is_serving;           /* numbers have come, the line is being served */
    atomic_bool is_ready;      /* set by the library's thread, see lane.c */
    int wake_fd;
    struct lane *next; /* with the same hash */
};

struct lanes {
    struct seqb_broker *broker;
    int wake_fd;         /* an eventfd: some lane may be ready */
    struct lane **slots; /* a hash table of 2^k lists */
    size_t slot_count;
    size_t count;
    struct lane_list waiting;
};

/* `broker` and `wake_fd` stay the caller's. */
void lanes_init(struct lanes *lanes, struct seqb_broker *broker, int wake_fd);

/* Frees the lanes; to be called after seqb_close, whose threads may still be
 * touching them. */
void lanes_fini(struct lanes *lanes);

/* The lane of a key, made at its first use. SEQB_INVALID, SEQB_UNKNOWN_KEY,
 * SEQB_NO_MEMORY. */
enum seqb_status lanes_find(struct lanes *lanes, struct resp_slice key,
                            struct lane **out, struct seqb_error *err);

/* Whether a session that comes now would overtake others. */
bool lane_has_line(const struct lane *lane);

/* Puts a waiter into the line: at its head if it had been there before, else
 * at its end. To be called after the sequence answered that it has none, or
 * while others wait. */
void lanes_join(struct lanes *lanes, struct lane *lane, struct waiter *waiter,
                bool is_first);

/* Takes a waiter out of its line, if it is in one. */
void lanes_leave(struct lanes *lanes, struct waiter *waiter);

/* For each lane that became ready: lets those in line leave, one after the
 * other, and calls `resume`, until one of them joins that line again. */
void lanes_serve(struct lanes *lanes, void (*resume)(struct session *session));
