/* SPDX-License-Identifier: Apache-2.0 */
/* A daemon and its clients in one thread; see dialogue.h. */
#include "support/dialogue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <seqbroker/seqbroker.h>

#include "daemon/server.h"
#include "daemon/session.h"

#define HEAR_SIZE 65536

/* Turns without an event after which nothing is expected any more: a timer
 * that is due is seen in the turn after the one that set it. */
#define QUIET_TURNS 3

static void must(bool holds)
{
    if (!holds)
        abort();
}

void script_add(struct script *script, const char *line, size_t times)
{
    const size_t length = strlen(line);
    const size_t needed = script->length + times * length + 1;

    if (needed > script->capacity) {
        script->capacity = 2 * needed;
        script->data = realloc(script->data, script->capacity);
        must(script->data != NULL);
    }
    for (size_t i = 0; i < times; i++) {
        memcpy(script->data + script->length, line, length + 1);
        script->length += length;
    }
}

void script_add_numbers(struct script *script, int64_t first, int64_t count)
{
    char line[32];

    for (int64_t i = 0; i < count; i++) {
        snprintf(line, sizeof line, ":%" PRId64 "\r\n", first + i);
        script_add(script, line, 1);
    }
}

void script_fini(struct script *script)
{
    free(script->data);
    *script = (struct script){0};
}

struct server *dialogue_server(void)
{
    const struct server_options options = {.places = {.state_dir = ""},
                                           .stop_timeout_ms = 60000,
                                           .limits = limits_defaults};
    struct server *server = NULL;
    struct seqb_error err;

    must(server_open(&options, &server, &err) == SEQB_OK);
    return server;
}

void talker_init(struct talker *talker, struct server *server)
{
    struct transport transport = {.fd = -1};
    int ends[2];

    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
                    ends) == 0);
    *talker = (struct talker){.fd = ends[0]};
    transport.fd = ends[1];
    connection_adopt(&server->connections, &transport, false);
}

void talker_fini(struct talker *talker)
{
    if (talker->fd >= 0)
        close(talker->fd);
    free(talker->heard);
    *talker = (struct talker){.fd = -1};
}

size_t talker_say(struct talker *talker, const char *data, size_t length)
{
    const ssize_t sent =
        talker->fd < 0 ? -1 : send(talker->fd, data, length, MSG_NOSIGNAL);

    return sent < 0 ? 0 : (size_t)sent;
}

bool talker_receive(struct talker *talker)
{
    ssize_t got = 0;

    if (talker->fd < 0)
        return false;
    if (talker->capacity - talker->length < HEAR_SIZE) {
        talker->capacity = 2 * talker->capacity + HEAR_SIZE;
        talker->heard = realloc(talker->heard, talker->capacity);
        must(talker->heard != NULL);
    }
    got = recv(talker->fd, talker->heard + talker->length, HEAR_SIZE, 0);
    if (got == 0) {
        close(talker->fd);
        talker->fd = -1;
    }
    if (got > 0)
        talker->length += (size_t)got;
    return got >= 0;
}

void dialogue_turn(struct server *server)
{
    must(event_base_loop(server->base, EVLOOP_ONCE | EVLOOP_NONBLOCK) == 0);
}

void dialogue_finish(struct server *server, struct talker *talker)
{
    int quiet = 0;

    while (quiet < QUIET_TURNS) {
        dialogue_turn(server);
        quiet++;
        if (talker_receive(talker) ||
            !TAILQ_EMPTY(&server->connections.deferred) ||
            server->connections.delayed_count > 0)
            quiet = 0;
    }
}

size_t dialogue_say(struct server *server, struct talker *talker,
                    const char *data, size_t length, size_t piece)
{
    size_t said = 0;

    while (said < length) {
        const size_t left = length - said;
        const size_t sent =
            talker_say(talker, data + said, left < piece ? left : piece);

        dialogue_finish(server, talker);
        if (sent == 0)
            break;
        said += sent;
    }
    return said;
}
