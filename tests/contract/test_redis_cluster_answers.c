/* SPDX-License-Identifier: Apache-2.0 */
/* What the redis engine makes of servers of a cluster that do not answer, or
 * not as they should. Impostors are the servers; one more says which slots they
 * have. */
#include <string.h>

#include "backends/backends.h"
#include "backends/redis/script.h"
#include "contract/redis_impostor.h"
#include "platform/text.h"
#include "support/servers.h"
#include "support/test.h"
#include "support/wrap.h"

#define SIZE 1000
#define HALF (REDIS_SLOTS / 2)

/* Two masters, with the lower and the upper half of the slots. */
struct servers {
    struct impostor low;
    struct impostor high;
    struct impostor guide;
    char address[32];
    const char *endpoints[2];
};

static void range_add(char *out, int first, int last,
                      const struct impostor *master)
{
    assert_true(text_append(out, TEXT_SIZE,
                            "*3\r\n:%d\r\n:%d\r\n*2\r\n$9\r\n127.0.0.1\r\n"
                            ":%d\r\n",
                            first, last, (int)master->options.port));
}

/* The guide says `text` of the slots. */
static void guide_start(struct servers *servers, const char *text)
{
    impostor_start(&servers->guide, text, WAITS);
    (void)text_format(servers->address, sizeof servers->address, "127.0.0.1:%d",
                      (int)servers->guide.options.port);
    servers->endpoints[0] = servers->address;
    servers->guide.options.host = NULL;
    servers->guide.options.endpoints = servers->endpoints;
}

/* Opens a backend by what `text` says of the slots. */
static struct seqb_backend *cluster_start(struct servers *servers,
                                          const char *text)
{
    struct seqb_backend *backend = NULL;
    struct seqb_error err;

    guide_start(servers, text);
    assert_done(backend_redis.open(&servers->guide.options, &backend, &err),
                err);
    assert_int_equal(backend->fd, -1);
    return backend;
}

static void servers_stop(struct servers *servers, struct seqb_backend *backend)
{
    backend_redis.close(backend);
    impostor_stop(&servers->low);
    impostor_stop(&servers->high);
    impostor_stop(&servers->guide);
}

/* A request for a counter in that half of the slots. */
static struct seqb_request request_of(struct seqb_backend *backend, bool is_low,
                                      char counter[static 32])
{
    char key[REDIS_KEY_SIZE];

    for (int i = 0;; i++) {
        (void)text_format(counter, 32, "main/0/key%d", i);
        assert_true(script_key(redis_of(backend), "", counter, key));
        if ((slot_of_key(key) < HALF) == is_low)
            break;
    }
    return (struct seqb_request){
        .counter = counter, .want = 1, .limit = SIZE, .window = SEQB_NO_WINDOW};
}

/* Opens a backend on both halves of the slots. */
static struct seqb_backend *halves_start(struct servers *servers)
{
    char text[TEXT_SIZE] = "*2\r\n";
    struct seqb_backend *backend;
    const uint16_t *owner;

    range_add(text, 0, HALF - 1, &servers->low);
    range_add(text, HALF, REDIS_SLOTS - 1, &servers->high);
    backend = cluster_start(servers, text);
    owner = redis_of(backend)->cluster->owner;
    for (int i = 0; i < REDIS_SLOTS; i++)
        assert_int_equal(owner[i], i < HALF ? 1 : 2);
    return backend;
}

/* One server says that it is busy, the other one ends the connection. */
TEST(lost_answer_is_uncertain_though_another_server_did_nothing)
{
    struct servers servers = {.address = ""};
    char counters[2][32];
    struct seqb_request requests[2];
    struct seqb_backend *backend;
    struct seqb_error err;

    master_start(&servers.low, "-LOADING Redis is loading\r\n", WAITS);
    master_start(&servers.high, "", CLOSES);
    backend = halves_start(&servers);
    requests[0] = request_of(backend, true, counters[0]);
    requests[1] = request_of(backend, false, counters[1]);
    assert_true(backend_redis.reserve(backend, requests, 2, &err) != SEQB_OK);
    assert_status(requests[0].status, SEQB_UNREACHABLE);
    assert_status(requests[1].status, SEQB_UNCERTAIN);
    servers_stop(&servers, backend);
}

TEST(call_is_not_begun_while_a_connection_is_lost)
{
    for (int i = 0; i < 2; i++) {
        struct servers servers = {.address = ""};
        char counters[2][32];
        struct seqb_request request;
        struct seqb_backend *backend;
        struct seqb_error err;

        master_start(&servers.low, "", i == 0 ? CLOSES : WAITS);
        master_start(&servers.high, "", i == 1 ? CLOSES : WAITS);
        backend = halves_start(&servers);
        request = request_of(backend, i == 0, counters[0]);
        assert_status(backend_redis.reserve(backend, &request, 1, &err),
                      SEQB_UNCERTAIN);
        for (int j = 0; j < 2; j++) {
            request = request_of(backend, j == 0, counters[1]);
            assert_status(backend_redis.reserve(backend, &request, 1, &err),
                          SEQB_UNREACHABLE);
            assert_non_null(strstr(err.text, "the connection was lost before"));
        }
        servers_stop(&servers, backend);
    }
}

#define GRANT(window) "*4\r\n$2\r\nOK\r\n$1\r\n" window "\r\n:0\r\n:1\r\n"

/* MOVED is remembered, ASK is not. */
TEST(redirected_run_has_the_answer_of_where_it_leads)
{
    static const char *const words[] = {"MOVED", "ASK"};
    static const char *const there[] = {GRANT("5") GRANT("6"),
                                        "+OK\r\n" GRANT("5")};
    static const int64_t then[] = {6, 7};

    for (int i = 0; i < 2; i++) {
        struct servers servers = {.address = ""};
        struct seqb_request request = {
            .counter = "a", .want = 1, .limit = SIZE};
        char text[TEXT_SIZE] = "*1\r\n";
        char answers[256] = "";
        struct seqb_backend *backend;
        struct seqb_error err;

        master_start(&servers.high, there[i], WAITS);
        for (int j = 0; j < 2; j++) /* in the batch, and on its own */
            assert_true(text_append(
                answers, sizeof answers, "-%s %u 127.0.0.1:%d\r\n", words[i],
                slot_of_key("a"), (int)servers.high.options.port));
        assert_true(text_append(answers, sizeof answers, GRANT("7")));
        master_start(&servers.low, answers, WAITS);
        range_add(text, 0, REDIS_SLOTS - 1, &servers.low);
        backend = cluster_start(&servers, text);
        for (int j = 0; j < 2; j++) {
            assert_ok(backend_redis.reserve(backend, &request, 1, &err));
            assert_ok(request.status);
            assert_int_equal(request.window, j == 0 ? 5 : then[i]);
        }
        servers_stop(&servers, backend);
    }
}

TEST(description_of_a_cluster_says_how_many_masters_vote)
{
    static const char *const rows[][2] = {
        {"cluster_state:ok\r\ncluster_size:4\r\n", "3 of 4 masters, state ok"},
        {"cluster_state:ok\r\n", ""},
        {"cluster_size:3\r\n", ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct servers servers = {.address = ""};
        struct seqb_details details = {.node = ""};
        char answers[TEXT_SIZE] = "";
        struct seqb_backend *backend;
        struct seqb_error err;

        add_bulk(answers, "role:master\r\nconnected_slaves:0\r\n");
        add_bulk(answers, rows[i][0]);
        master_start(&servers.low, answers, WAITS);
        master_start(&servers.high, "", WAITS);
        backend = halves_start(&servers);
        assert_string_equal(backend->server, "redis cluster 7.0.15");
        assert_ok(backend_redis.describe(backend, &details, &err));
        assert_string_equal(details.node, backend->domain);
        assert_string_equal(details.replicas, "none");
        assert_string_equal(details.quorum, rows[i][1]);
        servers_stop(&servers, backend);
    }
}

/* A slot moved to a server that refuses the session after the connection was
 * made. Its other answers wait to be read. */
TEST(server_that_refuses_the_session_is_not_connected)
{
    struct servers servers = {.address = ""};
    char text[TEXT_SIZE] = "*1\r\n";
    char moved[128];
    char counter[32];
    struct seqb_request request;
    struct seqb_backend *backend;
    struct seqb_error err;

    impostor_start(&servers.high, "-NOPERM no\r\n+OK\r\n+OK\r\n", WAITS);
    (void)text_format(moved, sizeof moved,
                      "-MOVED 1 127.0.0.1:%d\r\n-MOVED 1 127.0.0.1:%d\r\n",
                      (int)servers.high.options.port,
                      (int)servers.high.options.port);
    master_start(&servers.low, moved, WAITS);
    range_add(text, 0, REDIS_SLOTS - 1, &servers.low);
    backend = cluster_start(&servers, text);
    request = request_of(backend, true, counter);
    assert_status(backend_redis.reserve(backend, &request, 1, &err),
                  SEQB_REFUSED);
    assert_false(link_is_open(&redis_of(backend)->cluster->nodes[1]->link));
    assert_status(backend_redis.reserve(backend, &request, 1, &err),
                  SEQB_UNREACHABLE);
    servers_stop(&servers, backend);
}

static int moves_to;     /* the port that each MOVED names; 0: its own */
static int fails_calloc; /* the number of the one that fails; 0: none */

WRAPPED(bool, redirection_parse, const char *text, struct redirection *out)
{
    const bool is_one = __real_redirection_parse(text, out);

    if (is_one && moves_to != 0)
        out->to.port = moves_to;
    return is_one;
}

WRAPPED(void *, calloc, size_t n, size_t size)
{
    return fails_calloc > 0 && --fails_calloc == 0 ? NULL
                                                   : __real_calloc(n, size);
}

/* One server that has all slots, and says nothing but where they moved to. */
static struct seqb_backend *moving_start(struct servers *servers)
{
    char text[TEXT_SIZE] = "*1\r\n";
    char moved[256] = "";

    for (int i = 0; i < 12; i++)
        assert_true(text_append(moved, sizeof moved, "-MOVED 1 :1\r\n"));
    master_start(&servers->low, moved, WAITS);
    master_start(&servers->high, "", WAITS);
    range_add(text, 0, REDIS_SLOTS - 1, &servers->low);
    return cluster_start(servers, text);
}

TEST(slot_that_moves_without_an_end_is_given_up)
{
    struct servers servers = {.address = ""};
    struct seqb_backend *backend = moving_start(&servers);
    char counter[32];
    struct seqb_request request = request_of(backend, true, counter);
    struct seqb_error err;

    moves_to = servers.low.options.port;
    assert_status(backend_redis.reserve(backend, &request, 1, &err),
                  SEQB_UNREACHABLE);
    moves_to = 0;
    assert_non_null(strstr(err.text, "redirected without an end"));
    servers_stop(&servers, backend);
}

TEST(server_without_room_is_not_asked)
{
    struct servers servers = {.address = ""};
    struct seqb_backend *backend = moving_start(&servers);
    struct seqb_backend *other = NULL;
    char counter[32];
    struct seqb_request request = request_of(backend, true, counter);
    struct seqb_error err;

    moves_to = servers.high.options.port;
    fails_calloc = 1;
    assert_status(backend_redis.reserve(backend, &request, 1, &err),
                  SEQB_NO_MEMORY);
    moves_to = 0;
    assert_non_null(strstr(err.text, "more than 1000 servers"));
    for (int i = 1; i <= 4; i++) {
        fails_calloc = i;
        assert_status(backend_redis.open(&servers.guide.options, &other, &err),
                      SEQB_NO_MEMORY);
        assert_null(other);
    }
    fails_calloc = 0;
    servers_stop(&servers, backend);
}

/* --- what the slots are said to be --- */

#define MASTER "*2\r\n$9\r\n127.0.0.1\r\n"

TEST(slots_that_make_no_sense_are_distrusted)
{
    static const struct {
        const char *text;
        enum seqb_status status;
    } rows[] = {
        {"+OK\r\n", SEQB_PROTOCOL},
        {"*0\r\n", SEQB_UNREACHABLE},
        {"*1\r\n:1\r\n", SEQB_PROTOCOL},
        {"*1\r\n*2\r\n:0\r\n:16383\r\n", SEQB_PROTOCOL},
        {"*1\r\n*3\r\n+0\r\n:16383\r\n" MASTER ":1\r\n", SEQB_PROTOCOL},
        {"*1\r\n*3\r\n:0\r\n+16383\r\n" MASTER ":1\r\n", SEQB_PROTOCOL},
        {"*1\r\n*3\r\n:-1\r\n:16383\r\n" MASTER ":1\r\n", SEQB_PROTOCOL},
        {"*1\r\n*3\r\n:0\r\n:16384\r\n" MASTER ":1\r\n", SEQB_PROTOCOL},
        {"*1\r\n*3\r\n:0\r\n:16383\r\n" MASTER ":0\r\n", SEQB_PROTOCOL},
        {"*1\r\n*3\r\n:0\r\n:16383\r\n" MASTER ":65536\r\n", SEQB_PROTOCOL},
        {"*1\r\n*3\r\n:0\r\n:16383\r\n" MASTER "+1\r\n", SEQB_PROTOCOL},
        {"*1\r\n*3\r\n:0\r\n:16383\r\n:1\r\n", SEQB_PROTOCOL},
        {"*1\r\n*3\r\n:0\r\n:16383\r\n*1\r\n$1\r\na\r\n", SEQB_PROTOCOL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct servers servers = {.address = ""};
        struct seqb_backend *backend = NULL;
        struct seqb_error err;

        guide_start(&servers, rows[i].text);
        assert_status(
            backend_redis.open(&servers.guide.options, &backend, &err),
            rows[i].status);
        assert_null(backend);
        impostor_stop(&servers.guide);
    }
}

/* Then it is the one that was asked. Slots without a server are asked of any,
 * which says so. */
TEST(server_that_does_not_know_its_name_is_the_one_that_said_so)
{
    struct servers servers = {.address = ""};
    char text[TEXT_SIZE];
    char moved[64];
    char counter[32];
    struct seqb_request request;
    struct seqb_backend *backend;
    struct seqb_error err;

    master_start(&servers.high, "-CLUSTERDOWN Hash slot not served\r\n", WAITS);
    (void)text_format(moved, sizeof moved, "-MOVED 1 :%d\r\n-MOVED 1 :%d\r\n",
                      (int)servers.high.options.port,
                      (int)servers.high.options.port);
    master_start(&servers.low, moved, WAITS);
    (void)text_format(text, sizeof text,
                      "*1\r\n*3\r\n:1\r\n:2\r\n*2\r\n$0\r\n\r\n:%d\r\n",
                      (int)servers.low.options.port);
    backend = cluster_start(&servers, text);
    request = request_of(backend, false, counter);
    assert_status(backend_redis.reserve(backend, &request, 1, &err),
                  SEQB_UNREACHABLE);
    assert_non_null(strstr(request.error.text, "nobody has the slot"));
    servers_stop(&servers, backend);
}

TEST_BEFORE_ALL(without_sigpipe);
