/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of a user: each command and each route that has a key is tried with
 * one that the user may not use. The broker is a stub.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "credential/credential.h"
#include "daemon/commands/commands.h"
#include "daemon/http/route.h"
#include "daemon/server.h"
#include "support/test.h"
#include "support/users.h"
#include "support/web.h"
#include "unit/session_fixture.h"

/* "chief" may do all with the key a. */
static struct users *users_make(char token[static CREDENTIAL_TOKEN_SIZE])
{
    struct users *users = users_new();
    char hash[CREDENTIAL_TOKEN_HASH_SIZE];

    credential_token_make(token, hash);
    assert_true(users_take(users, "users.name", "chief"));
    assert_true(users_take(users, "users.role", "admin"));
    assert_true(users_take(users, "users.keys", "a"));
    assert_true(users_take(users, "users.token_hash", hash));
    assert_ok(users_check(users, NULL, NULL));
    return users;
}

/* --- commands --- */

static const struct {
    const char *name;
    const char *more;
} commands[] = {{"INCR", ""},
                {"SEQ.NEXT", ""},
                {"INCRBY", " 1"},
                {"SEQ.NUMBER", ""},
                {"SEQ.DECODE", " 9"},
                {"SEQ.PARSE", " x"},
                {"SEQ.ADVANCE", " 1000"}};

#define COMMANDS (sizeof commands / sizeof commands[0])

static void expect(struct server *server, struct talker *talker,
                   const char *line, const char *start)
{
    talker->length = 0;
    dialogue_say(server, talker, line, strlen(line), WHOLE);
    talker->heard[talker->length] = '\0';
    if (strncmp(talker->heard, start, strlen(start)) != 0)
        fail_msg("%s: %s", line, talker->heard);
}

TEST(each_command_with_a_key_refuses_the_keys_of_others)
{
    struct server *server = dialogue_server();
    char token[CREDENTIAL_TOKEN_SIZE];
    struct users *users = users_make(token);
    struct talker talker;
    char line[128];

    stub_reset(1000, SEQB_AGAIN, MINUTE_MS);
    access_swap(&server->daemon.access, users);
    talker_init(&talker, server);
    snprintf(line, sizeof line, "AUTH chief %s\r\n", token);
    expect(server, &talker, line, "+OK");
    for (size_t i = 0; i < COMMANDS; i++) {
        snprintf(line, sizeof line, "%s b%s\r\n", commands[i].name,
                 commands[i].more);
        expect(server, &talker, line,
               "-NOPERM user 'chief' may not use the key 'b'");
    }
    expect(server, &talker, "INCR a\r\n", ":");
    server_close(server);
    talker_fini(&talker);
    users_free(users);
}

TEST(each_command_with_a_key_is_in_the_table)
{
    for (size_t i = 0; command_at(i) != NULL; i++) {
        size_t j = 0;

        while (j < COMMANDS &&
               strcmp(commands[j].name, command_at(i)->name) != 0)
            j++;
        if ((j < COMMANDS) != command_at(i)->takes_key)
            fail_msg("has %s a key?", command_at(i)->name);
    }
}

/* --- routes --- */

static const struct {
    const char *path;
    const char *method;
    const char *rest; /* after the key */
} routes[] = {
    {"/v1/sequences/*/next", "POST", "/next"},
    {"/v1/sequences/*/number", "POST", "/number"},
    {"/v1/sequences/*/decode", "GET", "/decode?number=9"},
    {"/v1/sequences/*/parse", "GET", "/parse?text=x"},
};

#define ROUTES (sizeof routes / sizeof routes[0])

/* "b", plain and encoded, and "a" encoded. */
static const struct {
    const char *key;
    bool may;
} keys[] = {{"b", false}, {"%62", false}, {"%61", true}};

TEST(each_route_with_a_key_refuses_the_keys_of_others)
{
    struct web *web = NULL;
    char token[CREDENTIAL_TOKEN_SIZE];
    struct users *users = users_make(token);

    stub_reset(1000, SEQB_AGAIN, MINUTE_MS);
    web = web_open();
    access_swap(&web->server->daemon.access, users);
    for (size_t i = 0; i < COUNT_OF(keys) * ROUTES; i++) {
        const size_t key = i / ROUTES;
        const size_t route = i % ROUTES;
        char request[512];

        web_connect(web);
        snprintf(request, sizeof request,
                 "%s /v1/sequences/%s%s HTTP/1.1\r\nHost: a\r\n"
                 "Authorization: Bearer %s\r\n\r\n",
                 routes[route].method, keys[key].key, routes[route].rest,
                 token);
        web_say(web, request);
        web_receive(web, 1);
        if ((strstr(web_body(web), "may not use this key") == NULL) !=
            keys[key].may)
            fail_msg("%s: %s", request, web->heard);
    }
    web_close(web);
    users_free(users);
}

TEST(each_route_with_a_key_is_in_the_table)
{
    for (size_t i = 0; route_path(i) != NULL; i++) {
        size_t j = 0;

        while (j < ROUTES && strcmp(routes[j].path, route_path(i)) != 0)
            j++;
        if ((j < ROUTES) != (strchr(route_path(i), '*') != NULL))
            fail_msg("has %s a key?", route_path(i));
    }
}

/* --- a reload while a request waits --- */

static char token_hash[CREDENTIAL_TOKEN_HASH_SIZE];

/* "chief", or whoever else has its token. */
static struct users *users_after(const char *name, const char *role,
                                 const char *key)
{
    const char *const settings[] = {
        "users.name",       name,       "users.role", role, "users.keys", key,
        "users.token_hash", token_hash, NULL};

    return users_of(settings);
}

static bool has_waiter(const struct web *web)
{
    return !TAILQ_EMPTY(&web->server->daemon.waitlists.waiting);
}

/* The rights are those of now, and not of when it began to wait. */
static void expect_after_reload(const char *name, const char *role,
                                const char *key, const char *answer)
{
    char token[CREDENTIAL_TOKEN_SIZE];
    char request[512];
    struct users *before = NULL;
    struct users *after = NULL;
    struct web *web = NULL;

    stub_reset(0, SEQB_AGAIN, MINUTE_MS);
    web = web_open();
    credential_token_make(token, token_hash);
    before = users_after("chief", "take", "a");
    after = users_after(name, role, key);
    access_swap(&web->server->daemon.access, before);
    snprintf(request, sizeof request,
             "POST /v1/sequences/a/next?count=2 HTTP/1.1\r\nHost: a\r\n"
             "Authorization: Bearer %s\r\n\r\n",
             token);
    web_say(web, request);
    web_until(web, has_waiter);
    access_swap(&web->server->daemon.access, after);
    http_resolve(web->http);
    users_free(before);
    stub_refill(5);
    web_receive(web, 1);
    if (strncmp(web->heard, answer, strlen(answer)) != 0)
        fail_msg("%s %s %s: %s", name, role, key, web->heard);
    assert_int_equal(stub.sequences[0].stock,
                     strstr(answer, "200") != NULL ? 3 : 5);
    web_close(web);
    users_free(after);
}

/* --- how many numbers --- */

#define TOO_MANY "3 numbers at once are too many for user 'chief'"

TEST(each_command_that_takes_numbers_has_the_limits_of_its_user)
{
    static const char *const lines[] = {
        "SEQ.NEXT a COUNT 3\r\n", "SEQ.NUMBER a COUNT 3\r\n", "INCRBY a 3\r\n"};
    struct server *server = dialogue_server();
    char token[CREDENTIAL_TOKEN_SIZE];
    struct users *users = users_make(token);
    struct talker talker;
    char line[128];

    stub_reset(1000, SEQB_AGAIN, MINUTE_MS);
    assert_true(users_take(users, "users.max_count", "2"));
    access_swap(&server->daemon.access, users);
    talker_init(&talker, server);
    snprintf(line, sizeof line, "AUTH chief %s\r\n", token);
    expect(server, &talker, line, "+OK");
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        expect(server, &talker, lines[i], "-ERR " TOO_MANY);
    expect(server, &talker, "INCR a\r\n", ":");
    server_close(server);
    talker_fini(&talker);
    users_free(users);
}

TEST(each_route_that_takes_numbers_has_the_limits_of_its_user)
{
    static const char *const paths[] = {"next", "number"};
    struct web *web = NULL;
    char token[CREDENTIAL_TOKEN_SIZE];
    struct users *users = users_make(token);

    stub_reset(1000, SEQB_AGAIN, MINUTE_MS);
    assert_true(users_take(users, "users.max_count", "2"));
    web = web_open();
    access_swap(&web->server->daemon.access, users);
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        char request[512];

        web_connect(web);
        snprintf(request, sizeof request,
                 "POST /v1/sequences/a/%s?count=3 HTTP/1.1\r\nHost: a\r\n"
                 "Authorization: Bearer %s\r\n\r\n",
                 paths[i], token);
        web_say(web, request);
        web_receive(web, 1);
        if (strstr(web_body(web), TOO_MANY) == NULL)
            fail_msg("%s: %s", request, web->heard);
    }
    web_close(web);
    users_free(users);
}

TEST(a_request_that_waits_ends_when_its_user_may_no_more)
{
    expect_after_reload("other", "take", "a", "HTTP/1.1 401 ");
    expect_after_reload("chief", "read", "a", "HTTP/1.1 403 ");
    expect_after_reload("chief", "take", "b", "HTTP/1.1 403 ");
    expect_after_reload("chief", "take", "a*", "HTTP/1.1 200 ");
}

/* --- how many connections --- */

/* Asks on a further connection; those before stay open. Returns its socket. */
static int web_enter(struct web *web, const char *token)
{
    char request[256];

    web->fd = -1;
    web_connect(web);
    snprintf(request, sizeof request,
             "POST /v1/sequences/a/next HTTP/1.1\r\nHost: a\r\n"
             "Authorization: Bearer %s\r\n\r\n",
             token);
    web_say(web, request);
    web_receive(web, 1);
    return web->fd;
}

static void expect_status(const struct web *web, const char *status)
{
    if (strncmp(web->heard, status, strlen(status)) != 0)
        fail_msg("not %s: %s", status, web->heard);
}

TEST(connections_of_both_protocols_are_counted_for_their_user)
{
    char token[CREDENTIAL_TOKEN_SIZE];
    struct users *users = users_make(token);
    struct web *web = NULL;
    struct talker talker;
    char line[128];
    int fds[2];

    stub_reset(1000, SEQB_AGAIN, MINUTE_MS);
    assert_true(users_take(users, "users.max_connections", "2"));
    web = web_open();
    close(web->fd);
    access_swap(&web->server->daemon.access, users);
    fds[0] = web_enter(web, token);
    expect_status(web, "HTTP/1.1 200 ");
    fds[1] = web_enter(web, token);
    expect_status(web, "HTTP/1.1 200 ");
    web_enter(web, token);
    expect_status(web, "HTTP/1.1 429 ");
    assert_non_null(strstr(web->heard, "Connection: close"));
    assert_non_null(strstr(web_body(web), "as many connections as it may"));
    close(web->fd);
    talker_init(&talker, web->server);
    snprintf(line, sizeof line, "AUTH chief %s\r\n", token);
    expect(web->server, &talker, line, "-LIMIT ");
    close(fds[0]);
    web_enter(web, token); /* in the place of the one that has ended */
    expect_status(web, "HTTP/1.1 200 ");
    close(fds[1]);
    web_close(web);
    talker_fini(&talker);
    users_free(users);
}
