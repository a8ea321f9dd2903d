/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client as its commands see it: the output, and the state of the current
 * command. Its commands are executed one after the other: a command that has to
 * wait holds back those behind it. Reading, executing and sending are in
 * connection.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "daemon/access/access.h"
#include "daemon/commands/commands.h"
#include "daemon/waitlist.h"

#define SESSION_NAME_MAX 64

/* No further command is executed while more bytes than this are unsent, or more
 * than LIMITS_SMALL while clients hold all the memory that they may, or before
 * the login. */
#define SESSION_UNSENT_MAX 262144

/* For session_may_hold: an answer whose length is known only afterwards. */
#define SESSION_LONG_ANSWER 4096

struct batch;
struct listing;
struct daemon;
struct blocking_call;
struct tls_peer;

enum session_state {
    SESSION_READING,  /* has executed all its input, and reads more */
    SESSION_WAITING,  /* in a waitlist, or for a blocking call or a login */
    SESSION_RUNNABLE, /* has input to execute once its output has room */
    SESSION_CLOSING,  /* closes when all is sent */
    SESSION_LINGERING /* waits for the peer to read the last reply */
};

struct session {
    struct daemon *daemon;
    /* Called when its wait is over and it has left its waitlist: executes its
     * command again. The session may be gone afterwards. */
    void (*resume)(struct session *session);
    TAILQ_ENTRY(session) entry; /* in the daemon's sessions */
    enum session_state state;
    int fd; /* its socket, owned by the connection */
    /* The names in its verified certificate (tls/tls.h), owned by the
     * connection. NULL: it has shown none. */
    struct tls_peer *peer;
    bool is_reading, is_writing; /* watched by the loop */
    struct buffer in;            /* input that was not executed yet */
    struct buffer out;           /* output that was not sent yet */
    /* The input behind the current command. A command may take further
     * requests from its front and answer them, too. */
    struct resp_slice ahead;
    struct waiter waiter;
    /* Of its last key, to save a look-up; or NULL. */
    struct waitlist *waitlist;
    struct batch *batch;     /* of the current command, see batch.c; or NULL */
    struct listing *listing; /* of the current command; or NULL */
    size_t batch_size; /* of the batch, and of its answer if that is held whole,
                          in bytes; 0: no batch */
    bool holds_answer; /* its answers are held until they are complete */
    struct blocking_call *blocking_call; /* one of the daemon's, or NULL */
    TAILQ_ENTRY(session) blocking_entry; /* in those that it answers */
    struct identity identity;            /* who it is */
    struct quota *quota;                 /* of its user; NULL: none */
    int64_t retry_ms;          /* of the last LIMIT error: when to try again */
    struct login_waiter login; /* of AUTH or HELLO, if is_logging_in */
    bool is_logging_in;
    int64_t wait_until_ms; /* deadline of the wait; 0: the current command has
                              not waited yet */
    const struct command *command; /* the last command; NULL: none yet */
    int64_t repeats;               /* copies of the command answered with it */
    /* Of this turn; see daemon/loop/fairness.h. */
    int64_t errors, other_commands;
    int64_t opened_ms;
    int64_t received_ms; /* when its last bytes came */
    int64_t unknown_ms;  /* since when it has to log in; 0: it need not */
    int64_t id;
    int64_t commands; /* commands that were answered */
    int64_t held;     /* bytes of memory, as counted by the daemon's limits */
    int budget;       /* numbers and commands left in this turn of the loop */
    bool is_late;     /* the current command's deadline has passed */
    bool is_resp3;
    bool is_audited; /* the current command has its line in the audit, or needs
                        none */
    bool is_local;   /* connected by a unix socket */
    bool is_barred;  /* it is closed after the current command */
    bool is_drain;   /* it asked for a drain, and waits until that is over */
    char name[SESSION_NAME_MAX + 1];    /* set by CLIENT SETNAME */
    char library[SESSION_NAME_MAX + 1]; /* set by CLIENT SETINFO */
    char library_version[SESSION_NAME_MAX + 1];
};

/* Its socket and its certificate. */
struct origin session_origin(const struct session *session);

/* Whether it has yet to log in, for all but the login. Until then it may hold
 * as little as any client while all memory is used up, so that clients without
 * a login cannot use up the memory. */
bool session_is_unknown(const struct session *session);

/* How many bytes may be unsent before it executes no further command. */
size_t session_unsent_max(const struct session *session);

/* Whether further answers may be written. */
bool session_has_room(const struct session *session);

/* Updates the memory that it is counted with: its buffers, its batch and
 * `beside` bytes. */
void session_account(struct session *session, size_t beside);

/* Whether an answer of about `bytes` bytes may be held for it. False after
 * answering OOM. Always true for up to LIMITS_SMALL bytes, and for the
 * operator, a client of a unix socket that may give orders, if `of_operator`
 * allows that for this command. */
bool session_may_hold(struct session *session, size_t bytes, bool of_operator);

/* Adds an entry to the audit, with the session's user (unless the entry has
 * one) and its address. */
void session_audit(struct session *session, audit_function *audit,
                   const struct audit_entry *entry);

/* Sets its identity, and counts it as a connection of that user. */
void session_become(struct session *session, const struct identity *identity);

/* The same, unless the user has its maximum of connections: false then, which
 * is counted and logged. */
bool session_try_become(struct session *session,
                        const struct identity *identity);

/* For the user's name. */
#define USER_IS_FULL                                                           \
    "user '%s' has as many connections as it may: close one, or try again "    \
    "later"

/* Answers that the user has its maximum of connections. */
void session_refuse_place(struct session *session, const struct user *user);

/* Sets its identity before a login, by its socket or certificate. False if the
 * user has its maximum of connections. */
bool session_enter(struct session *session);

/* At its end: it no longer counts as a connection of its user. */
void session_leave(struct session *session);

/* Charges `count` numbers to the quotas of its user and of the key, and those
 * that the request may use up beside them. False after answering why a quota
 * refuses. charge_end must follow. */
bool session_charge(struct session *session, const struct waitlist *waitlist,
                    size_t count, int64_t beside, struct charge *charge);

/* Charges up to `most` more numbers, as many as the quotas have left. Returns
 * how many. */
size_t session_charge_some(struct session *session, struct charge *charge,
                           size_t most);

/* Whether a command in progress must be completed even if the table of users
 * was replaced meanwhile: its blocking call, batch or listing has to end. */
bool session_has_begun(const struct session *session);

/* Its user was removed while its blocking call is in progress: it has no rights
 * any more, is answered what became of that call, and is closed then. */
void session_bar(struct session *session);

/* Whether it may execute the command, by its rights and, if it is limited to
 * some keys, by the key. False after answering why not. */
bool session_may(struct session *session, const struct command *command,
                 const struct resp_request *request);

/* The waitlist of a key, with its limits up to date. NULL after answering
 * `*err`. */
struct waitlist *session_waitlist(struct session *session,
                                  struct resp_slice key,
                                  struct seqb_error *err);

/* Whether any client used the key's sequence before. */
bool session_knows(const struct session *session, struct resp_slice key);

/* Notes that the next `count` requests, of `size` bytes each, were answered
 * together with the current one. */
void session_answered(struct session *session, size_t count, size_t size);

/* If others wait for the sequence already, puts the session into the waitlist
 * behind them; the command must then return COMMAND_WAITS, and is executed
 * again. False if it need not wait. */
bool session_lines_up(struct session *session, struct waitlist *waitlist);

/* To be called if the library returned `err` instead of a number. If a number
 * may still come before the sequence's deadline, waits for it; else answers the
 * error. */
enum command_outcome session_wait_or_fail(struct session *session,
                                          struct waitlist *waitlist,
                                          const struct seqb_error *err);

/* As word_to_integer. False after answering the error, with Redis's text. */
bool session_integer(struct session *session, struct resp_slice word,
                     long long *out);

/* Parses an optional STR after the first `count` words, and sets `*out` to
 * whether it is there. False after answering the error if anything else
 * follows. */
bool session_is_text(struct session *session,
                     const struct resp_request *request, size_t count,
                     bool *out);
