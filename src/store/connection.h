/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection to a store: the engine, with each call under the watchdog. A
 * call that hangs is ended and answers the engine's error for a lost
 * connection, prefixed with the time-out that passed. The calls themselves are
 * described in <seqbroker/backend.h>.
 *
 * One thread at a time uses a connection, unless a comment permits any thread.
 * The engine's calls need an open backend, and their `err` must not be NULL.
 */
#pragma once

#include <stdatomic.h>

#include "store/endpoint.h"
#include "store/options.h"
#include "store/watchdog.h"

#define CONNECTION_NO_CLOCK INT64_MIN /* no clock, or not read yet */

/* A call is ended this long after its time-out. It gives an engine that
 * enforces the time-out itself the time to answer first: its error says more,
 * and its connection can still be closed in order. */
#define CONNECTION_SLACK_MS 50

struct connection {
    /* These two change only while the connection is closed, see
     * connection_change; other threads read them at any time. What they point
     * to outlives the connection. */
    _Atomic(const struct store_options *) options;
    _Atomic(struct endpoint *) endpoint; /* NULL: not known */
    struct watchdog *watchdog;           /* constant */
    /* The watchdog has a call judged that takes longer than this; 0: no call is
     * judged. */
    _Atomic int32_t slow_ms;

    struct seqb_backend *backend; /* NULL: not open */
    char *password;               /* of this open, read from a file */
    char *sentinel_password;      /* the same for the sentinels */
    struct watch watch;           /* watches the backend's socket */
    uint64_t serial;              /* counts successful opens */
    uint64_t verified_on;         /* the serial when the claims were compared */
    int64_t clock_seen_ms;        /* when the store's clock was read last */
    /* The store's incarnation at the last open; it stays when the connection is
     * closed. */
    char incarnation[SEQB_INCARNATION_SIZE];

    /* When the current call began, by clock_now_ms; -1: there is none. Relaxed:
     * a reader that judges it reads it again. */
    _Atomic int64_t call_ms;

    /* When a call last succeeded, by clock_now_ms; -1: none yet. Relaxed, as
     * above. */
    _Atomic int64_t answered_ms;

    /* The store's wall clock minus our boot clock, ms, or CONNECTION_NO_CLOCK:
     * a step of our wall clock does not change it. Relaxed, as above. */
    _Atomic int64_t clock_ms;

    /* The most that our wall clock was seen to be ahead of our boot clock, ms;
     * 0: not read yet. Relaxed, as above. */
    _Atomic int64_t wall_ms;
};

/* Sets up a zeroed connection, which is not open yet. The options, the watchdog
 * and the endpoint (NULL: none) must outlive it. */
void connection_init(struct connection *connection,
                     const struct store_options *options,
                     struct watchdog *watchdog, struct endpoint *endpoint);

/* Sets what the connection is opened with from now on. It must not be open. */
void connection_change(struct connection *connection,
                       const struct store_options *options,
                       struct endpoint *endpoint);

const char *connection_name(const struct connection *connection);
enum seqb_guarantee connection_guarantee(const struct connection *connection);

/* 0: the connection is open, or may be opened now. Otherwise the time when to
 * ask again, because the server behind it is down and was tried just now. */
int64_t connection_enter(const struct connection *connection, int64_t now_ms);

/* Opens the backend, which the watchdog then watches. `create` permits it to
 * create its store, if the options permit it too. */
enum seqb_status connection_open(struct connection *connection, bool create,
                                 struct seqb_error *err);
bool connection_is_open(const struct connection *connection);

/* Whether the connection is open and its engine has `list`. */
bool connection_may_list(const struct connection *connection);

/* A connection that is not open is allowed. */
void connection_close(struct connection *connection);

/* Reports the error of a call: if it means that the server is down, other
 * connections to the same server are held back for a while. */
void connection_report(const struct connection *connection,
                       const struct seqb_error *why);

/* Whether the claims were compared since the connection was opened. */
void connection_set_verified(struct connection *connection);
bool connection_is_verified(const struct connection *connection);

/* The engine's calls. connection_install, _swap, _purge and _list need an
 * engine that has them, see <seqbroker/backend.h>. A store without a clock has
 * time 0. */
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
/* Claims the first `*done` of the claims, at least one. With an engine that has
 * no claim_many it is one claim a call. */
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
/* `out` must be zeroed. What is not known stays "". */
enum seqb_status connection_describe(struct connection *connection,
                                     struct seqb_details *out,
                                     struct seqb_error *err);

/* Whether the status of a raise, an install or a claim, if it is not SEQB_OK,
 * means that this counter alone was refused and the connection may be used
 * again. */
bool connection_was_refused(enum seqb_status status);
