/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logins by password or token. Hashing a password takes tens of ms, so a thread
 * does it, one at a time, while the loop continues. Private to the folder,
 * except through access.h. All functions are called on the loop.
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
#define LOGIN_NAME_SIZE   33 /* of a user's name, with its NUL */

#define LOGINS_WAITING_MAX 64 /* waiting, in all */
#define LOGINS_SOURCE_MAX  8  /* waiting, of one source */

enum login_outcome {
    LOGIN_RIGHT,
    LOGIN_WRONG,
    LOGIN_SLOWED, /* not checked: its source failed too often */
    LOGIN_BUSY,   /* not checked: too many logins wait */
    LOGIN_SHORT,  /* not checked, and no failure: memory is short */
    LOGIN_PENDING /* not decided yet: `done` is called later */
};

/* A client that waits for a login. A member of the client's own struct. */
struct login_waiter {
    void (*done)(struct login_waiter *waiter); /* on the loop */
    TAILQ_ENTRY(login_waiter) entry;
    struct login *login; /* NULL: no login is pending */
    enum login_outcome outcome;
    const struct user *user; /* if LOGIN_RIGHT */
    bool by_token;           /* if LOGIN_RIGHT: by a token, not by a password */
    int64_t wait_ms;         /* if LOGIN_SLOWED: when to try again */
};

struct attempt {
    const char *name; /* NULL: the secret is a token */
    size_t name_length;
    const char *secret;
    size_t secret_length;
    const char *source; /* see identity_source */
};

/* Returns NULL if memory is short. The thread writes to the eventfd `wake_fd`
 * when logins_poll is to be called. */
struct logins *logins_open(int wake_fd);

/* Decides at once if that is cheap: the secret is a token, or a password that
 * was right within the last 10 minutes, or the source has to wait. Otherwise
 * returns LOGIN_PENDING, and logins_poll calls `done` unless login_cancel was
 * called before. The outcome is in the waiter, too. The secret is copied, and
 * the copy is wiped after use. */
enum login_outcome logins_try(struct logins *logins, const struct users *users,
                              const struct attempt *attempt,
                              struct login_waiter *waiter, int64_t now_ms);

/* Calls `done` of waiters whose login is decided; of some, if there are many.
 * True if there are more: call again soon, after others had their turn. */
bool logins_poll(struct logins *logins, const struct users *users,
                 int64_t now_ms);

/* The waiter is not called any more. A waiter without a pending login is
 * allowed. */
void login_cancel(struct login_waiter *waiter);

/* Ends the thread and frees all. NULL is allowed. The caller has cancelled all
 * waiters. */
void logins_close(struct logins *logins);
