/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients of a daemon that runs in the test's own thread, over the stub broker.
 * The test decides in which pieces their bytes arrive, and when the daemon's
 * loop runs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct server;

/* Bytes to send, or bytes that are expected. Zeroed is empty. */
struct script {
    char *data;
    size_t length;
    size_t capacity;
};

/* Adds a line `times` times. */
void script_add(struct script *script, const char *line, size_t times);

/* Adds the replies to `count` INCR, with numbers from `first` on. */
void script_add_numbers(struct script *script, int64_t first, int64_t count);

void script_fini(struct script *script);

/* The client's end of a connection, and all that it has received. */
struct talker {
    int fd; /* -1: the daemon closed it */
    char *heard;
    size_t length;
    size_t capacity;
};

/* A daemon without listeners. Close it by server_close. */
struct server *dialogue_server(void);

/* Connects a client. Free it by talker_fini. */
void talker_init(struct talker *talker, struct server *server);
void talker_fini(struct talker *talker);

/* Sends as much as fits into the socket; returns the number of bytes sent. */
size_t talker_say(struct talker *talker, const char *data, size_t length);

/* Receives what has arrived; false if there was nothing. */
bool talker_receive(struct talker *talker);

/* Runs the daemon's loop once, without waiting. */
void dialogue_turn(struct server *server);

/* Runs the loop, and receives, until nothing happens any more. */
void dialogue_finish(struct server *server, struct talker *talker);

/* Sends the data in pieces of at most `piece` bytes; the daemon handles each of
 * them before the next is sent. Returns the number of bytes sent: less than
 * `length` if the daemon reads no more. */
size_t dialogue_say(struct server *server, struct talker *talker,
                    const char *data, size_t length, size_t piece);
