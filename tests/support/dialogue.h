/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients of a daemon that runs in the test's own thread, over the stub
 * broker: what they say arrives in pieces of the test's choice, and the loop
 * turns when the test says so.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct server;

/* Bytes to say, or expected to be heard. All zero is an empty one. */
struct script {
    char *data;
    size_t length;
    size_t capacity;
};

/* Adds a line so many times. */
void script_add(struct script *script, const char *line, size_t times);

/* Adds the replies to so many INCR, of numbers from `first` on. */
void script_add_numbers(struct script *script, int64_t first, int64_t count);

void script_fini(struct script *script);

/* One end of a connection, and all that it has heard. */
struct talker {
    int fd; /* -1: the daemon closed it */
    char *heard;
    size_t length;
    size_t capacity;
};

/* A daemon that listens nowhere. To be closed by server_close. */
struct server *dialogue_server(void);

/* A client connects. The talker is for talker_fini. */
void talker_init(struct talker *talker, struct server *server);
void talker_fini(struct talker *talker);

/* Says what fits into the socket; returns how much that was. */
size_t talker_say(struct talker *talker, const char *data, size_t length);

/* Takes what has come; false if there was nothing. */
bool talker_receive(struct talker *talker);

/* One turn of the daemon's loop, which waits for nothing. */
void dialogue_turn(struct server *server);

/* Turns, and hears, until nothing happens any more. */
void dialogue_finish(struct server *server, struct talker *talker);

/* Says it in pieces of at most `piece` bytes, each of which is dealt with
 * before the next one comes. Returns how much was said: less than all if it is
 * not listened to any more. */
size_t dialogue_say(struct server *server, struct talker *talker,
                    const char *data, size_t length, size_t piece);
