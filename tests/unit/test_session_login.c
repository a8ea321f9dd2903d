/* SPDX-License-Identifier: Apache-2.0 */
/* What clients can make the daemon hold before they log in, and by reading
 * slowly. The broker is a stub. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "daemon/server.h"
#include "support/test.h"
#include "unit/session_fixture.h"

#define CROWD  20
#define ROUNDS 5

/* A client that has yet to log in. */
static struct session *stranger_init(struct talker *talker,
                                     struct server *server)
{
    struct session *session = NULL;

    talker_init(talker, server);
    session = TAILQ_LAST(&server->daemon.sessions, session_list);
    session->identity = (struct identity){.rights = RIGHTS_NONE};
    return session;
}

/* PING with a word of `length` bytes. */
static size_t ping_write(char *out, size_t size, size_t length)
{
    const int head =
        snprintf(out, size, "*2\r\n$4\r\nPING\r\n$%zu\r\n", length);

    memset(out + head, 'x', length);
    return (size_t)head + length +
           (size_t)snprintf(out + head + length, size - (size_t)head - length,
                            "\r\n");
}

static void assert_begins(struct server *server, struct talker *talker,
                          const char *words, size_t length, const char *begin)
{
    const size_t before = talker->length;

    talker_say(talker, words, length);
    dialogue_finish(server, talker);
    assert_true(talker->length >= before + strlen(begin));
    assert_memory_equal(talker->heard + before, begin, strlen(begin));
}

TEST_WITH(SERVER, clients_before_the_login_cannot_use_up_the_memory)
{
    static char words[200000];
    struct talker crowd[CROWD];
    size_t length = 0;

    while (length + 3000 < sizeof words)
        length += ping_write(words + length, 3000, 60);
    for (int i = 0; i < CROWD; i++)
        stranger_init(&crowd[i], server);
    for (int i = 0; i < ROUNDS * CROWD; i++) {
        talker_say(&crowd[i % CROWD], words, length);
        settle_unread(server);
    }
    assert_true(server->daemon.limits.client_memory <=
                INT64_C(2) * CROWD * LIMITS_LOGIN);
    for (int i = 0; i < CROWD; i++)
        talker_fini(&crowd[i]);
}

TEST_WITH(SERVER, ping_before_the_login_answers_a_short_word_only)
{
    char words[1024];
    struct talker talker;
    struct session *session = stranger_init(&talker, server);

    assert_begins(server, &talker, "PING\r\n", 6, "+PONG");
    assert_begins(server, &talker, words, ping_write(words, sizeof words, 64),
                  "$64\r\n");
    assert_begins(server, &talker, words, ping_write(words, sizeof words, 65),
                  "-NOAUTH ");
    session->identity.rights = RIGHTS_READ;
    assert_begins(server, &talker, words, ping_write(words, sizeof words, 65),
                  "$65\r\n");
    talker_fini(&talker);
}

#define TOO_BIG "-ERR Protocol error: too big request before the login\r\n"

TEST_WITH(SERVER, large_request_before_the_login_is_refused)
{
    char words[4096];
    struct talker talker;
    const size_t length = ping_write(words, sizeof words, LIMITS_LOGIN);

    stranger_init(&talker, server);
    assert_begins(server, &talker, words, length, TOO_BIG);
    talker_fini(&talker);
    stranger_init(&talker, server); /* it is not complete */
    assert_begins(server, &talker, words, LIMITS_LOGIN + 1, TOO_BIG);
    talker_fini(&talker);
    talker_init(&talker, server);
    assert_begins(server, &talker, words, length, "$2000\r\n");
    talker_fini(&talker);
}

/* A name and a password as long as they may be. */
TEST_WITH(SERVER, login_may_have_a_long_password)
{
    char words[LIMITS_LOGIN];
    char secret[CREDENTIAL_MAX + 1];
    struct talker talker;
    int length = 0;

    memset(secret, 's', CREDENTIAL_MAX);
    secret[CREDENTIAL_MAX] = '\0';
    length = snprintf(words, sizeof words,
                      "*7\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$4\r\nAUTH\r\n"
                      "$4\r\nshop\r\n$%d\r\n%s\r\n$7\r\nSETNAME\r\n"
                      "$4\r\nshop\r\n",
                      CREDENTIAL_MAX, secret);
    stranger_init(&talker, server);
    assert_begins(server, &talker, words, (size_t)length,
                  "-ERR no password is set");
    talker_fini(&talker);
}

/* A stream of HTTP, and any client of one number, need no memory for it. */
TEST_WITH(SERVER, short_answers_are_not_refused_while_memory_is_used_up)
{
    struct talker *talker = talker_new(server);

    server->daemon.limits.client_memory =
        2 * server->daemon.limits.options.max_client_memory;
    assert_begins(server, talker, "SEQ.NEXT a COUNT 1 STR\r\n", 24, "*1\r\n");
    assert_begins(server, talker, "SEQ.NUMBER a COUNT 1\r\n", 22, "*1\r\n");
    assert_begins(server, talker, "SEQ.NEXT a COUNT 1000\r\n", 23, "-OOM ");
}

/* --- how long --- */

TEST_WITH(SERVER, client_that_does_not_log_in_is_disconnected)
{
    struct talker talker;
    struct talker *user;

    server->daemon.limits.options.login_timeout_ms = 1;
    user = talker_new(server);
    stranger_init(&talker, server)->unknown_ms = daemon_now_ms();
    while (server->daemon.session_count > 1)
        dialogue_turn(server);
    assert_int_equal(server->daemon.limits.connections_timed_out, 1);
    assert_begins(server, user, "PING\r\n", 6, "+PONG");
    talker_fini(&talker);
}

/* The clock starts when it loses its rights, and attempts do not start it
 * again. */
TEST_WITH(SERVER, clock_of_the_login_runs_while_the_client_has_no_rights)
{
    const struct identity nobody = {.rights = RIGHTS_NONE};
    const struct identity user = {.rights = RIGHTS_TAKE};
    struct session *session = NULL;

    (void)talker_new(server);
    session = TAILQ_LAST(&server->daemon.sessions, session_list);
    assert_int_equal(session->unknown_ms, 0);
    session_become(session, &nobody);
    assert_true(session->unknown_ms > 0);
    session->unknown_ms = 1;
    session_become(session, &nobody);
    assert_int_equal(session->unknown_ms, 1);
    session_become(session, &user);
    assert_int_equal(session->unknown_ms, 0);
}

/* --- reading slowly --- */

#define STEP 65536 /* has to be taken within client_timeout */

TEST(clock_of_a_slow_reader_starts_again_after_a_least_number_of_bytes)
{
    struct connection connection = {.unsent_ms = 0};

    connection_note_unsent(&connection, 100000, 5); /* what was taken before */
    assert_int_equal(connection.unsent_ms, 5);
    connection_note_unsent(&connection, 0, 10);
    connection_note_unsent(&connection, 1, 20);
    connection_note_unsent(&connection, STEP - 2, 30);
    assert_int_equal(connection.unsent_ms, 5);
    connection_note_unsent(&connection, 1, 40);
    assert_int_equal(connection.unsent_ms, 40);
    connection_note_unsent(&connection, STEP - 1, 50);
    assert_int_equal(connection.unsent_ms, 40);
    connection.unsent_ms = 0; /* all was sent */
    connection_note_unsent(&connection, 1, 60);
    assert_int_equal(connection.unsent_ms, 60);
    connection_note_unsent(&connection, STEP - 1, 70);
    assert_int_equal(connection.unsent_ms, 60);
}
