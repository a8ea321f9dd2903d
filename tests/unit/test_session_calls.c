/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that wait for the stores: a client is answered what became of its call,
 * when that is known and not before, whatever happens meanwhile. The broker is
 * a stub.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "credential/credential.h"
#include "daemon/blocking_call.h"
#include "daemon/server.h"
#include "support/test.h"
#include "support/users.h"
#include "unit/session_fixture.h"

#define ADVANCE "SEQ.ADVANCE a 5\r\n"
#define REFUSED "-ERR INVALID\r\n" /* what the stub makes of it */

/* While a test holds the stub's stores, a loop that waits for a thread would
 * wait for ever: they are let go, and it is counted. */
static bool is_held;
static int waits_in_vain;
static int gate[2];

static void stores_hold(void)
{
    assert_int_equal(pipe(gate), 0);
    stub.workers_gate = gate[0];
    pthread_mutex_lock(&stub_advance);
    is_held = true;
    waits_in_vain = 0;
}

static void stores_free(void)
{
    if (!is_held)
        return;
    is_held = false;
    pthread_mutex_unlock(&stub_advance);
    close(gate[1]);
}

int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result)
{
    waits_in_vain += is_held;
    stores_free();
    return __real_pthread_join(thread, result);
}

static bool is_calling(const struct server *server)
{
    return server->daemon.order_call != NULL ||
           server->daemon.read_call != NULL ||
           server->daemon.operator_read_call != NULL;
}

/* Until its call is over, and then all that follows from it. */
static void call_end(struct server *server, struct talker *talker)
{
    stores_free();
    while (is_calling(server))
        dialogue_turn(server);
    dialogue_finish(server, talker);
}

static void expect_begin(const struct talker *talker, const char *expected)
{
    assert_true(talker->length >= strlen(expected));
    assert_memory_equal(talker->heard, expected, strlen(expected));
}

/* --- the stop --- */

/* The timer of a client that had sent nothing when the stop began is over,
 * while its first command waits for the stores. */
static void expect_no_answer_by_timer(const char *words, const char *answer)
{
    static struct reloader *reloader; /* a process has one, and keeps it */
    struct server *server = server_over_stub(PLENTY, SEQB_AGAIN, MINUTE_MS);
    struct talker talker = talker_of(server);
    struct connection *connection =
        (struct connection *)TAILQ_FIRST(&server->daemon.sessions);

    if (reloader == NULL)
        reloader = reloader_new(NULL, false);
    server->daemon.reloader = reloader;
    reloader_serve(reloader, &server->daemon);
    stores_hold();
    connections_finish(&server->connections, MINUTE_MS);
    talker_say(&talker, words, strlen(words));
    while (!is_calling(server))
        dialogue_turn(server);
    event_active(&connection->timer, EV_TIMEOUT, 0);
    dialogue_finish(server, &talker);
    talker_expect(&talker, "");
    call_end(server, &talker);
    assert_int_equal(waits_in_vain, 0);
    expect_begin(&talker, answer);
    reloader_end(reloader);
    server_close(server);
    talker_fini(&talker);
    close(gate[0]);
}

TEST(a_stop_answers_no_call_before_it_is_done)
{
    expect_no_answer_by_timer(ADVANCE, REFUSED);
    expect_no_answer_by_timer("SEQ.RELOAD\r\n", "*8\r\n$7\r\napplied\r\n");
    expect_no_answer_by_timer("SEQ.WORKERS\r\n", "*1\r\n");
}

/* --- users that are removed --- */

static char hash[CREDENTIAL_TOKEN_HASH_SIZE];

static struct users *users_with(const char *name)
{
    const char *const settings[] = {
        "users.name",       name, "users.role", "admin",
        "users.token_hash", hash, NULL};

    return users_of(settings);
}

/* It is the answer to its order, however large that was, and nothing behind it
 * is executed. */
TEST(a_removed_user_is_answered_what_became_of_its_order)
{
    char token[CREDENTIAL_TOKEN_SIZE];
    char words[LIMITS_LOGIN + 200];
    struct server *server = server_over_stub(PLENTY, SEQB_AGAIN, MINUTE_MS);
    struct talker talker = talker_of(server);
    struct users *before = NULL;
    struct users *after = NULL;

    credential_token_make(token, hash);
    before = users_with("boss");
    after = users_with("other");
    access_swap(&server->daemon.access, before);
    snprintf(words, sizeof words, "AUTH boss %s\r\n", token);
    (void)dialogue_say(server, &talker, words, strlen(words), WHOLE);
    talker_expect(&talker, "+OK\r\n");
    talker.length = 0;
    stores_hold();
    snprintf(words, sizeof words, "SEQ.ADVANCE %*s 5\r\nINCR a\r\nPING\r\n",
             LIMITS_LOGIN, "a");
    talker_say(&talker, words, strlen(words));
    dialogue_finish(server, &talker);
    assert_true(is_calling(server));
    access_swap(&server->daemon.access, after);
    connections_resolve(&server->connections);
    users_free(before);
    dialogue_finish(server, &talker);
    talker_expect(&talker, "");
    call_end(server, &talker);
    talker_expect(&talker, REFUSED);
    assert_int_equal(talker.fd, -1);
    assert_int_equal(waits_in_vain, 0);
    server_close(server);
    users_free(after);
    talker_fini(&talker);
    close(gate[0]);
}
