/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends calls that hang: at its deadline a call's socket is shut down, so that
 * it returns with an error. One thread a broker, which sleeps until the next
 * deadline.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/status.h>

struct watchdog;

/*
 * One connection and the call under way on it; {0} watches nothing. The
 * fields are the watchdog's.
 */
struct watch {
    struct watchdog *watchdog; /* NULL: nothing is watched */
    struct watch *next;
    int fd;         /* a duplicate: a client library may close its own in a call
                       that fails, and the number is another socket's then */
    int64_t due_ms; /* INT64_MAX: no call is under way, or it was ended */
    bool has_ended; /* the call under way, by a shutdown */
};

/*
 * `judge` (NULL: none) is called on the watchdog's thread, with none of its
 * locks held, when watchdog_expect has asked for it, and then whenever it
 * said itself: it returns when to be called again, INT64_MAX for not before
 * watchdog_expect asks again. SEQB_NO_MEMORY also where no thread can be
 * started.
 */
enum seqb_status watchdog_open(int64_t (*judge)(void *context, int64_t now_ms),
                               void *context, struct watchdog **out,
                               struct seqb_error *err);

/* Has `judge` called at `at_ms`, if it would not be sooner. Takes NULL. */
void watchdog_expect(struct watchdog *watchdog, int64_t at_ms);

/* After the last watch_close; joins the thread. Takes NULL. */
void watchdog_close(struct watchdog *watchdog);

/*
 * Watches a connected socket from now on; with -1 every watch_begin is in
 * vain. `watch` stays where it is until watch_close. SEQB_UNREACHABLE if the
 * descriptor cannot be duplicated.
 */
enum seqb_status watch_open(struct watchdog *watchdog, int fd,
                            struct watch *watch, struct seqb_error *err);

/* After the engine's close. Takes one that is not open. */
void watch_close(struct watch *watch);

/* A call begins that must be over before `due_ms`, by clock_now_ms(). */
void watch_begin(struct watch *watch, int64_t due_ms);

/* The call is over. True if it was ended: the connection is dead then. */
bool watch_end(struct watch *watch);
