/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy's thread: its listener, its connections, and the modes in turn. */
#include "support/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "support/proxy_wire.h"
#include "support/servers.h"
#include "support/test.h"

#define WIRES_MAX 256
#define BACKLOG   128
#define RETRY_US  10000 /* before listening is tried again */

/* What was asked for last. */
struct order {
    struct wire_fault fault;
    int64_t span_us;  /* 0: it stays */
    int64_t begin_us; /* of its first span */
    int64_t serial;
};

/* One end, as a socket address. */
struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in ip;
        struct sockaddr_un path;
    } name;
    socklen_t size;
};

struct proxy {
    pthread_t thread;
    int32_t port;
    int wake; /* an eventfd */
    const struct netns *netns;

    pthread_mutex_t lock; /* guards the next four */
    pthread_cond_t obeyed;
    struct order order;
    int64_t in_force; /* the serial of the order that the thread follows */
    bool is_ending;

    _Atomic int64_t accepted; /* counts alone: they order nothing */
    _Atomic int64_t cuts;

    /* The thread's own. */
    struct address from;
    struct address to;
    int listener; /* -1: nobody listens */
    struct wire_fault fault;
    uint64_t random;
    struct wire *wires[WIRES_MAX];
    size_t count;
};

static struct address address_make(const struct proxy_end *end)
{
    struct address out = {.size = sizeof out.name.ip};
    const char *ip = end->address != NULL ? end->address : "127.0.0.1";

    if (end->path != NULL) {
        out.size = sizeof out.name.path;
        out.name.path.sun_family = AF_UNIX;
        assert_true(text_copy(out.name.path.sun_path,
                              sizeof out.name.path.sun_path, end->path));
        return out;
    }
    out.name.ip.sin_family = AF_INET;
    out.name.ip.sin_port = htons((uint16_t)end->port);
    assert_int_equal(inet_pton(AF_INET, ip, &out.name.ip.sin_addr), 1);
    return out;
}

/* --- sockets --- */

/* Each part is sent on as it comes, or its delay would be felt. */
static void send_at_once(int fd)
{
    const int on = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static void listener_close(struct proxy *proxy)
{
    if (proxy->listener < 0)
        return;
    close(proxy->listener);
    proxy->listener = -1;
    if (proxy->from.name.any.sa_family == AF_UNIX)
        (void)unlink(proxy->from.name.path.sun_path);
}

static void listener_open(struct proxy *proxy)
{
    const int on = 1;
    const int fd = netns_socket(proxy->netns, proxy->from.name.any.sa_family,
                                SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        return;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, &proxy->from.name.any, proxy->from.size) == 0 &&
        listen(fd, BACKLOG) == 0)
        proxy->listener = fd;
    else
        close(fd);
}

/* Without waiting: what cannot be reached is seen when it is used. */
static int server_connect(const struct proxy *proxy)
{
    const int fd = socket(proxy->to.name.any.sa_family,
                          SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    send_at_once(fd);
    if (connect(fd, &proxy->to.name.any, proxy->to.size) == 0 ||
        errno == EINPROGRESS)
        return fd;
    close(fd);
    return -1;
}

/* --- connections --- */

static void proxy_drop(struct proxy *proxy, size_t i)
{
    wire_reset(proxy->wires[i]);
    proxy->wires[i] = proxy->wires[--proxy->count];
}

static void proxy_join(struct proxy *proxy, int client)
{
    const bool swallows = proxy->fault.mode == PROXY_BLACK_HOLE;
    const bool is_welcome =
        proxy->fault.mode != PROXY_RESET && proxy->count < WIRES_MAX;
    const int server = swallows || !is_welcome ? -1 : server_connect(proxy);
    struct wire *wire = wire_new(client, server);

    send_at_once(client);
    if (!is_welcome || (server < 0 && !swallows))
        wire_reset(wire);
    else
        proxy->wires[proxy->count++] = wire;
}

static void proxy_accept(struct proxy *proxy)
{
    int client;

    while (proxy->listener >= 0 &&
           (client = accept4(proxy->listener, NULL, NULL,
                             SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        atomic_fetch_add_explicit(&proxy->accepted, 1, memory_order_relaxed);
        proxy_join(proxy, client);
    }
}

static void proxy_carry(struct proxy *proxy, int64_t now_us)
{
    for (size_t i = proxy->count; i-- > 0;) {
        const enum wire_state state =
            wire_carry(proxy->wires[i], &proxy->fault, &proxy->random, now_us);

        if (state == WIRE_OPEN)
            continue;
        if (state == WIRE_OVER) {
            wire_close(proxy->wires[i]);
            proxy->wires[i] = proxy->wires[--proxy->count];
            continue;
        }
        if (proxy->fault.mode == PROXY_CUT)
            atomic_fetch_add_explicit(&proxy->cuts, 1, memory_order_relaxed);
        proxy_drop(proxy, i);
    }
}

/* --- modes --- */

static bool mode_resets(enum proxy_mode mode)
{
    return mode == PROXY_REFUSE || mode == PROXY_RESET;
}

static void proxy_switch(struct proxy *proxy, const struct wire_fault *fault)
{
    for (size_t i = proxy->count; i-- > 0;) {
        if (mode_resets(fault->mode) || (fault->mode != PROXY_BLACK_HOLE &&
                                         wire_is_swallowed(proxy->wires[i])))
            proxy_drop(proxy, i);
    }
    proxy->fault = *fault;
    if (fault->mode == PROXY_REFUSE)
        listener_close(proxy);
    else if (proxy->listener < 0)
        listener_open(proxy);
}

/* The fault of this moment, and the us until it may change. */
static struct wire_fault order_at(const struct order *order, int64_t now_us,
                                  int64_t *until_us)
{
    const struct wire_fault none = {PROXY_PASS, 0};
    int64_t spans;

    *until_us = INT64_MAX;
    if (order->span_us == 0)
        return order->fault;
    spans = (now_us - order->begin_us) / order->span_us;
    *until_us = order->begin_us + (spans + 1) * order->span_us;
    return spans % 2 == 0 ? order->fault : none;
}

/* Follows the order; false at the end. */
static bool proxy_obey(struct proxy *proxy, int64_t now_us, int64_t *until_us)
{
    struct order order;
    struct wire_fault fault;
    bool is_ending;

    pthread_mutex_lock(&proxy->lock);
    order = proxy->order;
    is_ending = proxy->is_ending;
    pthread_mutex_unlock(&proxy->lock);

    fault = order_at(&order, now_us, until_us);
    if (fault.mode != proxy->fault.mode ||
        fault.amount != proxy->fault.amount ||
        (fault.mode != PROXY_REFUSE && proxy->listener < 0))
        proxy_switch(proxy, &fault);
    if (fault.mode != PROXY_REFUSE && proxy->listener < 0)
        *until_us = now_us + RETRY_US;

    pthread_mutex_lock(&proxy->lock);
    if (fault.mode == PROXY_REFUSE || proxy->listener >= 0)
        proxy->in_force = order.serial;
    pthread_cond_broadcast(&proxy->obeyed);
    pthread_mutex_unlock(&proxy->lock);
    return !is_ending;
}

/* --- the thread --- */

/* Waits until there is something to do, at most until that time. */
static void proxy_wait(struct proxy *proxy, int64_t now_us, int64_t until_us)
{
    static _Thread_local struct pollfd fds[2 + 2 * WIRES_MAX];
    struct timespec wait;
    uint64_t ignored;

    fds[0] = (struct pollfd){.fd = proxy->wake, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = proxy->listener, .events = POLLIN};
    for (size_t i = 0; i < proxy->count; i++) {
        const int64_t due_us =
            wire_watch(proxy->wires[i], &proxy->fault, &fds[2 + 2 * i]);

        until_us = due_us < until_us ? due_us : until_us;
    }
    until_us = until_us > now_us ? until_us - now_us : 0;
    if (until_us > 1000000)
        until_us = 1000000;
    wait = (struct timespec){.tv_sec = until_us / 1000000,
                             .tv_nsec = until_us % 1000000 * 1000};
    if (ppoll(fds, 2 + 2 * proxy->count, &wait, NULL) > 0 &&
        fds[0].revents != 0)
        (void)!read(proxy->wake, &ignored, sizeof ignored);
}

static void *proxy_run(void *argument)
{
    struct proxy *proxy = argument;
    int64_t until_us;

    while (proxy_obey(proxy, clock_now_us(), &until_us)) {
        proxy_wait(proxy, clock_now_us(), until_us);
        proxy_accept(proxy);
        proxy_carry(proxy, clock_now_us());
    }
    while (proxy->count > 0)
        proxy_drop(proxy, 0);
    listener_close(proxy);
    return NULL;
}

/* Hands an order to the thread and waits until it is in force. */
static void proxy_send_order(struct proxy *proxy, const struct order *order,
                             bool is_ending)
{
    const uint64_t one = 1;

    pthread_mutex_lock(&proxy->lock);
    proxy->order = *order;
    proxy->order.serial = proxy->in_force + 1;
    proxy->is_ending = is_ending;
    if (write(proxy->wake, &one, sizeof one) != (ssize_t)sizeof one)
        abort();
    while (proxy->in_force < proxy->order.serial)
        pthread_cond_wait(&proxy->obeyed, &proxy->lock);
    pthread_mutex_unlock(&proxy->lock);
}

struct proxy *proxy_new(const struct proxy_options *options)
{
    struct proxy *proxy = calloc(1, sizeof *proxy);
    struct proxy_end from = options->from;

    assert_non_null(proxy);
    if (from.path == NULL && from.port == 0)
        from.port = free_port();
    proxy->port = from.port;
    proxy->from = address_make(&from);
    proxy->to = address_make(&options->to);
    proxy->netns = options->netns;
    proxy->random = options->seed;
    pthread_mutex_init(&proxy->lock, NULL);
    pthread_cond_init(&proxy->obeyed, NULL);
    proxy->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert_true(proxy->wake >= 0);
    proxy->listener = -1;
    listener_open(proxy);
    if (proxy->listener < 0)
        fail_msg("proxy: cannot listen on port %d: %s", (int)proxy->port,
                 strerror(errno));
    assert_ok(thread_start(&proxy->thread, "proxy", proxy_run, proxy, NULL));
    return proxy;
}

void proxy_free(struct proxy *proxy)
{
    const struct order end = {{PROXY_REFUSE, 0}, 0, 0, 0};

    if (proxy == NULL)
        return;
    proxy_send_order(proxy, &end, true);
    pthread_join(proxy->thread, NULL);
    close(proxy->wake);
    pthread_cond_destroy(&proxy->obeyed);
    pthread_mutex_destroy(&proxy->lock);
    free(proxy);
}

int32_t proxy_port(const struct proxy *proxy)
{
    assert_non_null(proxy); /* a test's preparation has failed */
    return proxy->port;
}

void proxy_set(struct proxy *proxy, enum proxy_mode mode, int32_t amount)
{
    const struct order order = {{mode, amount}, 0, 0, 0};

    assert_non_null(proxy);
    proxy_send_order(proxy, &order, false);
}

void proxy_flap(struct proxy *proxy, enum proxy_mode mode, int32_t amount,
                int32_t span_ms)
{
    const struct order order = {
        {mode, amount}, (int64_t)span_ms * 1000, clock_now_us(), 0};

    proxy_send_order(proxy, &order, false);
}

int64_t proxy_accepted(const struct proxy *proxy)
{
    return atomic_load_explicit(&proxy->accepted, memory_order_relaxed);
}

int64_t proxy_cuts(const struct proxy *proxy)
{
    return atomic_load_explicit(&proxy->cuts, memory_order_relaxed);
}
