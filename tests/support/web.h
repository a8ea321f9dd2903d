/* SPDX-License-Identifier: Apache-2.0 */
/* A client of HTTP to a daemon that runs in the test's own thread, over the
 * stub broker. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct http;
struct server;

#define WEB_HEARD_SIZE 262144

struct web {
    struct server *server;
    struct http *http;
    int fd; /* -1: closed */
    size_t length;
    char heard[WEB_HEARD_SIZE]; /* a string */
};

/* A daemon with a client that is connected. To be closed by web_close. */
struct web *web_open(void);
void web_close(struct web *web);

/* Another connection in place of the one before, which is closed. */
void web_connect(struct web *web);

/* Says it, and has the loop turn until all of it is read. */
void web_say(struct web *web, const char *text);

/* Sends a request without a body. */
void web_ask(struct web *web, const char *method, const char *target);

/* The loop turns until the claim holds. It is a hang if it never does. */
void web_until(struct web *web, bool (*holds)(const struct web *web));

/* Until `count` answers have come since the connection was made. */
void web_receive(struct web *web, size_t count);

/* The body of the last answer. */
const char *web_body(const struct web *web);
