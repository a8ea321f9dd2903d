/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client as its commands see it: where to write the answer, and where the
 * current command stands. Its commands are executed one after the other: one
 * that has to wait holds back those behind it. Who reads, executes and sends is
 * left to connection.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "daemon/access/access.h"
#include "daemon/commands/commands.h"
#include "daemon/waitlist.h"

#define SESSION_NAME_MAX 64

/* No further command is executed while more than so many bytes are unsent, or
 * LIMITS_SMALL while clients hold all the memory that they may. */
#define SESSION_UNSENT_MAX 262144

struct batch;
struct listing;
struct daemon;
struct blocking_call;
struct tls_peer;

enum session_state {
    SESSION_READING,  /* executed all it has, needs more input */
    SESSION_WAITING,  /* in a waitlist's line, or for an blocking call */
    SESSION_RUNNABLE, /* has input to execute, when its output has room */
    SESSION_CLOSING,  /* ends as soon as all is sent */
    SESSION_LINGERING /* lets the peer read the last reply before it closes */
};

struct session {
    struct daemon *daemon;
    /* Its wait is over, and it has left its line: its command is to be executed
     * again. The session may be gone afterwards. */
    void (*resume)(struct session *session);
    TAILQ_ENTRY(session) entry; /* in the daemon's sessions */
    enum session_state state;
    int fd; /* its socket; the connection's */
    /* Who its certificate says that it is (tls/tls.h), which was checked; the
     * connection's. NULL: it has shown none. */
    struct tls_peer *peer;
    bool is_reading, is_writing; /* the loop watches the socket for it */
    struct buffer in;            /* what it sent and was not yet executed */
    struct buffer out;           /* what it was not yet sent */
    struct resp_slice ahead;     /* what was read behind the current command; it
                                    may take from the front what it answers too */
    struct waiter waiter;
    struct waitlist
        *waitlist;       /* of its last key, saves looking it up; or NULL */
    struct batch *batch; /* of the command under way, see batch.c; or NULL */
    struct listing *listing; /* the same of listing.c */
    size_t batch_size; /* bytes that the batch holds, or will; 0: none is */
    struct blocking_call
        *blocking_call;        /* the daemon's, if it is for this session */
    struct identity identity;  /* who it is */
    struct quota *quota;       /* of its user; NULL: none */
    int64_t retry_ms;          /* of the last LIMIT: when to try again */
    struct login_waiter login; /* of AUTH or HELLO, if is_logging_in */
    bool is_logging_in;
    int64_t wait_until_ms; /* 0: the current command has not waited yet */
    const struct command *command; /* that came last; NULL: none did */
    int64_t repeats; /* of the current command, answered together with it */
    int64_t opened_ms;
    int64_t received_ms; /* when its last bytes came */
    int64_t id;
    int64_t commands; /* that were answered */
    int64_t held;     /* bytes of memory, as counted by the daemon's limits */
    int budget;       /* numbers and commands left in this turn of the loop */
    bool is_late;     /* the current command's deadline has passed */
    bool is_resp3;
    bool is_local; /* by a unix socket */
    bool is_drain; /* it asked for a drain, and waits for its end */
    char name[SESSION_NAME_MAX + 1];    /* by CLIENT SETNAME */
    char library[SESSION_NAME_MAX + 1]; /* by CLIENT SETINFO, and its version */
    char library_version[SESSION_NAME_MAX + 1];
};

/* Its socket, and its certificate. */
struct origin session_origin(const struct session *session);

/* How many bytes of answers may be unsent before it executes no further
 * command. */
size_t session_unsent_max(const struct session *session);

/* Whether further answers may be written. */
bool session_has_room(const struct session *session);

/* Counts what it holds now, and `beside` bytes. */
void session_account(struct session *session, size_t beside);

/* Whether an answer of about so many bytes may be held for it; false after
 * answering OOM. The operator's, by a unix socket, always may, as long as it is
 * `of_operator`. */
bool session_may_hold(struct session *session, size_t bytes, bool of_operator);

/* Adds to the audit who asks, unless the entry says it, and from where. */
void session_audit(struct session *session, audit_function *audit,
                   const struct audit_entry *entry);

/* Whether it may be that one: false if the user has as many connections as it
 * may. */
bool session_has_place(const struct session *session,
                       const struct identity *identity);

/* From now on it is that one, and counted as a connection of its user. */
void session_become(struct session *session, const struct identity *identity);

/* The same with who is at its socket, before a login; false: it is not. */
bool session_enter(struct session *session);

/* It ends: its user has a connection less. */
void session_leave(struct session *session);

/* Takes `count` numbers out of what its user, and whoever asks for the key, may
 * have. False after answering why not. To be followed by charge_end. */
bool session_charge(struct session *session, const struct waitlist *waitlist,
                    size_t count, struct charge *charge);

/* The same for up to `most` more, as many as are left of them now. */
size_t session_charge_some(struct session *session, struct charge *charge,
                           size_t most);

/* Whether it may execute the command: by its rights, and by the key if it is
 * limited to some. Answers why not. */
bool session_may(struct session *session, const struct command *command,
                 const struct resp_request *request);

/* The waitlist of a key, by the limits that hold now; answers the error and
 * returns NULL if there is none. */
struct waitlist *session_waitlist(struct session *session,
                                  struct resp_slice key);

/* Whether the sequence of a key was used before, by whomever. */
bool session_knows(const struct session *session, struct resp_slice key);

/* `count` requests that stand ahead, of `size` bytes each, are answered
 * together with the current one. */
void session_answered(struct session *session, size_t count, size_t size);

/* Puts the session into the waitlist's line, behind others that came before,
 * for a command that then returns COMMAND_WAITS and is executed again. False if
 * it need not wait. */
bool session_lines_up(struct session *session, struct waitlist *waitlist);

/* The library has answered `err` instead of a number: waits, until the
 * sequence's deadline, if one may still come in time; else answers the error.
 */
enum command_outcome session_wait_or_fail(struct session *session,
                                          struct waitlist *waitlist,
                                          const struct seqb_error *err);

/* As word_to_integer; false after answering the error, in Redis's words. */
bool session_integer(struct session *session, struct resp_slice word,
                     long long *out);

/* Reads what may stand behind the first `count` words: STR, and then `*out` is
 * true. False, after answering the error, if anything else does. */
bool session_is_text(struct session *session,
                     const struct resp_request *request, size_t count,
                     bool *out);
