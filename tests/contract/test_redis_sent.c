/* SPDX-License-Identifier: Apache-2.0 */
/* What the redis engine sends, and what it refuses to send. An impostor is the
 * server. */
#include <string.h>

#include "backends/backends.h"
#include "backends/redis/script.h"
#include "contract/redis_impostor.h"
#include "support/servers.h"
#include "support/test.h"

#define COUNT(a)       (sizeof(a) / sizeof((a)[0]))
#define SIZE           ((int64_t)1000)
#define GRANT(count)   "*4\r\n$2\r\nOK\r\n$1\r\n5\r\n:0\r\n" count
#define STANDS(window) "*2\r\n$2\r\nOK\r\n$1\r\n" window "\r\n"
#define KEPT           ((int64_t)1 << 40) /* s */

/* What is out of range is not sent, and has no answer. */
TEST_WITH(IMPOSTOR, only_requests_that_are_legal_are_sent)
{
    static char longest[SEQB_COUNTER_SIZE];
    static char longer[SEQB_COUNTER_SIZE + 1];
    struct seqb_request requests[] = {
        {.counter = "a", .want = SEQB_GRANT_MAX + 1, .limit = SIZE},
        {.counter = longest, .want = SEQB_GRANT_MAX, .limit = REDIS_WINDOW_MAX},
        {.counter = longer, .want = 1, .limit = SIZE},
        {.counter = "b", .want = 1, .limit = REDIS_WINDOW_MAX + 1},
        {.counter = "c", .want = 1, .limit = 1},
        {.counter = "d", .want = 0, .limit = SIZE},
        {.counter = "e", .want = 1, .limit = 0},
    };

    memset(longest, 'n', sizeof longest - 1);
    memset(longer, 'n', sizeof longer - 1);
    session_start(impostor, GRANT(":10\r\n") GRANT(":1\r\n"), WAITS);
    assert_ok(backend_redis.reserve(impostor->backend, requests,
                                    COUNT(requests), &impostor->err));
    for (size_t i = 0; i < COUNT(requests); i++) {
        assert_status(requests[i].status,
                      i == 1 || i == 4 ? SEQB_OK : SEQB_INVALID);
        assert_int_equal(requests[i].block.count, i == 1 ? 10 : i == 4 ? 1 : 0);
    }
}

/* What is kept for longer than the server's clock can tell is kept for ever. */
TEST_WITH(IMPOSTOR, install_sends_how_long_the_cell_is_kept)
{
    static const struct {
        int64_t window;
        int64_t size;
        int64_t keep_s;
        int64_t over;
        const char *sent; /* NULL: it is refused */
    } rows[] = {
        {4, SIZE, KEPT, 3,
         "$7\r\ninstall\r\n$1\r\n4\r\n$4\r\n1000\r\n$13\r\n1099511627776\r\n"
         "$1\r\n3\r\n"},
        {5, REDIS_WINDOW_MAX, KEPT + 1, 4,
         "$1\r\n5\r\n$13\r\n1099511627776\r\n$1\r\n0\r\n$1\r\n4\r\n"},
        {1, 1, 0, 0, "$1\r\n1\r\n$1\r\n1\r\n$1\r\n0\r\n$1\r\n0\r\n"},
        {6, REDIS_WINDOW_MAX + 1, 0, 0, NULL},
        {6, SIZE, -1, 0, NULL},
    };
    static char sent[65536];

    session_start(impostor, STANDS("4") STANDS("5") STANDS("1"), WAITS);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct seqb_window window = {.counter = "a",
                                           .window = rows[i].window,
                                           .size = rows[i].size,
                                           .keep_s = rows[i].keep_s,
                                           .over = rows[i].over};
        int64_t standing = 0;

        assert_status(backend_redis.install(impostor->backend, &window,
                                            &standing, &impostor->err),
                      rows[i].sent != NULL ? SEQB_OK : SEQB_INVALID);
        assert_int_equal(standing, rows[i].sent != NULL ? rows[i].window : 0);
    }
    impostor_recall(impostor, sent, sizeof sent);
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_true(rows[i].sent == NULL || strstr(sent, rows[i].sent) != NULL);
    assert_null(strstr(sent, "$1\r\n6\r\n"));
}

TEST_WITH(IMPOSTOR, raise_sends_its_floor_which_may_be_0)
{
    const struct seqb_raise raise = {.counter = "a", .floor = 0};
    static char sent[65536];
    int64_t out = -7;

    session_start(impostor, STANDS("0"), WAITS);
    assert_ok(
        backend_redis.raise(impostor->backend, &raise, &out, &impostor->err));
    assert_int_equal(out, 0);
    impostor_recall(impostor, sent, sizeof sent);
    assert_non_null(strstr(sent, "$5\r\nraise\r\n$1\r\n0\r\n"));
}

TEST_WITH(IMPOSTOR, claims_with_a_name_that_is_too_long_are_not_sent)
{
    static char name[1000];
    static char sent[65536];
    size_t done;

    memset(name, 'n', sizeof name - 1);
    session_start(impostor, "", WAITS);
    for (int i = 0; i < 2; i++) {
        struct seqb_claim claims[] = {{.name = "a"}, {.name = "b"}};

        claims[i].name = name;
        assert_status(backend_redis.claim_many(impostor->backend, claims, 2,
                                               &done, &impostor->err),
                      SEQB_INVALID);
    }
    impostor_recall(impostor, sent, sizeof sent);
    assert_null(strstr(sent, "$5\r\nclaim\r\n"));
}

TEST(call_whose_answer_is_lost_is_uncertain)
{
    const struct seqb_raise raise = {.counter = "a", .floor = 4};
    const struct seqb_window window = {
        .counter = "a", .window = 4, .size = SIZE};

    for (int i = 0; i < 3; i++) {
        struct impostor impostor = {0};
        char standing[8] = "old";
        int64_t out = -7;
        enum seqb_status status;

        session_start(&impostor, "", CLOSES);
        if (i == 0)
            status = backend_redis.raise(impostor.backend, &raise, &out,
                                         &impostor.err);
        else if (i == 1)
            status = backend_redis.install(impostor.backend, &window, &out,
                                           &impostor.err);
        else
            status = backend_redis.claim(impostor.backend, "a", NULL, standing,
                                         sizeof standing, &impostor.err);
        assert_status(status, SEQB_UNCERTAIN);
        assert_int_equal(out, -7);
        assert_string_equal(standing, "old");
        impostor_stop(&impostor);
    }
}

TEST_BEFORE_ALL(without_sigpipe);
