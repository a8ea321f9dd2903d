/* SPDX-License-Identifier: Apache-2.0 */
/* Very many clients of HTTP at once hold up the loop for a short time only: a
 * light client of the Redis protocol does not wait for all of them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "daemon/server.h"
#include "support/dialogue.h"
#include "support/stub_broker.h"
#include "support/test.h"
#include "support/web.h"

#define PLENTY    1000000000
#define MINUTE_MS 60000
#define FLOOD     150

/* The most that is accepted in one turn of the loop. */
#define ACCEPTED_MAX 8

TEST(few_of_those_that_connect_are_accepted_in_a_turn)
{
    struct web *web = NULL;
    const struct limits *limits = NULL;
    int crowd[FLOOD];
    int64_t before;

    stub_reset(PLENTY, SEQB_AGAIN, MINUTE_MS);
    web = web_open();
    limits = &web->server->daemon.limits;
    for (int i = 0; i < FLOOD; i++)
        crowd[i] = web_dial(web, "");
    do {
        before = limits->http_connections;
        dialogue_turn(web->server);
        assert_in_range(limits->http_connections - before, 0, ACCEPTED_MAX);
    } while (limits->http_connections <= FLOOD); /* with web's own */
    web_crowd_leave(crowd, FLOOD);
    web_close(web);
}

static const char next[] =
    "POST /v1/sequences/a/next HTTP/1.1\r\nHost: a\r\n\r\n";

/* It queues, since they have waited for long. */
TEST(a_light_client_waits_for_some_requests_and_not_for_all)
{
    struct web *web = NULL;
    struct talker light;
    int crowd[FLOOD];

    stub_reset(PLENTY, SEQB_AGAIN, MINUTE_MS);
    web = web_open();
    talker_init(&light, web->server);
    web_crowd_join(web, crowd, FLOOD);
    web_crowd_say(crowd, FLOOD, next);
    web->server->connections.fairness.waiting_us = 1;
    talker_say(&light, "INCR a\r\n", 8);
    while (!talker_receive(&light))
        dialogue_turn(web->server);
    assert_in_range(atoi(light.heard + 1), STUB_FIRST + 1,
                    STUB_FIRST + FLOOD / 2);
    while (web->server->daemon.counts.responses[2] < FLOOD)
        dialogue_turn(web->server);
    web_crowd_leave(crowd, FLOOD);
    talker_fini(&light);
    web_close(web);
}

static void count_call(evutil_socket_t fd, short events, void *context)
{
    (void)fd;
    (void)events;
    (*(int *)context)++;
}

/* Also those to whom an answer is sent are many. */
TEST(light_clients_that_queue_are_served_between_two_answers)
{
    struct web *web = NULL;
    struct daemon *daemon = NULL;
    struct event *delayed = NULL;
    int served = 0;
    int one;

    stub_reset(PLENTY, SEQB_AGAIN, MINUTE_MS);
    web = web_open();
    daemon = &web->server->daemon;
    delayed = evtimer_new(web->server->base, count_call, &served);
    one = web_dial(web, next);
    while (daemon->counts.responses[2] == 0)
        dialogue_turn(web->server);
    assert_int_equal(daemon->request_count, 1); /* it is not sent yet */
    daemon->delayed = delayed;
    while (daemon->request_count > 0)
        dialogue_turn(web->server);
    dialogue_turn(web->server);
    assert_int_equal(served, 1);
    daemon->delayed = NULL;
    event_free(delayed);
    close(one);
    web_close(web);
}
