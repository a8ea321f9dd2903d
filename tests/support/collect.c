/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes numbers in bulk and prints every one, a line each, so that repeats
 * can be counted:
 *   collect KEY COUNT SOCKET   of a daemon, whatever befalls it meanwhile
 *   collect KEY COUNT          of a broker inside this process
 * Gives up when no number came for half a minute.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <hiredis/hiredis.h>

#include <seqbroker/seqbroker.h>

#include "support/take.h"

#define AT_ONCE     1000
#define PAUSE_MS    20
#define PATIENCE_MS 30000
#define ANSWER_WAIT 5 /* s */

/* Where numbers come from: one of the two. */
struct source {
    const char *key;
    const char *socket;
    redisContext *connection; /* NULL while there is none */
    struct seqb_sequence *sequence;
    char why[SEQB_ERROR_TEXT_SIZE]; /* the last failure */
};

static bool source_connect(struct source *source)
{
    const struct timeval wait = {.tv_sec = ANSWER_WAIT};
    redisContext *connection =
        redisConnectUnixWithTimeout(source->socket, wait);

    if (connection == NULL)
        return false;
    if (connection->err != 0 || redisSetTimeout(connection, wait) != REDIS_OK) {
        snprintf(source->why, sizeof source->why, "%s", connection->errstr);
        redisFree(connection);
        return false;
    }
    source->connection = connection;
    return true;
}

/* The numbers of an answer; 0 if it is anything else. */
static size_t reply_numbers(const redisReply *reply, int64_t *out, size_t max)
{
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements > max)
        return 0;
    for (size_t i = 0; i < reply->elements; i++) {
        if (reply->element[i]->type != REDIS_REPLY_INTEGER)
            return 0;
        out[i] = reply->element[i]->integer;
    }
    return reply->elements;
}

static size_t ask_daemon(struct source *source, size_t want, int64_t *out)
{
    redisReply *reply;
    size_t n;

    if (source->connection == NULL && !source_connect(source))
        return 0;
    reply = redisCommand(source->connection, "SEQ.NEXT %s COUNT %lu",
                         source->key, (unsigned long)want);
    if (reply == NULL) {
        /* what it would still answer belongs to this request: a gap */
        snprintf(source->why, sizeof source->why, "%s",
                 source->connection->errstr);
        redisFree(source->connection);
        source->connection = NULL;
        return 0;
    }
    n = reply_numbers(reply, out, want);
    if (n == 0)
        snprintf(source->why, sizeof source->why, "%s",
                 reply->type == REDIS_REPLY_ERROR ? reply->str : "no numbers");
    freeReplyObject(reply);
    return n;
}

static size_t ask_library(struct source *source, size_t want, int64_t *out)
{
    struct seqb_error err;

    if (take_numbers(source->sequence, want, out, &err) == SEQB_OK)
        return want;
    snprintf(source->why, sizeof source->why, "%s", err.text);
    return 0;
}

static bool numbers_print(const int64_t *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("%" PRId64 "\n", numbers[i]);
    return fflush(stdout) == 0;
}

static bool collect(struct source *source, size_t count)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    int64_t numbers[AT_ONCE];
    int waited_ms = 0;

    while (count > 0 && waited_ms < PATIENCE_MS) {
        size_t want = count < AT_ONCE ? count : AT_ONCE;
        size_t n = source->socket != NULL ? ask_daemon(source, want, numbers)
                                          : ask_library(source, want, numbers);

        if (n == 0) {
            nanosleep(&pause, NULL);
            waited_ms += PAUSE_MS;
            continue;
        }
        waited_ms = 0;
        count -= n;
        if (!numbers_print(numbers, n)) {
            snprintf(source->why, sizeof source->why, "cannot write");
            return false;
        }
    }
    return count == 0;
}

int main(int argc, char **argv)
{
    struct source source = {.key = argv[1]};
    struct seqb_broker *broker = NULL;
    struct seqb_error err;
    bool done;

    if (argc < 3 || argc > 4) {
        fputs("usage: collect KEY COUNT [SOCKET]\n", stderr);
        return 2;
    }
    /* hiredis writes to a daemon that was killed. */
    (void)signal(SIGPIPE, SIG_IGN);
    source.socket = argv[3];
    if (source.socket == NULL &&
        (seqb_open(NULL, &broker, &err) != SEQB_OK ||
         seqb_get_sequence(broker, source.key, &source.sequence, &err) !=
             SEQB_OK)) {
        fprintf(stderr, "collect: %s\n", err.text);
        seqb_close(broker);
        return 1;
    }
    done = collect(&source, strtoul(argv[2], NULL, 10));
    if (!done)
        fprintf(stderr, "collect: %s: %s\n", source.key, source.why);
    if (source.connection != NULL)
        redisFree(source.connection);
    seqb_close(broker);
    return done ? 0 : 1;
}
