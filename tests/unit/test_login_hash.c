/* SPDX-License-Identifier: Apache-2.0 */
/* What the thread of logins checks a password against: without a daemon. */
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "credential/credential.h"
#include "daemon/access/access.h"
#include "daemon/access/patience.h"
#include "support/test.h"
#include "support/users.h"

static const char slow[] =
    "$argon2id$v=19$m=65536,t=3,p=1$69z9TiS9qJBJgkzPLPp/sw$"
    "oUl8rm1zQYU6EApAJ9HfF6lhwJIrFcT6ZMY3WaW6DBs";

static const struct attempt of_nobody = {.name = "nobody",
                                         .name_length = 6,
                                         .secret = "x",
                                         .secret_length = 1,
                                         .source = "10.0.0.1"};

static char checked[CREDENTIAL_HASH_SIZE]; /* the thread's, until its wake */
static enum credential_match match = CREDENTIAL_RIGHT;

enum credential_match __wrap_credential_compare(const char *hash,
                                                const char *password,
                                                size_t length);

enum credential_match
__wrap_credential_compare(const char *hash, const char *password, size_t length)
{
    (void)password;
    (void)length;
    memcpy(checked, hash, strlen(hash) + 1);
    return match;
}

static void done(struct login_waiter *waiter)
{
    (void)waiter;
}

static int64_t now_ms;

/* Returns how the login ends. */
static enum login_outcome log_in(struct logins *logins,
                                 const struct users *users, int wake_fd)
{
    struct login_waiter waiter = {.done = done};
    uint64_t wakes = 0;

    now_ms++;
    if (logins_try(logins, users, &of_nobody, &waiter, now_ms) != LOGIN_PENDING)
        return waiter.outcome;
    assert_int_equal(read(wake_fd, &wakes, sizeof wakes), sizeof wakes);
    logins_poll(logins, users, now_ms);
    return waiter.outcome;
}

/* Otherwise the time of the answer would tell which users there are. */
TEST(who_is_unknown_is_compared_with_the_slowest_hash)
{
    static const char *const settings[] = {
        "users.name",          "a",  "users.role", "take",
        "users.password_hash", slow, NULL};
    struct users *users = users_of(settings);
    const int wake_fd = eventfd(0, 0);
    struct logins *logins = logins_open(wake_fd);

    assert_int_equal(log_in(logins, users, wake_fd),
                     LOGIN_WRONG); /* though it fits */
    assert_string_equal(checked, slow);
    logins_close(logins);
    close(wake_fd);
    users_free(users);
}

TEST(login_without_memory_is_not_a_wrong_one)
{
    struct users *users = users_new();
    const int wake_fd = eventfd(0, 0);
    struct logins *logins = logins_open(wake_fd);

    match = CREDENTIAL_SHORT;
    for (int i = 0; i < 2 * PATIENCE_FREE; i++)
        assert_int_equal(log_in(logins, users, wake_fd), LOGIN_SHORT);
    match = CREDENTIAL_WRONG;
    assert_int_equal(log_in(logins, users, wake_fd), LOGIN_WRONG);
    logins_close(logins);
    close(wake_fd);
    users_free(users);
}

TEST(password_that_a_reload_has_replaced_is_wrong)
{
    static const char *const before[] = {
        "users.name",          "nobody", "users.role", "take",
        "users.password_hash", slow,     NULL};
    static const char *const after[] = {
        "users.name",          "nobody",          "users.role", "take",
        "users.password_hash", credential_nobody, NULL};
    struct users *old = users_of(before);
    struct users *new = users_of(after);
    const int wake_fd = eventfd(0, 0);
    struct logins *logins = logins_open(wake_fd);
    struct login_waiter waiter = {.done = done};
    uint64_t wakes = 0;

    match = CREDENTIAL_RIGHT;
    assert_int_equal(logins_try(logins, old, &of_nobody, &waiter, now_ms),
                     LOGIN_PENDING);
    assert_int_equal(read(wake_fd, &wakes, sizeof wakes), sizeof wakes);
    logins_poll(logins, new, now_ms); /* it was right by the old table */
    assert_int_equal(waiter.outcome, LOGIN_WRONG);
    assert_int_equal(log_in(logins, old, wake_fd), LOGIN_RIGHT);
    assert_int_equal(logins_try(logins, old, &of_nobody, &waiter, now_ms),
                     LOGIN_RIGHT); /* it is remembered */
    assert_int_equal(logins_try(logins, new, &of_nobody, &waiter, now_ms),
                     LOGIN_PENDING);
    login_cancel(&waiter);
    logins_close(logins);
    close(wake_fd);
    users_free(old);
    users_free(new);
}
