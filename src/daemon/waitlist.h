/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A waitlist is one sequence as the loop sees it: its handle, and the queue of
 * sessions that wait for its numbers. It knows no sockets; the library wakes
 * the loop through an eventfd.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include <seqbroker/seqbroker.h>

#include "daemon/access/access.h"
#include "daemon/wire/wire.h"

struct waitlist;
struct session;

/* A session's place in a waitlist; a member of the session. */
struct waiter {
    TAILQ_ENTRY(waiter) entry;
    struct waitlist *waitlist; /* NULL: it does not wait */
    struct session *session;
};

TAILQ_HEAD(waiter_line, waiter);
TAILQ_HEAD(waitlist_list, waitlist);

#define WAITLIST_NONE_TAKEN INT64_C(0)
#define WAITLIST_TEXT_TAKEN INT64_C(-1)

struct waitlist {
    char key[SEQB_KEY_MAX + 1];
    size_t key_length;
    struct seqb_sequence *sequence; /* the broker's */
    struct key_quota limit;
    /* The number that was taken last, or one of these. */
    int64_t last;
    struct waiter_line line;
    TAILQ_ENTRY(waitlist)
    waiting;         /* in waitlists.waiting, unless the line is empty */
    bool is_serving; /* numbers have come, and its sessions are being resumed */
    atomic_bool is_ready; /* set by a thread of the library, see waitlist.c */
    int wake_fd;
    struct waitlist *next; /* in the same slot of the hash table */
};

struct waitlists {
    struct seqb_broker *broker;
    int wake_fd;             /* an eventfd: a waitlist may be ready */
    struct waitlist **slots; /* a hash table of 2^k lists */
    size_t slot_count;
    size_t count;
    struct waitlist_list waiting;
    int64_t waiter_count;
};

/* `broker` and `wake_fd` stay the caller's. */
void waitlists_init(struct waitlists *waitlists, struct seqb_broker *broker,
                    int wake_fd);

/* Frees the waitlists. To be called after seqb_close: until then the library's
 * threads may access them. */
void waitlists_fini(struct waitlists *waitlists);

/* Whether there is a waitlist of that key. */
bool waitlists_have(struct waitlists *waitlists, struct resp_slice key);

/* The waitlist of a key, made at its first use. SEQB_INVALID, SEQB_UNKNOWN_KEY,
 * SEQB_NO_MEMORY. */
enum seqb_status waitlists_find(struct waitlists *waitlists,
                                struct resp_slice key, struct waitlist **out,
                                struct seqb_error *err);

/* Whether a session that takes a number now would overtake waiting ones. */
bool waitlist_has_waiters(const struct waitlist *waitlist);

/* Adds a waiter: `is_first` at the head, for one that waited before, else at
 * the end. To be called after the sequence had no number for it, or while
 * others wait. */
void waitlists_join(struct waitlists *waitlists, struct waitlist *waitlist,
                    struct waiter *waiter, bool is_first);

/* Removes a waiter from its waitlist, if it is in one. */
void waitlists_leave(struct waitlists *waitlists, struct waiter *waiter);

/* The most waiters that waitlists_serve resumes. Each of them may execute as
 * much as in a turn of the loop. */
#define WAITLISTS_TURNS 32

/* For each waitlist that became ready: removes its waiters in order and calls
 * `resume` for each, until one of them joins that waitlist again. True if more
 * may be left: it has to be called again, after other clients had a turn. */
bool waitlists_serve(struct waitlists *waitlists,
                     void (*resume)(struct session *session));
