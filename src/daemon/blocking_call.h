/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call of the library that waits for the stores, on a thread of its own, so
 * that the loop need not. One at a time in the whole daemon.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/admin.h>

#include "daemon/reloader.h"

struct daemon;
struct session;

/* An advance by more numbers than that burns what may be needed, for ever. */
#define ADVANCE_MAX (INT64_C(1) << 40)

enum blocking_call_kind {
    ERRAND_ADVANCE, /* seqb_advance */
    ERRAND_WORKERS, /* seqb_workers */
    ERRAND_RELOAD   /* reloader_run */
};

/* What is to be done. */
struct blocking_call_order {
    enum blocking_call_kind kind;
    char key[SEQB_KEY_MAX + 1]; /* these three are for seqb_advance */
    int64_t to;
    bool is_check;  /* this is for a reload */
    bool is_forced; /* however far it is */
};

struct blocking_call {
    struct blocking_call_order order;
    struct seqb_broker *broker;
    struct reloader *reloader;
    int wake_fd;
    pthread_t thread;
    struct session *session; /* the loop's: who waits; NULL: it went away */
    /* The thread's until it is done. */
    struct seqb_error err; /* SEQB_OK: it succeeded */
    int64_t highest;       /* of the key, before it was advanced */
    struct seqb_worker *workers;
    size_t worker_count;
    struct reload_report report;
    atomic_bool is_done;
};

/* Has the library called for the session, which is resumed when that is over.
 * False, after answering why, if it cannot be. */
bool blocking_call_start(struct session *session,
                         const struct blocking_call_order *order);

/* For the loop's wake-up: the session of an blocking call that is done, to be
 * resumed; NULL if there is none. Ends an blocking call for which nobody waits
 * any more. */
struct session *blocking_call_poll(struct daemon *daemon);

/* Waits for the blocking call under way, if there is one, and frees it. */
void blocking_call_end(struct daemon *daemon);
