/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of an errand, and how the loop hears of its end. */
#include "daemon/errand.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <seqbroker/admin.h>

#include "daemon/reply.h"
#include "daemon/server.h"
#include "daemon/session.h"

/* The release pairs with the acquire in errand_serve: who sees the mark sees
 * the error. */
static void *errand_run(void *argument)
{
    struct errand *errand = argument;
    const uint64_t one = 1;

    if (seqb_advance(errand->broker, errand->key, errand->to, &errand->err) ==
        SEQB_OK)
        errand->err.status = SEQB_OK;
    atomic_store_explicit(&errand->is_done, true, memory_order_release);
    /* It fails only if 2^64 - 2 wake-ups are waiting to be seen. */
    if (write(errand->wake_fd, &one, sizeof one) < 0)
        return NULL;
    return NULL;
}

/* Signals are the loop's. */
static bool errand_launch(struct errand *errand)
{
    sigset_t all;
    sigset_t old;
    bool is_launched;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    is_launched =
        pthread_create(&errand->thread, NULL, errand_run, errand) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return is_launched;
}

bool errand_start(struct session *session, const char *key, int64_t to)
{
    struct server *server = session->server;
    struct errand *errand;

    if (server->errand != NULL) {
        reply_error(&session->out, "ERR",
                    "another sequence is being advanced, try again");
        return false;
    }
    errand = calloc(1, sizeof *errand);
    if (errand != NULL) {
        errand->broker = server->broker;
        snprintf(errand->key, sizeof errand->key, "%s", key);
        errand->to = to;
        errand->wake_fd = server->wake_fd;
        errand->session = session;
        atomic_init(&errand->is_done, false);
    }
    if (errand == NULL || !errand_launch(errand)) {
        reply_error(&session->out, "ERR", "out of memory");
        free(errand);
        return false;
    }
    server->errand = errand;
    session->errand = errand;
    return true;
}

void errand_serve(struct server *server)
{
    struct errand *errand = server->errand;

    if (errand == NULL ||
        !atomic_load_explicit(&errand->is_done, memory_order_acquire))
        return;
    if (errand->session == NULL)
        errand_end(server);
    else
        session_resume(errand->session);
}

void errand_end(struct server *server)
{
    if (server->errand == NULL)
        return;
    pthread_join(server->errand->thread, NULL);
    if (server->errand->session != NULL)
        server->errand->session->errand = NULL;
    free(server->errand);
    server->errand = NULL;
}
