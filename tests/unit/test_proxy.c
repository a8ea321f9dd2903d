/* SPDX-License-Identifier: Apache-2.0 */
/* The fault proxy of the tests: the test itself is its client and its server.
 * What must not come is waited for a short while; what must, patiently. */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "support/folder.h"
#include "support/proxy.h"
#include "support/servers.h"
#include "support/test.h"

#define PATIENCE_MS 30000
#define SHORTLY_MS  50
#define SEED        4711
#define CUTS        8

struct scenery {
    struct proxy *proxy;
    int listener; /* the server's */
    int client;
    int server;
    char folder[32];
};

static struct sockaddr_in loopback(int32_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
}

static int listen_at(int32_t port)
{
    const struct sockaddr_in name = loopback(port);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(listen(fd, 8), 0);
    return fd;
}

static void proxy_start(struct scenery *scenery, uint64_t seed)
{
    struct proxy_options options = {.seed = seed};

    options.to.port = free_port();
    scenery->listener = listen_at(options.to.port);
    scenery->proxy = proxy_new(&options);
}

static int setup(void **state)
{
    static struct scenery scenery;

    scenery = (struct scenery){.listener = -1, .client = -1, .server = -1};
    proxy_start(&scenery, SEED);
    *state = &scenery;
    return 0;
}

static void fd_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void hang_up(struct scenery *scenery)
{
    fd_close(&scenery->client);
    fd_close(&scenery->server);
}

static int teardown(void **state)
{
    struct scenery *scenery = *state;

    hang_up(scenery);
    fd_close(&scenery->listener);
    proxy_free(scenery->proxy);
    if (scenery->folder[0] != '\0')
        folder_remove(scenery->folder);
    return 0;
}

#define PROXY FIXTURE(struct scenery *scenery, setup, teardown)

/* --- the two ends --- */

static bool is_ready(int fd, int wait_ms)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};

    return poll(&one, 1, wait_ms) == 1;
}

/* 0, or why there is no connection. */
static int try_dial(struct scenery *scenery)
{
    const struct sockaddr_in name = loopback(proxy_port(scenery->proxy));
    int why;

    scenery->client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(scenery->client >= 0);
    if (connect(scenery->client, (const struct sockaddr *)&name, sizeof name) ==
        0)
        return 0;
    why = errno;
    fd_close(&scenery->client);
    return why;
}

static void pick_up(struct scenery *scenery)
{
    assert_true(is_ready(scenery->listener, PATIENCE_MS));
    scenery->server = accept(scenery->listener, NULL, NULL);
    assert_true(scenery->server >= 0);
}

static void dial(struct scenery *scenery)
{
    assert_int_equal(try_dial(scenery), 0);
    pick_up(scenery);
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* All that comes until the end or so many bytes; false: it was reset. */
static bool hear(int fd, size_t want, char *out, size_t *got)
{
    *got = 0;
    while (*got < want) {
        ssize_t length;

        assert_true(is_ready(fd, PATIENCE_MS));
        length = recv(fd, out + *got, want - *got, 0);
        if (length <= 0)
            return length == 0;
        *got += (size_t)length;
    }
    return true;
}

static void expect_heard(int fd, const char *text)
{
    char got[256] = "";
    size_t length;

    assert_in_range(strlen(text), 1, sizeof got - 1);
    assert_true(hear(fd, strlen(text), got, &length));
    assert_string_equal(got, text);
}

static void expect_silence(int fd)
{
    assert_false(is_ready(fd, SHORTLY_MS));
}

static void expect_reset(int fd)
{
    char got[8];
    size_t length;

    assert_false(hear(fd, sizeof got, got, &length));
    assert_int_equal(length, 0);
}

static void expect_talk(struct scenery *scenery)
{
    say(scenery->client, "question");
    expect_heard(scenery->server, "question");
    say(scenery->server, "answer");
    expect_heard(scenery->client, "answer");
}

/* --- what it does --- */

TEST_WITH(PROXY, passes_bytes_both_ways)
{
    for (int i = 1; i <= 3; i++) {
        dial(scenery);
        expect_talk(scenery);
        expect_talk(scenery);
        assert_int_equal(proxy_accepted(scenery->proxy), i);
        hang_up(scenery);
    }
}

/* More than fits on the way at once: what is sent is read in between. */
TEST_WITH(PROXY, much_comes_whole_and_in_order)
{
    enum { SIZE = 4 << 20 };
    static char sent[SIZE];
    static char got[SIZE];
    size_t length = 0;
    size_t heard = 0;

    for (size_t i = 0; i < SIZE; i++)
        sent[i] = (char)(i * 31 >> 7);
    dial(scenery);
    while (heard < SIZE) {
        const ssize_t n = send(scenery->server, sent + length, SIZE - length,
                               MSG_NOSIGNAL | MSG_DONTWAIT);
        size_t part = 0;

        length += n > 0 ? (size_t)n : 0;
        assert_true(hear(scenery->client, length - heard, got + heard, &part));
        heard += part;
    }
    assert_memory_equal(sent, got, SIZE);
}

TEST_WITH(PROXY, end_of_one_side_is_told_to_the_other)
{
    char got[8];
    size_t length;

    dial(scenery);
    say(scenery->client, "bye");
    fd_close(&scenery->client);
    expect_heard(scenery->server, "bye");
    assert_true(hear(scenery->server, 1, got, &length));
    assert_int_equal(length, 0);
    fd_close(&scenery->server);

    dial(scenery);
    fd_close(&scenery->server);
    assert_true(hear(scenery->client, 1, got, &length));
    assert_int_equal(length, 0);
}

TEST_WITH(PROXY, client_of_a_server_that_is_gone_is_reset)
{
    fd_close(&scenery->listener);
    assert_int_equal(try_dial(scenery), 0);
    expect_reset(scenery->client);
}

TEST_WITH(PROXY, unix_sockets_pass_too)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    char path[64];
    struct proxy_options options = {.from.path = path,
                                    .to.path = name.sun_path};

    (void)text_copy(scenery->folder, sizeof scenery->folder,
                    "/tmp/seqb-XXXXXX");
    assert_non_null(mkdtemp(scenery->folder));
    (void)text_format(path, sizeof path, "%s/p", scenery->folder);
    (void)text_format(name.sun_path, sizeof name.sun_path, "%s/s",
                      scenery->folder);
    fd_close(&scenery->listener);
    scenery->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(
        bind(scenery->listener, (const struct sockaddr *)&name, sizeof name),
        0);
    assert_int_equal(listen(scenery->listener, 8), 0);
    proxy_free(scenery->proxy);
    scenery->proxy = proxy_new(&options);

    scenery->client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)text_copy(name.sun_path, sizeof name.sun_path, path);
    assert_int_equal(
        connect(scenery->client, (const struct sockaddr *)&name, sizeof name),
        0);
    pick_up(scenery);
    expect_talk(scenery);
    proxy_set(scenery->proxy, PROXY_REFUSE, 0);
    assert_int_equal(access(path, F_OK), -1);
}

TEST_WITH(PROXY, refusing_resets_what_is_open_and_listens_no_more)
{
    dial(scenery);
    expect_talk(scenery);
    proxy_set(scenery->proxy, PROXY_REFUSE, 0);
    expect_reset(scenery->client);
    hang_up(scenery);
    assert_int_equal(try_dial(scenery), ECONNREFUSED);
    assert_int_equal(proxy_accepted(scenery->proxy), 1);

    proxy_set(scenery->proxy, PROXY_PASS, 0);
    dial(scenery);
    expect_talk(scenery);
}

TEST_WITH(PROXY, resetting_accepts_and_counts_first)
{
    dial(scenery);
    proxy_set(scenery->proxy, PROXY_RESET, 0);
    expect_reset(scenery->client);
    hang_up(scenery);
    for (int i = 0; i < 3; i++) {
        if (try_dial(scenery) == 0) /* or it was faster */
            expect_reset(scenery->client);
        hang_up(scenery);
    }
    assert_int_equal(proxy_accepted(scenery->proxy), 4);
    expect_silence(scenery->listener);
}

TEST_WITH(PROXY, black_hole_freezes_what_is_open)
{
    dial(scenery);
    expect_talk(scenery);
    proxy_set(scenery->proxy, PROXY_BLACK_HOLE, 0);
    say(scenery->client, "late question");
    say(scenery->server, "late answer");
    expect_silence(scenery->server);
    expect_silence(scenery->client);

    proxy_set(scenery->proxy, PROXY_PASS, 0);
    expect_heard(scenery->server, "late question");
    expect_heard(scenery->client, "late answer");
    expect_talk(scenery);
}

TEST_WITH(PROXY, black_hole_swallows_what_comes)
{
    proxy_set(scenery->proxy, PROXY_BLACK_HOLE, 0);
    assert_int_equal(try_dial(scenery), 0);
    say(scenery->client, "question");
    expect_silence(scenery->listener);
    expect_silence(scenery->client);

    proxy_set(scenery->proxy, PROXY_PASS, 0);
    expect_reset(scenery->client);
    hang_up(scenery);
    dial(scenery);
    expect_talk(scenery);
}

TEST_WITH(PROXY, delayed_answers_come_whole_and_not_before_their_time)
{
    int64_t begin_us;

    dial(scenery);
    proxy_set(scenery->proxy, PROXY_DELAY, 30);
    for (int i = 0; i < 3; i++) {
        say(scenery->client, "question");
        expect_heard(scenery->server, "question");
        begin_us = clock_now_us();
        say(scenery->server, "answer");
        expect_heard(scenery->client, "answer");
        assert_true(clock_now_us() - begin_us >= 30000);
    }
    begin_us = clock_now_us(); /* those on their way wait side by side */
    for (int i = 0; i < 10; i++)
        say(scenery->server, "answer");
    for (int i = 0; i < 10; i++)
        expect_heard(scenery->client, "answer");
    assert_true(clock_now_us() - begin_us >= 30000);
}

TEST_WITH(PROXY, dripping_answers_come_a_byte_at_a_time)
{
    const int64_t begin_us = clock_now_us();

    dial(scenery);
    proxy_set(scenery->proxy, PROXY_DRIP, 2);
    say(scenery->server, "an answer");
    expect_heard(scenery->client, "an answer");
    assert_true(clock_now_us() - begin_us >= 16000);
    say(scenery->client, "question");
    expect_heard(scenery->server, "question");
}

/* The bytes of `CUTS` answers that came, one connection each. */
static void hear_cuts(struct scenery *scenery, size_t out[CUTS])
{
    static const char answer[] = "an answer that is long enough to be cut";
    char got[sizeof answer];

    proxy_set(scenery->proxy, PROXY_CUT, 1);
    for (int i = 0; i < CUTS; i++) {
        dial(scenery);
        say(scenery->server, answer);
        assert_false(hear(scenery->client, strlen(answer), got, &out[i]));
        assert_true(out[i] < strlen(answer));
        assert_memory_equal(got, answer, out[i]);
        hang_up(scenery);
    }
    assert_int_equal(proxy_cuts(scenery->proxy), CUTS);
}

TEST_WITH(PROXY, cuts_are_in_mid_answer_and_the_same_for_a_seed)
{
    size_t cuts[3][CUTS];

    for (int i = 0; i < 3; i++) {
        hear_cuts(scenery, cuts[i]);
        proxy_free(scenery->proxy);
        fd_close(&scenery->listener);
        proxy_start(scenery, i == 0 ? SEED : SEED + 1);
    }
    assert_memory_equal(cuts[0], cuts[1], sizeof cuts[0]);
    assert_memory_not_equal(cuts[1], cuts[2], sizeof cuts[0]);
}

TEST_WITH(PROXY, one_answer_in_some_is_cut)
{
    char got[8];
    size_t length;
    int whole = 0;

    proxy_set(scenery->proxy, PROXY_CUT, 4);
    for (int i = 0; i < 40; i++) {
        dial(scenery);
        say(scenery->server, "answer");
        whole += hear(scenery->client, strlen("answer"), got, &length);
        hang_up(scenery);
    }
    assert_in_range(whole, 20, 39);
    assert_int_equal(proxy_cuts(scenery->proxy), 40 - whole);
}

TEST_WITH(PROXY, flapping_goes_to_and_fro)
{
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    bool was_refused = false;
    int changes = 0;

    proxy_flap(scenery->proxy, PROXY_REFUSE, 0, 10);
    while (changes < 6 && clock_now_ms() < until_ms) {
        const bool is_refused = try_dial(scenery) != 0;

        changes += is_refused != was_refused;
        was_refused = is_refused;
        hang_up(scenery);
    }
    assert_int_equal(changes, 6);
    proxy_set(scenery->proxy, PROXY_PASS, 0);
    assert_int_equal(try_dial(scenery), 0);
}

TEST_BEFORE_ALL(without_sigpipe);
