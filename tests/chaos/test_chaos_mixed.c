/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool as in config/mixed.conf: two MariaDBs, a PostgreSQL and a Redis, any
 * of which fails at random while the others serve; brokers are killed too.
 */
#include <string.h>

#include "chaos.h"
#include "platform/text.h"
#include "support/server_mariadb.h"
#include "support/server_postgres.h"
#include "support/server_redis.h"
#include "support/test.h"

#define TEXT_SIZE  4096
#define FAULTS     16
#define PARTITIONS 4

#define TOPOLOGY                                                               \
    "broker = { interval = \"2ms\"; };"                                        \
    "backends = ("                                                             \
    "  { name = \"my-a\"; engine = \"mysql-autoinc\"; socket = \"%s\";"        \
    "    user = \"root\"; database = \"seq\"; },"                              \
    "  { name = \"my-b\"; engine = \"mysql-row\"; socket = \"%s\";"            \
    "    user = \"root\"; database = \"seq\"; },"                              \
    "  { name = \"pg-a\"; engine = \"postgres\"; port = %d;"                   \
    "    user = \"postgres\"; database = \"postgres\"; },"                     \
    "  { name = \"redis-a\"; engine = \"redis\"; socket = \"%s\"; }"           \
    ");"                                                                       \
    "pools = ( { name = \"main\"; authority = \"pg-a\"; window_bits = 12;"     \
    "            partitions = [ \"my-a\", \"my-b\", \"pg-a\", \"redis-a\" ];"  \
    "            timeout = \"2s\"; rescue_after = \"100ms\";"                  \
    "            failover_gap = 10000000; } );"                                \
    "sequences = ( { key = \"order\"; max_unused = 2000;"                      \
    "                deadline = \"1s\"; } );"

static struct server *my_a;
static struct server *my_b;
static struct server *pg_a;
static struct server *redis_a;

static void four_servers(struct chaos *chaos)
{
    char text[TEXT_SIZE];

    my_a = server_mariadb(NULL);
    my_b = server_mariadb(NULL);
    pg_a = server_postgres(NULL);
    redis_a = server_redis(NULL);
    mariadb_execute(my_a, "CREATE DATABASE seq");
    mariadb_execute(my_b, "CREATE DATABASE seq");
    assert_true(text_format(text, sizeof text, TOPOLOGY, server_socket(my_a),
                            server_socket(my_b), (int)server_port(pg_a),
                            server_socket(redis_a)));
    chaos_topology(chaos, text);
}

/* --- faults --- */

static void restart(struct server *server)
{
    server_kill(server);
    server_start(server);
}

static void restart_autoinc(struct chaos *chaos)
{
    (void)chaos;
    restart(my_a);
}

static void restart_row(struct chaos *chaos)
{
    (void)chaos;
    restart(my_b);
}

static void truncate_autoinc(struct chaos *chaos)
{
    (void)chaos;
    mariadb_execute(my_a, "TRUNCATE seq.order_code_0");
}

static void truncate_row(struct chaos *chaos)
{
    (void)chaos;
    mariadb_execute(my_b, "TRUNCATE seq.seqb_counters");
}

static void restart_postgres(struct chaos *chaos)
{
    (void)chaos;
    postgres_kill(pg_a);
    server_start(pg_a);
}

static void restart_redis(struct chaos *chaos)
{
    (void)chaos;
    restart(redis_a);
}

static void flush_redis(struct chaos *chaos)
{
    (void)chaos;
    redis_execute(redis_a, "FLUSHALL");
}

static void kill_brokers(struct chaos *chaos)
{
    chaos_stop(chaos);
    chaos_start(chaos);
}

static void any_of_them(struct chaos *chaos)
{
    static void (*const faults[])(struct chaos * chaos) = {
        restart_autoinc,  restart_row,   truncate_autoinc, truncate_row,
        restart_postgres, restart_redis, flush_redis,      kill_brokers,
    };

    faults[chaos_random(chaos, sizeof faults / sizeof faults[0])](chaos);
}

static bool has_table(struct server *server, const char *name)
{
    char count[MARIADB_ASK_SIZE];

    mariadb_ask(server, count,
                "SELECT COUNT(*) FROM information_schema.tables "
                "WHERE table_schema = 'seq' AND table_name = '%s'",
                name);
    return strcmp(count, "0") != 0;
}

/* A fault needs its table, and the first numbers may all be of other stores. */
static void start_until_all_have_tables(struct chaos *chaos)
{
    chaos_start(chaos);
    while (!has_table(my_a, "order_code_0") ||
           !has_table(my_b, "seqb_counters"))
        chaos_take_some(chaos);
}

TEST_WITH(CHAOS, four_kinds_of_store_in_one_pool)
{
    four_servers(chaos);
    start_until_all_have_tables(chaos);
    chaos_run(chaos, __func__, FAULTS, any_of_them);
    chaos_stop(chaos);
    scene_open(chaos->scene, chaos->topologies[0]);
    for (int32_t i = 0; i < PARTITIONS; i++)
        scene_take_until(chaos->scene, "order", i, SEQB_PARTITION_UP);
}
