/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CLIENT LIST and CLIENT INFO: a line a connection, as Redis 7.0 writes it and
 * as client libraries take it apart. The broker is a stub.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "daemon/server.h"
#include "support/test.h"
#include "unit/session_fixture.h"

#define LISTED 1000 /* connections at most */
#define CROWD  (LISTED + 30)

#define SMALL_CROWD 200
#define LISTING     10 /* of them list the connections at once */

static const char *const fields[] = {
    "id",        "addr",     "laddr",     "fd",   "name", "age",   "idle",
    "flags",     "db",       "sub",       "psub", "ssub", "multi", "qbuf",
    "qbuf-free", "argv-mem", "multi-mem", "rbs",  "rbp",  "obl",   "oll",
    "omem",      "tot-mem",  "events",    "cmd",  "user", "redir", "resp"};

#define FIELDS (sizeof fields / sizeof fields[0])

/* A daemon without numbers, a connection to it, and a second one that a test
 * may make. */
struct fixture {
    struct server *server;
    struct talker first;
    struct talker second;
};

static int setup(void **state)
{
    static struct fixture fixture;

    stub_reset(0, SEQB_AGAIN, MINUTE_MS);
    fixture.server = dialogue_server();
    talker_init(&fixture.first, fixture.server);
    fixture.second = (struct talker){.fd = -1};
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    server_close(fixture->server);
    talker_fini(&fixture->first);
    talker_fini(&fixture->second);
    return 0;
}

#define SERVED FIXTURE(struct fixture *fixture, setup, teardown)

static const char *hear(struct fixture *fixture, struct talker *talker,
                        const char *said)
{
    talker->length = 0;
    dialogue_say(fixture->server, talker, said, strlen(said), WHOLE);
    assert_true(talker->length < talker->capacity);
    talker->heard[talker->length] = '\0';
    return talker->heard;
}

/* What is answered on the first connection, or the second, as a text until it
 * is asked again. */
static const char *ask(struct fixture *fixture, const char *said)
{
    return hear(fixture, &fixture->first, said);
}
static const char *ask_second(struct fixture *fixture, const char *said)
{
    return hear(fixture, &fixture->second, said);
}

/* The text of a bulk string; the whole answer is one. */
static const char *bulk(const char *reply)
{
    char *text = NULL;
    const unsigned long length = strtoul(reply + 1, &text, 10);

    assert_int_equal(reply[0], '$');
    assert_int_equal(strlen(text), 2 + length + 2);
    return text + 2;
}

static size_t lines_of(const char *text)
{
    size_t lines = 0;

    for (; (text = strchr(text, '\n')) != NULL; text++)
        lines += text[-1] != '\r'; /* the end of the reply */
    return lines;
}

/* The value of a field in a line, up to its end. */
static const char *value_of(const char *line, const char *field)
{
    static char value[128];
    char key[32];
    const char *at = NULL;

    snprintf(key, sizeof key, " %s=", field);
    at = strncmp(line, key + 1, strlen(key) - 1) == 0 ? line - 1
                                                      : strstr(line, key);
    if (at == NULL || memchr(line, '\n', (size_t)(at + 1 - line)) != NULL)
        fail_msg("%s is not in %s", field, line);
    else
        snprintf(value, sizeof value, "%.*s",
                 (int)strcspn(at + strlen(key), " \n"), at + strlen(key));
    return value;
}

static void assert_field(const char *line, const char *field,
                         const char *expected)
{
    assert_string_equal(value_of(line, field), expected);
}

/* --- a line --- */

TEST_WITH(SERVED, a_line_has_the_fields_of_redis_in_their_order)
{
    const char *line = bulk(ask(fixture, "CLIENT LIST\r\n"));

    assert_int_equal(lines_of(line), 1);
    for (size_t i = 0; i < FIELDS; i++) {
        const size_t length = strlen(fields[i]);

        assert_memory_equal(line, fields[i], length);
        assert_int_equal(line[length], '=');
        line += strcspn(line, " \n");
        assert_int_equal(*line++, i + 1 < FIELDS ? ' ' : '\n');
    }
    assert_string_equal(line, "\r\n");
}

TEST_WITH(SERVED, it_tells_of_the_connection_that_asks)
{
    const char *line = bulk(ask(fixture, "CLIENT INFO\r\n"));

    assert_int_equal(lines_of(line), 1);
    assert_field(line, "id", "1");
    assert_field(line, "name", "");
    assert_field(line, "flags", "U");
    assert_field(line, "multi", "-1");
    assert_field(line, "events", "r");
    assert_field(line, "cmd", "client");
    assert_field(line, "user", "default");
    assert_field(line, "resp", "2");
    (void)ask(fixture, "CLIENT SETNAME me=you\r\n");
    line = bulk(ask(fixture, "CLIENT INFO\r\n"));
    assert_field(line, "name", "me=you");
}

TEST_WITH(SERVED, its_age_and_its_rest_are_in_seconds)
{
    const int64_t then_ms = daemon_now_ms() - 90000;
    struct session *session = TAILQ_FIRST(&fixture->server->daemon.sessions);
    const char *line = NULL;

    session->opened_ms = then_ms;
    session->received_ms = then_ms;
    line = bulk(ask(fixture, "CLIENT INFO\r\n"));
    assert_true(strtol(value_of(line, "age"), NULL, 10) >= 90);
    /* That it asks ends its rest. */
    assert_true(session->received_ms > then_ms);
    session->received_ms = then_ms;
    talker_init(&fixture->second, fixture->server);
    line = bulk(ask_second(fixture, "CLIENT LIST ID 1\r\n"));
    assert_true(strtol(value_of(line, "idle"), NULL, 10) >= 90);
}

TEST_WITH(SERVED, in_resp3_it_is_a_verbatim_string)
{
    static const char *const lines[] = {"CLIENT LIST\r\n", "CLIENT INFO\r\n"};

    (void)ask(fixture, "HELLO 3\r\n");
    for (size_t i = 0; i < 2; i++) {
        const char *reply = ask(fixture, lines[i]);
        char *text = NULL;
        const unsigned long length = strtoul(reply + 1, &text, 10);

        assert_int_equal(reply[0], '=');
        assert_int_equal(strlen(text), 2 + length + 2);
        assert_memory_equal(text + 2, "txt:id=1 ", 9);
        assert_field(text + 6, "resp", "3");
    }
}

/* --- several --- */

TEST_WITH(SERVED, every_connection_has_a_line)
{
    struct talker third;
    const char *line = NULL;

    talker_init(&fixture->second, fixture->server);
    talker_init(&third, fixture->server);
    (void)ask(fixture, "CLIENT SETNAME waits\r\nINCR a\r\n");
    line = bulk(ask_second(fixture, "CLIENT LIST\r\n"));
    assert_int_equal(lines_of(line), 3);
    assert_field(line, "id", "1");
    assert_field(line, "name", "waits");
    assert_field(line, "flags", "bU");
    assert_field(line, "cmd", "incr");
    assert_field(line, "events", "");
    line = strchr(line, '\n') + 1;
    assert_field(line, "id", "2");
    assert_field(line, "cmd", "client");
    line = strchr(line, '\n') + 1;
    assert_field(line, "id", "3");
    assert_field(line, "cmd", "NULL");
    /* One that goes is gone. */
    talker_fini(&third);
    line = bulk(ask_second(fixture, "CLIENT LIST\r\n"));
    assert_int_equal(lines_of(line), 2);
}

TEST_WITH(SERVED, some_can_be_asked_for)
{
    struct talker others[3];
    const char *line = NULL;

    for (size_t i = 0; i < 3; i++)
        talker_init(&others[i], fixture->server);
    line = bulk(ask(fixture, "CLIENT LIST ID 4 2 77 4\r\n"));
    assert_int_equal(lines_of(line), 2);
    assert_field(line, "id", "2");
    assert_field(strchr(line, '\n') + 1, "id", "4");
    line = bulk(ask(fixture, "client list type NORMAL\r\n"));
    assert_int_equal(lines_of(line), 4);
    assert_string_equal(ask(fixture, "CLIENT LIST TYPE pubsub\r\n"),
                        "$0\r\n\r\n");
    assert_string_equal(ask(fixture, "CLIENT LIST ID 77\r\n"), "$0\r\n\r\n");
    for (size_t i = 0; i < 3; i++)
        talker_fini(&others[i]);
}

TEST_WITH(SERVED, what_is_no_list_is_refused)
{
    static const struct {
        const char *said;
        const char *expected;
    } cases[] = {
        {"CLIENT LIST ID\r\n", "-ERR syntax error"},
        {"CLIENT LIST ID x\r\n", "-ERR Invalid client ID"},
        {"CLIENT LIST ID 1 0\r\n", "-ERR Invalid client ID"},
        {"CLIENT LIST ID -1\r\n", "-ERR Invalid client ID"},
        {"CLIENT LIST TYPE\r\n", "-ERR syntax error"},
        {"CLIENT LIST TYPE no\r\n", "-ERR Unknown client type 'no'"},
        {"CLIENT LIST TYPE normal x\r\n", "-ERR syntax error"},
        {"CLIENT LIST x\r\n", "-ERR syntax error"},
        {"CLIENT INFO x\r\n", "-ERR unknown subcommand"},
        {"CLIENT KILL ID 1\r\n", "-ERR unknown subcommand"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_memory_equal(ask(fixture, cases[i].said), cases[i].expected,
                            strlen(cases[i].expected));
}

/* --- too many --- */

/* Two descriptors a connection. */
static bool may_open(rlim_t count)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return false;
    if (limit.rlim_cur < count)
        limit.rlim_cur = limit.rlim_max < count ? limit.rlim_max : count;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= count;
}

/* Else an answer would grow, and the loop rest, with who connects. */
TEST_WITH(SERVED, of_too_many_the_newest_are_listed)
{
    struct talker *crowd = calloc(CROWD, sizeof *crowd);
    const char *line = NULL;
    char text[32];

    assert_non_null(crowd);
    if (!may_open(2 * CROWD + 64))
        fail_msg("%d connections need more open files", CROWD);
    for (size_t i = 1; i < LISTED; i++)
        talker_init(&crowd[i], fixture->server);
    line = bulk(ask(fixture, "CLIENT LIST\r\n"));
    assert_int_equal(lines_of(line), LISTED);
    assert_field(line, "id", "1");
    assert_null(strstr(line, " total="));
    for (size_t i = LISTED; i < CROWD; i++)
        talker_init(&crowd[i], fixture->server);
    line = bulk(ask(fixture, "CLIENT LIST\r\n"));
    assert_int_equal(lines_of(line), LISTED);
    for (int id = CROWD - LISTED + 1; id <= CROWD; id++) {
        snprintf(text, sizeof text, "%d", id);
        assert_field(line, "id", text);
        snprintf(text, sizeof text, "%d", CROWD);
        assert_field(line, "total", text);
        line = strchr(line, '\n') + 1;
    }
    line = bulk(ask(fixture, "CLIENT LIST ID 1\r\n"));
    assert_int_equal(lines_of(line), 1);
    assert_field(line, "id", "1");
    for (size_t i = 1; i < CROWD; i++)
        talker_fini(&crowd[i]);
    free(crowd);
}

/* --- in turns --- */

static bool has_heard(struct talker *talker)
{
    while (talker_receive(talker))
        ;
    return talker->length > 0;
}

static size_t count_heard(struct talker *talkers, size_t count)
{
    size_t heard = 0;

    for (size_t i = 0; i < count; i++)
        heard += has_heard(&talkers[i]);
    return heard;
}

static void crowd_init(struct fixture *fixture, struct talker *crowd,
                       size_t count)
{
    if (!may_open(2 * count + 64))
        fail_msg("%zu connections need more open files", count);
    for (size_t i = 0; i < count; i++)
        talker_init(&crowd[i], fixture->server);
}

static void crowd_fini(struct talker *crowd, size_t count)
{
    for (size_t i = 0; i < count; i++)
        talker_fini(&crowd[i]);
}

/* The turns until the client that asks for little has its answer. In each one
 * it may wait behind all that are listing. */
static void ping_beside_others(struct fixture *fixture)
{
    size_t turns = 0;

    fixture->first.length = 0;
    talker_say(&fixture->first, "PING\r\n", 6);
    while (!has_heard(&fixture->first)) {
        assert_true(turns++ < LISTING);
        dialogue_turn(fixture->server);
    }
}

/* Many list the connections at once: none is done in one turn of the loop, and
 * another client is served in between. How many rows a turn has depends on the
 * machine: test_fairness.c has its bounds. */
static void list_beside_others(struct fixture *fixture, const char *said)
{
    struct talker crowd[SMALL_CROWD];

    crowd_init(fixture, crowd, SMALL_CROWD);
    for (size_t i = 0; i < LISTING; i++)
        talker_say(&crowd[i], said, strlen(said));
    dialogue_turn(fixture->server);
    assert_int_equal(count_heard(crowd, LISTING), 0);
    while (count_heard(crowd, LISTING) < LISTING)
        ping_beside_others(fixture);
    for (size_t i = 0; i < LISTING; i++) {
        dialogue_finish(fixture->server, &crowd[i]);
        assert_true(crowd[i].length > (size_t)SMALL_CROWD * 64);
    }
    crowd_fini(crowd, SMALL_CROWD);
    while (fixture->server->daemon.session_count > 1)
        dialogue_turn(fixture->server);
}

TEST_WITH(SERVED, lists_of_connections_share_a_part_of_each_turn)
{
    list_beside_others(fixture, "CLIENT LIST\r\n");
    list_beside_others(fixture, "SEQ.SHOW CLIENTS\r\n");
}

/* Also the one that the list would look at next. */
TEST_WITH(SERVED, connections_that_end_while_they_are_listed_are_left_out)
{
    struct talker crowd[SMALL_CROWD];
    const char *line = NULL;

    crowd_init(fixture, crowd, SMALL_CROWD);
    talker_say(&fixture->first, "CLIENT LIST\r\n", 13);
    dialogue_turn(fixture->server);
    assert_int_equal(fixture->first.length, 0);
    crowd_fini(crowd, SMALL_CROWD);
    talker_init(&fixture->second, fixture->server);
    dialogue_finish(fixture->server, &fixture->first);
    fixture->first.heard[fixture->first.length] = '\0';
    line = bulk(fixture->first.heard);
    assert_field(line, "id", "1");
    assert_true(lines_of(line) < SMALL_CROWD);
    line = bulk(ask(fixture, "CLIENT LIST\r\n"));
    assert_int_equal(lines_of(line), 2);
}

/* --- DBSIZE --- */

TEST_WITH(SERVED, dbsize_counts_the_sequences)
{
    assert_string_equal(ask(fixture, "DBSIZE\r\n"), ":0\r\n");
    stub.status.key[0] = 'a';
    assert_string_equal(ask(fixture, "dbsize\r\n"), ":1\r\n");
    assert_memory_equal(ask(fixture, "DBSIZE x\r\n"),
                        "-ERR wrong number of arguments", 30);
}
