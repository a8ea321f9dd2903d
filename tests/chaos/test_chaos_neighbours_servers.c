/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of neighbours as in config/neighbours.conf: two MariaDBs, one of them
 * with AUTO_INCREMENT tables, a PostgreSQL, and a Redis that forgets. One store
 * at a time goes back in every way that there is, by copies that were made at
 * different times, or gives way to its copy and comes back; four brokers take
 * numbers or snowflakes meanwhile, and are killed and started.
 */

#include "chaos.h"
#include "lessors.h"
#include "platform/text.h"
#include "support/server_mariadb.h"
#include "support/server_postgres.h"
#include "support/server_postgres_copies.h"
#include "support/server_redis.h"
#include "support/test.h"

#define TIMES   6
#define TURNS   3 /* each moment of a fault */
#define LESSORS 3
#define COPY    "copy"
#define DUMP    "dump"
#define GATE_PG ".s.PGSQL.5432" /* by default */

#define TOPOLOGY                                                               \
    "broker = { interval = \"2ms\"; };"                                        \
    "backends = ("                                                             \
    "  { name = \"my-a\"; engine = \"mysql-autoinc\"; socket = \"%s/my-a\";"   \
    "    user = \"root\"; database = \"seq\"; connect_timeout = \"10s\"; },"   \
    "  { name = \"my-b\"; engine = \"mysql-row\"; socket = \"%s/my-b\";"       \
    "    user = \"root\"; database = \"seq\"; connect_timeout = \"10s\"; },"   \
    "  { name = \"pg-a\"; engine = \"postgres\"; socket = \"%s\"; user = "     \
    "\"postgres\";"                                                            \
    "    database = \"postgres\"; connect_timeout = \"10s\"; },"               \
    "  { name = \"redis-a\"; engine = \"redis\"; socket = \"%s\";"             \
    "    connect_timeout = \"10s\"; } );"                                      \
    "pools = ( { name = \"main\"; authority = \"neighbours\";"                 \
    "            partitions = [ \"my-a\", \"my-b\", \"pg-a\", \"redis-a\" ];"  \
    "            window_bits = 8; timeout = \"2s\";"                           \
    "            rescue_after = \"100ms\"; } );"                               \
    "sequences = ( { key = \"order\"; max_unused = 2000;"                      \
    "                deadline = \"1s\"; },"                                    \
    "              { key = \"flake\"; deadline = \"1s\";"                      \
    "                snowflake = { epoch = \"2020-01-01\"; worker_bits = 8;"   \
    "                              lease = \"2s\"; }; } );"

/* How a server's data are copied and put back. */
struct way {
    void (*copy)(struct server *server, const char *copy);
    void (*put)(struct server *server, const char *copy);
    bool needs_rest; /* while brokers run it may fail */
};

struct kind {
    struct server *(*start)(const char *const *args);
    struct server *(*start_of)(struct server *server, const char *copy);
    void (*clear)(struct server *server);
    void (*copy)(struct server *server, const char *copy);
    void (*pause)(struct server *server);
    void (*resume)(struct server *server);
    struct way ways[4];
};

struct store {
    const char *gate; /* the name that leads to its socket */
    const struct kind *kind;
    struct server *server;
    struct server *twin; /* a copy that runs, in the scenario of those */
    size_t way;          /* of the copy that is there */
};

/* --- the kinds --- */

static void mariadb_clear(struct server *server)
{
    mariadb_execute(server, "DROP DATABASE IF EXISTS seq; CREATE DATABASE seq");
}

static void mariadb_dump(struct server *server, const char *name)
{
    mariadb_dump_database(server, "seq", name);
}

static void mariadb_restore(struct server *server, const char *name)
{
    mariadb_restore_database(server, "seq", name);
}

static void postgres_clear(struct server *server)
{
    postgres_execute(server, "postgres",
                     "DROP SCHEMA public CASCADE; CREATE SCHEMA public");
}

static void postgres_dump_all(struct server *server, const char *name)
{
    postgres_dump(server, "postgres", name);
}

static void postgres_restore_all(struct server *server, const char *name)
{
    postgres_restore(server, "postgres", name);
}

static const struct kind mariadb = {
    .start = server_mariadb,
    .start_of = server_mariadb_of,
    .clear = mariadb_clear,
    .copy = mariadb_copy_snapshot,
    .pause = server_pause,
    .resume = server_resume,
    .ways = {{mariadb_copy_cold, mariadb_put_back, false},
             {mariadb_copy_backup, mariadb_put_back, false},
             {mariadb_copy_snapshot, mariadb_put_back, false},
             {mariadb_dump, mariadb_restore, false}},
};

/* Who puts a dump back locks the tables in another order than brokers. */
static const struct kind postgres = {
    .start = server_postgres,
    .start_of = server_postgres_of,
    .clear = postgres_clear,
    .copy = postgres_copy_snapshot,
    .pause = postgres_pause,
    .resume = postgres_resume,
    .ways = {{postgres_copy_cold, postgres_put_back, false},
             {postgres_copy_base, postgres_put_back, false},
             {postgres_copy_snapshot, postgres_put_back, false},
             {postgres_dump_all, postgres_restore_all, true}},
};

#define WAYS (sizeof mariadb.ways / sizeof mariadb.ways[0])

/* --- the pool --- */

static struct store stores[LESSORS] = {{.gate = "my-a", .kind = &mariadb},
                                       {.gate = "my-b", .kind = &mariadb},
                                       {.gate = GATE_PG, .kind = &postgres}};
static struct server *redis_a;

static void lead_to(const struct chaos *chaos, const struct store *store,
                    const struct server *server)
{
    char socket[128];
    struct gate gate;

    if (store->kind == &postgres)
        (void)text_format(socket, sizeof socket, "%s/.s.PGSQL.%d",
                          server_folder(server), (int)server_port(server));
    else
        (void)text_copy(socket, sizeof socket, server_socket(server));
    gate_lead(&gate, chaos, store->gate, socket);
}

static void four_servers(struct chaos *chaos)
{
    const char *folder = chaos->scene->folder;
    char text[SCENE_TEXT_SIZE];

    mariadb_require();
    postgres_require();
    for (size_t i = 0; i < LESSORS; i++) {
        if (stores[i].server == NULL)
            stores[i].server = stores[i].kind->start(NULL);
        stores[i].kind->clear(stores[i].server);
        lead_to(chaos, &stores[i], stores[i].server);
    }
    if (redis_a == NULL)
        redis_a = server_redis(NULL);
    redis_execute(redis_a, "FLUSHALL");
    assert_true(text_format(text, sizeof text, TOPOLOGY, folder, folder, folder,
                            server_socket(redis_a)));
    chaos_topology(chaos, text);
}

/* --- copies of all kinds --- */

static const struct way *way_of(const struct store *store)
{
    return &store->kind->ways[store->way];
}

static void copy(struct store *store)
{
    way_of(store)->copy(store->server, store->way == WAYS - 1 ? DUMP : COPY);
}

static void put_back(struct store *store)
{
    way_of(store)->put(store->server, store->way == WAYS - 1 ? DUMP : COPY);
}

static void forget(struct chaos *chaos)
{
    if (chaos_random(chaos, 2) == 0) {
        redis_execute(redis_a, "FLUSHALL");
        return;
    }
    server_kill(redis_a);
    server_start(redis_a);
}

static void go_back(struct chaos *chaos)
{
    struct store *store = &stores[chaos_random(chaos, LESSORS)];
    const bool is_resting = way_of(store)->needs_rest;

    lessors_fault_begin(chaos, is_resting);
    put_back(store);
    forget(chaos);
    lessors_fault_end(chaos, is_resting);
    lessors_await(chaos, LESSORS);
    if (chaos_random(chaos, 2) == 0) {
        store->way = (store->way + 1) % WAYS;
        copy(store);
    }
}

/* Each store has a copy of its own time and kind. */
static void run_copies(struct chaos *chaos, const char *name, int times)
{
    four_servers(chaos);
    chaos_start(chaos);
    for (size_t i = 0; i < LESSORS; i++) {
        chaos_take_some(chaos);
        stores[i].way = chaos_random(chaos, WAYS);
        copy(&stores[i]);
    }
    chaos_run(chaos, name, times, go_back);
}

TEST_WITH(CHAOS, any_copy_of_any_store_put_back)
{
    run_copies(chaos, __func__, TIMES);
}

TEST_WITH(CHAOS, snowflakes_of_stores_that_go_back)
{
    chaos->key.name = "flake";
    run_copies(chaos, __func__, TIMES / 2);
}

/* --- a store and its copy, both of which run --- */

static struct store *exchanged;

/* The one that is away is left as it stood, and not started before it serves
 * again. Brokers that had asked it may still have it answer. */
static void exchange(struct chaos *chaos)
{
    struct server *leaving = exchanged->server;

    lessors_fault_begin(chaos, false);
    exchanged->kind->pause(leaving);
    exchanged->server = exchanged->twin;
    exchanged->twin = leaving;
    lead_to(chaos, exchanged, exchanged->server);
    forget(chaos);
    if (chaos->crowd.is_listening)
        chaos_take_some(chaos);
    exchanged->kind->resume(leaving); /* before any process is forked */
    lessors_fault_end(chaos, false);
    lessors_await(chaos, LESSORS);
}

static void run_exchanges(struct chaos *chaos, const char *name,
                          struct store *store)
{
    four_servers(chaos);
    chaos_start(chaos);
    chaos_take_some(chaos);
    exchanged = store;
    store->kind->copy(store->server, COPY);
    store->twin = store->kind->start_of(store->server, COPY);
    chaos_take(chaos);
    chaos_run(chaos, name, TURNS, exchange);
    chaos_stop(chaos);
    server_free(store->twin);
    store->twin = NULL;
}

TEST_WITH(CHAOS, mariadb_and_its_copy_in_turn)
{
    run_exchanges(chaos, __func__, &stores[1]);
}

TEST_WITH(CHAOS, postgres_and_its_copy_in_turn)
{
    run_exchanges(chaos, __func__, &stores[2]);
}
