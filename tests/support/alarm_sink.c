/* SPDX-License-Identifier: Apache-2.0 */
/* See alarm_sink.h. Reads of a connection end when the sink is closed, which
 * shuts it down. */
#include "support/alarm_sink.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netinet/in.h>
#include <openssl/ssl.h>

enum { REQUESTS_MAX = 64, REQUEST_SIZE = 65536 };

struct sink {
    struct sink_options options;
    SSL_CTX *tls; /* or NULL */
    int fd;
    int port;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    char *requests[REQUESTS_MAX];
    size_t count;
    int status;
    int status_once; /* -1: none */
    int peer;        /* -1: none */
    bool is_closing;
};

/* One connection. */
struct talk {
    int fd;
    SSL *ssl; /* or NULL */
    size_t length;
    char request[REQUEST_SIZE];
};

static bool talk_read(struct talk *talk)
{
    const size_t space = sizeof talk->request - 1 - talk->length;
    char *to = talk->request + talk->length;
    const ssize_t length = talk->ssl != NULL
                               ? SSL_read(talk->ssl, to, (int)space)
                               : read(talk->fd, to, space);

    if (length <= 0)
        return false;
    talk->length += (size_t)length;
    talk->request[talk->length] = '\0';
    return true;
}

static void talk_write(const struct talk *talk, const char *text)
{
    const size_t length = strlen(text);

    if (talk->ssl != NULL)
        (void)SSL_write(talk->ssl, text, (int)length);
    else if (write(talk->fd, text, length) < 0)
        return;
}

/* The body, when it is there whole; else NULL. */
static const char *talk_body(const struct talk *talk)
{
    const char *body = strstr(talk->request, "\r\n\r\n");
    const char *length = strcasestr(talk->request, "content-length:");

    if (body == NULL || length == NULL)
        return NULL;
    body += 4;
    return strlen(body) >= strtoul(length + strlen("content-length:"), NULL, 10)
               ? body
               : NULL;
}

/* Keeps the request, and tells how to answer. */
static int sink_keep(struct sink *sink, const char *request)
{
    int status = 0;

    pthread_mutex_lock(&sink->lock);
    if (sink->count < REQUESTS_MAX)
        sink->requests[sink->count++] = strdup(request);
    status = sink->status_once >= 0 ? sink->status_once : sink->status;
    sink->status_once = -1;
    pthread_cond_broadcast(&sink->changed);
    pthread_mutex_unlock(&sink->lock);
    return status;
}

static void sink_talk(struct sink *sink, struct talk *talk)
{
    const char *answer = sink->options.answer;
    char text[1024];
    int status = 0;

    while (talk_body(talk) == NULL)
        if (!talk_read(talk))
            return;
    status = sink_keep(sink, talk->request);
    if (status == SINK_HANG) {
        while (talk_read(talk))
            ;
        return;
    }
    snprintf(text, sizeof text,
             "HTTP/1.1 %d X\r\nLocation: http://127.0.0.1:%d/other\r\n"
             "Connection: close\r\nContent-Length: %zu\r\n\r\n%s",
             status, sink->port, answer != NULL ? strlen(answer) : 0,
             answer != NULL ? answer : "");
    talk_write(talk, text);
}

/* False: the sink is closing. */
static bool sink_note_peer(struct sink *sink, int fd)
{
    bool is_closing = false;

    pthread_mutex_lock(&sink->lock);
    sink->peer = fd;
    is_closing = sink->is_closing;
    pthread_mutex_unlock(&sink->lock);
    return !is_closing;
}

static void sink_serve(struct sink *sink, int fd)
{
    struct talk *talk = calloc(1, sizeof *talk);

    if (talk == NULL)
        return;
    talk->fd = fd;
    if (sink->tls != NULL)
        talk->ssl = SSL_new(sink->tls);
    if (talk->ssl == NULL ||
        (SSL_set_fd(talk->ssl, fd) == 1 && SSL_accept(talk->ssl) == 1))
        sink_talk(sink, talk);
    if (talk->ssl != NULL) {
        (void)SSL_shutdown(talk->ssl);
        SSL_free(talk->ssl);
    }
    free(talk);
}

static void *sink_run(void *argument)
{
    struct sink *sink = argument;
    int fd = -1;

    while ((fd = accept(sink->fd, NULL, NULL)) >= 0) {
        if (sink_note_peer(sink, fd))
            sink_serve(sink, fd);
        (void)sink_note_peer(sink, -1);
        close(fd);
    }
    return NULL;
}

static bool sink_listen(struct sink *sink)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;

    sink->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (sink->fd < 0 ||
        bind(sink->fd, (struct sockaddr *)&address, size) != 0 ||
        listen(sink->fd, 16) != 0 ||
        getsockname(sink->fd, (struct sockaddr *)&address, &size) != 0)
        return false;
    sink->port = ntohs(address.sin_port);
    return true;
}

static bool sink_encrypt(struct sink *sink)
{
    const struct sink_options *options = &sink->options;

    if (options->certificate == NULL)
        return true;
    sink->tls = SSL_CTX_new(TLS_server_method());
    return sink->tls != NULL &&
           SSL_CTX_use_certificate_file(sink->tls, options->certificate,
                                        SSL_FILETYPE_PEM) == 1 &&
           SSL_CTX_use_PrivateKey_file(sink->tls, options->key,
                                       SSL_FILETYPE_PEM) == 1;
}

static void sink_free(struct sink *sink)
{
    for (size_t i = 0; i < sink->count; i++)
        free(sink->requests[i]);
    if (sink->fd >= 0)
        close(sink->fd);
    SSL_CTX_free(sink->tls);
    pthread_cond_destroy(&sink->changed);
    pthread_mutex_destroy(&sink->lock);
    free(sink);
}

struct sink *sink_open(const struct sink_options *options)
{
    struct sink *sink = calloc(1, sizeof *sink);

    if (sink == NULL)
        return NULL;
    sink->options = *options;
    sink->fd = -1;
    sink->peer = -1;
    sink->status = 200;
    sink->status_once = -1;
    pthread_mutex_init(&sink->lock, NULL);
    pthread_cond_init(&sink->changed, NULL);
    signal(SIGPIPE, SIG_IGN);
    if (sink_encrypt(sink) && sink_listen(sink) &&
        pthread_create(&sink->thread, NULL, sink_run, sink) == 0)
        return sink;
    sink_free(sink);
    return NULL;
}

void sink_close(struct sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    sink->is_closing = true;
    if (sink->peer >= 0)
        shutdown(sink->peer, SHUT_RDWR);
    pthread_mutex_unlock(&sink->lock);
    shutdown(sink->fd, SHUT_RDWR);
    pthread_join(sink->thread, NULL);
    sink_free(sink);
}

int sink_port(const struct sink *sink)
{
    return sink->port;
}

void sink_answer(struct sink *sink, int status)
{
    pthread_mutex_lock(&sink->lock);
    sink->status = status;
    pthread_mutex_unlock(&sink->lock);
}

void sink_answer_once(struct sink *sink, int status)
{
    pthread_mutex_lock(&sink->lock);
    sink->status_once = status;
    pthread_mutex_unlock(&sink->lock);
}

const char *sink_wait_request(struct sink *sink, size_t count)
{
    const char *request;

    pthread_mutex_lock(&sink->lock);
    while (sink->count < count)
        pthread_cond_wait(&sink->changed, &sink->lock);
    request = sink->requests[count - 1];
    pthread_mutex_unlock(&sink->lock);
    return request;
}

const char *sink_wait(struct sink *sink, size_t count)
{
    return strstr(sink_wait_request(sink, count), "\r\n\r\n") + 4;
}

size_t sink_count(struct sink *sink)
{
    size_t count = 0;

    pthread_mutex_lock(&sink->lock);
    count = sink->count;
    pthread_mutex_unlock(&sink->lock);
    return count;
}
