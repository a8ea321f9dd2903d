/* SPDX-License-Identifier: Apache-2.0 */
/* What the firewall of the tests' network namespace does to connections: a
 * black hole says nothing at all, a refusal comes at once. */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "support/netns.h"
#include "support/proxy.h"
#include "support/servers.h"
#include "support/test.h"

#define PATIENCE_MS 30000
#define SHORTLY_MS  300

static struct netns *netns;
static struct proxy *proxy;
static int listener; /* outside; the proxy in the namespace leads to it */
static int client;
static int server;
static int refused; /* an errno, if that was told at once */

TEST(prepare)
{
    struct proxy_options options = {.seed = 1};
    struct sockaddr_in name = {.sin_family = AF_INET};

    netns_require();
    netns = netns_new();
    options.netns = netns;
    options.from.address = netns_address(netns);
    options.to.port = free_port();
    name.sin_port = htons((uint16_t)options.to.port);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(listener >= 0);
    assert_int_equal(
        bind(listener, (const struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(listen(listener, 8), 0);
    proxy = proxy_new(&options);
}

static int teardown(void **state)
{
    (void)state;
    if (client > 0)
        close(client);
    if (server > 0)
        close(server);
    client = server = 0;
    return 0;
}

#define NETNS FIXTURE(void *unused, NULL, teardown)

/* Begins to connect; does not wait. */
static void dial(void)
{
    struct sockaddr_in name = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)proxy_port(proxy)),
    };

    if (netns == NULL)
        skip(); /* as it was prepared */
    assert_int_equal(inet_pton(AF_INET, netns_address(netns), &name.sin_addr),
                     1);
    client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(client >= 0);
    refused = 0;
    if (connect(client, (const struct sockaddr *)&name, sizeof name) != 0 &&
        errno != EINPROGRESS)
        refused = errno;
}

static bool is_ready(int fd, short events, int wait_ms)
{
    struct pollfd one = {.fd = fd, .events = events};

    return poll(&one, 1, wait_ms) == 1;
}

/* How connecting ended: 0 or an errno. */
static int dial_result(void)
{
    socklen_t size = sizeof errno;
    int why = -1;

    if (refused != 0)
        return refused;
    assert_true(is_ready(client, POLLOUT, PATIENCE_MS));
    assert_int_equal(getsockopt(client, SOL_SOCKET, SO_ERROR, &why, &size), 0);
    return why;
}

static void pick_up(void)
{
    assert_int_equal(dial_result(), 0);
    assert_true(is_ready(listener, POLLIN, PATIENCE_MS));
    server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(server >= 0);
}

static void expect_letter(int from, int to, char letter)
{
    char got = '\0';

    assert_int_equal(send(from, &letter, 1, MSG_NOSIGNAL), 1);
    assert_true(is_ready(to, POLLIN, PATIENCE_MS));
    assert_int_equal(recv(to, &got, 1, 0), 1);
    assert_int_equal(got, letter);
}

TEST_WITH(NETNS, packets_pass_by_default)
{
    dial();
    pick_up();
    expect_letter(client, server, 'a');
    expect_letter(server, client, 'b');
}

TEST_WITH(NETNS, dropped_connections_are_told_nothing)
{
    if (netns == NULL)
        skip();
    netns_set(netns, proxy_port(proxy), NETNS_DROP);
    dial();
    assert_false(is_ready(client, POLLOUT, SHORTLY_MS));
    netns_set(netns, proxy_port(proxy), NETNS_PASS);
    pick_up(); /* it was asked again */
}

TEST_WITH(NETNS, open_connections_freeze_and_go_on)
{
    dial();
    pick_up();
    expect_letter(client, server, 'a');
    netns_set(netns, proxy_port(proxy), NETNS_DROP);
    assert_int_equal(send(client, "x", 1, MSG_NOSIGNAL), 1);
    assert_int_equal(send(server, "y", 1, MSG_NOSIGNAL), 1);
    assert_false(is_ready(server, POLLIN, SHORTLY_MS));
    assert_false(is_ready(client, POLLIN | POLLHUP, SHORTLY_MS));
    netns_set(netns, proxy_port(proxy), NETNS_PASS);
    assert_true(is_ready(server, POLLIN, PATIENCE_MS));
    assert_true(is_ready(client, POLLIN, PATIENCE_MS));
}

TEST_WITH(NETNS, rejected_connections_are_told_so)
{
    static const enum netns_rule refusals[] = {NETNS_REJECT, NETNS_UNREACHABLE};

    for (size_t i = 0; i < 2; i++) {
        if (netns == NULL)
            skip();
        netns_set(netns, proxy_port(proxy), refusals[i]);
        dial();
        assert_int_equal(dial_result(), ECONNREFUSED);
        (void)teardown(NULL);
    }
    netns_set(netns, proxy_port(proxy), NETNS_PASS);
    dial();
    pick_up();
}

TEST(end)
{
    proxy_free(proxy);
    netns_free(netns);
    if (listener > 0)
        close(listener);
}

TEST_BEFORE_ALL(without_sigpipe);
