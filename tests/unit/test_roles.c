/* SPDX-License-Identifier: Apache-2.0 */
/* Who may do what, of all commands and all routes: each is tried with each
 * role. And logins: by a thread, remembered, slowed, and without a trace of the
 * password. The broker is a stub. */
#include <stdio.h>
#include <string.h>

#include "credential/credential.h"
#include "daemon/commands/commands.h"
#include "daemon/http/route.h"
#include "daemon/server.h"
#include "support/test.h"
#include "support/web.h"
#include "unit/session_fixture.h"

#define PASSWORD "tr0ub4dor&3"

static const struct {
    const char *name;
    unsigned rights;
} roles[] = {{"none", RIGHTS_NONE},
             {"read", RIGHTS_READ},
             {"take", RIGHTS_TAKE},
             {"admin", RIGHTS_ADMIN}};

enum { NONE, READ, TAKE, ADMIN, ROLES };

/* --- commands --- */

/* The lowest role that may. */
static const struct {
    const char *name;
    int role;
    const char *request;
} commands[] = {
    {"INCR", TAKE, "INCR a"},
    {"SEQ.NEXT", TAKE, "SEQ.NEXT a"},
    {"INCRBY", TAKE, "INCRBY a 1"},
    {"SEQ.NUMBER", TAKE, "SEQ.NUMBER a"},
    {"SEQ.DECODE", READ, "SEQ.DECODE a 9"},
    {"SEQ.PARSE", READ, "SEQ.PARSE a x"},
    {"SEQ.STATUS", READ, "SEQ.STATUS"},
    {"SEQ.WORKERS", READ, "SEQ.WORKERS"},
    {"SEQ.HEALTH", READ, "SEQ.HEALTH"},
    {"SEQ.SHOW", READ, "SEQ.SHOW CLIENTS"},
    {"SEQ.PARTITION", ADMIN, "SEQ.PARTITION DRAIN main/0"},
    {"SEQ.DRAIN", ADMIN, "SEQ.DRAIN"},
    {"SEQ.RELOAD", ADMIN, "SEQ.RELOAD NOW"},
    {"SEQ.ADVANCE", ADMIN, "SEQ.ADVANCE a 1000"},
    {"INFO", READ, "INFO"},
    {"DBSIZE", READ, "DBSIZE"},
    {"PING", NONE, "PING"},
    {"ECHO", READ, "ECHO x"},
    {"HELLO", NONE, "HELLO"},
    {"CLIENT", READ, "CLIENT ID"},
    {"SELECT", READ, "SELECT 0"},
    {"AUTH", NONE, "AUTH x"},
    {"RESET", NONE, "RESET"},
    {"QUIT", NONE, "QUIT"},
    {"CONFIG", READ, "CONFIG GET save"},
    {"COMMAND", READ, "COMMAND COUNT"},
};

#define COMMANDS (sizeof commands / sizeof commands[0])

static struct session *only_session(struct server *server)
{
    return TAILQ_FIRST(&server->daemon.sessions);
}

/* Whether the request is executed for who has those rights. */
static bool command_is_allowed(const char *request, unsigned rights)
{
    struct server *server = dialogue_server();
    char line[64];
    bool is_allowed;
    struct talker talker = talker_of(server);

    only_session(server)->identity = (struct identity){.rights = rights};
    snprintf(line, sizeof line, "%s\r\n", request);
    dialogue_say(server, &talker, line, strlen(line), WHOLE);
    is_allowed = talker.length < 4 || (memcmp(talker.heard, "-NOP", 4) != 0 &&
                                       memcmp(talker.heard, "-NOA", 4) != 0);
    server_close(server);
    talker_fini(&talker);
    return is_allowed;
}

TEST(each_command_wants_its_role)
{
    stub_reset(1000, SEQB_AGAIN, MINUTE_MS);
    for (size_t i = 0; i < COMMANDS; i++)
        for (int role = 0; role < ROLES; role++)
            if (command_is_allowed(commands[i].request, roles[role].rights) !=
                (role >= commands[i].role))
                fail_msg("%s as %s", commands[i].name, roles[role].name);
}

TEST(each_command_is_in_the_table)
{
    for (size_t i = 0; command_at(i) != NULL; i++) {
        size_t j = 0;

        while (j < COMMANDS &&
               strcmp(commands[j].name, command_at(i)->name) != 0)
            j++;
        if (j == COMMANDS)
            fail_msg("who may say %s?", command_at(i)->name);
    }
}

TEST(a_refusal_says_what_to_do)
{
    struct server *server = dialogue_server();
    struct talker talker;

    stub_reset(1000, SEQB_AGAIN, MINUTE_MS);
    talker_init(&talker, server);
    only_session(server)->identity = (struct identity){.rights = RIGHTS_TAKE};
    dialogue_say(server, &talker, "SEQ.DRAIN\r\n", 11, WHOLE);
    talker.heard[talker.length] = '\0';
    assert_string_equal(talker.heard,
                        "-NOPERM SEQ.DRAIN is an order: give it through the "
                        "unix socket, as seqctl does, or log in as a user "
                        "whose role is admin\r\n");
    assert_null(daemon_leaves(&server->daemon));
    server_close(server);
    talker_fini(&talker);
}

/* --- a daemon with users --- */

struct tokens {
    char token[ROLES][CREDENTIAL_TOKEN_SIZE];
};

static void take(struct users *users, const char *setting, const char *value)
{
    assert_true(users_take(users, setting, value));
}

/* "read", "take" and "admin" by tokens; "shop", of the keys a and c*, by
 * PASSWORD. */
static struct users *users_make(struct tokens *tokens)
{
    struct users *users = users_new();
    char hash[CREDENTIAL_HASH_SIZE];

    for (int role = READ; role < ROLES; role++) {
        char token_hash[CREDENTIAL_TOKEN_HASH_SIZE];

        credential_token_make(tokens->token[role], token_hash);
        take(users, "users.name", roles[role].name);
        take(users, "users.role", roles[role].name);
        take(users, "users.token_hash", token_hash);
    }
    assert_true(credential_hash(PASSWORD, strlen(PASSWORD), hash));
    take(users, "users.name", "shop");
    take(users, "users.role", "take");
    take(users, "users.keys", "a");
    take(users, "users.keys", "c*");
    take(users, "users.password_hash", hash);
    assert_ok(users_check(users, NULL, NULL));
    return users;
}

/* --- routes --- */

static const struct {
    const char *path;
    int role;
    const char *method, *target;
} routes[] = {
    {"/", READ, "GET", "/"},
    {"/openapi.json", READ, "GET", "/openapi.json"},
    {"/livez", NONE, "GET", "/livez"},
    {"/readyz", NONE, "GET", "/readyz"},
    {"/metrics", READ, "GET", "/metrics"},
    {"/v1/status", READ, "GET", "/v1/status"},
    {"/v1/events", READ, "GET", "/v1/events"},
    {"/v1/sequences/*/next", TAKE, "POST", "/v1/sequences/a/next"},
    {"/v1/sequences/*/number", TAKE, "POST", "/v1/sequences/a/number"},
    {"/v1/sequences/*/decode", READ, "GET", "/v1/sequences/a/decode?number=9"},
    {"/v1/sequences/*/parse", READ, "GET", "/v1/sequences/a/parse?text=x"},
};

#define ROUTES (sizeof routes / sizeof routes[0])

static void web_ask_as(struct web *web, size_t route, const char *token)
{
    char request[512];

    web_connect(web);
    snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: a\r\n%s%s%s\r\n",
             routes[route].method, routes[route].target,
             token[0] != '\0' ? "Authorization: Bearer " : "", token,
             token[0] != '\0' ? "\r\n" : "");
    web_say(web, request);
    web_receive(web, 1);
}

static void assert_answered(const struct web *web, size_t route, int role)
{
    const char *wanted = role >= routes[route].role ? NULL
                         : role == NONE             ? "401"
                                                    : "403";
    const char *status = web->heard + strlen("HTTP/1.1 ");
    const bool is_refused =
        strncmp(status, "401", 3) == 0 || strncmp(status, "403", 3) == 0;

    if (wanted == NULL ? is_refused : strncmp(status, wanted, 3) != 0)
        fail_msg("%s as %s: %.3s", routes[route].path, roles[role].name,
                 status);
}

TEST(each_route_wants_its_role)
{
    struct web *web = NULL;
    struct tokens tokens = {{""}};
    struct users *users = users_make(&tokens);

    stub_reset(1000, SEQB_AGAIN, MINUTE_MS);
    web = web_open();
    access_swap(&web->server->daemon.access, users);
    for (size_t i = 0; i < ROUTES; i++)
        for (int role = NONE; role < ROLES; role++) {
            web_ask_as(web, i, tokens.token[role]);
            assert_answered(web, i, role);
        }
    web->server->daemon.access.has_open_metrics = true;
    web_ask_as(web, 3, "");
    assert_non_null(strstr(web->heard, "HTTP/1.1 200 "));
    web_close(web);
    users_free(users);
}

TEST(each_route_is_in_the_table)
{
    for (size_t i = 0; route_path(i) != NULL; i++) {
        size_t j = 0;

        while (j < ROUTES && strcmp(routes[j].path, route_path(i)) != 0)
            j++;
        if (j == ROUTES)
            fail_msg("who may read %s?", route_path(i));
    }
}

TEST(a_password_by_http_is_looked_at_and_limits_the_keys)
{
    struct web *web = NULL;
    struct tokens tokens = {{""}};
    struct users *users = users_make(&tokens);

    stub_reset(1000, SEQB_AGAIN, MINUTE_MS);
    web = web_open();
    access_swap(&web->server->daemon.access, users);
    web_say(web, "POST /v1/sequences/a/next HTTP/1.1\r\nHost: a\r\n"
                 "Authorization: Basic c2hvcDp0cjB1YjRkb3ImMw==\r\n\r\n");
    web_receive(web, 1);
    assert_non_null(strstr(web_body(web), "\"95\""));
    web_say(web, "POST /v1/sequences/b/next HTTP/1.1\r\nHost: a\r\n"
                 "Authorization: Basic c2hvcDp0cjB1YjRkb3ImMw==\r\n\r\n");
    web_receive(web, 2);
    assert_non_null(strstr(web_body(web), "may not use this key"));
    web_say(web, "GET / HTTP/1.1\r\nHost: a\r\n"
                 "Authorization: Basic c2hvcDp3cm9uZw==\r\n\r\n");
    web_receive(web, 3);
    assert_non_null(strstr(web_body(web), "WRONGPASS"));
    assert_non_null(strstr(web->heard, "WWW-Authenticate: Basic realm="));
    web_close(web);
    users_free(users);
}

/* --- logins --- */

struct scene {
    struct server *server;
    struct talker talker;
    struct users *users;
    struct tokens tokens;
};

static int setup(void **state)
{
    static struct scene scene;

    stub_reset(1000, SEQB_AGAIN, MINUTE_MS);
    scene.users = users_make(&scene.tokens);
    scene.server = dialogue_server();
    access_swap(&scene.server->daemon.access, scene.users);
    talker_init(&scene.talker, scene.server);
    only_session(scene.server)->identity =
        (struct identity){.rights = RIGHTS_NONE};
    *state = &scene;
    return 0;
}

static int teardown(void **state)
{
    struct scene *scene = *state;

    server_close(scene->server);
    talker_fini(&scene->talker);
    users_free(scene->users);
    return 0;
}

#define LOGINS FIXTURE(struct scene *scene, setup, teardown)

/* Says a line, and turns until it is answered by that. */
static void scene_ask(struct scene *scene, const char *line,
                      const char *expected)
{
    struct talker *talker = &scene->talker;

    talker->length = 0;
    (void)talker_say(talker, line, strlen(line));
    while (talker->fd >= 0 &&
           (talker->length == 0 || talker->heard[talker->length - 1] != '\n')) {
        dialogue_turn(scene->server);
        (void)talker_receive(talker);
    }
    if (talker->length < strlen(expected) ||
        memcmp(talker->heard, expected, strlen(expected)) != 0)
        fail_msg("%s: %.*s", line, (int)talker->length, talker->heard);
}

TEST_WITH(LOGINS, a_login_has_the_rights_and_keys_of_its_user)
{
    scene_ask(scene, "INCR a\r\n", "-NOAUTH Authentication required");
    scene_ask(scene, "AUTH shop wrong\r\n", "-WRONGPASS ");
    scene_ask(scene, "AUTH nobody " PASSWORD "\r\n", "-WRONGPASS ");
    scene_ask(scene, "AUTH " PASSWORD "\r\n", "-WRONGPASS ");
    scene_ask(scene, "AUTH a b c\r\n", "-ERR syntax error");
    scene_ask(scene, "INCR a\r\n", "-NOAUTH ");
    scene_ask(scene, "AUTH shop " PASSWORD "\r\n", "+OK");
    scene_ask(scene, "INCR a\r\n", ":95\r\n");
    scene_ask(scene, "INCR a\r\n", ":96\r\n");
    scene_ask(scene, "INCR b\r\n", "-NOPERM user 'shop' may not use");
    scene_ask(scene, "SEQ.DECODE b 9\r\n", "-NOPERM ");
    scene_ask(scene, "INCR c\r\n", ":95\r\n");
    scene_ask(scene, "SEQ.DRAIN\r\n", "-NOPERM ");
    scene_ask(scene, "RESET\r\n", "+RESET");
}

TEST_WITH(LOGINS, another_login_forgets_the_keys_of_the_one_before)
{
    char line[128];

    snprintf(line, sizeof line, "AUTH take %s\r\n", scene->tokens.token[TAKE]);
    scene_ask(scene, line, "+OK");
    scene_ask(scene, "INCR b\r\n", ":95\r\n");
    scene_ask(scene, "AUTH shop " PASSWORD "\r\n", "+OK");
    scene_ask(scene, "INCR b\r\n", "-NOPERM ");
}

TEST_WITH(LOGINS, hello_logs_in_as_well)
{
    scene_ask(scene, "HELLO 3 AUTH shop wrong SETNAME x\r\n", "-WRONGPASS ");
    scene_ask(scene, "HELLO 3 SETNAME web AUTH shop " PASSWORD "\r\n", "%7");
    scene_ask(scene, "CLIENT GETNAME\r\n", "$3\r\nweb");
    scene_ask(scene, "CLIENT LIST\r\n", "=");
    assert_non_null(strstr(scene->talker.heard, " user=shop "));
}

TEST_WITH(LOGINS, what_is_behind_a_login_waits_for_it)
{
    scene_ask(scene, "AUTH shop " PASSWORD "\r\nINCR a\r\n", "+OK");
    while (scene->talker.length < strlen("+OK\r\n:95\r\n")) {
        dialogue_turn(scene->server);
        (void)talker_receive(&scene->talker);
    }
    assert_memory_equal(scene->talker.heard, "+OK\r\n:95\r\n", 10);
}

/* The second one needs no thread: a few turns that wait for nothing are
 * enough. */
TEST_WITH(LOGINS, a_password_that_was_right_is_remembered)
{
    static const char auth[] = "AUTH shop " PASSWORD "\r\n";

    scene_ask(scene, auth, "+OK");
    scene->talker.length = 0;
    dialogue_say(scene->server, &scene->talker, auth, strlen(auth), WHOLE);
    assert_int_equal(scene->talker.length, 5);
}

TEST_WITH(LOGINS, wrong_passwords_of_an_address_are_slowed_but_no_token)
{
    char line[128];

    for (int i = 0; i < 6; i++)
        scene_ask(scene, "AUTH shop wrong\r\n", "-WRONGPASS ");
    scene_ask(scene, "AUTH shop " PASSWORD "\r\n",
              "-LIMIT too many logins from this address were wrong");
    snprintf(line, sizeof line, "AUTH take %s\r\n", scene->tokens.token[TAKE]);
    scene_ask(scene, line, "+OK");
}

static bool memory_has(const char *memory, size_t size, const char *text)
{
    return memmem(memory, size, text, strlen(text)) != NULL;
}

/* Whether the buffer that all connections read into has the text. */
static bool input_has(const struct scene *scene, const char *text)
{
    return memory_has(scene->server->connections.input,
                      sizeof scene->server->connections.input, text);
}

TEST_WITH(LOGINS, no_password_stays_in_the_input)
{
    const struct session *session = NULL;

    dialogue_say(scene->server, &scene->talker, "AUTH shop " PASSWORD "\r\n",
                 strlen("AUTH shop " PASSWORD "\r\n"), WHOLE);
    session = only_session(scene->server);
    assert_int_equal(session->state, SESSION_WAITING);
    assert_true(session->in.length > 0);
    assert_false(memory_has(session->in.data, session->in.length, PASSWORD));
    assert_false(input_has(scene, PASSWORD));
    /* The teardown closes it while the login is looked at. */
}

TEST_WITH(LOGINS, no_password_stays_in_the_input_of_a_request_that_fails)
{
    static const char *const rows[][2] = {
        {"HELLO 4 AUTH shop " PASSWORD "\r\n", "-NOPROTO "},
        {"HELLO x AUTH shop " PASSWORD "\r\n", "-ERR Protocol "},
        {"HELLO 3 AUTH shop " PASSWORD " junk\r\n", "-ERR syntax "},
        {"HELLO 3 AUTH shop " PASSWORD " SETNAME \r\n", "-ERR syntax "},
        {"HELLO 3 AUTH shop " PASSWORD " AUTH a b\r\n", "-WRONGPASS "},
        {"AUTH shop " PASSWORD " junk\r\n", "-ERR syntax "}};

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        scene_ask(scene, rows[i][0], rows[i][1]);
        if (input_has(scene, PASSWORD))
            fail_msg("%s", rows[i][0]);
    }
}

/* The rest is awaited; meanwhile only the connection's own buffer has it. */
TEST_WITH(LOGINS, no_part_of_a_password_stays_in_the_input)
{
    scene_ask(scene, "PING\r\nAUTH shop tr0ub", "+PONG\r\n");
    assert_false(input_has(scene, "tr0ub"));
    scene_ask(scene, "4dor&3\r\n", "+OK");
}

/* As a reload does, after which there is one user, without a password. */
static void leave_only(struct scene *scene, const char *name)
{
    struct users *less = users_new();
    struct users *before = scene->users;

    take(less, "users.name", name);
    take(less, "users.role", "take");
    assert_ok(users_check(less, NULL, NULL));
    access_swap(&scene->server->daemon.access, less);
    connections_resolve(&scene->server->connections);
    scene->users = less;
    users_free(before);
}

TEST_WITH(LOGINS, a_user_that_is_removed_loses_its_connection)
{
    scene_ask(scene, "AUTH shop " PASSWORD "\r\n", "+OK");
    leave_only(scene, "other");
    dialogue_finish(scene->server, &scene->talker);
    assert_int_equal(scene->talker.fd, -1);
}

/* docs/secure.md says so. */
TEST_WITH(LOGINS, a_user_whose_password_changes_keeps_its_connection)
{
    scene_ask(scene, "AUTH shop " PASSWORD "\r\n", "+OK");
    leave_only(scene, "shop");
    scene_ask(scene, "INCR a\r\n", ":95");
}

TEST(there_is_no_login_without_users)
{
    static const char said[] = "AUTH a b\r\nHELLO 3 AUTH a b\r\nPING\r\n";
    static const char expected[] =
        "-ERR no password is set: the topology has no users\r\n"
        "-ERR no password is set: the topology has no users\r\n+PONG\r\n";
    struct server *server = dialogue_server();
    struct talker talker = talker_of(server);

    dialogue_say(server, &talker, said, strlen(said), WHOLE);
    assert_int_equal(talker.length, strlen(expected));
    assert_memory_equal(talker.heard, expected, strlen(expected));
    server_close(server);
    talker_fini(&talker);
}
