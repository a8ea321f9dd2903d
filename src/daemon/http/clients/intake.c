/* SPDX-License-Identifier: Apache-2.0 */
/* See intake.h. */
#include "daemon/http/clients/intake.h"

#include "daemon/loop/loop.h"

/* The most connections that are accepted in one turn of the loop. */
#define ACCEPT_MAX 8

static void intake_update(struct intake *intake)
{
    if (intake->is_stopped)
        return;
    if (intake->is_resting || intake->accepted >= ACCEPT_MAX)
        evconnlistener_disable(intake->incoming);
    else
        evconnlistener_enable(intake->incoming);
}

static void intake_on_again(evutil_socket_t fd, short events, void *context)
{
    struct intake *intake = context;

    (void)fd;
    (void)events;
    intake->accepted = 0;
    intake_update(intake);
}

bool intake_open(struct intake *intake, struct evconnlistener *incoming)
{
    intake->incoming = incoming;
    intake->again =
        evtimer_new(evconnlistener_get_base(incoming), intake_on_again, intake);
    return intake->again != NULL;
}

void intake_close(struct intake *intake)
{
    if (intake->again != NULL)
        event_free(intake->again);
}

void intake_count(struct intake *intake)
{
    intake->accepted++;
    if (intake->accepted < ACCEPT_MAX)
        return;
    intake_update(intake);
    timer_start(intake->again, 0);
}

void intake_rest(struct intake *intake)
{
    intake->is_resting = true;
    intake_update(intake);
}

void intake_go_on(struct intake *intake)
{
    intake->is_resting = false;
    intake_update(intake);
}

void intake_stop(struct intake *intake)
{
    intake->is_stopped = true;
}
