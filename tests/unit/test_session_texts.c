/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a connection answers about numbers as texts: which words it takes, what
 * it refuses, how it waits, and texts taken apart. The broker is a stub, so
 * that every byte is known.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "daemon/server.h"
#include "daemon/session.h"
#include "daemon/wire/wire.h"
#include "support/test.h"
#include "unit/session_fixture.h"

#define TURN INT64_C(1024) /* a session's share of a turn */

#define TEXT(n) "$11\r\nSN-000000" n "\r\n"

/* Bytes said to a new daemon, whose stub is as it was left, in pieces, and
 * their answer. */
static void hear(const char *said, size_t length, size_t piece,
                 struct talker *out)
{
    struct server *server = dialogue_server();

    talker_init(out, server);
    dialogue_say(server, out, said, length, piece);
    server_close(server);
}

static void check(const char *line, const char *expected)
{
    struct talker talker;

    hear(line, strlen(line), WHOLE, &talker);
    talker_expect(&talker, expected);
    talker_fini(&talker);
}

/* The answer begins so. */
static void check_head(const char *said, size_t length, const char *head)
{
    struct talker talker;

    hear(said, length, WHOLE, &talker);
    assert_true(talker.length >= strlen(head));
    assert_memory_equal(talker.heard, head, strlen(head));
    talker_fini(&talker);
}

/* --- SEQ.NUMBER --- */

TEST(texts_are_made_with_the_parameters_that_were_said)
{
    static const struct {
        const char *line;
        const char *answer;
    } cases[] = {
        {"SEQ.NUMBER a\r\n", TEXT("95")},
        {"seq.number a area 010\r\n", "$15\r\n010-SN-00000095\r\n"},
        {"SEQ.NUMBER a COUNT 1\r\n", "*1\r\n" TEXT("95")},
        {"SEQ.NUMBER a count 2\r\n", "*2\r\n" TEXT("95") TEXT("96")},
        {"SEQ.NUMBER a COUNT 2 area x\r\n",
         "*2\r\n$13\r\nx-SN-00000095\r\n$13\r\nx-SN-00000096\r\n"},
        {"*4\r\n$10\r\nSEQ.NUMBER\r\n$1\r\na\r\n$4\r\narea\r\n$0\r\n\r\n",
         TEXT("95")},
        {"INCR a\r\nSEQ.NUMBER a\r\nINCR a\r\n",
         ":95\r\n" TEXT("96") ":97\r\n"},
        {"SEQ.NUMBER a\r\nSEQ.NUMBER a\r\n", TEXT("95") TEXT("96")},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        stub_reset(PLENTY, SEQB_AGAIN, MINUTE_MS);
        check(cases[i].line, cases[i].answer);
    }
}

TEST(what_cannot_be_is_refused_and_takes_nothing)
{
    static const struct {
        const char *line;
        const char *answer;
    } cases[] = {
        {"SEQ.NUMBER\r\n", "-ERR wrong number of arguments"},
        {"SEQ.NUMBER a COUNT\r\n", "-ERR syntax error, use SEQ.NUMBER key"},
        {"SEQ.NUMBER a area\r\n", "-ERR syntax error, use SEQ.NUMBER key"},
        {"SEQ.NUMBER a COUNT 2 area\r\n", "-ERR syntax error, use"},
        {"SEQ.NUMBER a COUNT 0\r\n", "-ERR COUNT is 1 to 100000\r\n"},
        {"SEQ.NUMBER a COUNT 100001\r\n", "-ERR COUNT is 1 to 100000\r\n"},
        {"SEQ.NUMBER a COUNT x area y\r\n", "-ERR COUNT is 1 to 100000\r\n"},
        /* behind the first pair it is a name, and none of the template's */
        {"SEQ.NUMBER a area x COUNT 2\r\n", "-ERR no such parameter\r\n"},
        {"SEQ.NUMBER a COUNT 2 COUNT 2\r\n", "-ERR no such parameter\r\n"},
        {"SEQ.NUMBER a AREA x\r\n", "-ERR no such parameter\r\n"},
        {"SEQ.NUMBER a area abcd\r\n", "-ERR too long an area\r\n"},
        {"SEQ.NUMBER a COUNT 7 area abcd\r\n", "-ERR too long an area\r\n"},
        {"SEQ.NUMBER a 1 1 2 2 3 3 4 4 5 5 6 6 7 7 8 8 9 9\r\n",
         "-ERR no such parameter\r\n"},
        {"SEQ.NUMBER a 1 1 2 2 3 3 4 4 5 5 6 6 7 7 8 8 9 9 0 0\r\n",
         "-ERR there are at most 9 parameters\r\n"},
        {"SEQ.NUMBER d\r\n", "-ERR no template\r\n"},
        {"SEQ.NUMBER d COUNT 3\r\n", "-ERR no template\r\n"},
        {"SEQ.NUMBER x\r\n", "-UNKNOWNKEY "},
    };

    stub_reset(PLENTY, SEQB_AGAIN, MINUTE_MS);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_head(cases[i].line, strlen(cases[i].line), cases[i].answer);
    }
    for (int i = 0; i < STUB_KEYS; i++) {
        assert_int_equal(stub.sequences[i].next, STUB_FIRST);
    }
}

/* A string would end at it. */
TEST(a_parameter_with_a_nul_byte_is_refused)
{
    static const char name[] = "*4\r\n$10\r\nSEQ.NUMBER\r\n$1\r\na\r\n"
                               "$6\r\narea\0x\r\n$1\r\nx\r\n";
    static const char value[] = "*6\r\n$10\r\nSEQ.NUMBER\r\n$1\r\na\r\n"
                                "$5\r\nCOUNT\r\n$1\r\n2\r\n"
                                "$4\r\narea\r\n$2\r\nx\0\r\n";

    stub_reset(PLENTY, SEQB_AGAIN, MINUTE_MS);
    check_head(name, sizeof name - 1,
               "-ERR a parameter's name has a NUL byte\r\n");
    check_head(value, sizeof value - 1,
               "-ERR a parameter's value has a NUL byte\r\n");
    assert_int_equal(stub.sequences[0].next, STUB_FIRST);
}

/* Says a command of `head`, a word of `length` times x, and `tail`. */
static void check_length(const char *head, size_t length, const char *tail,
                         const char *answer)
{
    struct script script = {0};

    script_add(&script, head, 1);
    script_add(&script, "x", length);
    script_add(&script, tail, 1);
    check_head(script.data, script.length, answer);
    script_fini(&script);
}

TEST(a_parameter_has_its_length)
{
    stub_reset(PLENTY, SEQB_AGAIN, MINUTE_MS);
    check_length("SEQ.NUMBER a ", SEQB_PARAM_NAME_MAX, " y\r\n",
                 "-ERR no such parameter\r\n");
    check_length("SEQ.NUMBER a ", SEQB_PARAM_NAME_MAX + 1, " y\r\n",
                 "-ERR a parameter's name has at most 32 bytes\r\n");
    check_length("SEQ.NUMBER a area ", SEQB_PARAM_VALUE_MAX, "\r\n",
                 "-ERR too long an area\r\n");
    check_length("SEQ.NUMBER a area ", SEQB_PARAM_VALUE_MAX + 1, "\r\n",
                 "-ERR a parameter's value has at most 64 bytes\r\n");
    assert_int_equal(stub.sequences[0].next, STUB_FIRST);
}

/* --- many --- */

static void script_add_texts(struct script *script, int64_t first,
                             int64_t count)
{
    char line[64];

    snprintf(line, sizeof line, "*%" PRId64 "\r\n", count);
    script_add(script, line, 1);
    for (int64_t i = 0; i < count; i++) {
        snprintf(line, sizeof line, "$11\r\nSN-%08" PRId64 "\r\n", first + i);
        script_add(script, line, 1);
    }
}

/* About a step, a turn, and what may be unsent at a time. */
TEST(many_texts_come_in_one_array)
{
    static const int64_t counts[] = {127,  128,      129,      TURN - 1,
                                     TURN, TURN + 1, 2 * TURN, 50000};

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct script expected = {0};
        struct talker talker;
        char line[64];

        stub_reset(PLENTY, SEQB_AGAIN, MINUTE_MS);
        snprintf(line, sizeof line, "SEQ.NUMBER a COUNT %" PRId64 "\r\n",
                 counts[i]);
        hear(line, strlen(line), WHOLE, &talker);
        script_add_texts(&expected, STUB_FIRST, counts[i]);
        talker_expect(&talker, expected.data);
        talker_fini(&talker);
        script_fini(&expected);
    }
}

TEST_WITH(SERVER, who_asks_for_many_texts_has_turns_like_others)
{
    static const char line[] = "SEQ.NUMBER a COUNT 100000\r\n";
    struct talker *greedy = talker_new(server);
    struct talker *modest = talker_new(server);

    talker_say(greedy, line, strlen(line));
    talker_say(modest, "SEQ.NUMBER a\r\n", 14);
    dialogue_finish(server, modest);
    talker_expect(modest, "$11\r\nSN-00001119\r\n"); /* after one turn */
    dialogue_finish(server, greedy);
    assert_int_equal(greedy->length, 9 + 100000 * 18);
}

/* What is unsent is bounded. */
TEST_WITH(SERVER, many_texts_stop_for_a_client_that_does_not_read)
{
    static const char line[] = "SEQ.NUMBER a COUNT 100000\r\n";
    const size_t step = (size_t)128 * (STUB_TEXT_SIZE + 8);
    struct talker *talker = talker_new(server);

    talker_say(talker, line, strlen(line));
    for (int i = 0; i < 300; i++) {
        dialogue_turn(server);
        assert_true(TAILQ_FIRST(&server->daemon.sessions)->out.length <=
                    SESSION_UNSENT_MAX + step);
    }
    assert_true(TAILQ_FIRST(&server->daemon.sessions)->out.length >
                SESSION_UNSENT_MAX - step);
    dialogue_finish(server, talker);
    assert_int_equal(talker->length, 9 + 100000 * 18);
}

/* --- waiting --- */

TEST_WITH(SERVER, a_text_is_waited_for_as_a_number_is)
{
    static const char line[] = "SEQ.NUMBER a area x\r\n";
    struct talker *first = talker_new(server);
    struct talker *second = talker_new(server);

    stub_reset(0, SEQB_AGAIN, MINUTE_MS);
    dialogue_say(server, first, line, strlen(line), WHOLE);
    stub.sequences[0].stock = 1; /* there, but nobody was told yet */
    dialogue_say(server, second, "SEQ.NUMBER a\r\n", 14, WHOLE);
    assert_int_equal(first->length + second->length, 0);
    stub_refill(0);
    dialogue_finish(server, first);
    talker_expect(first, "$13\r\nx-SN-00000095\r\n");
    dialogue_finish(server, second);
    assert_int_equal(second->length, 0);
    stub_refill(1);
    dialogue_finish(server, second);
    talker_expect(second, TEXT("96"));
}

/* Its parameters lay in bytes that others' requests have overwritten. */
TEST_WITH(SERVER, many_texts_go_on_where_they_stood)
{
    static const char line[] = "SEQ.NUMBER a COUNT 3 area x\r\n";
    static const char other[] = "SEQ.NUMBER b COUNT 3 area other\r\n";
    struct talker *talker = talker_new(server);
    struct talker *beside = talker_new(server);

    stub_reset(2, SEQB_UNAVAILABLE, MINUTE_MS);
    dialogue_say(server, talker, line, strlen(line), WHOLE);
    dialogue_say(server, beside, other, strlen(other), WHOLE);
    assert_int_equal(talker->length, 0);
    stub_refill(1);
    dialogue_finish(server, talker);
    talker_expect(talker, "*3\r\n$13\r\nx-SN-00000095\r\n"
                          "$13\r\nx-SN-00000096\r\n$13\r\nx-SN-00000097\r\n");
}

TEST(what_ends_a_wait_is_answered_once)
{
    static const char *const lines[] = {"SEQ.NUMBER a\r\n",
                                        "SEQ.NUMBER a COUNT 3\r\n"};

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const size_t length = strlen(lines[i]);

        stub_reset(0, SEQB_AGAIN, 0);
        check_head(lines[i], length, "-TIMEOUT a: the backends did not");
        stub_reset(0, SEQB_UNAVAILABLE, 0);
        check(lines[i], "-UNAVAILABLE UNAVAILABLE\r\n");
        stub_reset(0, SEQB_EXHAUSTED, MINUTE_MS);
        check(lines[i], "-EXHAUSTED EXHAUSTED\r\n");
    }
    stub_reset(2, SEQB_EXHAUSTED, MINUTE_MS);
    check("SEQ.NUMBER a COUNT 3\r\n", "-EXHAUSTED EXHAUSTED\r\n");
}

/* --- SEQ.PARSE --- */

TEST(a_text_is_taken_apart)
{
    stub_reset(0, SEQB_AGAIN, MINUTE_MS);
    check("SEQ.PARSE c SN-00000095\r\n",
          "*4\r\n$5\r\nvalue\r\n:95\r\n$6\r\nnumber\r\n:95\r\n");
    check("SEQ.PARSE a 010-SN-00000095\r\n",
          "*14\r\n$5\r\nvalue\r\n:95\r\n$6\r\nnumber\r\n:95\r\n"
          "$5\r\nstamp\r\n:20261121\r\n$9\r\nbegins_ms\r\n:11\r\n"
          "$7\r\nends_ms\r\n:22\r\n$5\r\nshard\r\n:7\r\n"
          "$10\r\nparam.area\r\n$3\r\n010\r\n");
}

TEST(a_map_of_it_is_one_in_resp3)
{
    static const char line[] = "HELLO 3\r\nSEQ.PARSE c SN-00000095\r\n";
    static const char end[] =
        "%2\r\n$5\r\nvalue\r\n:95\r\n$6\r\nnumber\r\n:95\r\n";
    struct talker talker;

    stub_reset(0, SEQB_AGAIN, MINUTE_MS);
    hear(line, strlen(line), WHOLE, &talker);
    assert_true(talker.length > strlen(end));
    assert_memory_equal(talker.heard + talker.length - strlen(end), end,
                        strlen(end));
    talker_fini(&talker);
}

/* For clients whose integers end at 2^53. */
TEST(numbers_taken_apart_are_strings_on_request)
{
    stub_reset(0, SEQB_AGAIN, MINUTE_MS);
    check("SEQ.PARSE c SN-9223372036854775807 STR\r\n",
          "*4\r\n$5\r\nvalue\r\n$19\r\n9223372036854775807\r\n"
          "$6\r\nnumber\r\n$19\r\n9223372036854775807\r\n");
    check("SEQ.DECODE a 95 str\r\n",
          "*8\r\n$7\r\ncounter\r\n$2\r\n95\r\n$9\r\npartition\r\n:0\r\n"
          "$11\r\nmemory_bits\r\n:0\r\n$6\r\nmemory\r\n:0\r\n");
    check("SEQ.DECODE a 95 x\r\n",
          "-ERR syntax error: Takes a number apart: key number [STR]\r\n");
    check("SEQ.DECODE a 95 STR STR\r\n",
          "-ERR syntax error: Takes a number apart: key number [STR]\r\n");
}

/* A sequence that is made for a key stays: a wrong command makes none. */
TEST(words_are_looked_at_before_the_key)
{
    stub_reset(PLENTY, SEQB_AGAIN, MINUTE_MS);
    check("INCRBY x many\r\n",
          "-ERR value is not an integer or out of range: 'many'\r\n");
    check("SEQ.DECODE x y\r\n",
          "-ERR value is not an integer or out of range: 'y'\r\n");
    check("SEQ.NEXT x COUNT 0\r\n", "-ERR COUNT is 1 to 100000\r\n");
    check("SEQ.NUMBER x name\r\n",
          "-ERR syntax error, use SEQ.NUMBER key [COUNT n] [name value ...]: a "
          "name has no value\r\n");
    check("SEQ.ADVANCE x y\r\n",
          "-ERR value is not an integer or out of range: 'y'\r\n");
    check("INCRBY x 1\r\n", "-UNKNOWNKEY UNKNOWN_KEY\r\n");
}

TEST(what_is_none_of_the_numbers_is_foreign)
{
    static const char nul[] = "*3\r\n$9\r\nSEQ.PARSE\r\n$1\r\na\r\n"
                              "$13\r\nSN-00000095\0x\r\n";

    stub_reset(PLENTY, SEQB_AGAIN, MINUTE_MS);
    check("SEQ.PARSE a SN-1\r\n", "-FOREIGN not its form\r\n");
    check("SEQ.PARSE d SN-00000095\r\n", "-ERR no template\r\n");
    check("SEQ.PARSE x SN-00000095\r\n", "-UNKNOWNKEY UNKNOWN_KEY\r\n");
    check("SEQ.PARSE a x y\r\n",
          "-ERR syntax error: Takes a text apart: key text [STR]\r\n");
    check("SEQ.PARSE a\r\n", "-ERR wrong number of arguments for "
                             "'SEQ.PARSE': Takes a text apart: key text "
                             "[STR]\r\n");
    check("*3\r\n$9\r\nSEQ.PARSE\r\n$1\r\na\r\n$0\r\n\r\n",
          "-FOREIGN not its form\r\n");
    check_head(nul, sizeof nul - 1,
               "-FOREIGN a: the text is none of its numbers: it has a NUL");
    check_length("SEQ.PARSE a SN-", SEQB_TEXT_MAX - 3, "\r\n", "*");
    check_length("SEQ.PARSE a SN-", SEQB_TEXT_MAX - 2, "\r\n",
                 "-FOREIGN a: the text is none of its numbers: it is longer");
}

/* --- the status --- */

static void hear_status(const char *part, bool is_there)
{
    struct talker talker;

    hear("SEQ.STATUS\r\n", 12, WHOLE, &talker);
    assert_int_equal(memmem(talker.heard, talker.length, part, strlen(part)) !=
                         NULL,
                     is_there);
    talker_fini(&talker);
}

TEST(a_status_tells_of_a_width_that_ends)
{
    stub_reset(0, SEQB_AGAIN, MINUTE_MS);
    stub.status = (struct seqb_sequence_status){.key = "a",
                                                .pool = "main",
                                                .period = "none",
                                                .width_numbers = INT64_MAX,
                                                .pool_numbers = INT64_MAX};
    hear_status("*1\r\n*30\r\n$3\r\nkey\r\n$1\r\na\r\n", true);
    hear_status("_numbers\r\n", false);
    stub.status.width_numbers = 100000;
    stub.status.pool_numbers = 99996;
    hear_status("*1\r\n*34\r\n$3\r\nkey\r\n$1\r\na\r\n", true);
    hear_status("$13\r\nwidth_numbers\r\n:100000\r\n"
                "$12\r\npool_numbers\r\n:99996\r\n",
                true);
}
