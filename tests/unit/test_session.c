/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a connection answers, however its requests arrive: those that come
 * together are answered together, and no client may notice it but by its
 * speed. The broker is a stub, so that the order of numbers is the order of
 * events.
 */
#include <string.h>

#include "daemon/server.h"
#include "support/test.h"
#include "unit/session_fixture.h"

#define EACH    ((size_t)0) /* a request a piece */
#define TURN    1024        /* a session's share of a turn */
#define REFILLS 150         /* enough for every script */
#define BRIEF   8000        /* bytes; longer ones are cut less finely */

#define INCR_A "*2\r\n$4\r\nINCR\r\n$1\r\na\r\n"
#define INCR_B "*2\r\n$4\r\nINCR\r\n$1\r\nb\r\n"

/* What the stub does while a script is run. */
struct circumstances {
    int64_t stock;  /* at first, of each sequence */
    int64_t refill; /* when nothing happens any more, until all is said */
    enum seqb_status empty;
    int64_t deadline_ms;
};

/* Says a script from where it was left; returns how far it got. */
static size_t script_say(struct server *server, struct talker *talker,
                         const struct script *script, size_t said, size_t piece)
{
    struct resp_request request;
    size_t more = 1;

    if (piece != EACH)
        return said + dialogue_say(server, talker, script->data + said,
                                   script->length - said, piece);
    while (more > 0 && resp_parse(script->data + said, script->length - said,
                                  &request) == RESP_COMPLETE) {
        more = dialogue_say(server, talker, script->data + said, request.size,
                            request.size);
        said += more;
    }
    return said + dialogue_say(server, talker, script->data + said,
                               script->length - said, WHOLE);
}

/* Says a script to a new daemon, piece by piece, and hears all its answers.
 * Returns how many commands it counted. */
static int64_t script_run(const struct script *script, size_t piece,
                          const struct circumstances *how, struct talker *out)
{
    int64_t commands = 0;
    size_t said = 0;
    struct server *server =
        server_over_stub(how->stock, how->empty, how->deadline_ms);

    talker_init(out, server);
    said = script_say(server, out, script, said, piece);
    for (int i = 0; how->refill > 0 && i < REFILLS; i++) {
        stub_refill(how->refill);
        dialogue_finish(server, out);
        said = script_say(server, out, script, said, piece);
    }
    commands = server->daemon.commands_processed;
    server_close(server);
    return commands;
}

/* --- together as one by one --- */

/* A line is said so many times. `%` in it stands for a letter each time. */
struct line {
    const char *text;
    size_t times;
};

#define LINES_MAX 8

static const struct {
    const char *what;
    struct line lines[LINES_MAX];
} scripts[] = {
    {"one", {{INCR_A, 1}}},
    {"many", {{INCR_A, 5000}}},
    {"a turn and one", {{INCR_A, TURN + 1}}},
    {"inline", {{"INCR a\r\n", 300}}},
    {"inline, of line ends alone", {{"INCR a\n", 300}, {"\n", 5}}},
    {"texts", {{"SEQ.NEXT a STR\r\n", 300}, {"SEQ.NEXT a\r\n", 30}}},
    {"arrays", {{"SEQ.NEXT a COUNT 3\r\n", 20}, {INCR_A, 20}}},
    {"shards",
     {{"SEQ.NEXT a SHARD 3\r\n", 300},
      {"SEQ.NEXT a SHARD 4 STR\r\n", 30},
      {"SEQ.NEXT a COUNT 3 SHARD 7\r\n", 20},
      {"SEQ.NEXT a SHARD 8\r\n", 20},
      {INCR_A, 20}}},
    {"stamps",
     {{"SEQ.NEXT a STAMP\r\n", 300},
      {"SEQ.NEXT a STAMP STR\r\n", 30},
      {"SEQ.NEXT a STAMP COUNT 3\r\n", 20},
      {INCR_A, 20}}},
    {"numbers as texts",
     {{"SEQ.NUMBER a\r\n", 30},
      {"SEQ.NUMBER a area x\r\n", 30},
      {"SEQ.NUMBER a COUNT 3 area y\r\n", 20},
      {"SEQ.NUMBER d COUNT 3\r\n", 20},
      {"SEQ.PARSE a SN-00000095\r\n", 20},
      {INCR_A, 20}}},
    {"keys", {{INCR_A, 50}, {INCR_B, 50}, {INCR_A INCR_B, 50}, {INCR_B, 9}}},
    {"letter case", {{"incr a\r\n", 9}, {"INCR a\r\n", 9}, {"iNCR a\n", 9}}},
    {"requests that begin alike", {{"INCR a\r\nINCR a \r\n", 9}, {INCR_A, 2}}},
    {"errors among them",
     {{INCR_A, 70}, {"INCR x\r\n", 9}, {"NOSUCH\r\n", 9}, {INCR_A, 70}}},
    {"errors alone", {{"INCR x\r\n", 500}, {"INCR\r\n", 500}}},
    {"a protocol error", {{INCR_A, 70}, {"*2\r\n$x\r\n", 1}, {INCR_A, 9}}},
    {"an end", {{INCR_A, 70}, {"QUIT\r\n", 1}, {INCR_A, 70}}},
    {"half a request", {{INCR_A, 70}, {"*2\r\n$4\r\nINCR\r\n$1\r\n", 1}}},
    {"other commands",
     {{INCR_A, 70}, {"PING\r\n", 300}, {"INCRBY a 3\r\n", 20}, {INCR_A, 7}}},
    {"runs of one",
     {{INCR_A, 70},
      {"INCRBY a 1\r\n", 2},
      {"INCRBY a 1 \r\n", 5},
      {"INCRBY a 1\r\n", 300}}},
    {"RESP3",
     {{"HELLO 3\r\n", 1},
      {INCR_A, 70},
      {"SEQ.DECODE a 9\r\n", 1},
      {INCR_A, 70}}},
};

static const struct circumstances plenty = {
    .stock = PLENTY, .empty = SEQB_AGAIN, .deadline_ms = MINUTE_MS};
static const struct circumstances scarce = {
    .stock = 3, .refill = 40, .empty = SEQB_AGAIN, .deadline_ms = MINUTE_MS};
static const struct circumstances unwell = {.stock = 60,
                                            .refill = 7,
                                            .empty = SEQB_UNAVAILABLE,
                                            .deadline_ms = MINUTE_MS};
static const struct circumstances late = {
    .stock = 60, .empty = SEQB_AGAIN, .deadline_ms = 0};
static const struct circumstances spent = {
    .stock = 60, .empty = SEQB_EXHAUSTED, .deadline_ms = MINUTE_MS};

static void script_make(const struct line *lines, struct script *out)
{
    *out = (struct script){0};
    for (size_t i = 0; i < LINES_MAX && lines[i].text != NULL; i++)
        script_add(out, lines[i].text, lines[i].times);
}

/* A request a piece: nothing is ever read behind one. */
static void check_pieces(const struct line *lines,
                         const struct circumstances *how)
{
    static const size_t pieces[] = {WHOLE, 4096, 1000, 37, 1};
    struct script script;
    struct talker one_by_one;
    int64_t commands = 0;

    script_make(lines, &script);
    commands = script_run(&script, EACH, how, &one_by_one);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        struct talker talker;

        if (script.length > BRIEF && pieces[i] < 1000)
            break;
        assert_int_equal(script_run(&script, pieces[i], how, &talker),
                         commands);
        assert_int_equal(talker.length, one_by_one.length);
        assert_memory_equal(talker.heard, one_by_one.heard, talker.length);
        talker_fini(&talker);
    }
    talker_fini(&one_by_one);
    script_fini(&script);
}

static void check_scripts(const struct circumstances *how)
{
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        check_pieces(scripts[i].lines, how);
    }
}

TEST(answers_do_not_depend_on_how_requests_arrive)
{
    check_scripts(&plenty);
}

TEST(nor_do_they_when_numbers_are_scarce)
{
    check_scripts(&scarce);
}

TEST(nor_when_no_backend_is_usable_for_a_while)
{
    check_scripts(&unwell);
}

TEST(nor_when_the_deadline_passes)
{
    check_scripts(&late);
}

TEST(nor_when_no_value_is_left)
{
    check_scripts(&spent);
}

/* --- what they are --- */

TEST(a_pipeline_is_two_steps_of_the_ring)
{
    struct script script = {0};
    struct script expected = {0};
    struct talker talker;

    script_add(&script, INCR_A, 64);
    script_add_numbers(&expected, STUB_FIRST, 64);
    assert_int_equal(script_run(&script, WHOLE, &plenty, &talker), 64);
    talker_expect_script(&talker, &expected);
    assert_int_equal(stub.singles, 1);
    assert_int_equal(stub.manys, 1);
    talker_fini(&talker);
    script_fini(&script);
    script_fini(&expected);
}

TEST_WITH(SERVER, what_is_there_is_answered_before_the_rest_waits)
{
    struct script script = {0};
    struct script expected = {0};
    struct talker *talker = talker_new(server);

    stub_reset(40, SEQB_AGAIN, MINUTE_MS);
    script_add(&script, INCR_A, 100);
    dialogue_say(server, talker, script.data, script.length, WHOLE);
    script_add_numbers(&expected, STUB_FIRST, 40);
    talker_expect_script(talker, &expected);
    stub_refill(25);
    dialogue_finish(server, talker);
    script_add_numbers(&expected, STUB_FIRST + 40, 25);
    talker_expect_script(talker, &expected);
    stub_refill(100);
    dialogue_finish(server, talker);
    script_add_numbers(&expected, STUB_FIRST + 65, 35);
    talker_expect_script(talker, &expected);
    assert_int_equal(stub.sequences[0].next, STUB_FIRST + 100);
    script_fini(&script);
    script_fini(&expected);
}

/* Who came first is served first, its whole pipeline at once. */
TEST_WITH(SERVER, a_pipeline_stands_in_line_like_any_request)
{
    struct script script = {0};
    struct script expected = {0};
    struct talker *first = talker_new(server);
    struct talker *second = talker_new(server);

    stub_reset(0, SEQB_AGAIN, MINUTE_MS);
    dialogue_say(server, first, INCR_A, strlen(INCR_A), WHOLE);
    script_add(&script, INCR_A, 10);
    stub.sequences[0].stock = 5; /* there, but nobody was told yet */
    dialogue_say(server, second, script.data, script.length, WHOLE);
    assert_int_equal(second->length, 0);
    stub_refill(0);
    dialogue_finish(server, first);
    dialogue_finish(server, second);
    script_add_numbers(&expected, STUB_FIRST + 1, 4);
    talker_expect_script(second, &expected);
    expected.length = 0;
    script_add_numbers(&expected, STUB_FIRST, 1);
    talker_expect_script(first, &expected);
    script_fini(&script);
    script_fini(&expected);
}

/* Runs are within 2^3 numbers here. What is skipped to begin one is lost. */
TEST_WITH(SERVER, a_run_is_charged_with_what_it_skips)
{
    static const char *const commands[] = {
        "INCR a\r\n",       "INCRBY a 8\r\n",   "INCR a\r\n",
        "INCRBY a 8\r\n",   "INCRBY a 5\r\n",   "INCRBY a 5\r\n",
        "INCRBY a 3\r\n",   "SEQ.NUMBER a\r\n", "INCRBY a 8\r\n",
        "SEQ.NUMBER a\r\n", "INCRBY a 2\r\n",   "INCRBY a 6\r\n"};
    static struct quota quota = {.name = "u", .connections = 1};
    struct talker *talker = talker_new(server);

    stub.memory_bits = 3;
    TAILQ_FIRST(&server->daemon.sessions)->quota = &quota;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        dialogue_say(server, talker, commands[i], strlen(commands[i]), WHOLE);
        assert_int_equal(quota.taken, stub.sequences[0].next - STUB_FIRST);
    }
    assert_true(quota.taken > 60);
    quota.limits.daily_limit = quota.today + 7;
    dialogue_say(server, talker, "INCR a\r\n", 8, WHOLE);
    talker->length = 0;
    dialogue_say(server, talker, "INCRBY a 6\r\n", 12, WHOLE);
    assert_memory_equal(talker->heard, "-LIMIT", 6);
}
