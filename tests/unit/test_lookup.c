/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names are looked up within a deadline, whatever the name server does. This
 * program's getaddrinfo takes the place of libc's.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/backends.h"
#include "net/net.h"
#include "platform/clock.h"
#include "support/failure.h"
#include "support/servers.h"
#include "support/test.h"
#include "unit/resolver_fixture.h"

#define SOON_MS    50
#define SILENCE_MS 1000

/* What the name server does, and who waits for it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool hangs;
static int hanging;
static int asked;

/* The client libraries are to call it, too. */
#define EXPORTED __attribute__((visibility("default")))

EXPORTED int getaddrinfo(const char *name, const char *service,
                         const struct addrinfo *hints, struct addrinfo **out)
{
    const int port = atoi(service);

    if ((hints->ai_flags & AI_NUMERICHOST) != 0)
        return resolver_numeric(name, port, out);
    pthread_mutex_lock(&lock);
    asked++;
    hanging++;
    pthread_cond_broadcast(&changed);
    while (hangs)
        pthread_cond_wait(&changed, &lock);
    hanging--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return resolver_named(name, port, out);
}

EXPORTED void freeaddrinfo(struct addrinfo *list)
{
    resolver_free(list);
}

static void hang(bool now)
{
    pthread_mutex_lock(&lock);
    hangs = now;
    pthread_cond_broadcast(&changed);
    while (!now && hanging > 0)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static int asked_so_far(void)
{
    int count;

    pthread_mutex_lock(&lock);
    count = asked;
    pthread_mutex_unlock(&lock);
    return count;
}

static const char *look_up(const char *name, int64_t within_ms)
{
    struct addrinfo *found = NULL;
    const char *why = lookup_host(name, 1, clock_now_ms() + within_ms, &found);

    if (why == NULL)
        freeaddrinfo(found);
    return why;
}

TEST(address_is_not_looked_up)
{
    hang(true);
    assert_null(look_up("127.0.0.1", 0));
    assert_int_equal(asked_so_far(), 0);
    hang(false);
}

TEST(name_is_found_or_it_is_said_why_not)
{
    assert_null(look_up("two", 60000));
    assert_string_equal(look_up("none", 60000), gai_strerror(EAI_NONAME));
}

TEST(name_server_that_hangs_is_waited_for_until_the_deadline)
{
    hang(true);
    assert_non_null(strstr(look_up("two", SOON_MS), "in time"));
    hang(false);
    assert_null(look_up("two", 60000));
}

TEST(only_so_many_look_ups_may_hang)
{
    const int before = asked_so_far();
    const char *why;
    int hung = 0;

    hang(true);
    do
        why = look_up("two", 0);
    while (strstr(why, "in time") != NULL && hung++ < LOOKUP_HANGING_MAX);
    assert_non_null(strstr(why, "too many"));
    assert_null(look_up("127.0.0.1", 0));
    hang(false);
    assert_true(asked_so_far() <= before + LOOKUP_HANGING_MAX);
    /* The last of them are on their way out. */
    while (look_up("two", 60000) != NULL)
        usleep(1000);
}

/* Listens on the second address of "two", and nobody on the first. Calls of
 * accept do not wait. */
static int second_listen(int32_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    const int fd =
        socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    *port = free_port();
    address.sin_port = htons((uint16_t)*port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(
        bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 1), 0);
    return fd;
}

TEST(addresses_of_a_name_are_tried_in_turn)
{
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    struct stream_target target = {.host = "two"};
    const int fd = second_listen(&target.port);
    struct stream stream;
    struct seqb_error err;

    assert_ok(stream_open(&stream, &target, 60000, &err));
    assert_int_equal(
        getpeername(stream.fd, (struct sockaddr *)&address, &length), 0);
    assert_int_equal(ntohl(address.sin_addr.s_addr), INADDR_LOOPBACK);
    stream_close(&stream);
    close(fd);
    assert_status(stream_open(&stream, &target, 60000, &err), SEQB_UNREACHABLE);
    assert_string_equal(err.text, strerror(ECONNREFUSED));
    stream_close(&stream);
}

TEST(name_that_hangs_bounds_the_connecting_too)
{
    const struct stream_target target = {.host = "two", .port = 1};
    struct stream stream;

    hang(true);
    assert_fails(stream_open(&stream, &target, SOON_MS, &failure),
                 SEQB_UNREACHABLE, "host not found: the name server");
    stream_close(&stream);
    hang(false);
}

/* --- stores --- */

static const struct seqb_backend_options options = {
    .name = "a",
    .user = "u",
    .database = "0",
    .timeout_ms = SOON_MS,
    .connect_timeout_ms = SOON_MS,
};

/* That the host was not found is all that a list says of its last item, too. */
static void must_give_up(const struct seqb_backend_ops *ops,
                         const struct seqb_backend_options *these)
{
    struct seqb_backend *backend = NULL;
    struct seqb_error err;

    hang(true);
    assert_status(ops->open(these, &backend, &err), SEQB_UNREACHABLE);
    if (strstr(err.text, "host not found: the name server") == NULL)
        fail_msg("'%s' does not say that the name server hangs", err.text);
    hang(false);
}

/* What the client libraries of stores would do without a limit. */
TEST(stores_whose_name_hangs_are_given_up)
{
    static const struct seqb_backend_ops *const engines[] = {
#ifdef SEQB_WITH_REDIS
        &backend_redis,
#endif
#ifdef SEQB_WITH_MEMCACHED
        &backend_memcached,
#endif
#ifdef SEQB_WITH_MYSQL
        &backend_mysql_row, &backend_mysql_autoinc,
#endif
#ifdef SEQB_WITH_POSTGRES
        &backend_postgres,
#endif
#ifdef SEQB_WITH_ETCD
        &backend_etcd,
#endif
    };
    struct seqb_backend_options one = options;

    one.host = "two";
    one.port = 1;
    for (size_t i = 0; i < COUNT_OF(engines); i++)
        must_give_up(engines[i], &one);
}

static const char *const servers[] = {"two:1", "two:2", NULL};

/* Also: the nodes of a Redis Cluster, of a Galera cluster and of etcd. */
TEST(lists_of_servers_whose_names_hang_are_given_up)
{
    static const struct seqb_backend_ops *const engines[] = {
#ifdef SEQB_WITH_REDIS
        &backend_redis,
#endif
#ifdef SEQB_WITH_MYSQL
        &backend_mysql_row,
#endif
#ifdef SEQB_WITH_ETCD
        &backend_etcd,
#endif
        NULL,
    };
    struct seqb_backend_options many = options;

    many.endpoints = servers;
    for (size_t i = 0; engines[i] != NULL; i++)
        must_give_up(engines[i], &many);
}

#ifdef SEQB_WITH_REDIS
TEST(sentinels_whose_names_hang_are_given_up)
{
    struct seqb_backend_options watched = options;

    watched.sentinels = servers;
    watched.master_name = "main";
    must_give_up(&backend_redis, &watched);
}
#endif

#ifdef SEQB_WITH_POSTGRES
TEST(hosts_of_a_conninfo_whose_names_hang_are_given_up)
{
    struct seqb_backend_options several = options;

    several.conninfo = "host=two,two port=1,2 user=u dbname=d";
    must_give_up(&backend_postgres, &several);
}
#endif

/* The listener is a server that says nothing. */
TEST(addresses_of_the_name_of_a_store_are_tried_in_turn)
{
    static const struct seqb_backend_ops *const engines[] = {
#ifdef SEQB_WITH_MYSQL
        &backend_mysql_row,
        &backend_mysql_autoinc,
#endif
#ifdef SEQB_WITH_POSTGRES
        &backend_postgres,
#endif
        NULL,
    };
    struct seqb_backend_options one = options;
    const int fd = second_listen(&one.port);

    one.host = "two";
    one.connect_timeout_ms = SILENCE_MS;
    for (size_t i = 0; engines[i] != NULL; i++) {
        struct seqb_backend *backend = NULL;
        struct seqb_error err;
        int client;

        assert_status(engines[i]->open(&one, &backend, &err), SEQB_UNREACHABLE);
        client = accept(fd, NULL, NULL);
        if (client < 0)
            fail_msg("%s: nobody asked the second address: %s",
                     engines[i]->engine, err.text);
        close(client);
    }
    close(fd);
}
