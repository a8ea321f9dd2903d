/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call of the library that waits for the stores. It runs on a separate
 * thread, so that the loop does not wait. The whole daemon has one order at a
 * time. A look at the stores answers all who asked before it began, and the
 * next one those who ask meanwhile: nobody is refused, and nobody waits for
 * more than two. Those who may give orders have looks of their own.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/admin.h>

#include "daemon/access/access.h"
#include "daemon/daemon.h"
#include "daemon/reloader/reloader.h"

struct session;

/* An advance by more numbers than this needs FORCE: it wastes them for ever. */
#define ADVANCE_MAX (INT64_C(1) << 40)

/* So does one by more than this many numbers, or by all, and more than this
 * part of those that the width of the template has left. */
#define ADVANCE_FEW  1000
#define ADVANCE_PART 100

enum blocking_call_kind {
    BLOCKING_CALL_ADVANCE, /* seqb_advance */
    BLOCKING_CALL_WORKERS, /* seqb_workers */
    BLOCKING_CALL_RELOAD   /* reloader_run */
};

/* The call to make, with its arguments. */
struct blocking_call_order {
    enum blocking_call_kind kind;
    /* For BLOCKING_CALL_ADVANCE: `key`, `to` and `is_forced`; for
     * BLOCKING_CALL_RELOAD: `is_check` and `is_report`. */
    char key[SEQB_KEY_MAX + 1];
    int64_t to;
    bool is_check;
    bool is_report; /* a refusal is answered as a report, too */
    bool is_forced; /* also beyond these */
};

struct blocking_call {
    struct blocking_call_order order;
    struct seqb_broker *broker;
    struct reloader *reloader;
    struct audit *audit;
    int wake_fd;
    pthread_t thread; /* if has_begun */
    bool has_begun;
    bool is_of_operator; /* of clients that may give orders */
    /* The loop's: who waits for the answer. None: they were closed. */
    struct session_list sessions;
    /* Who gave the order, for the audit, which outlives the session. */
    char user[IDENTITY_NAME_SIZE];
    char from[ADDRESS_SIZE];
    const char *by;
    /* Owned by the thread until is_done. */
    struct seqb_error err; /* SEQB_OK if the call succeeded */
    int64_t highest;       /* highest number of the key before the advance */
    bool is_advanced;      /* at least this broker's own floor */
    struct seqb_worker *workers;
    size_t worker_count;
    struct reload_report report;
    atomic_bool is_done;
};

/* Starts the call for the session, which is resumed when the call is over, or
 * has the session wait for the next look at the stores. False after answering
 * why it cannot start. */
bool blocking_call_start(struct session *session,
                         const struct blocking_call_order *order);

/* Whether the call is over. Its results must not be read before. */
bool blocking_call_is_done(const struct blocking_call *blocking_call);

/* The session, which has a call that is done, has read its results. After the
 * last one the call ends: it is added to the audit if it is an order, and
 * freed. */
void blocking_call_end(struct session *session);

/* The session is closed. Does nothing if it has no call. */
void blocking_call_leave(struct session *session);

/* Resumes one session of each call that is done, or ends the call if it has
 * none. True if it has to be called again, after other clients have had a
 * turn. */
bool blocking_calls_poll(struct daemon *daemon);

/* Waits for all calls, and ends them. No session is left. */
void blocking_calls_end(struct daemon *daemon);
