/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of an engine alone, over a sound store, while memory or a system
 * call of the engine fails at one place of the code after another: what failed
 * is never called a success, and no value comes twice. All in one process,
 * since an engine has no thread. */
#include <string.h>
#include <unistd.h>

#include "backends/backends.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "support/faults.h"
#include "support/folder.h"
#include "support/server_etcd.h"
#include "support/server_memcached.h"
#include "support/server_redis.h"
#include "support/test.h"

#define LIMIT   ((int64_t)1 << 40) /* of a direct counter */
#define SIZE    ((int64_t)1 << 20) /* of a window */
#define COUNTER "main/0/order"
#define PERIODS "main/0/day"

/* A store, and what became of it. */
struct store {
    const struct seqb_backend_ops *ops;
    struct seqb_backend_options options;
    int64_t lives;
    int64_t window; /* the last one that was leased */
    int64_t last;   /* the last value that was granted */
    bool has_failed;
};

static struct faults_record record;

/* A failure of memory or of a socket says nothing about the store's data, nor
 * about the caller; what a call's failure means to SQLite depends on it. */
static bool is_right(const struct store *store, enum seqb_status status)
{
    return status == SEQB_NO_MEMORY || status == SEQB_UNREACHABLE ||
           status == SEQB_UNCERTAIN ||
           (store->ops == &backend_sqlite &&
            (status == SEQB_REFUSED || status == SEQB_CORRUPT ||
             status == SEQB_AGAIN || status == SEQB_PROTOCOL));
}

/* Notes a call. */
static bool expect(struct store *store, enum seqb_status status,
                   const struct seqb_error *err)
{
    if (status == SEQB_OK)
        return true;
    store->has_failed = true;
    if (err->status != status || err->text[0] == '\0' ||
        !is_right(store, status)) {
        faults_disarm();
        fail_msg("%s: %s", seqb_status_name(status), err->text);
    }
    return false;
}

/* --- calls --- */

static void take(struct store *store, struct seqb_backend *backend)
{
    const bool is_direct = store->ops->guarantee == SEQB_DIRECT;
    struct seqb_request request = {.counter = COUNTER,
                                   .want = 3,
                                   .limit = is_direct ? LIMIT : SIZE,
                                   .window = SEQB_NO_WINDOW};
    struct seqb_error err;
    enum seqb_status status = store->ops->reserve(backend, &request, 1, &err);
    int64_t first;

    if (!expect(store, status, &err))
        return;
    if (request.status == SEQB_FENCED && store->has_failed)
        return; /* no window was put there */
    if (!expect(store, request.status, &request.error))
        return;
    first = request.block.first + (is_direct ? 0 : request.window * SIZE);
    assert_true(first > store->last && request.block.count > 0);
    store->last = first + request.block.count - 1;
}

static void lease(struct store *store, struct seqb_backend *backend)
{
    const struct seqb_raise raise = {
        .counter = COUNTER, .floor = store->window, .limit = LIMIT};
    const struct seqb_window window = {
        .counter = COUNTER, .window = store->window + 1, .size = SIZE};
    int64_t out = -1;
    struct seqb_error err;

    if (expect(store, store->ops->raise(backend, &raise, &out, &err), &err))
        assert_true(out >= raise.floor);
    if (store->ops->guarantee == SEQB_DIRECT)
        return;
    store->window++;
    out = window.window;
    (void)expect(store, store->ops->install(backend, &window, &out, &err),
                 &err);
}

static void claim(struct store *store, struct seqb_backend *backend)
{
    char names[3][32];
    char standing[SEQB_CLAIM_SIZE] = "";
    struct seqb_claim claims[2] = {{.name = names[1], .text = "a"},
                                   {.name = names[2], .text = "b"}};
    struct seqb_error err;
    size_t done = 0;

    for (int i = 0; i < 3; i++)
        (void)text_format(names[i], sizeof names[i], "claim%d.%d", i,
                          (int)store->lives);
    if (expect(store,
               store->ops->claim(backend, names[0], "a", standing,
                                 sizeof standing, &err),
               &err))
        assert_string_equal(standing, "a");
    if (expect(store, store->ops->claim_many(backend, claims, 2, &done, &err),
               &err)) {
        assert_int_equal(done, 2);
        assert_string_equal(claims[1].standing, "b");
    }
}

static void change_rows(struct store *store, struct seqb_backend *backend)
{
    const struct seqb_purge purge = {
        .counter = PERIODS, .keep = PERIODS "@20261121", .most = 9};
    char name[32];
    const struct seqb_swap swap = {.name = name, .expected = "", .text = "a"};
    struct seqb_listed listed[4];
    struct seqb_page page = {
        .prefix = "main/", .after = "", .listed = listed, .most = 4};
    char standing[SEQB_CLAIM_SIZE] = "";
    struct seqb_error err;
    int32_t deleted = 0;

    (void)text_format(name, sizeof name, "swapped%d", (int)store->lives);
    if (expect(
            store,
            store->ops->swap(backend, &swap, standing, sizeof standing, &err),
            &err))
        assert_string_equal(standing, "a");
    if (expect(store, store->ops->list(backend, &page, &err), &err))
        assert_int_equal(page.count, store->last > 0);
    (void)expect(store, store->ops->purge(backend, &purge, &deleted, &err),
                 &err);
}

static void look(struct store *store, struct seqb_backend *backend)
{
    const bool has_come = record.has_come;
    struct seqb_details details = {.node = ""};
    struct seqb_error err;
    int64_t now_ms;

    if (store->ops->describe != NULL)
        (void)expect(store, store->ops->describe(backend, &details, &err),
                     &err);
    store->has_failed |= !has_come && record.has_come; /* it may leave out */
    if (store->ops->clock != NULL)
        (void)expect(store, store->ops->clock(backend, &now_ms, &err), &err);
}

static void live(struct store *store)
{
    struct seqb_backend *backend = NULL;
    struct seqb_error err;

    store->has_failed = false;
    store->lives++;
    if (!expect(store, store->ops->open(&store->options, &backend, &err),
                &err)) {
        assert_null(backend);
        return;
    }
    lease(store, backend);
    for (int i = 0; i < 3; i++)
        take(store, backend);
    claim(store, backend);
    if (store->ops->guarantee == SEQB_DIRECT)
        change_rows(store, backend);
    look(store, backend);
    store->ops->close(backend);
}

/* --- sweeps --- */

/* A setting of the socket that only makes it faster, and an end that is an end
 * anyway. etcd's counters are read if there is no memory to know them, and a
 * connection that has ended before a read is made again. SQLite's engine looks
 * for much that need not be there. */
static bool is_harmless(const struct store *store, const char *call)
{
    return store->ops == &backend_sqlite || strcmp(call, "setsockopt") == 0 ||
           strcmp(call, "close") == 0 ||
           (store->ops == &backend_etcd &&
            (strcmp(call, "calloc") == 0 || strcmp(call, "recv") == 0));
}

static void live_with(struct store *store, const struct faults_plan *plan)
{
    memset(&record, 0, sizeof record);
    faults_arm(plan, &record);
    live(store);
    faults_disarm();
    if (record.has_come && !store->has_failed &&
        !is_harmless(store, record.call))
        fail_msg("call %d of %s, a %s, is not missed", (int)plan->at,
                 faults_kind_name(plan->kind), record.call);
}

/* Every call fails in turn. */
static void sweep(struct store *store, enum faults_kind kind)
{
    struct faults_plan plan = {.kind = kind};
    int64_t calls;

    live(store); /* makes what is made once only */
    live_with(store, &plan);
    assert_false(store->has_failed);
    calls = record.calls;
    while (plan.at++ < calls)
        live_with(store, &plan);
    live(store);
    assert_false(store->has_failed);
}

static struct seqb_backend_options options_of(const struct server *server)
{
    return (struct seqb_backend_options){.name = "a",
                                         .host = "127.0.0.1",
                                         .port = server_port(server),
                                         .timeout_ms = 20000,
                                         .connect_timeout_ms = 20000,
                                         .create = true,
                                         .needs_incarnation = true};
}

static void sweep_server(const struct seqb_backend_ops *ops,
                         struct server *server)
{
    struct store store = {.ops = ops, .options = options_of(server)};

    sweep(&store, FAULTS_MEMORY);
    sweep(&store, FAULTS_CALLS);
    server_free(server);
}

TEST(etcd_answers_for_what_fails)
{
    sweep_server(&backend_etcd, server_etcd(NULL));
}

TEST(memcached_answers_for_what_fails)
{
    sweep_server(&backend_memcached, server_memcached(NULL));
}

TEST(redis_answers_for_what_fails)
{
    sweep_server(&backend_redis, server_redis(NULL));
}

/* A server that starts serves no slot for two seconds. */
static void cluster_begin(struct store *store)
{
    const int64_t until_ms = clock_now_ms() + 60000;

    do {
        live(store);
        usleep(10000);
    } while (store->has_failed && clock_now_ms() < until_ms);
}

TEST(cluster_answers_for_what_fails)
{
    char port[16];
    char address[32];
    const char *const args[] = {"--cluster-enabled", "yes", "--cluster-port",
                                port, NULL};
    const char *const endpoints[] = {address, NULL};
    struct store store = {.ops = &backend_redis};
    struct server *server;

    (void)text_format(port, sizeof port, "%d", (int)free_port());
    server = server_redis(args);
    redis_execute(server, "CLUSTER ADDSLOTSRANGE 0 16383");
    (void)text_format(address, sizeof address, "%s:%d", server_address(server),
                      (int)server_port(server));
    store.options = options_of(server);
    store.options.endpoints = endpoints;
    cluster_begin(&store);
    sweep(&store, FAULTS_MEMORY);
    sweep(&store, FAULTS_CALLS);
    server_free(server);
}

TEST(sqlite_answers_for_what_fails)
{
    char folder[64];
    char path[80];
    struct store store = {.ops = &backend_sqlite,
                          .options = {.name = "a",
                                      .path = path,
                                      .timeout_ms = 20000,
                                      .connect_timeout_ms = 20000,
                                      .create = true,
                                      .needs_incarnation = true}};

    assert_true(folder_make(folder, sizeof folder));
    (void)text_format(path, sizeof path, "%s/a.db", folder);
    sweep(&store, FAULTS_MEMORY);
    sweep(&store, FAULTS_CALLS);
    folder_remove(folder);
}

TEST_BEFORE_ALL(without_sigpipe);
