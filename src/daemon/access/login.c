/* SPDX-License-Identifier: Apache-2.0 */
/* Pending logins, and the thread that hashes their passwords; see login.h. The
 * lock guards the lists, not the fields of a login: a login belongs to the list
 * that it is in, and to the thread while it is in neither `queued` nor
 * `done`. */
#include "daemon/access/login.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "credential/credential.h"
#include "daemon/access/patience.h"
#include "daemon/access/remembered.h"
#include "daemon/access/users.h"
#include "daemon/signals.h"

/* Waiters that are answered at once: each executes its command again, and other
 * clients wait meanwhile. */
#define WAITERS_A_POLL 16

TAILQ_HEAD(waiter_list, login_waiter);
TAILQ_HEAD(login_list, login);

/* One password that is being checked. Many waiters may share it. */
struct login {
    TAILQ_ENTRY(login) entry;   /* in `queued`, or in `done` */
    TAILQ_ENTRY(login) known;   /* in `all` or `decided`, the loop's */
    struct waiter_list waiters; /* the loop's */
    char source[LOGIN_SOURCE_SIZE];
    char name[LOGIN_NAME_SIZE];
    char hash[CREDENTIAL_HASH_SIZE];
    char secret[CREDENTIAL_MAX];
    size_t secret_length;
    unsigned char digest[CREDENTIAL_DIGEST_SIZE];
    bool is_known;               /* the user has a password */
    enum credential_match match; /* the thread's result */
};

struct logins {
    int wake_fd;
    struct login_list all; /* all pending; the loop's, as are the next fields */
    struct login_list decided; /* some waiters do not know yet; by `known` */
    int count;
    bool has_thread;
    pthread_t thread;
    struct patience patience;
    struct remembered remembered;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* `queued` or `is_closing` */
    struct login_list queued, done;
    bool is_closing;
};

struct logins *logins_open(int wake_fd)
{
    struct logins *logins = calloc(1, sizeof *logins);

    if (logins == NULL)
        return NULL;
    logins->wake_fd = wake_fd;
    TAILQ_INIT(&logins->all);
    TAILQ_INIT(&logins->decided);
    TAILQ_INIT(&logins->queued);
    TAILQ_INIT(&logins->done);
    pthread_mutex_init(&logins->lock, NULL);
    pthread_cond_init(&logins->changed, NULL);
    return logins;
}

/* --- the thread --- */

/* Waits for a login. Returns NULL when the thread has to end. */
static struct login *login_await(struct logins *logins)
{
    struct login *login = NULL;

    pthread_mutex_lock(&logins->lock);
    while (!logins->is_closing && TAILQ_EMPTY(&logins->queued))
        pthread_cond_wait(&logins->changed, &logins->lock);
    if (!logins->is_closing) {
        login = TAILQ_FIRST(&logins->queued);
        TAILQ_REMOVE(&logins->queued, login, entry);
    }
    pthread_mutex_unlock(&logins->lock);
    return login;
}

static void login_deliver(struct logins *logins, struct login *login)
{
    const uint64_t one = 1;

    pthread_mutex_lock(&logins->lock);
    TAILQ_INSERT_TAIL(&logins->done, login, entry);
    pthread_mutex_unlock(&logins->lock);
    /* Fails only if the eventfd's counter is full; the loop is awake then. */
    if (write(logins->wake_fd, &one, sizeof one) < 0)
        return;
}

static void *logins_run(void *argument)
{
    struct logins *logins = argument;
    struct login *login = NULL;

    while ((login = login_await(logins)) != NULL) {
        login->match = credential_compare(login->hash, login->secret,
                                          login->secret_length);
        credential_wipe(login->secret, sizeof login->secret);
        login_deliver(logins, login);
    }
    return NULL;
}

/* --- beginning --- */

static enum login_outcome waiter_decide(struct login_waiter *waiter,
                                        enum login_outcome outcome)
{
    waiter->outcome = outcome;
    return outcome;
}

static enum login_outcome login_wrong(struct logins *logins,
                                      const struct attempt *attempt,
                                      struct login_waiter *waiter,
                                      int64_t now_ms)
{
    patience_fail(&logins->patience, attempt->source, now_ms);
    return waiter_decide(waiter, LOGIN_WRONG);
}

/* The digest is of name, hash and secret, so that an entry of the cache does
 * not match after the user's hash has changed. */
static void login_digest(struct login *login)
{
    char text[sizeof login->name + sizeof login->hash + CREDENTIAL_MAX];
    size_t at = 0;

    memcpy(text, login->name, sizeof login->name);
    at += sizeof login->name;
    memcpy(text + at, login->hash, sizeof login->hash);
    at += sizeof login->hash;
    memcpy(text + at, login->secret, login->secret_length);
    credential_digest(text, at + login->secret_length, login->digest);
    credential_wipe(text, sizeof text);
}

static void login_free(struct login *login)
{
    credential_wipe(login->secret, sizeof login->secret);
    free(login);
}

/* What an unknown user is compared with, so that it is refused no faster than
 * the others. */
static const char *hash_of_nobody(const struct users *users)
{
    const char *slowest = users_slowest_hash(users);

    return slowest != NULL ? slowest : credential_nobody;
}

/* NULL if memory is short. */
static struct login *login_new(const struct users *users,
                               const struct attempt *attempt)
{
    const struct user *user =
        users_find(users, attempt->name, attempt->name_length);
    const char *hash = user != NULL ? user_password_hash(user) : NULL;
    struct login *login = calloc(1, sizeof *login);

    if (login == NULL)
        return NULL;
    TAILQ_INIT(&login->waiters);
    login->is_known = hash != NULL;
    hash = hash != NULL ? hash : hash_of_nobody(users);
    snprintf(login->hash, sizeof login->hash, "%s", hash);
    if (attempt->name_length < sizeof login->name)
        memcpy(login->name, attempt->name, attempt->name_length);
    snprintf(login->source, sizeof login->source, "%s", attempt->source);
    memcpy(login->secret, attempt->secret, attempt->secret_length);
    login->secret_length = attempt->secret_length;
    login_digest(login);
    return login;
}

/* The pending login with the same digest, or NULL. Counts the pending logins of
 * the same source. */
static struct login *login_find(struct logins *logins, const struct login *like,
                                int *of_source)
{
    struct login *found = NULL;
    struct login *login = NULL;

    *of_source = 0;
    TAILQ_FOREACH(login, &logins->all, known) {
        *of_source += strcmp(login->source, like->source) == 0;
        if (credential_is_same(login->digest, like->digest))
            found = login;
    }
    return found;
}

static bool logins_start(struct logins *logins)
{
    if (!logins->has_thread)
        logins->has_thread =
            signals_thread(&logins->thread, logins_run, logins);
    return logins->has_thread;
}

static void login_post(struct logins *logins, struct login *login)
{
    TAILQ_INSERT_TAIL(&logins->all, login, known);
    logins->count++;
    pthread_mutex_lock(&logins->lock);
    TAILQ_INSERT_TAIL(&logins->queued, login, entry);
    pthread_cond_signal(&logins->changed);
    pthread_mutex_unlock(&logins->lock);
}

/* Takes ownership of the login. */
static enum login_outcome login_begin(struct logins *logins,
                                      struct login *login,
                                      struct login_waiter *waiter)
{
    int of_source = 0;
    struct login *same = login_find(logins, login, &of_source);

    if (same == NULL && (logins->count >= LOGINS_WAITING_MAX ||
                         of_source >= LOGINS_SOURCE_MAX)) {
        login_free(login);
        return waiter_decide(waiter, LOGIN_BUSY);
    }
    if (same == NULL && !logins_start(logins)) {
        login_free(login);
        return waiter_decide(waiter, LOGIN_SHORT);
    }
    if (same != NULL)
        login_free(login);
    else
        login_post(logins, login);
    waiter->login = same != NULL ? same : login;
    TAILQ_INSERT_TAIL(&waiter->login->waiters, waiter, entry);
    return waiter_decide(waiter, LOGIN_PENDING);
}

static enum login_outcome login_by_password(struct logins *logins,
                                            const struct users *users,
                                            const struct attempt *attempt,
                                            struct login_waiter *waiter,
                                            int64_t now_ms)
{
    struct login *login = login_new(users, attempt);

    if (login == NULL)
        return waiter_decide(waiter, LOGIN_SHORT);
    if (login->is_known &&
        remembered_has(&logins->remembered, login->digest, now_ms)) {
        login_free(login);
        waiter->user = users_find(users, attempt->name, attempt->name_length);
        return waiter_decide(waiter, LOGIN_RIGHT);
    }
    return login_begin(logins, login, waiter);
}

/* A token is accepted as a password, too, for clients that can send nothing
 * else. */
static const struct user *user_of_token(const struct users *users,
                                        const struct attempt *attempt)
{
    const struct user *user = NULL;

    if (attempt->name == NULL)
        return users_find_token(users, attempt->secret, attempt->secret_length);
    user = users_find(users, attempt->name, attempt->name_length);
    return user != NULL &&
                   user_has_token(user, attempt->secret, attempt->secret_length)
               ? user
               : NULL;
}

/* A token cannot be guessed: a right one is accepted while its address is
 * slowed, and a wrong one that stands alone is not counted. Otherwise one
 * client with a wrong token would shut out all that share its address. */
enum login_outcome logins_try(struct logins *logins, const struct users *users,
                              const struct attempt *attempt,
                              struct login_waiter *waiter, int64_t now_ms)
{
    const bool fits = attempt->secret_length <= CREDENTIAL_MAX;

    waiter->login = NULL;
    waiter->wait_ms = 0;
    waiter->user = fits ? user_of_token(users, attempt) : NULL;
    waiter->by_token = waiter->user != NULL;
    if (waiter->by_token)
        return waiter_decide(waiter, LOGIN_RIGHT);
    if (attempt->name == NULL)
        return waiter_decide(waiter, LOGIN_WRONG);
    waiter->wait_ms = patience_left(&logins->patience, attempt->source, now_ms);
    if (waiter->wait_ms > 0)
        return waiter_decide(waiter, LOGIN_SLOWED);
    if (!fits)
        return login_wrong(logins, attempt, waiter, now_ms);
    return login_by_password(logins, users, attempt, waiter, now_ms);
}

/* --- ending --- */

/* A reload may have removed the user or changed its password meanwhile. */
static const struct user *login_user(const struct users *users,
                                     const struct login *login)
{
    const struct user *user =
        users_find(users, login->name, strlen(login->name));
    const char *hash = user != NULL ? user_password_hash(user) : NULL;

    return login->is_known && login->match == CREDENTIAL_RIGHT &&
                   hash != NULL && strcmp(hash, login->hash) == 0
               ? user
               : NULL;
}

static void login_decide(struct logins *logins, const struct users *users,
                         struct login *login, int64_t now_ms)
{
    TAILQ_REMOVE(&logins->all, login, known);
    TAILQ_INSERT_TAIL(&logins->decided, login, known);
    logins->count--;
    if (login_user(users, login) != NULL)
        remembered_add(&logins->remembered, login->digest, now_ms);
    else if (login->match != CREDENTIAL_SHORT)
        patience_fail(&logins->patience, login->source, now_ms);
}

static enum login_outcome login_outcome(const struct login *login,
                                        const struct user *user)
{
    if (login->match == CREDENTIAL_SHORT)
        return LOGIN_SHORT;
    return user != NULL ? LOGIN_RIGHT : LOGIN_WRONG;
}

static void waiter_answer(struct login *login, struct login_waiter *waiter,
                          const struct user *user)
{
    TAILQ_REMOVE(&login->waiters, waiter, entry);
    waiter->login = NULL;
    waiter->user = user;
    (void)waiter_decide(waiter, login_outcome(login, user));
    waiter->done(waiter);
}

/* The next waiter of the first login; ends logins that have none. NULL: there
 * is no other. */
static struct login_waiter *waiter_next(struct logins *logins)
{
    struct login *login = NULL;

    while ((login = TAILQ_FIRST(&logins->decided)) != NULL &&
           TAILQ_EMPTY(&login->waiters)) {
        TAILQ_REMOVE(&logins->decided, login, known);
        login_free(login);
    }
    return login != NULL ? TAILQ_FIRST(&login->waiters) : NULL;
}

static struct login *login_take_done(struct logins *logins)
{
    struct login *login = NULL;

    pthread_mutex_lock(&logins->lock);
    login = TAILQ_FIRST(&logins->done);
    if (login != NULL)
        TAILQ_REMOVE(&logins->done, login, entry);
    pthread_mutex_unlock(&logins->lock);
    return login;
}

bool logins_poll(struct logins *logins, const struct users *users,
                 int64_t now_ms)
{
    struct login_waiter *waiter = NULL;
    struct login *login = NULL;
    int answered = 0;

    while ((login = login_take_done(logins)) != NULL)
        login_decide(logins, users, login, now_ms);
    while ((waiter = waiter_next(logins)) != NULL &&
           answered++ < WAITERS_A_POLL)
        waiter_answer(waiter->login, waiter, login_user(users, waiter->login));
    return waiter != NULL;
}

/* The login itself continues, because a failure has to be counted for its
 * source. */
void login_cancel(struct login_waiter *waiter)
{
    if (waiter->login == NULL)
        return;
    TAILQ_REMOVE(&waiter->login->waiters, waiter, entry);
    waiter->login = NULL;
}

static void logins_free(struct login_list *list)
{
    struct login *login = NULL;

    while ((login = TAILQ_FIRST(list)) != NULL) {
        TAILQ_REMOVE(list, login, known);
        login_free(login);
    }
}

void logins_close(struct logins *logins)
{
    if (logins == NULL)
        return;
    pthread_mutex_lock(&logins->lock);
    logins->is_closing = true;
    pthread_cond_signal(&logins->changed);
    pthread_mutex_unlock(&logins->lock);
    if (logins->has_thread)
        pthread_join(logins->thread, NULL);
    logins_free(&logins->all);
    logins_free(&logins->decided);
    pthread_cond_destroy(&logins->changed);
    pthread_mutex_destroy(&logins->lock);
    credential_wipe(logins, sizeof *logins);
    free(logins);
}
