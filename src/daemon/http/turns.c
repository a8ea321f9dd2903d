/* SPDX-License-Identifier: Apache-2.0 */
/* See turns.h. */
#include "daemon/http/turns.h"

#include <stdlib.h>

#include "daemon/daemon.h"
#include "daemon/loop/loop.h"

TAILQ_HEAD(turn_list, turn);

struct turns {
    struct turn_list queue;
    struct event *next;
};

static void turns_on_next(evutil_socket_t fd, short events, void *context)
{
    struct turns *turns = context;
    const int64_t begun_us = daemon_now_us();
    int64_t now_us = begun_us;
    int count = 0;

    (void)fd;
    (void)events;
    while (!TAILQ_EMPTY(&turns->queue) &&
           fairness_goes_on(count++, begun_us, now_us)) {
        struct turn *turn = TAILQ_FIRST(&turns->queue);

        turns_remove(turns, turn);
        turn->run(turn);
        now_us = daemon_now_us();
    }
    if (!TAILQ_EMPTY(&turns->queue))
        timer_start(turns->next, 0);
}

struct turns *turns_open(struct event_base *base)
{
    struct turns *turns = calloc(1, sizeof *turns);

    if (turns == NULL)
        return NULL;
    TAILQ_INIT(&turns->queue);
    turns->next = evtimer_new(base, turns_on_next, turns);
    if (turns->next != NULL)
        return turns;
    free(turns);
    return NULL;
}

void turns_add(struct turns *turns, struct turn *turn)
{
    if (turn->is_queued)
        return;
    turn->is_queued = true;
    TAILQ_INSERT_TAIL(&turns->queue, turn, entry);
    timer_start(turns->next, 0);
}

void turns_remove(struct turns *turns, struct turn *turn)
{
    if (!turn->is_queued)
        return;
    turn->is_queued = false;
    TAILQ_REMOVE(&turns->queue, turn, entry);
}

void turns_close(struct turns *turns)
{
    if (turns == NULL)
        return;
    event_free(turns->next);
    free(turns);
}
