/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a listener of HTTP accepts. libevent accepts all that wait in one turn
 * of the loop; this lets it have a few in each turn. Private to this folder.
 */
#pragma once

#include <stdbool.h>

#include <event2/listener.h>

struct intake {
    struct evconnlistener *incoming;
    struct event *again;
    int accepted;    /* in this turn of the loop */
    bool is_resting; /* until some connections have ended */
    bool is_stopped;
};

/* `incoming` must live as long as the intake. False if memory is short;
 * intake_close is allowed in any case. */
bool intake_open(struct intake *intake, struct evconnlistener *incoming);
void intake_close(struct intake *intake);

/* A connection was accepted. */
void intake_count(struct intake *intake);

/* Further clients wait in the socket's backlog until it goes on. */
void intake_rest(struct intake *intake);
void intake_go_on(struct intake *intake);

/* Never accepts again. */
void intake_stop(struct intake *intake);
