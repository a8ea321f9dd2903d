/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends calls that hang: at a call's deadline its socket is shut down, so that
 * the call returns with an error. One thread for each broker, which sleeps
 * until the next deadline.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/status.h>

struct watchdog;

/*
 * One connection and the current call on it; {0} watches nothing. The fields
 * are the watchdog's.
 */
struct watch {
    struct watchdog *watchdog; /* NULL: nothing is watched */
    struct watch *next;
    int fd;         /* a duplicate: a client library may close its own
                       descriptor in a call that fails, and its number may then
                       be another socket's */
    int64_t due_ms; /* INT64_MAX: there is no current call, or it was ended */
    bool has_ended; /* the current call was ended by a shutdown */
};

/*
 * `judge` (NULL: none) is called on the watchdog's thread, with none of its
 * locks held, at the time that watchdog_expect asked for, and then at each time
 * that `judge` itself returned; INT64_MAX means not before watchdog_expect asks
 * again. SEQB_NO_MEMORY also if no thread can be started.
 */
enum seqb_status watchdog_open(int64_t (*judge)(void *context, int64_t now_ms),
                               void *context, struct watchdog **out,
                               struct seqb_error *err);

/* Has `judge` called at `at_ms`, unless it is due earlier. NULL is allowed. */
void watchdog_expect(struct watchdog *watchdog, int64_t at_ms);

/* To be called after the last watch_close; joins the thread. NULL is
 * allowed. */
void watchdog_close(struct watchdog *watchdog);

/*
 * Watches a connected socket from now on; with -1 the watch has no effect.
 * `watch` must not move until watch_close. SEQB_UNREACHABLE if the descriptor
 * cannot be duplicated.
 */
enum seqb_status watch_open(struct watchdog *watchdog, int fd,
                            struct watch *watch, struct seqb_error *err);

/* To be called after the engine's close. A watch that is not open is
 * allowed. */
void watch_close(struct watch *watch);

/* A call begins that must be over before `due_ms`, by clock_now_ms(). */
void watch_begin(struct watch *watch, int64_t due_ms);

/* The call is over. True if the watchdog ended it: the connection is then
 * dead. */
bool watch_end(struct watch *watch);
