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

#include <seqbroker/seqbroker.h>

struct server;
struct session;

struct errand {
    struct seqb_broker *broker;
    char key[SEQB_KEY_MAX + 1];
    int64_t to;
    int wake_fd;
    pthread_t thread;
    struct session *session; /* the loop's: who waits; NULL: it went away */
    struct seqb_error err;   /* the thread's until it is done */
    atomic_bool is_done;
};

/* Has seqb_advance called for the session, which is resumed when it is over.
 * False, after answering why, if it cannot be. */
bool errand_start(struct session *session, const char *key, int64_t to);

/* For the loop's wake-up: resumes the session of an errand that is done. */
void errand_serve(struct server *server);

/* Waits for the errand under way, if there is one, and frees it. */
void errand_end(struct server *server);
