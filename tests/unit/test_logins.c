/* SPDX-License-Identifier: Apache-2.0 */
/* Many clients that wait for one login. */
#include "daemon/access/login.h"

#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/access/access.h"
#include "daemon/access/users.h"
#include "support/test.h"

#define CLIENTS 1000
#define SOME    64 /* that are answered at once, at most */

/* A table without users, and clients that all wait for one login of it. */
struct scene {
    struct logins *logins;
    struct users *users;
    int wake_fd;
    bool has_more; /* the last poll left some: it is to be polled again */
    struct login_waiter waiters[CLIENTS];
};

static int answered;

static void note_answer(struct login_waiter *waiter)
{
    assert_int_equal(waiter->outcome, LOGIN_WRONG);
    answered++;
}

static int setup(void **state)
{
    static const struct attempt attempt = {.name = "nobody",
                                           .name_length = 6,
                                           .secret = "wrong",
                                           .secret_length = 5,
                                           .source = "192.0.2.1"};
    static struct scene scene;

    answered = 0;
    scene = (struct scene){.users = users_new(),
                           .wake_fd = eventfd(0, EFD_CLOEXEC)};
    scene.logins = logins_open(scene.wake_fd);
    for (int i = 0; i < CLIENTS; i++) {
        scene.waiters[i].done = note_answer;
        assert_int_equal(logins_try(scene.logins, scene.users, &attempt,
                                    &scene.waiters[i], 1000),
                         LOGIN_PENDING);
    }
    *state = &scene;
    return 0;
}

static int teardown(void **state)
{
    struct scene *scene = *state;

    logins_close(scene->logins);
    users_free(scene->users);
    close(scene->wake_fd);
    return 0;
}

#define WAITING FIXTURE(struct scene *scene, setup, teardown)

/* Polls when it is to be polled. Returns how many were answered by that. */
static int poll_once(struct scene *scene)
{
    const int before = answered;
    uint64_t count = 0;

    if (!scene->has_more)
        assert_int_equal(read(scene->wake_fd, &count, sizeof count),
                         sizeof count);
    scene->has_more = logins_poll(scene->logins, scene->users, 1000);
    return answered - before;
}

/* Each with a password of its own: the thread hashes one at a time. */
static int try_many(struct scene *scene, int count, const char *source)
{
    static struct login_waiter waiters[LOGINS_WAITING_MAX + 1];
    int pending = 0;

    for (int i = 0; i < count; i++) {
        char secret[16];
        char from[LOGIN_SOURCE_SIZE];
        struct attempt attempt = {.name = "nobody",
                                  .name_length = 6,
                                  .secret = secret,
                                  .source = from};

        snprintf(secret, sizeof secret, "%s%d", source, i);
        attempt.secret_length = strlen(secret);
        snprintf(from, sizeof from, source[0] == '*' ? "10.0.0.%d" : "10.1.0.1",
                 i);
        waiters[i] = (struct login_waiter){.done = note_answer};
        pending += logins_try(scene->logins, scene->users, &attempt,
                              &waiters[i], 1000) == LOGIN_PENDING;
    }
    for (int i = 0; i < count; i++)
        login_cancel(&waiters[i]);
    return pending;
}

TEST_WITH(WAITING, one_address_cannot_take_up_the_thread)
{
    assert_int_equal(try_many(scene, LOGINS_SOURCE_MAX + 1, "one"),
                     LOGINS_SOURCE_MAX);
}

TEST_WITH(WAITING, many_addresses_cannot_take_up_the_memory)
{
    assert_int_equal(try_many(scene, LOGINS_WAITING_MAX, "*"),
                     LOGINS_WAITING_MAX - 1); /* beside that of the scene */
}

TEST_WITH(WAITING, many_clients_are_answered_some_at_a_time)
{
    login_cancel(&scene->waiters[CLIENTS - 1]); /* before its answer */
    assert_in_range(poll_once(scene), 1, SOME);
    login_cancel(&scene->waiters[CLIENTS - 2]); /* while others are answered */
    while (answered < CLIENTS - 2)
        assert_in_range(poll_once(scene), 1, SOME);
    assert_int_equal(answered, CLIENTS - 2);
}

TEST_WITH(WAITING, clients_that_were_not_answered_do_not_hinder_the_end)
{
    assert_in_range(poll_once(scene), 1, SOME);
}
