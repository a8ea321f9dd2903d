/* SPDX-License-Identifier: Apache-2.0 */
/* See net.h. A question belongs to the thread that asks and to the one that
 * waits: the last of them frees it. */
#include "net/net.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "platform/thread.h"

#define PORT_SIZE 12

struct question {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    char *host;
    char port[PORT_SIZE];
    bool is_answered, is_left; /* set by the asking thread; set by the waiting
                                  one */
    int result;                /* of getaddrinfo */
    struct addrinfo *found;
};

static atomic_int under_way;

static int ask(const char *host, const char *port, int flags,
               struct addrinfo **out)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = flags};

    *out = NULL;
    return getaddrinfo(host, port, &hints, out);
}

static void question_free(struct question *question)
{
    if (question->found != NULL)
        freeaddrinfo(question->found);
    pthread_cond_destroy(&question->answered);
    pthread_mutex_destroy(&question->lock);
    free(question->host);
    free(question);
}

static struct question *question_new(const char *host, const char *port)
{
    struct question *question = calloc(1, sizeof *question);

    if (question == NULL)
        return NULL;
    question->host = text_copy_of(host);
    if (question->host == NULL) {
        free(question);
        return NULL;
    }
    (void)text_copy(question->port, sizeof question->port, port);
    pthread_mutex_init(&question->lock, NULL);
    condition_init(&question->answered);
    return question;
}

/* Run by the asking thread. */
static void *question_ask(void *argument)
{
    struct question *question = argument;
    struct addrinfo *found;
    const int result = ask(question->host, question->port, 0, &found);
    bool is_left;

    pthread_mutex_lock(&question->lock);
    question->result = result;
    question->found = found;
    question->is_answered = true;
    is_left = question->is_left;
    pthread_cond_signal(&question->answered);
    pthread_mutex_unlock(&question->lock);
    atomic_fetch_sub(&under_way, 1);
    if (is_left)
        question_free(question);
    return NULL;
}

/* Returns NULL if the answer came in time. */
static const char *question_await(struct question *question,
                                  int64_t deadline_ms, struct addrinfo **out)
{
    const char *why = NULL;
    bool is_answered;

    pthread_mutex_lock(&question->lock);
    while (!question->is_answered &&
           condition_wait(&question->answered, &question->lock, deadline_ms))
        continue;
    is_answered = question->is_answered;
    question->is_left = true;
    if (!is_answered)
        why = "the name server did not answer in time";
    else if (question->result != 0)
        why = gai_strerror(question->result);
    else
        *out = question->found;
    if (why == NULL)
        question->found = NULL;
    pthread_mutex_unlock(&question->lock);
    if (is_answered)
        question_free(question);
    return why;
}

static const char *lookup_name(const char *host, const char *port,
                               int64_t deadline_ms, struct addrinfo **out)
{
    struct question *question;
    pthread_t thread;

    if (atomic_fetch_add(&under_way, 1) >= LOOKUP_HANGING_MAX) {
        atomic_fetch_sub(&under_way, 1);
        return "too many look-ups of names hang already";
    }
    question = question_new(host, port);
    if (question == NULL || thread_start(&thread, "seqb-lookup", question_ask,
                                         question, NULL) != SEQB_OK) {
        atomic_fetch_sub(&under_way, 1);
        if (question != NULL)
            question_free(question);
        return "no memory or thread to look it up";
    }
    pthread_detach(thread);
    return question_await(question, deadline_ms, out);
}

const char *lookup_host(const char *host, int port, int64_t deadline_ms,
                        struct addrinfo **out)
{
    char service[PORT_SIZE];

    (void)text_format(service, sizeof service, "%d", port);
    if (ask(host, service, AI_NUMERICHOST | AI_NUMERICSERV, out) == 0)
        return NULL;
    return lookup_name(host, service, deadline_ms, out);
}
