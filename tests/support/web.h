/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP client of a daemon that runs in the test's own thread, over the stub
 * broker. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http;
struct server;

#define WEB_HEARD_SIZE 262144

struct web {
    struct server *server;
    struct http *http;
    int fd; /* -1: closed */
    size_t length;
    char heard[WEB_HEARD_SIZE]; /* ended by 0 */
};

/* A daemon and a connected client. Close both by web_close. */
struct web *web_open(void);
void web_close(struct web *web);

/* For cmocka: closes *state, which the setup opened. */
int web_teardown(void **state);

/* Closes the connection and makes a new one. */
void web_connect(struct web *web);

/* The same from that address of loopback, in host byte order. */
void web_connect_from(struct web *web, uint32_t from);

/* Sends the text, and runs the loop until all of it is read. */
void web_say(struct web *web, const char *text);

/* Sends a request without a body. */
void web_ask(struct web *web, const char *method, const char *target);

/* Runs the loop until `holds` is true. The test hangs if it never is. */
void web_until(struct web *web, bool (*holds)(const struct web *web));

/* Runs the loop until `count` answers have arrived on this connection. */
void web_receive(struct web *web, size_t count);

/* The body of the last answer. */
const char *web_body(const struct web *web);

/* Connects another client, for which the kernel holds little, and sends the
 * text. Returns its socket, which the caller closes. */
int web_dial(const struct web *web, const char *text);

/* Connects so many of these, and runs the loop until all are accepted; lets
 * each send the text; closes them. */
void web_crowd_join(struct web *web, int *crowd, int count);
void web_crowd_say(const int *crowd, int count, const char *text);
void web_crowd_leave(const int *crowd, int count);
