/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a Redis server or a sentinel answers to the redis engine.
 * The first byte says whom it asks, and what. What must hold: what it grants is
 * what was asked for, and each failure has a text.
 */
#include <seqbroker/backend.h>

#include "backends/backends.h"
#include "backends/redis/sentinel.h"
#include "fuzz/false_server.h"
#include "fuzz/fuzz.h"

#define TIMEOUT_MS 5000
#define WANT       100
#define WINDOW     1000

int LLVMFuzzerInitialize(int *argc, char ***argv);

static const struct false_server *server;

static void check_error(const struct seqb_error *err)
{
    require(err->status != SEQB_OK);
    require(memchr(err->text, '\0', sizeof err->text) != NULL);
    require(err->text[0] != '\0');
}

static void check_request(const struct seqb_request *request)
{
    if (request->status != SEQB_OK)
        return;
    require(request->window >= 1);
    require(request->block.count >= 1 && request->block.count <= WANT);
    require(request->block.first >= 0);
    require(request->block.first + request->block.count <= WINDOW);
}

static void reserve(struct seqb_backend *backend)
{
    struct seqb_error err = {.status = SEQB_OK};
    struct seqb_request requests[2] = {
        {.counter = "a", .want = WANT, .limit = WINDOW},
        {.counter = "b", .want = WANT, .limit = WINDOW}};

    if (backend_redis.reserve(backend, requests, 2, &err) != SEQB_OK)
        check_error(&err);
    for (size_t i = 0; i < 2; i++)
        check_request(&requests[i]);
}

static void raise_counter(struct seqb_backend *backend)
{
    const struct seqb_raise raise = {.counter = "a", .floor = 7};
    struct seqb_error err = {.status = SEQB_OK};
    int64_t standing = -1;

    if (backend_redis.raise(backend, &raise, &standing, &err) != SEQB_OK)
        check_error(&err);
    else
        require(standing >= raise.floor);
}

static void install(struct seqb_backend *backend)
{
    const struct seqb_window window = {
        .counter = "a", .window = 3, .size = WINDOW};
    struct seqb_error err = {.status = SEQB_OK};
    int64_t standing = 0;

    if (backend_redis.install(backend, &window, &standing, &err) != SEQB_OK)
        check_error(&err);
}

static void claim(struct seqb_backend *backend)
{
    struct seqb_error err = {.status = SEQB_OK};
    char standing[64];

    memset(standing, 'x', sizeof standing);
    if (backend_redis.claim(backend, "layout", "n=2", standing, sizeof standing,
                            &err) != SEQB_OK)
        check_error(&err);
    else
        require(memchr(standing, '\0', sizeof standing) != NULL);
}

static void read_clock(struct seqb_backend *backend)
{
    struct seqb_error err = {.status = SEQB_OK};
    int64_t now_ms = 0;

    if (backend_redis.clock(backend, &now_ms, &err) != SEQB_OK)
        check_error(&err);
    else
        require(now_ms >= 0);
}

static void ask_server(unsigned what)
{
    static void (*const calls[])(struct seqb_backend *) = {
        reserve, raise_counter, install, claim, read_clock};
    const struct seqb_backend_options options = {
        .name = "a",
        .socket_path = server->path,
        .password = what & 64 ? "secret" : NULL,
        .timeout_ms = TIMEOUT_MS,
        .connect_timeout_ms = TIMEOUT_MS};
    struct seqb_backend *backend = NULL;
    struct seqb_error err = {.status = SEQB_OK};

    if (backend_redis.open(&options, &backend, &err) != SEQB_OK) {
        check_error(&err);
        require(backend == NULL);
        return;
    }
    for (unsigned i = 0; i < 3; i++)
        calls[(what + i) % (sizeof calls / sizeof calls[0])](backend);
    backend_redis.close(backend);
}

/* Only asks: where it leads to may be anywhere. */
static void ask_sentinel(void)
{
    const char *const sentinels[] = {server->address, NULL};
    const struct seqb_backend_options options = {.name = "a",
                                                 .sentinels = sentinels,
                                                 .master_name = "m",
                                                 .timeout_ms = TIMEOUT_MS,
                                                 .connect_timeout_ms =
                                                     TIMEOUT_MS};
    struct sentinel_walk walk;
    struct seqb_error err = {.status = SEQB_OK};

    require(sentinel_begin(&walk, &options, &err) == SEQB_OK);
    if (sentinel_next(&walk)) {
        require(walk.found.host[0] != '\0');
        require(walk.found.port >= 1 && walk.found.port <= 65535);
        return;
    }
    require(sentinel_fail(&walk, SEQB_UNREACHABLE, &err) != SEQB_OK);
    check_error(&err);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    server = false_server_start();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 1 || size > FALSE_SERVER_MAX)
        return 0;
    false_server_say(bytes + 1, size - 1);
    if (bytes[0] & 128)
        ask_sentinel();
    else
        ask_server(bytes[0]);
    return 0;
}
