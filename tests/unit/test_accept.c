/* SPDX-License-Identifier: Apache-2.0 */
/* Who is let in at a unix socket: the operator has connections of its own, and
 * the others count by their uid. The broker is a stub. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/accept.h"
#include "daemon/log/log.h"
#include "daemon/server.h"
#include "support/test.h"
#include "support/wrap.h"
#include "unit/session_fixture.h"

#define NOBODY 65534
#define CROWD  20
#define FLOOD  200

/* The most that is accepted in one turn of the loop. */
#define ACCEPTED_MAX 64

struct scene {
    struct server *server;
    struct sockaddr_un address;
    socklen_t length;
    int listening;
    int clients[FLOOD];
    int count;
};

/* A name of the kernel's choice, in no folder. */
static void scene_listen(struct scene *scene)
{
    scene->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    scene->length = sizeof scene->address;
    assert_int_equal(bind(scene->listening,
                          &(const struct sockaddr){.sa_family = AF_UNIX},
                          sizeof(sa_family_t)),
                     0);
    assert_int_equal(getsockname(scene->listening,
                                 (struct sockaddr *)&scene->address,
                                 &scene->length),
                     0);
    assert_int_equal(listen(scene->listening, FLOOD), 0);
}

static int setup(void **state)
{
    static struct scene scene;

    scene = (struct scene){.count = 0};
    scene.server = server_over_stub(PLENTY, SEQB_AGAIN, MINUTE_MS);
    scene_listen(&scene);
    scene.server->listeners.all[0] =
        (struct listener){.fd = scene.listening, .is_local = true};
    *state = &scene;
    return 0;
}

static int teardown(void **state)
{
    struct scene *scene = *state;

    for (int i = 0; i < scene->count; i++)
        close(scene->clients[i]);
    server_close(scene->server);
    close(scene->listening);
    return 0;
}

#define SOCKET FIXTURE(struct scene *scene, setup, teardown)

static void scene_connect(struct scene *scene, int count)
{
    for (int i = 0; i < count; i++) {
        const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

        assert_int_equal(connect(fd, (const struct sockaddr *)&scene->address,
                                 scene->length),
                         0);
        scene->clients[scene->count++] = fd;
    }
}

/* The kernel notes who connects. Only root can become somebody else. */
static void scene_connect_as(struct scene *scene, uid_t uid, int count)
{
    const uid_t own = geteuid();

    assert_int_equal(seteuid(uid), 0);
    scene_connect(scene, count);
    assert_int_equal(seteuid(own), 0);
    for (int i = 0; i < count; i++) /* a turn of the loop accepts some */
        accept_incoming(scene->listening, 0, scene->server);
}

static int64_t sessions_of(const struct scene *scene)
{
    return scene->server->daemon.session_count;
}

TEST_WITH(SOCKET, the_reserve_is_the_operators)
{
    if (geteuid() != 0)
        skip();
    scene->server->daemon.limits.options.max_connections = 3;
    scene_connect_as(scene, NOBODY, CROWD);
    assert_int_equal(sessions_of(scene), 3);
    scene_connect_as(scene, geteuid(), CROWD);
    assert_int_equal(sessions_of(scene), 3 + LIMITS_LOCAL);
}

TEST_WITH(SOCKET, others_count_by_their_uid)
{
    struct limits *limits = &scene->server->daemon.limits;

    if (geteuid() != 0)
        skip();
    limits->options.max_connections_per_address = 2;
    scene_connect_as(scene, NOBODY, 3);
    assert_int_equal(sessions_of(scene), 2);
    assert_int_equal(limits->connections_refused, 1);
    scene_connect_as(scene, 1, 1);
    assert_int_equal(sessions_of(scene), 3);
    scene_connect_as(scene, geteuid(), 4);
    assert_int_equal(sessions_of(scene), 7);
}

/* Those who are connected are served between two turns. */
TEST_WITH(SOCKET, a_turn_accepts_a_part_of_a_flood)
{
    int turns = 0;

    scene_connect(scene, FLOOD);
    for (; sessions_of(scene) < FLOOD; turns++) {
        const int64_t before = sessions_of(scene);

        accept_incoming(scene->listening, 0, scene->server);
        assert_in_range(sessions_of(scene) - before, 1, ACCEPTED_MAX);
    }
    assert_true(turns > 1);
}

/* --- who is counted as refused --- */

static int64_t lines_of(const char *event)
{
    struct log_tally tallies[LOG_EVENTS_MAX];

    log_tallies(tallies);
    for (size_t i = 0; i < LOG_EVENTS_MAX; i++)
        if (strcmp(tallies[i].event, event) == 0)
            return tallies[i].lines[SEQB_LOG_WARN];
    return 0;
}

static int64_t refused_by(const struct server *server,
                          enum connection_limit limit)
{
    return server->daemon.limits.refused_by[limit];
}

/* Whoever needs no login is refused at once. */
TEST(a_user_without_login_who_is_full_is_counted)
{
    struct server *server = server_over_stub(PLENTY, SEQB_AGAIN, MINUTE_MS);
    struct users *users = users_new();
    const struct user *user = NULL;
    const int64_t reached = lines_of("limit_reached");
    const int64_t refused = lines_of("connections_refused");
    struct talker first;
    struct talker second;
    char uid[24];

    snprintf(uid, sizeof uid, "%lu", (unsigned long)geteuid());
    assert_true(users_take(users, "users.name", "own"));
    assert_true(users_take(users, "users.role", "take"));
    assert_true(users_take(users, "users.uids", uid));
    assert_true(users_take(users, "users.max_connections", "1"));
    assert_ok(users_check(users, NULL, NULL));
    access_swap(&server->daemon.access, users);
    talker_init(&first, server);
    talker_init(&second, server);
    user = TAILQ_FIRST(&server->daemon.sessions)->identity.user;
    assert_int_equal(server->daemon.session_count, 1);
    assert_int_equal(refused_by(server, LIMIT_OF_USER), 1);
    assert_int_equal(user_quota(user)->refused, 1);
    assert_int_equal(lines_of("limit_reached"), reached + 1);
    assert_int_equal(lines_of("connections_refused"), refused);
    server_close(server);
    users_free(users);
    talker_fini(&first);
    talker_fini(&second);
}

static size_t too_large; /* there is no memory for so many bytes at once */

WRAPPED(void *, calloc, size_t count, size_t size)
{
    return too_large > 0 && count * size == too_large
               ? NULL
               : __real_calloc(count, size);
}

TEST(a_connection_without_memory_is_not_a_users)
{
    struct server *server = server_over_stub(PLENTY, SEQB_AGAIN, MINUTE_MS);
    struct talker talker;

    too_large = server->daemon.session_size;
    talker_init(&talker, server);
    too_large = 0;
    assert_int_equal(server->daemon.session_count, 0);
    assert_int_equal(refused_by(server, LIMIT_OF_USER), 0);
    assert_int_equal(refused_by(server, LIMIT_OF_HEAP), 1);
    server_close(server);
    talker_fini(&talker);
}
