/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call of the library that waits for the stores. It runs on a separate
 * thread, so that the loop does not wait. The whole daemon has one order and
 * one look at the stores at a time: who may only look refuses no order.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/admin.h>

#include "daemon/access/access.h"
#include "daemon/reloader/reloader.h"

struct daemon;
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
    pthread_t thread;
    bool is_of_operator;     /* of a client that may give orders */
    struct session *session; /* the loop's: who waits; NULL: it was closed */
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

/* Starts the call for the session, which is resumed when the call is over.
 * False after answering why it cannot start. */
bool blocking_call_start(struct session *session,
                         const struct blocking_call_order *order);

/* Whether the call is over. Its results must not be read before. */
bool blocking_call_is_done(const struct blocking_call *blocking_call);

/* For the loop's wake-up: resumes the session of each blocking call that is
 * done, or ends the call if its session was closed. */
void blocking_calls_poll(struct daemon *daemon);

/* Waits for the blocking call, adds it to the audit if it is an order, and
 * frees it. NULL is allowed, and does nothing. */
void blocking_call_end(struct daemon *daemon,
                       struct blocking_call *blocking_call);

/* The same for all blocking calls. */
void blocking_calls_end(struct daemon *daemon);
