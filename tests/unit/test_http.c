/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers over HTTP: what is answered, what waits and how that ends. The broker
 * is a stub, and the daemon's loop runs in the test. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/server.h"
#include "support/stub_broker.h"
#include "support/test.h"
#include "support/web.h"

#define MINUTE_MS 60000
#define EIGHT_NAMES(a)                                                         \
    a "a=&" a "b=&" a "c=&" a "d=&" a "e=&" a "f=&" a "g=&" a "h=&"
#define MANY_NAMES                                                             \
    EIGHT_NAMES("a")                                                           \
    EIGHT_NAMES("b")                                                           \
    EIGHT_NAMES("c")                                                           \
    EIGHT_NAMES("d")                                                           \
    EIGHT_NAMES("e") EIGHT_NAMES("f") EIGHT_NAMES("g") EIGHT_NAMES("h")
#define NEXT_A "/v1/sequences/a/next"

static struct web *scene(int64_t stock, int64_t deadline_ms)
{
    stub_reset(stock, SEQB_AGAIN, deadline_ms);
    return web_open();
}

static int setup_stocked(void **state)
{
    *state = scene(1000, MINUTE_MS);
    return 0;
}

static int setup_empty(void **state)
{
    *state = scene(0, MINUTE_MS);
    return 0;
}

#define STOCKED FIXTURE(struct web *web, setup_stocked, web_teardown)
#define EMPTY   FIXTURE(struct web *web, setup_empty, web_teardown)

static void assert_answer(struct web *web, const char *status, const char *body)
{
    const size_t line = strlen("HTTP/1.1 ");

    web_receive(web, 1);
    if (strncmp(web->heard + line, status, strlen(status)) != 0 ||
        strcmp(web_body(web), body) != 0)
        fail_msg("expected %s %s, got: %s", status, body, web->heard);
}

/* The daemon's end of the client's connection, which is in this process. */
static int daemons_end(const struct web *web)
{
    struct sockaddr_storage client = {0};
    struct sockaddr_storage peer = {0};
    socklen_t length = sizeof client;

    assert_int_equal(getsockname(web->fd, (struct sockaddr *)&client, &length),
                     0);
    for (int fd = 0; fd < 1024; fd++) {
        socklen_t peer_length = sizeof peer;

        if (getpeername(fd, (struct sockaddr *)&peer, &peer_length) == 0 &&
            peer_length == length && memcmp(&peer, &client, length) == 0)
            return fd;
    }
    return -1;
}

TEST_WITH(STOCKED, the_end_of_an_answer_does_not_wait_for_an_acknowledgement)
{
    socklen_t length = sizeof(int);
    int is_set = 0;

    web_ask(web, "GET", "/metrics");
    web_receive(web, 1);
    assert_int_equal(getsockopt(daemons_end(web), IPPROTO_TCP, TCP_NODELAY,
                                &is_set, &length),
                     0);
    assert_int_not_equal(is_set, 0);
}

static void assert_refused(const char *method, const char *target,
                           const char *status, const char *detail)
{
    struct web *web = scene(1000, MINUTE_MS);
    const size_t line = strlen("HTTP/1.1 ");

    web_ask(web, method, target);
    web_receive(web, 1);
    if (strncmp(web->heard + line, status, strlen(status)) != 0 ||
        strstr(web->heard, "application/problem+json") == NULL ||
        strstr(web_body(web), detail) == NULL)
        fail_msg("%s %s: expected %s %s, got: %s", method, target, status,
                 detail, web->heard);
    web_close(web);
}

static bool has_waiter(const struct web *web)
{
    return !TAILQ_EMPTY(&web->server->daemon.waitlists.waiting);
}

static bool has_no_waiter(const struct web *web)
{
    return !has_waiter(web);
}

static bool has_no_request(const struct web *web)
{
    return web->server->daemon.request_count == 0;
}

/* --- taking --- */

TEST_WITH(STOCKED, a_number_is_taken_by_post)
{
    web_ask(web, "POST", NEXT_A);
    assert_answer(web, "200", "{\"sequence\":\"a\",\"numbers\":[\"95\"]}");
}

TEST_WITH(STOCKED, several_numbers_are_taken_at_once)
{
    web_ask(web, "POST", NEXT_A "?count=3");
    assert_answer(web, "200",
                  "{\"sequence\":\"a\",\"numbers\":[\"95\",\"96\",\"97\"]}");
}

TEST(many_numbers_take_several_turns)
{
    struct web *web = scene(1000000, MINUTE_MS);

    web_ask(web, "POST", NEXT_A "?count=10000");
    web_receive(web, 1);
    assert_non_null(strstr(web->heard, "\"10094\"]}"));
    assert_int_equal(stub.sequences[0].next, STUB_FIRST + 10000);
    web_close(web);
}

TEST_WITH(STOCKED, texts_have_their_parameters)
{
    web_ask(web, "POST", "/v1/sequences/a/number?count=2&area=x%2Dy");
    assert_answer(web, "200",
                  "{\"sequence\":\"a\",\"texts\":[\"x-y-SN-00000095\","
                  "\"x-y-SN-00000096\"]}");
}

TEST(what_is_wrong_is_a_problem)
{
    assert_refused("GET", NEXT_A, "405", "POST");
    assert_refused("POST", "/v1/status", "405", "GET");
    assert_refused("POST", NEXT_A "?count=0", "400", "count is 1 to 10000");
    assert_refused("POST", NEXT_A "?count=", "400", "count is 1 to 10000");
    assert_refused("POST", NEXT_A "?count=10001", "400", "count is");
    assert_refused("POST", NEXT_A "?count=1x", "400", "count is");
    assert_refused("POST", NEXT_A "?count=99999999999999999999", "400", "is 1");
    assert_refused("POST", NEXT_A "?count=00000100000", "400", "count is");
    assert_refused("POST", NEXT_A "?coun=1", "400",
                   "'coun' is no parameter of this path");
    assert_refused("POST", NEXT_A "?shard=x", "400", "SHARD is an integer");
    assert_refused("POST", "/v1/sequences/nosuch/next", "404", "UNKNOWNKEY");
    assert_refused("POST", "/v1/sequences//next", "404", "no such path");
    assert_refused("POST", NEXT_A "/", "404", "no such path");
    assert_refused("GET", "/v1/sequences/a/decode", "400", "lacks");
    assert_refused("GET", "/v1/sequences/a/decode?number=x", "400", "integer");
    assert_refused("GET", "/v1/sequences/a/parse?text=nonsense", "422",
                   "FOREIGN");
    assert_refused("GET", "/v1/sequences/a/parse?text=a%00b", "400", "query");
    assert_refused("GET", "/v1/status?sequences=101", "400", "1 to 100");
    assert_refused("POST", "/v1/sequences/a%00/next", "400", "%00");
    assert_refused("POST", "/v1/sequences/a%2Fb/next", "400", "%2F");
    assert_refused("POST", "/v1/sequences/a%2fb/next", "400", "%2F");
    assert_refused("POST", NEXT_A "?count=1&count=5", "400", "name twice");
    assert_refused("POST", "/v1/sequences/a/number?area=x&count=1&area=y",
                   "400", "name twice");
    assert_refused("GET", "/v1/status?sequences=1&sequences=2", "400", "twice");
    assert_refused("GET", "/v1/status?" MANY_NAMES "sequences=1", "400",
                   "too many");
}

/* A client may encode any character. */
TEST_WITH(STOCKED, a_key_may_be_percent_encoded)
{
    web_ask(web, "POST", "/v1/sequences/%61/next");
    assert_answer(web, "200", "{\"sequence\":\"a\",\"numbers\":[\"95\"]}");
}

/* A body may mean to say how many numbers. */
TEST_WITH(STOCKED, a_body_is_refused_and_takes_nothing)
{
    web_say(web, "POST " NEXT_A " HTTP/1.1\r\nHost: a\r\nContent-Length: 7"
                 "\r\n\r\ncount=5");
    web_receive(web, 1);
    assert_non_null(strstr(web->heard, "HTTP/1.1 400 "));
    assert_non_null(strstr(web_body(web), "the request has a body"));
    assert_non_null(strstr(web->heard, "Connection: close"));
    assert_int_equal(stub.sequences[0].next, STUB_FIRST);
}

TEST_WITH(STOCKED, a_body_of_no_bytes_is_none)
{
    web_say(web, "POST " NEXT_A " HTTP/1.1\r\nHost: a\r\nContent-Length: 0"
                 "\r\n\r\n");
    web_receive(web, 1);
    assert_non_null(strstr(web_body(web), "\"95\""));
}

TEST_WITH(STOCKED, a_body_of_get_is_refused)
{
    static const char *const requests[] = {
        "Content-Length: 7\r\n\r\ncount=5",
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"};

    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        char request[256];

        snprintf(request, sizeof request,
                 "GET /livez HTTP/1.1\r\nHost: a\r\n%s", requests[i]);
        web_say(web, request);
        web_receive(web, 1);
        assert_non_null(strstr(web->heard, "HTTP/1.1 400 "));
        assert_non_null(strstr(web->heard, "Connection: close"));
        web_connect(web);
    }
}

static void expect_hosts(const char *version_and_hosts, const char *status,
                         const char *body)
{
    struct web *web = scene(1000, MINUTE_MS);
    char request[256];

    snprintf(request, sizeof request, "GET /livez HTTP/%s\r\n\r\n",
             version_and_hosts);
    web_say(web, request);
    web_receive(web, 1);
    if (strncmp(web->heard + strlen("HTTP/1.1 "), status, strlen(status)) !=
            0 ||
        strstr(web_body(web), body) == NULL)
        fail_msg("%s: expected %s %s, got: %s", version_and_hosts, status, body,
                 web->heard);
    web_close(web);
}

/* RFC 9112, section 3.2. */
TEST(a_request_names_its_host_once)
{
    expect_hosts("1.1\r\nHost: a", "200", "ok");
    expect_hosts("1.1\r\nHost:", "200", "ok");
    expect_hosts("1.0", "200", "ok");
    expect_hosts("1.1", "400", "the request has no Host header");
    expect_hosts("1.1\r\nHost: a\r\nhost: b", "400", "two Host headers");
    expect_hosts("1.0\r\nHost: a\r\nHost: a", "400", "two Host headers");
}

TEST_WITH(STOCKED, a_page_of_another_site_takes_nothing)
{
    web_say(web, "POST " NEXT_A " HTTP/1.1\r\nHost: a:1\r\nOrigin: "
                 "http://b:1\r\n\r\n");
    web_receive(web, 1);
    assert_non_null(strstr(web->heard, "HTTP/1.1 403 "));
    assert_int_equal(stub.sequences[0].next, STUB_FIRST);
    web_say(web, "POST " NEXT_A " HTTP/1.1\r\nHost: a:1\r\nOrigin: "
                 "http://a:1\r\n\r\n");
    web_receive(web, 2);
    assert_non_null(strstr(web_body(web), "\"95\""));
}

/* --- waiting --- */

TEST_WITH(EMPTY, who_finds_none_waits_until_there_are_some)
{
    web_ask(web, "POST", NEXT_A "?count=2");
    web_until(web, has_waiter);
    assert_int_equal(web->length, 0);
    stub_refill(1);
    web_until(web, has_waiter);
    stub_refill(1);
    assert_answer(web, "200",
                  "{\"sequence\":\"a\",\"numbers\":[\"95\",\"96\"]}");
}

TEST(a_deadline_ends_a_wait)
{
    struct web *web = scene(0, 1);

    web_ask(web, "POST", NEXT_A);
    web_receive(web, 1);
    assert_non_null(strstr(web->heard, "HTTP/1.1 503 "));
    assert_non_null(strstr(web->heard, "Retry-After: 1\r\n"));
    assert_non_null(strstr(web_body(web), "\"code\": \"TIMEOUT\""));
    assert_true(has_no_waiter(web));
    web_close(web);
}

TEST_WITH(EMPTY, a_client_that_goes_away_while_it_waits_is_forgotten)
{
    web_ask(web, "POST", NEXT_A);
    web_until(web, has_waiter);
    web_connect(web);
    web_until(web, has_no_waiter);
    web_until(web, has_no_request);
    stub_refill(5);
    web_ask(web, "POST", NEXT_A);
    assert_answer(web, "200", "{\"sequence\":\"a\",\"numbers\":[\"95\"]}");
}

TEST_WITH(EMPTY, a_client_that_says_no_more_is_answered)
{
    web_ask(web, "POST", NEXT_A);
    web_until(web, has_waiter);
    assert_int_equal(shutdown(web->fd, SHUT_WR), 0);
    assert_answer(web, "503", "the client closed the connection\n");
}

TEST_WITH(EMPTY, a_request_behind_one_that_waits_is_answered_behind_it)
{
    const char *first = NULL;

    web_ask(web, "POST", NEXT_A);
    web_until(web, has_waiter);
    web_ask(web, "GET", "/livez");
    stub_refill(1);
    web_receive(web, 2);
    first = strstr(web->heard, "\"95\"");
    assert_non_null(first);
    assert_non_null(strstr(first, "\r\n\r\nok\n"));
}

TEST_WITH(EMPTY, a_stop_refuses_who_waits)
{
    web_ask(web, "POST", NEXT_A);
    web_until(web, has_waiter);
    web->server->daemon.is_stopping = true;
    http_finish(web->http, false);
    web_receive(web, 1);
    assert_non_null(strstr(web_body(web), "\"code\": \"CLOSED\""));
    assert_true(has_no_waiter(web));
}

TEST_WITH(EMPTY, a_server_is_closed_while_somebody_waits)
{
    web_ask(web, "POST", NEXT_A);
    web_until(web, has_waiter);
}

TEST_WITH(EMPTY, a_server_is_closed_while_a_report_is_made)
{
    web_ask(web, "GET", "/metrics");
    while (web->server->daemon.request_count == 0)
        event_base_loop(web->server->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

TEST_WITH(EMPTY, a_client_that_goes_away_leaves_its_report)
{
    for (int i = 0; i < 20; i++) {
        web_ask(web, "GET", "/v1/status");
        web_connect(web);
    }
    web_ask(web, "GET", "/v1/status");
    web_receive(web, 1);
    web_until(web, has_no_request);
}

TEST_WITH(EMPTY, readiness_carries_the_warning_of_the_clock)
{
    stub.clock = (struct seqb_clock_status){
        .is_used = true, .reason = "it went back", .effect = "they have none"};
    web_ask(web, "GET", "/readyz");
    assert_answer(web, "200",
                  "serving; warning: they have none: it went back\n");
}

static void assert_body_has(const struct web *web, const char *line)
{
    if (strstr(web_body(web), line) == NULL)
        fail_msg("missing: %s", line);
}

/* While it waits for its stop, and stops. */
TEST_WITH(EMPTY, the_metrics_say_of_a_stop_what_readiness_says)
{
    web_ask(web, "GET", "/metrics");
    web_receive(web, 1);
    assert_body_has(web, "\nseqbroker_health{state=\"serving\"} 1\n");
    assert_body_has(web, "\nseqbroker_health{state=\"stopping\"} 0\n");
    web->server->daemon.is_leaving = true;
    web_connect(web);
    web_ask(web, "GET", "/readyz");
    assert_answer(web, "503", "stopping\n");
    web_connect(web);
    web_ask(web, "GET", "/metrics");
    web_receive(web, 1);
    assert_body_has(web, "\nseqbroker_health{state=\"serving\"} 0\n");
    assert_body_has(web, "\nseqbroker_health{state=\"not serving\"} 0\n");
    assert_body_has(web, "\nseqbroker_health{state=\"stopping\"} 1\n");
}
