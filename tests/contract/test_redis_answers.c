/* SPDX-License-Identifier: Apache-2.0 */
/* What the redis engine makes of answers that a sound server does not give:
 * an impostor sends ready-made text, drips, or closes in mid-reply. */
#include <stdio.h>
#include <string.h>

#include "backends/backends.h"
#include "contract/redis_impostor.h"
#include "contract/windowed_answers.h"
#include "platform/text.h"
#include "support/servers.h"
#include "support/test.h"

#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))
#define SIZE      ((int64_t)1000)
#define LONG_SIZE ((size_t)5 << 20)

/* --- open --- */

TEST_WITH(IMPOSTOR, sound_session_opens_with_its_origin)
{
    char domain[32];

    session_start(impostor, "", WAITS);
    (void)text_format(domain, sizeof domain, "127.0.0.1:%d",
                      (int)impostor->options.port);
    assert_string_equal(impostor->backend->origin, RUN_ID ":" REPLID);
    assert_string_equal(impostor->backend->server, "redis 7.0.15");
    assert_string_equal(impostor->backend->domain, domain);
    assert_true(impostor->backend->fd >= 0);
}

TEST(what_is_no_master_does_not_open)
{
    static const struct {
        const char *text;
        enum seqb_status status;
    } rows[] = {
        {"HTTP/1.1 400 Bad Request\r\n\r\n", SEQB_PROTOCOL},
        {"220 mail ready\r\n", SEQB_PROTOCOL},
        {"ERROR\r\n", SEQB_PROTOCOL},
        {":1\r\n:1\r\n:1\r\n", SEQB_PROTOCOL},
        {"$5\r\nhello\r\n$5\r\nhello\r\n", SEQB_PROTOCOL},
        {"$0\r\n\r\n$0\r\n\r\n", SEQB_PROTOCOL},
        {"$-1\r\n$-1\r\n", SEQB_PROTOCOL},
        {"*-1\r\n", SEQB_PROTOCOL},
        {"*2147483647\r\n", SEQB_PROTOCOL},
        {"-NOAUTH Authentication required.\r\n", SEQB_REFUSED},
        {"-NOPERM this user has no permissions\r\n", SEQB_REFUSED},
        {"-DENIED Redis is running in protected mode\r\n", SEQB_REFUSED},
        {"-LOADING Redis is loading the dataset in memory\r\n",
         SEQB_UNREACHABLE},
        {"-\r\n", SEQB_REFUSED},
        {"", SEQB_UNREACHABLE},
        {"$100\r\nrun_id", SEQB_UNREACHABLE},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        must_refuse_session(&backend_redis, rows[i].text, rows[i].status);
}

TEST_WITH(IMPOSTOR, loading_server_is_unreachable)
{
    char text[TEXT_SIZE] = "";

    add_bulk(text, "redis_version:7.0.15\r\nrun_id:" RUN_ID "\r\n");
    add_bulk(text, "role:master\r\nmaster_replid:" REPLID "\r\n");
    assert_true(text_append(text, sizeof text, "-LOADING wait\r\n"));
    impostor_start(impostor, text, WAITS);
    assert_int_equal(impostor_open(impostor, &backend_redis), SEQB_UNREACHABLE);
}

/* It would be read until the deadline otherwise. */
TEST_WITH(IMPOSTOR, answer_that_does_not_end_is_none)
{
    static char text[LONG_SIZE];
    const int head = snprintf(text, sizeof text, "$2000000000\r\n");

    memset(text + head, 'x', sizeof text - (size_t)head);
    impostor_start_bytes(impostor, text, sizeof text, WAITS);
    assert_int_equal(impostor_open(impostor, &backend_redis), SEQB_PROTOCOL);
    assert_non_null(
        strstr(impostor->err.text, "an answer is longer than 4 MiB"));
}

TEST_WITH(IMPOSTOR, password_that_the_server_quotes_is_not_shown)
{
    impostor_start(impostor,
                   "-ERR unknown command `AUTH`, with args beginning with: "
                   "`sesame`\r\n",
                   WAITS);
    impostor->options.password = "sesame";
    assert_int_equal(impostor_open(impostor, &backend_redis), SEQB_REFUSED);
    assert_null(strstr(impostor->err.text, "sesame"));
}

TEST(dripping_server_does_not_stretch_the_time_out)
{
    char text[TEXT_SIZE];

    session_make(text, "+");
    must_give_up_drips(&backend_redis, "+", text, SIZE);
}

/* --- reserve --- */

#define ANSWER(window, first, count) "*4\r\n$2\r\nOK\r\n" window first count
#define WINDOW_5                     "$1\r\n5\r\n"
#define SOUND                        ANSWER(WINDOW_5, ":0\r\n", ":10\r\n")

TEST(answers_out_of_range_are_refused_whole)
{
    static const char *const answers[] = {
        ANSWER(WINDOW_5, ":1000\r\n", ":1\r\n"),
        ANSWER(WINDOW_5, ":-1\r\n", ":1\r\n"),
        ANSWER(WINDOW_5, ":0\r\n", ":0\r\n"),
        ANSWER(WINDOW_5, ":0\r\n", ":-1\r\n"),
        ANSWER(WINDOW_5, ":0\r\n", ":11\r\n"),
        ANSWER(WINDOW_5, ":995\r\n", ":6\r\n"),
        ANSWER(WINDOW_5, ":9223372036854775807\r\n", ":1\r\n"),
        ANSWER(WINDOW_5, "$1\r\n0\r\n", ":1\r\n"),
        ANSWER(WINDOW_5, ":0\r\n", "$-1\r\n"),
        ANSWER("$1\r\n0\r\n", ":0\r\n", ":1\r\n"),
        ANSWER("$2\r\n-1\r\n", ":0\r\n", ":1\r\n"),
        ANSWER("$3\r\n5 5\r\n", ":0\r\n", ":1\r\n"),
        ANSWER("$0\r\n\r\n", ":0\r\n", ":1\r\n"),
        ANSWER("$19\r\n9223372036854775808\r\n", ":0\r\n", ":1\r\n"),
        ANSWER(":5\r\n", ":0\r\n", ":1\r\n"),
        ANSWER("$-1\r\n", ":0\r\n", ":1\r\n"),
        "*3\r\n$2\r\nOK\r\n" WINDOW_5 ":0\r\n",
        "*2\r\n$2\r\nOK\r\n" WINDOW_5,
        "*4\r\n$2\r\nok\r\n" WINDOW_5 ":0\r\n:1\r\n",
        "*4\r\n+OK\r\n" WINDOW_5 ":0\r\n:1\r\n",
        "*4\r\n:0\r\n" WINDOW_5 ":0\r\n:1\r\n",
        "*1\r\n$6\r\nFENCED\r\n",
        "*2\r\n$9\r\nEXHAUSTED\r\n$0\r\n\r\n",
        "*2\r\n$11\r\nUNREACHABLE\r\n" WINDOW_5,
        "*0\r\n",
        "*-1\r\n",
        "$-1\r\n",
        ":0\r\n",
        "+OK\r\n",
        "?what\r\n",
    };

    for (size_t i = 0; i < COUNT(answers); i++) {
        struct impostor impostor = {0};
        char both[256];

        /* The second answer is sound, and yet not to be believed. */
        (void)text_format(both, sizeof both, "%s" SOUND, answers[i]);
        session_start(&impostor, both, CLOSES);
        must_distrust(&impostor, SIZE);
        impostor_stop(&impostor);
    }
}

TEST(errors_tell_what_becomes_of_the_connection)
{
    static const struct {
        const char *answer;
        enum seqb_status status;
    } rows[] = {
        {"-NOTMASTER not a master\r\n", SEQB_ROLE},
        {"-READONLY You can't write against a read only replica.\r\n",
         SEQB_ROLE},
        {"-MASTERDOWN Link with MASTER is down\r\n", SEQB_ROLE},
        {"-NOSCRIPT No matching script.\r\n", SEQB_UNREACHABLE},
        {"-LOADING Redis is loading the dataset in memory\r\n",
         SEQB_UNREACHABLE},
        {"-BUSY Redis is busy running a script.\r\n", SEQB_UNREACHABLE},
        {"-CLUSTERDOWN The cluster is down\r\n", SEQB_UNREACHABLE},
        {"-TRYAGAIN Multiple keys request during rehashing of slot\r\n",
         SEQB_UNREACHABLE},
        {"-OOM command not allowed\r\n", SEQB_REFUSED},
        {"-MISCONF Redis is configured to save RDB snapshots\r\n",
         SEQB_REFUSED},
        {"-NOPERM this user has no permissions\r\n", SEQB_REFUSED},
        {"-NOAUTH Authentication required.\r\n", SEQB_REFUSED},
        {"-MOVED 1 127.0.0.1:1\r\n", SEQB_REFUSED},
        {"-READONLYISH is another word\r\n", SEQB_REFUSED},
        {"-FOREIGNER is another word\r\n", SEQB_REFUSED},
        {"-\r\n", SEQB_REFUSED},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct impostor impostor = {0};
        struct seqb_request requests[2];
        char answers[256];

        (void)text_format(answers, sizeof answers, "%s" SOUND, rows[i].answer);
        session_start(&impostor, answers, WAITS);
        assert_int_equal(reserve_two(&impostor, SIZE, requests),
                         rows[i].status);
        assert_int_equal(impostor.err.status, rows[i].status);
        assert_int_equal(requests[0].status, rows[i].status);
        assert_ok(requests[1].status); /* it was granted */
        assert_int_equal(requests[1].window, 5);
        impostor_stop(&impostor);
    }
}

/* As redis 7.0 and 7.2 have it; the connection is fit for another call. */
TEST(key_that_is_denied_is_refused_alone)
{
    static const char *const answers[] = {
        "-NOPERM this user has no permissions to access one of the keys used "
        "as arguments\r\n",
        "-NOPERM No permissions to access a key\r\n",
    };

    for (size_t i = 0; i < COUNT(answers); i++) {
        struct impostor impostor = {0};
        struct seqb_request requests[2];
        char text[256];

        (void)text_format(text, sizeof text, "%s" SOUND, answers[i]);
        session_start(&impostor, text, WAITS);
        assert_ok(reserve_two(&impostor, SIZE, requests));
        assert_int_equal(requests[0].status, SEQB_REFUSED);
        assert_non_null(strstr(requests[0].error.text, "NOPERM"));
        assert_ok(requests[1].status);
        impostor_stop(&impostor);
    }
}

TEST(cell_that_grants_nothing_says_why)
{
    static const struct {
        const char *answer;
        enum seqb_status status;
        int64_t window;
        const char *words;
    } rows[] = {
        {"*2\r\n$6\r\nFENCED\r\n$0\r\n\r\n", SEQB_FENCED, SEQB_NO_WINDOW,
         "main/1} is absent or bound to another origin"},
        {"*2\r\n$6\r\nFENCED\r\n" WINDOW_5, SEQB_FENCED, 5,
         "is absent or bound"},
        {"*2\r\n$9\r\nEXHAUSTED\r\n" WINDOW_5, SEQB_EXHAUSTED, 5,
         "has used up its window"},
        {"*2\r\n$6\r\nLAYOUT\r\n" WINDOW_5, SEQB_LAYOUT, 5,
         "was made with another window size"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct seqb_request request = {
            .counter = "main/1", .want = 1, .limit = SIZE};
        struct impostor impostor = {0};

        session_start(&impostor, rows[i].answer, WAITS);
        assert_ok(backend_redis.reserve(impostor.backend, &request, 1,
                                        &impostor.err));
        assert_status(request.status, rows[i].status);
        assert_true(request.window == rows[i].window);
        assert_non_null(strstr(request.error.text, rows[i].words));
        impostor_stop(&impostor);
    }
}

TEST_WITH(IMPOSTOR, closed_in_mid_reply_is_uncertain_from_there_on)
{
    session_start(impostor, SOUND "*4\r\n$2\r\nOK\r\n" WINDOW_5 ":0\r\n:1",
                  CLOSES);
    must_doubt_second(impostor, SIZE, 10);
}

/* --- the other calls --- */

TEST(other_calls_check_their_answers_too)
{
    static const char *const answers[] = {
        "*1\r\n$2\r\nOK\r\n",
        "*2\r\n$2\r\nOK\r\n:5\r\n",
        "*2\r\n$5\r\nhello\r\n:5\r\n",
        ("*2\r\n$9\r\nEXHAUSTED\r\n" WINDOW_5),
        ("*2\r\n:0\r\n" WINDOW_5),
        "+OK\r\n",
        "$-1\r\n",
    };
    const struct seqb_raise raise = {
        .counter = "a", .floor = 4, .limit = INT64_MAX};
    const struct seqb_window window = {
        .counter = "a", .window = 4, .size = SIZE};

    for (size_t i = 0; i < 4 * COUNT(answers); i++) {
        struct impostor impostor = {0};
        enum seqb_status status;
        struct seqb_claim claim = {.name = "a"};
        char standing[64];
        int64_t out;
        size_t done;

        session_start(&impostor, answers[i / 4], WAITS);
        if (i % 4 == 0)
            status = backend_redis.raise(impostor.backend, &raise, &out,
                                         &impostor.err);
        else if (i % 4 == 1)
            status = backend_redis.install(impostor.backend, &window, &out,
                                           &impostor.err);
        else if (i % 4 == 2)
            status = backend_redis.claim_many(impostor.backend, &claim, 1,
                                              &done, &impostor.err);
        else
            status = backend_redis.claim(impostor.backend, "a", NULL, standing,
                                         sizeof standing, &impostor.err);
        assert_int_equal(status, SEQB_PROTOCOL);
        impostor_stop(&impostor);
    }
}

TEST(time_that_is_none_makes_no_sense)
{
    static const char *const answers[] = {
        "*0\r\n",
        "*1\r\n$2\r\n10\r\n",
        "*2\r\n:10\r\n:10\r\n",
        "*2\r\n$1\r\n0\r\n$1\r\n0\r\n",
        "*2\r\n$3\r\n-10\r\n$1\r\n0\r\n",
        "*2\r\n$2\r\n10\r\n$2\r\n-1\r\n",
        "*2\r\n$2\r\n10\r\n$7\r\n1000000\r\n",
        "*2\r\n$2\r\n1x\r\n$1\r\n0\r\n",
        "*2\r\n$19\r\n9223372036854775807\r\n$1\r\n0\r\n",
        "+OK\r\n",
        "$-1\r\n",
    };

    for (size_t i = 0; i < COUNT(answers); i++) {
        struct impostor impostor = {0};
        int64_t now_ms = -7;

        session_start(&impostor, answers[i], WAITS);
        assert_int_equal(
            backend_redis.clock(impostor.backend, &now_ms, &impostor.err),
            SEQB_PROTOCOL);
        /* And it is not asked again. */
        assert_int_equal(
            backend_redis.clock(impostor.backend, &now_ms, &impostor.err),
            SEQB_UNREACHABLE);
        assert_int_equal(now_ms, -7);
        impostor_stop(&impostor);
    }
}

/* What counts is allowed, TIME may not be. */
TEST_WITH(IMPOSTOR, time_that_is_denied_is_none)
{
    int64_t now_ms = -7;

    session_start(impostor, "-NOPERM this user has no permissions\r\n", WAITS);
    assert_ok(backend_redis.clock(impostor->backend, &now_ms, &impostor->err));
    assert_int_equal(now_ms, 0);
}

TEST_WITH(IMPOSTOR, time_that_is_not_said_fails)
{
    int64_t now_ms = -7;

    session_start(impostor, "", CLOSES);
    assert_int_equal(
        backend_redis.clock(impostor->backend, &now_ms, &impostor->err),
        SEQB_UNCERTAIN);
    assert_int_equal(now_ms, -7);
}

TEST_WITH(IMPOSTOR, time_is_seconds_and_a_part_of_one)
{
    static const int64_t times[] = {INT64_C(1795270245123), 1001, 1999,
                                    INT64_C(9223372036854774000)};

    session_start(impostor,
                  "*2\r\n$10\r\n1795270245\r\n$6\r\n123999\r\n"
                  "*2\r\n$1\r\n1\r\n$4\r\n1000\r\n"
                  "*2\r\n$1\r\n1\r\n$6\r\n999999\r\n"
                  "*2\r\n$16\r\n9223372036854774\r\n$1\r\n0\r\n"
                  "*2\r\n$16\r\n9223372036854775\r\n$1\r\n0\r\n",
                  WAITS);
    for (size_t i = 0; i <= COUNT(times); i++) {
        int64_t now_ms = -7;

        assert_status(
            backend_redis.clock(impostor->backend, &now_ms, &impostor->err),
            i < COUNT(times) ? SEQB_OK : SEQB_PROTOCOL);
        assert_true(now_ms == (i < COUNT(times) ? times[i] : -7));
    }
}

TEST_WITH(IMPOSTOR, raise_below_its_floor_makes_no_sense)
{
    const struct seqb_raise raise = {
        .counter = "a", .floor = 6, .limit = INT64_MAX};
    int64_t out;

    session_start(impostor, "*2\r\n$2\r\nOK\r\n" WINDOW_5, WAITS);
    assert_int_equal(
        backend_redis.raise(impostor->backend, &raise, &out, &impostor->err),
        SEQB_PROTOCOL);
}

TEST_WITH(IMPOSTOR, claim_that_does_not_fit_is_none_of_ours)
{
    char standing[4] = "old";

    session_start(impostor,
                  "*2\r\n$2\r\nOK\r\n$4\r\nabcd\r\n"
                  "*2\r\n$2\r\nOK\r\n$3\r\nabc\r\n",
                  WAITS);
    assert_int_equal(backend_redis.claim(impostor->backend, "a", NULL, standing,
                                         sizeof standing, &impostor->err),
                     SEQB_PROTOCOL);
    assert_string_equal(standing, "old");
    assert_ok(backend_redis.claim(impostor->backend, "a", NULL, standing,
                                  sizeof standing, &impostor->err));
    assert_string_equal(standing, "abc");
}

/* Each has its own answer; the first failure is that of the call. */
TEST_WITH(IMPOSTOR, claims_are_answered_one_by_one)
{
    struct seqb_claim claims[] = {{.name = "a", .text = "t"},
                                  {.name = "b", .standing = "old"},
                                  {.name = "c", .standing = "old"},
                                  {.name = "d", .standing = "old"}};
    size_t done;

    session_start(impostor,
                  "*2\r\n$2\r\nOK\r\n$1\r\nt\r\n"
                  "-FOREIGN\r\n"
                  "*2\r\n$2\r\nOK\r\n$0\r\n\r\n"
                  "-READONLY no\r\n",
                  WAITS);
    assert_status(backend_redis.claim_many(impostor->backend, claims, 4, &done,
                                           &impostor->err),
                  SEQB_REFUSED);
    assert_non_null(strstr(impostor->err.text, "key seqbroker:claim:{b} holds "
                                               "another type"));
    assert_int_equal(done, 4);
    assert_string_equal(claims[0].standing, "t");
    assert_string_equal(claims[1].standing, "old");
    assert_string_equal(claims[2].standing, "");
    assert_string_equal(claims[3].standing, "old");
}

/* --- the description --- */

TEST(description_says_what_the_server_says)
{
    static const struct {
        const char *info;
        const char *replicas;
    } rows[] = {
        {"abcd:x\r\nroles:y\r\nrole:master\r\n", ""},
        {"role:master\r\nconnected_slaves:0\r\n", "none"},
        {"role:master\r\nconnected_slaves:1\r\n", "1"},
        {"role:master\r\nconnected_slaves:1\r\nmaster_repl_offset:100\r\n",
         "1"},
        {"role:master\r\nconnected_slaves:1\r\nslave0:state=online\r\n"
         "master_repl_offset:100\r\n",
         "1"},
        {"role:master\r\nconnected_slaves:1\r\nslave0:offset=x\r\n"
         "master_repl_offset:100\r\n",
         "1"},
        {"role:master\r\nconnected_slaves:2\r\nslave0:a=b,offset=70\r\n"
         "slave1:offset=90\r\nmaster_repl_offset:100\r\n",
         "2, at most 30 bytes behind"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct impostor impostor = {0};
        struct seqb_details details = {.node = ""};
        char text[TEXT_SIZE] = "";

        add_bulk(text, rows[i].info);
        session_start(&impostor, text, WAITS);
        assert_ok(
            backend_redis.describe(impostor.backend, &details, &impostor.err));
        assert_string_equal(details.role, "master");
        assert_string_equal(details.replicas, rows[i].replicas);
        impostor_stop(&impostor);
    }
}

TEST_WITH(IMPOSTOR, description_that_is_not_said_fails)
{
    struct seqb_details details = {.node = ""};

    session_start(impostor, "-NOPERM no\r\n", CLOSES);
    assert_ok(
        backend_redis.describe(impostor->backend, &details, &impostor->err));
    assert_string_equal(details.role, "");
    for (int i = 0; i < 2; i++)
        assert_status(
            backend_redis.describe(impostor->backend, &details, &impostor->err),
            i == 0 ? SEQB_UNCERTAIN : SEQB_UNREACHABLE);
}

TEST_BEFORE_ALL(without_sigpipe);
