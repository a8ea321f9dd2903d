/* SPDX-License-Identifier: Apache-2.0 */
/* See web.h. */
#include "support/web.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/server.h"
#include "support/dialogue.h"
#include "support/test.h"

struct web *web_open(void)
{
    struct web *web = calloc(1, sizeof *web);
    static const char *const address = "127.0.0.1:0";
    struct inherited none = {.count = 0};
    const struct http_places places = {.inherited = &none,
                                       .addresses = &address,
                                       .count = 1,
                                       .timeout_s = 3600};
    struct seqb_error err;

    assert_non_null(web);
    signal(SIGPIPE, SIG_IGN); /* as main.c has it */
    web->server = dialogue_server();
    web->fd = -1;
    assert_ok(http_open(&web->server->daemon, web->server->base, &places,
                        &web->http, &err));
    assert_ok(http_listen(web->http, &err));
    web->server->http = web->http; /* server_close closes it */
    web_connect(web);
    return web;
}

void web_close(struct web *web)
{
    if (web->fd >= 0)
        close(web->fd);
    server_close(web->server);
    free(web);
}

int web_teardown(void **state)
{
    web_close(*state);
    return 0;
}

void web_connect(struct web *web)
{
    web_connect_from(web, INADDR_LOOPBACK);
}

void web_connect_from(struct web *web, uint32_t from)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    const struct sockaddr_in own = {.sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(from)};
    const char *port = strrchr(http_name(web->http), ':') + 1;

    if (web->fd >= 0)
        close(web->fd);
    address.sin_port = htons((uint16_t)atoi(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    web->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(web->fd >= 0);
    assert_int_equal(bind(web->fd, (const struct sockaddr *)&own, sizeof own),
                     0);
    assert_int_equal(
        connect(web->fd, (const struct sockaddr *)&address, sizeof address), 0);
    web->length = 0;
    web->heard[0] = '\0';
}

/* One turn of the loop, and what has come of it. */
static void web_turn(struct web *web)
{
    ssize_t got = 0;

    dialogue_turn(web->server);
    if (web->fd < 0)
        return;
    got = recv(web->fd, web->heard + web->length,
               sizeof web->heard - 1 - web->length, MSG_DONTWAIT);
    if (got > 0)
        web->length += (size_t)got;
    web->heard[web->length] = '\0';
    if (got == 0) {
        close(web->fd);
        web->fd = -1;
    }
}

void web_until(struct web *web, bool (*holds)(const struct web *web))
{
    while (!holds(web))
        web_turn(web);
}

void web_say(struct web *web, const char *text)
{
    assert_int_equal(send(web->fd, text, strlen(text), MSG_NOSIGNAL),
                     strlen(text));
}

void web_ask(struct web *web, const char *method, const char *target)
{
    char request[1024];

    snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: a\r\n\r\n",
             method, target);
    web_say(web, request);
}

/* The end of an answer that begins there, of one without an end that of its
 * headers; NULL if it has not come yet. */
static const char *answer_end(const char *answer)
{
    const char *body = strstr(answer, "\r\n\r\n");
    const char *length = strstr(answer, "Content-Length: ");

    if (body == NULL)
        return NULL;
    body += 4;
    if (length == NULL || length > body)
        return body;
    length += strlen("Content-Length: ");
    return strlen(body) < strtoul(length, NULL, 10)
               ? NULL
               : body + strtoul(length, NULL, 10);
}

void web_receive(struct web *web, size_t count)
{
    for (;;) {
        const char *at = web->heard;
        size_t have = 0;

        while ((at = answer_end(at)) != NULL)
            have++;
        if (have >= count)
            return;
        assert_true(web->fd >= 0);
        web_turn(web);
    }
}

const char *web_body(const struct web *web)
{
    const char *at = web->heard;
    const char *body = "";

    while ((at = strstr(at, "\r\n\r\n")) != NULL) {
        at += 4;
        body = at;
    }
    return body;
}

int web_dial(const struct web *web, const char *text)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    const int small = 4096; /* what the kernel holds for it */
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    address.sin_port =
        htons((uint16_t)atoi(strrchr(http_name(web->http), ':') + 1));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(
        connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
    return fd;
}

void web_crowd_join(struct web *web, int *crowd, int count)
{
    const int64_t *connections = &web->server->daemon.limits.http_connections;
    const int64_t before = *connections;

    for (int i = 0; i < count; i++)
        crowd[i] = web_dial(web, "");
    while (*connections < before + count)
        dialogue_turn(web->server);
}

void web_crowd_say(const int *crowd, int count, const char *text)
{
    for (int i = 0; i < count; i++)
        assert_int_equal(send(crowd[i], text, strlen(text), MSG_NOSIGNAL),
                         strlen(text));
}

void web_crowd_leave(const int *crowd, int count)
{
    for (int i = 0; i < count; i++)
        close(crowd[i]);
}
