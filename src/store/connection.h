/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection to a store: the engine, with each call under the watchdog. A
 * call that hangs is ended and answers as the engine says of a lost connection,
 * with how long it took before it. What the calls mean is in
 * <seqbroker/backend.h>.
 *
 * One thread at a time uses a connection; what other threads may call says so.
 * The calls of the engine need the backend open, and their `err` is never NULL.
 */
#pragma once

#include <stdatomic.h>

#include "store/endpoint.h"
#include "store/options.h"
#include "store/watchdog.h"

#define CONNECTION_NO_CLOCK INT64_MIN /* of a store, or it was not seen */

/* A call is ended so long after its time-out. An engine that keeps the time
 * itself is to answer first: its words say more, and its connection may still
 * be closed in order. */
#define CONNECTION_SLACK_MS 50

struct connection {
    /* These two change while it is closed, see connection_change; others read
     * them at any time. What they point to outlives the connection. */
    _Atomic(const struct store_options *) options;
    _Atomic(struct endpoint *) endpoint; /* NULL: nothing is known of it */
    struct watchdog *watchdog;           /* constant */
    /* The watchdog has a call judged that takes longer; 0: no call. */
    _Atomic int32_t slow_ms;

    struct seqb_backend *backend; /* NULL: not open */
    char *password;               /* that it was opened with, out of a file */
    char *sentinel_password;      /* the same of the sentinels */
    struct watch watch;           /* over the backend's socket */
    uint64_t serial;              /* counts the connections made */
    uint64_t verified_on;  /* the serial with which claims were compared */
    int64_t clock_seen_ms; /* when its clock was looked at last */
    /* Of the store when it was opened last; stays when it is closed. */
    char incarnation[SEQB_INCARNATION_SIZE];

    /* When the call under way began, by clock_now_ms; -1: none is. Relaxed:
     * whoever judges it looks again. */
    _Atomic int64_t call_ms;

    /* When a call was answered well last, by clock_now_ms; -1: none was yet.
     * Relaxed, as above. */
    _Atomic int64_t answered_ms;

    /* The store's wall clock less our boot clock, ms, or CONNECTION_NO_CLOCK:
     * a step of our wall clock does not change it. Relaxed, as above. */
    _Atomic int64_t clock_ms;
};

/* Sets up a zeroed connection, not open. The options, the watchdog and the
 * endpoint (NULL: none) must outlive it. */
void connection_init(struct connection *connection,
                     const struct store_options *options,
                     struct watchdog *watchdog, struct endpoint *endpoint);

/* It is opened with these from now on. It is not open. */
void connection_change(struct connection *connection,
                       const struct store_options *options,
                       struct endpoint *endpoint);

const char *connection_name(const struct connection *connection);
enum seqb_guarantee connection_guarantee(const struct connection *connection);

/* 0: it is open, or may be opened now; else when to ask again, since the
 * server behind it is down and was tried just now. */
int64_t connection_enter(const struct connection *connection, int64_t now_ms);

/* Opens the backend, under the watchdog from then on; `create` lets it make
 * its store. */
enum seqb_status connection_open(struct connection *connection, bool create,
                                 struct seqb_error *err);
bool connection_is_open(const struct connection *connection);

/* Whether it is open, and its engine lists counters. */
bool connection_may_list(const struct connection *connection);

/* Takes one that is not open. */
void connection_close(struct connection *connection);

/* A call failed so: if that says that the server is down, others on the same
 * server are not to connect for a while. */
void connection_report(const struct connection *connection,
                       const struct seqb_error *why);

/* Whether the claims were compared since it was opened. */
void connection_set_verified(struct connection *connection);
bool connection_is_verified(const struct connection *connection);

/* The engine's calls. To install, swap, purge and list: only where the engine
 * can, see <seqbroker/backend.h>. A store without a clock has time 0. */
enum seqb_status connection_reserve(struct connection *connection,
                                    struct seqb_request *requests, size_t n,
                                    struct seqb_error *err);
enum seqb_status connection_raise(struct connection *connection,
                                  const struct seqb_raise *raise, int64_t *out,
                                  struct seqb_error *err);
enum seqb_status connection_install(struct connection *connection,
                                    const struct seqb_window *window,
                                    int64_t *standing, struct seqb_error *err);
enum seqb_status connection_claim(struct connection *connection,
                                  const char *name, const char *text,
                                  char *standing, size_t size,
                                  struct seqb_error *err);
/* The first `*done` of the claims, one or more: those that an engine without
 * claim_many has are claimed one at a time. */
enum seqb_status connection_claim_many(struct connection *connection,
                                       struct seqb_claim *claims, size_t n,
                                       size_t *done, struct seqb_error *err);
enum seqb_status connection_swap(struct connection *connection,
                                 const struct seqb_swap *swap, char *standing,
                                 size_t size, struct seqb_error *err);
enum seqb_status connection_purge(struct connection *connection,
                                  const struct seqb_purge *purge,
                                  int32_t *deleted, struct seqb_error *err);
enum seqb_status connection_list(struct connection *connection,
                                 struct seqb_page *page,
                                 struct seqb_error *err);
enum seqb_status connection_clock(struct connection *connection,
                                  int64_t *out_ms, struct seqb_error *err);
enum seqb_status connection_permits(struct connection *connection,
                                    const char *counter,
                                    struct seqb_error *err);
/* `out` was zeroed. What is not known stays "". */
enum seqb_status connection_describe(struct connection *connection,
                                     struct seqb_details *out,
                                     struct seqb_error *err);

/* Of a raise, an install or a claim, which are for one counter: whether that
 * one alone was refused, if it was not SEQB_OK, and the connection is fit for
 * another call. */
bool connection_was_refused(enum seqb_status status);
