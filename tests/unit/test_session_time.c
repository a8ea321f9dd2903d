/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a connection answers about time: stamps, shards, ids taken apart, the
 * clock, and worker ids. The broker is a stub, so that every byte is known.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "daemon/server.h"
#include "support/test.h"
#include "unit/session_fixture.h"

/* A line said to a new daemon, whose stub is as it was left, and its answer. */
static void check(const char *line, const char *expected)
{
    struct server *server = dialogue_server();
    struct talker talker = talker_of(server);

    dialogue_say(server, &talker, line, strlen(line), WHOLE);
    talker_expect(&talker, expected);
    server_close(server);
    talker_fini(&talker);
}

/* The answer begins so, or has these bytes somewhere. */
static void check_part(const char *line, const char *part)
{
    struct server *server = dialogue_server();
    struct talker talker = talker_of(server);

    dialogue_say(server, &talker, line, strlen(line), WHOLE);
    assert_non_null(memmem(talker.heard, talker.length, part, strlen(part)));
    server_close(server);
    talker_fini(&talker);
}

TEST(numbers_have_the_form_that_was_asked_for)
{
    static const struct {
        const char *line;
        const char *answer;
    } cases[] = {
        {"SEQ.NEXT a STAMP\r\n", "*2\r\n:0\r\n:95\r\n"},
        {"SEQ.NEXT a STAMP STR\r\n", "*2\r\n$1\r\n0\r\n$2\r\n95\r\n"},
        {"SEQ.NEXT a STAMP COUNT 1\r\n", "*2\r\n:0\r\n*1\r\n:95\r\n"},
        {"SEQ.NEXT a STR COUNT 2 STAMP\r\n",
         "*2\r\n$1\r\n0\r\n*2\r\n$2\r\n95\r\n$2\r\n96\r\n"},
        {"INCRBY a 5\r\nSEQ.NEXT a STAMP\r\n", ":99\r\n*2\r\n:100\r\n:100\r\n"},
        {"SEQ.NEXT a SHARD 3\r\n", ":3000095\r\n"},
        {"SEQ.NEXT a SHARD 0\r\n", ":95\r\n"},
        {"seq.next a shard 3 str\r\n", "$7\r\n3000095\r\n"},
        {"SEQ.NEXT a COUNT 2 SHARD 7\r\n", "*2\r\n:7000095\r\n:7000096\r\n"},
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
        {"SEQ.NEXT a SHARD\r\n", "-ERR syntax error"},
        {"SEQ.NEXT a STAMP x\r\n", "-ERR syntax error"},
        {"SEQ.NEXT a SHARD x\r\n", "-ERR SHARD is an integer"},
        {"SEQ.NEXT a SHARD 8\r\n", "-ERR INVALID"},
        {"SEQ.NEXT a SHARD -1\r\n", "-ERR INVALID"},
        {"SEQ.NEXT a COUNT 2 SHARD 8\r\n", "-ERR INVALID"},
        {"SEQ.NEXT a SHARD 1 STAMP\r\n", "-ERR SHARD or STAMP, not both"},
        {"SEQ.NEXT a STAMP COUNT 1001\r\n", "-ERR COUNT is 1 to 1000 with"},
        {"SEQ.NEXT a COUNT 100001\r\n", "-ERR COUNT is 1 to 100000\r\n"},
        {"SEQ.NEXT x STAMP\r\n", "-UNKNOWNKEY "},
        {"SEQ.WORKERS all\r\n", "-ERR wrong number of arguments"},
    };

    stub_reset(PLENTY, SEQB_AGAIN, MINUTE_MS);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_part(cases[i].line, cases[i].answer);
    }
    assert_int_equal(stub.sequences[0].next, STUB_FIRST);
}

TEST_WITH(SERVER, numbers_of_one_stamp_come_together)
{
    static const char line[] = "SEQ.NEXT a STAMP COUNT 3\r\n";
    struct talker *talker = talker_new(server);

    stub_reset(2, SEQB_AGAIN, MINUTE_MS);
    dialogue_say(server, talker, line, strlen(line), WHOLE);
    assert_int_equal(talker->length, 0);
    stub_refill(1);
    dialogue_finish(server, talker);
    talker_expect(talker, "*2\r\n:0\r\n*3\r\n:95\r\n:96\r\n:97\r\n");
}

TEST_WITH(SERVER, those_of_a_stamp_that_is_over_are_none_of_them)
{
    static const char line[] = "SEQ.NEXT a STAMP COUNT 5\r\n";
    struct talker *talker = talker_new(server);

    stub_reset(4, SEQB_AGAIN, MINUTE_MS);
    dialogue_say(server, talker, line, strlen(line), WHOLE);
    stub.sequences[0].next = 300;
    stub_refill(3);
    dialogue_finish(server, talker);
    assert_int_equal(talker->length, 0);
    stub_refill(3);
    dialogue_finish(server, talker);
    talker_expect(talker, "*2\r\n:300\r\n*5\r\n:300\r\n:301\r\n"
                          ":302\r\n:303\r\n:304\r\n");
    assert_int_equal(stub.sequences[0].stock, 1);
}

TEST(a_clock_that_gives_nothing_is_answered_at_once)
{
    static const char *const lines[] = {
        "INCR a\r\n", "SEQ.NEXT a COUNT 3\r\n", "SEQ.NEXT a SHARD 3\r\n",
        "SEQ.NEXT a STAMP\r\n", "SEQ.NEXT a STAMP COUNT 3\r\n"};

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        stub_reset(0, SEQB_CLOCK, MINUTE_MS);
        check(lines[i], "-CLOCK CLOCK\r\n");
    }
}

TEST(a_deadline_that_the_clock_held_up_says_so)
{
    stub_reset(0, SEQB_AGAIN, 0);
    check_part("INCR a\r\n", "-TIMEOUT a: the backends did not answer");
    stub_reset(0, SEQB_AGAIN, 0);
    stub.clock = (struct seqb_clock_status){.is_used = true, .behind_ms = 77};
    check_part("SEQ.NEXT a STAMP\r\n", "the clock, which is 77 ms behind");
}

TEST(an_id_is_taken_apart_with_its_time)
{
    stub_reset(0, SEQB_AGAIN, MINUTE_MS);
    check("SEQ.DECODE a 95\r\n",
          "*8\r\n$7\r\ncounter\r\n:95\r\n$9\r\npartition\r\n:0\r\n"
          "$11\r\nmemory_bits\r\n:0\r\n$6\r\nmemory\r\n:0\r\n");
    check("SEQ.DECODE a 3000095\r\n",
          "*16\r\n$7\r\ncounter\r\n:3000095\r\n$9\r\npartition\r\n:0\r\n"
          "$11\r\nmemory_bits\r\n:0\r\n$6\r\nmemory\r\n:0\r\n"
          "$7\r\ntime_ms\r\n:3000095\r\n"
          "$4\r\ntime\r\n$24\r\n1970-01-01T00:50:00.095Z\r\n"
          "$5\r\nshard\r\n:3\r\n$6\r\nnumber\r\n:95\r\n");
}

/* --- what operators ask --- */

TEST(the_status_shows_a_clock_that_is_used)
{
    stub_reset(0, SEQB_AGAIN, MINUTE_MS);
    check_part("SEQ.STATUS\r\n", "*18\r\n");
    check_part("SEQ.HEALTH\r\n", "$7\r\nwarning\r\n$0\r\n\r\n");
    stub.clock = (struct seqb_clock_status){.is_used = true,
                                            .wall_ms = 11,
                                            .guarded_ms = 22,
                                            .behind_ms = 33,
                                            .ahead_ms = 44,
                                            .issued_ms = 55,
                                            .steps_back = 66,
                                            .reason = "went back",
                                            .effect = "they have none"};
    check_part("SEQ.STATUS\r\n", "*20\r\n");
    check_part("SEQ.STATUS\r\n",
               "$5\r\nclock\r\n*16\r\n$7\r\nwall_ms\r\n:11\r\n"
               "$10\r\nguarded_ms\r\n:22\r\n$9\r\nbehind_ms\r\n:33\r\n"
               "$8\r\nahead_ms\r\n:44\r\n$9\r\nissued_ms\r\n:55\r\n"
               "$10\r\nsteps_back\r\n:66\r\n"
               "$6\r\nreason\r\n$9\r\nwent back\r\n"
               "$6\r\neffect\r\n$14\r\nthey have none\r\n");
    check_part("SEQ.HEALTH\r\n", "$7\r\nserving\r\n");
    check_part("SEQ.HEALTH\r\n", "\r\nthey have none: went back\r\n");
}

TEST(the_status_tells_of_lessors)
{
    stub_reset(0, SEQB_AGAIN, MINUTE_MS);
    check_part("SEQ.STATUS\r\n", "$7\r\nlessors\r\n*0\r\n");
    stub.lessor = (struct seqb_lessor){.pool = "main",
                                       .backend = "pg-a",
                                       .partition = 2,
                                       .state = "level",
                                       .since_ms = 3,
                                       .leases_per_minute = 4};
    check_part("SEQ.STATUS\r\n",
               "$7\r\nlessors\r\n*1\r\n*12\r\n$4\r\npool\r\n$4\r\nmain\r\n"
               "$9\r\npartition\r\n:2\r\n$7\r\nbackend\r\n$4\r\npg-a\r\n"
               "$5\r\nstate\r\n$5\r\nlevel\r\n$8\r\nsince_ms\r\n:3\r\n"
               "$17\r\nleases_per_minute\r\n:4\r\n");
    stub.lessor = (struct seqb_lessor){.pool = "main",
                                       .backend = "pg-a",
                                       .state = "waiting",
                                       .waits_for = "b"};
    check_part("SEQ.STATUS\r\n",
               "$7\r\nwaiting\r\n$9\r\nwaits_for\r\n$1\r\nb\r\n");
}

/* The answer comes from another thread. */
static void hear_workers(const char *state)
{
    struct server *server = dialogue_server();
    char expected[256];
    struct talker talker = talker_of(server);

    talker_say(&talker, "SEQ.WORKERS\r\n", 13);
    while (talker.length == 0) {
        dialogue_turn(server);
        talker_receive(&talker);
    }
    snprintf(expected, sizeof expected,
             "*1\r\n*12\r\n$4\r\npool\r\n$4\r\nsnow\r\n$6\r\nworker\r\n:7\r\n"
             "$5\r\nstate\r\n$4\r\n%s\r\n$6\r\nholder\r\n$5\r\na@b:9\r\n"
             "$10\r\nrenewed_ms\r\n:11\r\n$12\r\nused_upto_ms\r\n:22\r\n",
             state);
    talker_expect(&talker, expected);
    server_close(server);
    talker_fini(&talker);
}

TEST(worker_ids_are_listed_with_who_has_them)
{
    stub_reset(0, SEQB_AGAIN, MINUTE_MS);
    stub.worker = (struct seqb_worker){.pool = "snow",
                                       .worker = 7,
                                       .holder = "a@b:9",
                                       .renewed_ms = 11,
                                       .used_upto_ms = 22};
    hear_workers("held");
    stub.worker.is_free = true;
    hear_workers("free");
    stub.worker.is_free = false;
    stub.worker.is_ours = true;
    hear_workers("ours");
}
