/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redis servers that forget, go back, and disagree, under one counter whose
 * windows a SQLite file leases.
 */
#include <stdlib.h>

#include "chaos.h"
#include "platform/text.h"
#include "redis_pool.h"
#include "support/server_redis.h"
#include "support/server_sentinel.h"
#include "support/test.h"

#define FAULTS      12
#define MASTER_NAME "orders"

static struct server *redis_a;
static struct server *redis_b;
static struct gate even;
static struct gate odd;

static void socket_set(struct chaos *chaos,
                       void (*set)(struct chaos *chaos, const char *text),
                       const char *path)
{
    char place[128];

    (void)text_format(place, sizeof place, "socket = \"%s\";", path);
    redis_pool_set(chaos, set, place);
}

/* --- one server --- */

static void one_server(struct chaos *chaos)
{
    server_free(redis_a);
    redis_a = NULL;
    redis_a = server_redis(NULL);
    socket_set(chaos, chaos_topology, server_socket(redis_a));
}

static void restart(struct chaos *chaos)
{
    (void)chaos;
    server_kill(redis_a);
    server_start(redis_a);
}

TEST_WITH(CHAOS, server_killed_and_started_without_data)
{
    one_server(chaos);
    chaos_run(chaos, __func__, FAULTS, restart);
}

/* The dump is of a moment before, or of several restarts ago. */
static void restart_with_dump(struct chaos *chaos)
{
    if (chaos_random(chaos, 2) == 0)
        redis_execute(redis_a, "SAVE");
    chaos_take_some(chaos);
    restart(chaos);
}

TEST_WITH(CHAOS, server_started_from_an_old_dump)
{
    one_server(chaos);
    chaos_run(chaos, __func__, FAULTS, restart_with_dump);
}

static void flush(struct chaos *chaos)
{
    redis_execute(redis_a,
                  chaos_random(chaos, 2) == 0 ? "FLUSHALL" : "FLUSHDB ASYNC");
}

TEST_WITH(CHAOS, server_flushed)
{
    one_server(chaos);
    chaos_run(chaos, __func__, 5 * FAULTS, flush);
}

static long long evicted(void)
{
    redisReply *reply =
        server_ask(redis_a, "EVAL %s 0",
                   "return tonumber(redis.call('INFO', 'stats'):match("
                   "'evicted_keys:(%d+)'))");
    const long long count = reply->integer;

    freeReplyObject(reply);
    return count;
}

/* Too little memory for anything, until all keys are gone. */
static void evict(struct chaos *chaos)
{
    const long long before = evicted();

    (void)chaos;
    redis_execute(redis_a, "CONFIG SET maxmemory 1000");
    while (evicted() == before)
        continue;
    redis_execute(redis_a, "CONFIG SET maxmemory 0");
}

TEST_WITH(CHAOS, cells_evicted)
{
    one_server(chaos);
    redis_execute(redis_a, "CONFIG SET maxmemory-policy allkeys-random");
    chaos_run(chaos, __func__, 2 * FAULTS, evict);
}

/* --- two servers, one of which was the other's replica --- */

/* Waits until what a server says of its replication has these words. */
static void await_words(struct server *server, const char *words)
{
    bool is_said = false;

    while (!is_said) {
        redisReply *reply =
            server_ask(server, "EVAL %s 0 %s",
                       "return redis.call('INFO', 'replication'):find("
                       "ARGV[1], 1, true) and 1 or 0",
                       words);

        is_said = reply->integer == 1;
        freeReplyObject(reply);
    }
}

static void follow(struct server *replica, const struct server *master)
{
    redis_execute(replica, "REPLICAOF 127.0.0.1 %d", (int)server_port(master));
    await_words(replica, "master_link_status:up");
}

/* What it knows is from before; it believes to be a replica still. */
static void cut_off(struct server *replica)
{
    redis_execute(replica, "REPLICAOF 127.0.0.1 %d", (int)free_port());
}

static void promote(struct server *replica)
{
    redis_execute(replica, "REPLICAOF NO ONE");
}

static void cut_connections(struct server *server)
{
    redis_execute(server, "CLIENT KILL TYPE normal SKIPME yes");
}

static void two_servers(struct chaos *chaos)
{
    static const char *const args[] = {"--repl-diskless-sync-delay", "0", NULL};

    server_free(redis_a);
    server_free(redis_b);
    redis_a = redis_b = NULL;
    redis_a = server_redis(args);
    redis_b = server_redis(args);
    gate_lead(&even, chaos, "even", server_socket(redis_a));
    gate_lead(&odd, chaos, "odd", server_socket(redis_a));
    socket_set(chaos, chaos_topology, even.path);
    socket_set(chaos, chaos_topology_odd, odd.path);
    follow(redis_b, redis_a);
}

static void swap_servers(void)
{
    struct server *server = redis_a;

    redis_a = redis_b;
    redis_b = server;
}

/* The master dies while its replica lags; what it comes back as is the other's
 * replica. */
static void fail_over(struct chaos *chaos)
{
    cut_off(redis_b);
    chaos_take_some(chaos);
    server_kill(redis_a);
    promote(redis_b);
    gate_lead(&even, chaos, "even", server_socket(redis_b));
    gate_lead(&odd, chaos, "odd", server_socket(redis_b));
    swap_servers();
    server_start(redis_b);
    follow(redis_b, redis_a);
}

TEST_WITH(CHAOS, replica_promoted_while_cut_off)
{
    two_servers(chaos);
    chaos_run(chaos, __func__, FAULTS, fail_over);
}

/* The process stays the same while its data becomes what it was when the
 * replica was cut off: its run_id is no witness of that. */
static void demote_and_promote(struct chaos *chaos)
{
    cut_off(redis_b);
    chaos_take_some(chaos);
    promote(redis_b);
    follow(redis_a, redis_b);
    promote(redis_a);
    follow(redis_b, redis_a);
}

TEST_WITH(CHAOS, master_demoted_and_promoted_again)
{
    two_servers(chaos);
    chaos_run(chaos, __func__, FAULTS, demote_and_promote);
}

/* The odd brokers see the one side, the even ones the other, both writable;
 * then one of them gives in. */
static void split(struct chaos *chaos)
{
    chaos_take_some(chaos);
    promote(redis_b);
    gate_lead(&odd, chaos, "odd", server_socket(redis_b));
    cut_connections(redis_a);
    chaos_take(chaos);
    if (chaos_random(chaos, 2) == 0)
        swap_servers();
    follow(redis_b, redis_a);
    gate_lead(&even, chaos, "even", server_socket(redis_a));
    gate_lead(&odd, chaos, "odd", server_socket(redis_a));
}

TEST_WITH(CHAOS, brain_split_with_both_sides_writable)
{
    two_servers(chaos);
    chaos_run(chaos, __func__, FAULTS, split);
}

/* --- sentinel --- */

static struct server *sentinel;

static void watch(void)
{
    sentinel_watch(sentinel, MASTER_NAME, redis_a, 1);
    sentinel_hurry(sentinel, MASTER_NAME);
}

/* Whether brokers are sent to that server. */
static bool is_named(const struct server *server)
{
    redisReply *reply =
        server_ask(sentinel, "SENTINEL GET-MASTER-ADDR-BY-NAME " MASTER_NAME);
    const bool is_it =
        reply->elements == 2 &&
        strtol(reply->element[1]->str, NULL, 10) == server_port(server);

    freeReplyObject(reply);
    return is_it;
}

/* The master dies; what it comes back as forgot all, and follows the other. */
static void sentinel_fail_over(struct chaos *chaos)
{
    (void)chaos;
    server_kill(redis_a);
    while (!is_named(redis_b))
        continue;
    swap_servers();
    server_start(redis_b);
    follow(redis_b, redis_a);
    redis_execute(sentinel, "SENTINEL REMOVE " MASTER_NAME);
    watch();
}

TEST_WITH(CHAOS, sentinel_replaced_the_master)
{
    char place[160];

    two_servers(chaos);
    sentinel = server_sentinel();
    watch();
    (void)text_format(place, sizeof place,
                      "sentinels = [ \"127.0.0.1:%d\" ]; master_name = \"%s\";",
                      (int)server_port(sentinel), MASTER_NAME);
    redis_pool_set(chaos, chaos_topology, place);
    chaos_run(chaos, __func__, FAULTS / 4, sentinel_fail_over);
}
