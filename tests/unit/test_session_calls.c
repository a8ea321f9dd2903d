/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that wait for the stores: a client is answered what became of its call,
 * when that is known and not before, whatever happens meanwhile. The broker is
 * a stub.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "credential/credential.h"
#include "daemon/blocking_call.h"
#include "daemon/server.h"
#include "support/test.h"
#include "support/users.h"
#include "support/wrap.h"
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

WRAPPED(int, pthread_join, pthread_t thread, void **result)
{
    waits_in_vain += is_held;
    stores_free();
    return __real_pthread_join(thread, result);
}

static bool is_calling(const struct server *server)
{
    return server->daemon.order_call != NULL ||
           server->daemon.reads.current != NULL ||
           server->daemon.admin_reads.current != NULL;
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

/* --- looks at the stores --- */

#define READ     "SEQ.WORKERS\r\n"
#define LISTED   "*1\r\n"
#define ADVANCED "-ERR INVALID"

enum { READERS = 3 };

/* A daemon, one who may give orders, and those who may only read. */
struct readers {
    struct server *server;
    struct talker boss;
    struct talker all[READERS];
};

static void readers_init(struct readers *readers)
{
    struct session *session = NULL;

    readers->server = server_over_stub(0, SEQB_AGAIN, MINUTE_MS);
    assert_int_equal(pipe(gate), 0);
    stub.workers_gate = gate[0];
    for (int i = 0; i < READERS; i++)
        talker_init(&readers->all[i], readers->server);
    TAILQ_FOREACH(session, &readers->server->daemon.sessions, entry)
        session->identity.rights = RIGHT_READ;
    talker_init(&readers->boss, readers->server);
}

static void readers_fini(struct readers *readers)
{
    server_close(readers->server);
    talker_fini(&readers->boss);
    for (int i = 0; i < READERS; i++)
        talker_fini(&readers->all[i]);
    close(gate[0]);
    close(gate[1]);
}

/* It has its turn, and waits. */
static void ask(struct readers *readers, struct talker *talker)
{
    talker_say(talker, READ, strlen(READ));
    dialogue_finish(readers->server, talker);
    assert_int_equal(talker->length, 0);
}

/* That many looks at the stores end. */
static void stores_answer(int reads)
{
    for (int i = 0; i < reads; i++)
        assert_int_equal(write(gate[1], "x", 1), 1);
}

static void hear(struct readers *readers, struct talker *talker,
                 const char *begin)
{
    talker_receive(talker);
    while (talker->length == 0) {
        dialogue_turn(readers->server);
        talker_receive(talker);
    }
    expect_begin(talker, begin);
}

/* Whoever may read could otherwise lock the operator out. */
TEST(a_read_of_the_stores_refuses_no_order_and_no_read_of_the_operator)
{
    struct readers readers;

    readers_init(&readers);
    ask(&readers, &readers.all[0]);
    talker_say(&readers.boss, ADVANCE, strlen(ADVANCE));
    hear(&readers, &readers.boss, ADVANCED);
    readers.boss.length = 0;
    ask(&readers, &readers.boss);
    assert_non_null(readers.server->daemon.admin_reads.current);
    stores_answer(2);
    hear(&readers, &readers.boss, LISTED);
    hear(&readers, &readers.all[0], LISTED);
    readers_fini(&readers);
}

TEST(who_asks_during_a_read_is_answered_by_the_next_one)
{
    struct readers readers;

    readers_init(&readers);
    for (int i = 0; i < READERS; i++)
        ask(&readers, &readers.all[i]);
    stores_answer(1);
    hear(&readers, &readers.all[0], LISTED);
    ask(&readers, &readers.all[1]); /* its first one is not answered yet */
    assert_int_equal(readers.all[2].length, 0);
    stores_answer(1);
    hear(&readers, &readers.all[1], LISTED);
    hear(&readers, &readers.all[2], LISTED);
    stores_answer(1); /* for the second one of the second */
    readers_fini(&readers);
}

/* Others have a turn of the loop between two of them. */
TEST(answers_of_one_read_are_made_one_in_a_turn)
{
    struct readers readers;
    struct pollfd wake = {.events = POLLIN};

    readers_init(&readers);
    wake.fd = readers.server->daemon.wake_fd;
    for (int i = 0; i < READERS; i++)
        ask(&readers, &readers.all[i]);
    stores_answer(1);
    hear(&readers, &readers.all[0], LISTED);
    stores_answer(1);
    assert_int_equal(poll(&wake, 1, -1), 1);
    assert_true(blocking_calls_poll(&readers.server->daemon));
    assert_true(talker_receive(&readers.all[1]));
    assert_false(talker_receive(&readers.all[2]));
    assert_false(blocking_calls_poll(&readers.server->daemon));
    assert_true(talker_receive(&readers.all[2]));
    readers_fini(&readers);
}

TEST(a_read_that_nobody_waits_for_any_more_does_not_begin)
{
    struct readers readers;
    int left = 0;

    readers_init(&readers);
    for (int i = 0; i < READERS; i++)
        ask(&readers, &readers.all[i]);
    stores_answer(2);
    server_close(readers.server);
    readers.server = NULL;
    assert_int_equal(ioctl(gate[0], FIONREAD, &left), 0);
    assert_int_equal(left, 1);
    readers_fini(&readers);
}
