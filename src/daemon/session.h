/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection: what it sent and was not yet executed, what it was not yet
 * sent, and where its current command stands. Its commands are executed one
 * after the other: one that has to wait holds back those behind it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <event2/event.h>
#include <event2/event_struct.h>

#include "daemon/buffer.h"
#include "daemon/lane.h"
#include "daemon/resp.h"

#define SESSION_NAME_MAX 64

/* No further command is executed while more than so many bytes are unsent. */
#define SESSION_UNSENT_MAX 262144

struct batch;
struct command;
struct errand;
struct server;

enum session_state {
    SESSION_READING,  /* executed all it has, needs more input */
    SESSION_WAITING,  /* in a lane's line */
    SESSION_RUNNABLE, /* has input to execute, when its output has room */
    SESSION_CLOSING,  /* ends as soon as all is sent */
    SESSION_LINGERING /* lets the peer read the last reply before it closes */
};

struct session {
    struct server *server;
    TAILQ_ENTRY(session) entry;    /* in the server's sessions */
    TAILQ_ENTRY(session) deferred; /* in server.deferred if is_deferred */
    enum session_state state;
    int fd;
    struct event readable, writable, timer;
    struct buffer in, out;
    struct resp_slice ahead; /* what was read behind the current command; it
                                may take from the front what it answers too */
    struct waiter waiter;
    struct lane *lane;     /* of its last key, saves looking it up; or NULL */
    struct batch *batch;   /* of the command under way, see batch.c; or NULL */
    struct errand *errand; /* the server's, if it is for this session */
    int64_t wait_until_ms; /* 0: the current command has not waited yet */
    const struct command *command; /* that came last; NULL: none did */
    int64_t opened_ms;
    int64_t heard_ms; /* when its last bytes came */
    int64_t id;
    int budget;   /* numbers and commands left in this turn of the loop */
    bool is_late; /* the current command's deadline has passed */
    bool is_deferred;
    bool is_reading, is_writing; /* the events stand in the loop */
    bool has_input_ended;        /* the peer sends no more, or we stop */
    bool is_resp3;
    char name[SESSION_NAME_MAX + 1]; /* by CLIENT SETNAME */
};

/* Takes the connection over; closes it if memory is short. */
void session_open(struct server *server, int fd);

/* Closes the connection, leaves every list and frees the session. */
void session_close(struct session *session);

/* Executes what the session has. It may be gone afterwards. */
void session_work(struct session *session);

/* For lanes_serve: the session has left its line, its command is executed
 * again. It may be gone afterwards. */
void session_resume(struct session *session);

/* Executes what has arrived, reads no more, and closes when all is answered.
 * It may be gone afterwards. */
void session_finish(struct session *session);

/* The lane of a key; answers the error and returns NULL if there is none. */
struct lane *session_lane(struct session *session, struct resp_slice key);

/* `count` requests that stand ahead, of `size` bytes each, are answered
 * together with the current one. */
void session_answered(struct session *session, size_t count, size_t size);

/* Puts the session into the lane's line until the sequence's deadline; the
 * current command is then executed again. */
void session_wait(struct session *session, struct lane *lane);
