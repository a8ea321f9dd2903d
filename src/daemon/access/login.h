/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logins: is it the password of that user? A hash of a password takes tens of
 * ms, so a thread reckons it, one at a time, while the loop goes on. Private to
 * the folder, but by access.h; all but the thread is the loop's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct login;
struct logins;
struct user;
struct users;

#define LOGIN_SOURCE_SIZE 64
#define LOGIN_NAME_SIZE   33 /* of a user, with its end */

#define LOGINS_WAITING_MAX 64 /* in all */
#define LOGINS_SOURCE_MAX  8  /* of one source */

enum login_outcome {
    LOGIN_RIGHT,
    LOGIN_WRONG,
    LOGIN_SLOWED, /* too many were wrong: not even looked at */
    LOGIN_BUSY,   /* too many wait */
    LOGIN_PENDING /* the waiter is called later */
};

/* Who waits for a login; a member of what it is for. */
struct login_waiter {
    void (*done)(struct login_waiter *waiter); /* on the loop */
    TAILQ_ENTRY(login_waiter) entry;
    struct login *login; /* NULL: it waits for none */
    enum login_outcome outcome;
    const struct user *user; /* if LOGIN_RIGHT */
    bool by_token;           /* the same: not by a password */
    int64_t wait_ms;         /* if LOGIN_SLOWED: when to try again */
};

struct attempt {
    const char *name; /* NULL: the secret is a token, which says it */
    size_t name_length;
    const char *secret;
    size_t secret_length;
    const char *source; /* see identity_source */
};

/* NULL if memory is short. `wake_fd` is written to when logins_poll is to be
 * called. */
struct logins *logins_open(int wake_fd);

/* Decides at once where that costs nothing: by a token, by a password that was
 * right within the last 10 minutes, by a source that has to wait. Else the
 * login is LOGIN_PENDING, and `done` is called by logins_poll, unless
 * login_cancel was. The outcome is in the waiter, too. The secret is copied,
 * and wiped when it was used. */
enum login_outcome logins_try(struct logins *logins, const struct users *users,
                              const struct attempt *attempt,
                              struct login_waiter *waiter, int64_t now_ms);

/* Calls those whose logins are decided. */
void logins_poll(struct logins *logins, const struct users *users,
                 int64_t now_ms);

/* Nobody waits any more. One that waits for none is allowed. */
void login_cancel(struct login_waiter *waiter);

/* Ends the thread. Takes NULL. All waiters are cancelled before. */
void logins_close(struct logins *logins);
