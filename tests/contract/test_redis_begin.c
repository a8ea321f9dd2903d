/* SPDX-License-Identifier: Apache-2.0 */
/* A session of the redis engine that does not begin: requests without room, and
 * addresses of nobody. An impostor is the server. */
#include <string.h>

#include "backends/backends.h"
#include "contract/redis_impostor.h"
#include "contract/windowed_answers.h"
#include "platform/text.h"
#include "resp/resp.h"
#include "support/servers.h"
#include "support/test.h"
#include "support/wrap.h"

static int appends;
static int fails_append; /* the number of the request without room; 0: none */

WRAPPED(bool, resp_append, struct resp *resp, const char *const *words, int n)
{
    if (++appends != fails_append)
        return __real_resp_append(resp, words, n);
    resp->lacks_memory = true;
    return false;
}

/* A login, a database, two of INFO, and the script. */
TEST(session_whose_request_has_no_room_is_not_begun)
{
    char session[TEXT_SIZE];
    char text[TEXT_SIZE + 16];

    session_make(session, "");
    (void)text_format(text, sizeof text, "+OK\r\n+OK\r\n%s", session);
    for (fails_append = 1; fails_append <= 6; fails_append++) {
        struct impostor impostor = {0};

        impostor_start(&impostor, text, WAITS);
        impostor.options.password = "p";
        impostor.options.database = "1";
        appends = 0;
        assert_status(impostor_open(&impostor, &backend_redis),
                      fails_append <= 5 ? SEQB_NO_MEMORY : SEQB_OK);
        impostor_stop(&impostor);
    }
    fails_append = 0;
}

TEST(call_whose_request_has_no_room_is_not_made)
{
    for (int i = 0; i < 4; i++) {
        struct impostor impostor = {0};
        struct seqb_claim claim = {.name = "a", .text = "b"};
        struct seqb_request requests[2];
        struct seqb_details details;
        int64_t now_ms;
        size_t done;
        enum seqb_status status = SEQB_OK;

        session_start(&impostor, "", WAITS);
        appends = 0;
        fails_append = 1;
        if (i == 0)
            status = reserve_two(&impostor, 1000, requests);
        else if (i == 1)
            status = backend_redis.claim_many(impostor.backend, &claim, 1,
                                              &done, &impostor.err);
        else if (i == 2)
            status =
                backend_redis.clock(impostor.backend, &now_ms, &impostor.err);
        else
            status = backend_redis.describe(impostor.backend, &details,
                                            &impostor.err);
        fails_append = 0;
        assert_status(status, SEQB_NO_MEMORY);
        assert_int_equal(impostor.err.status, status);
        impostor_stop(&impostor);
    }
}

/* Whatever it says next. */
TEST(login_without_an_ok_begins_no_session)
{
    static const struct {
        const char *answer;
        enum seqb_status status;
    } rows[] = {
        {"+OK\r\n", SEQB_OK},
        {"-WRONGPASS invalid\r\n", SEQB_REFUSED},
        {"-LOADING wait\r\n", SEQB_UNREACHABLE},
        {":1\r\n", SEQB_PROTOCOL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct impostor impostor = {0};
        char session[TEXT_SIZE];
        char text[TEXT_SIZE + 32];

        session_make(session, "");
        (void)text_format(text, sizeof text, "%s%s", rows[i].answer, session);
        impostor_start(&impostor, text, WAITS);
        impostor.options.password = "p";
        assert_status(impostor_open(&impostor, &backend_redis), rows[i].status);
        impostor_stop(&impostor);
    }
}

/* --- where it is --- */

static void must_not_open(struct impostor *impostor, enum seqb_status status,
                          const char *words)
{
    assert_status(impostor_open(impostor, &backend_redis), status);
    assert_null(impostor->backend);
    if (strstr(impostor->err.text, words) == NULL)
        fail_msg("'%s' does not say '%s'", impostor->err.text, words);
}

TEST(address_that_is_none_is_refused)
{
    static char host[2000];
    static const char *const none[] = {NULL};
    static const char *const names[] = {"nonsense", NULL};
    struct impostor impostor = {.options = {.name = "a", .host = host}};

    memset(host, 'h', sizeof host - 1);
    must_not_open(&impostor, SEQB_INVALID, "is too long");
    impostor.options.host = NULL;
    impostor.options.endpoints = none;
    must_not_open(&impostor, SEQB_INVALID, "a cluster needs a server");
    impostor.options.endpoints = names;
    must_not_open(&impostor, SEQB_INVALID, "'nonsense' is no host:port");
}

TEST_WITH(IMPOSTOR, server_that_hangs_up_is_unreachable)
{
    char address[32];
    const char *const sentinels[] = {address, NULL};

    impostor_start(impostor, "", CLOSES);
    impostor->options.password = "p";
    must_not_open(impostor, SEQB_UNREACHABLE, "connection");
    (void)text_format(address, sizeof address, "127.0.0.1:%d",
                      (int)impostor->options.port);
    impostor->options.sentinels = sentinels;
    impostor->options.master_name = "orders";
    must_not_open(impostor, SEQB_UNREACHABLE, ": sentinel 127.0.0.1:");
    assert_null(strstr(impostor->err.text, "led to"));
    impostor->options.connect_timeout_ms = 0;
    must_not_open(impostor, SEQB_UNREACHABLE,
                  "no time was left for the others");
}

TEST_BEFORE_ALL(without_sigpipe);
