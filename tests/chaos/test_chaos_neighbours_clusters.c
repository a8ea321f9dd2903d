/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neighbours of which two are clusters: three etcd members, three Galera nodes,
 * a PostgreSQL and a SQLite file lease to each other. One node of each is
 * killed in turn, and one of the stores goes back to an older state, while four
 * brokers take numbers, or are killed and started.
 */
#include "chaos.h"
#include "etcd_pool.h"
#include "galera_pool.h"
#include "lessors.h"
#include "members.h"
#include "platform/text.h"
#include "sqlite_parts.h"
#include "support/server_postgres.h"
#include "support/server_postgres_copies.h"
#include "support/test.h"

#define FAULTS  4  /* that come in turn */
#define TIMES   12 /* each store goes back once */
#define LESSORS 4
#define COPY    "copy"

#define TOPOLOGY                                                               \
    "broker = { interval = \"2ms\"; };"                                        \
    "backends = ("                                                             \
    "  { name = \"etcd\"; connect_timeout = \"10s\"; %s },"                    \
    "  { name = \"galera\"; connect_timeout = \"10s\"; %s },"                  \
    "  { name = \"pg\"; engine = \"postgres\"; port = %d;"                     \
    "    user = \"postgres\"; database = \"postgres\";"                        \
    "    connect_timeout = \"10s\"; },"                                        \
    "  { name = \"one\"; engine = \"sqlite\"; path = \"one.db\";"              \
    "    connect_timeout = \"10s\"; } );"                                      \
    "pools = ( { name = \"main\"; authority = \"neighbours\";"                 \
    "            partitions = [ \"etcd\", \"galera\", \"pg\", \"one\" ];"      \
    "            window_bits = 8; timeout = \"2s\";"                           \
    "            rescue_after = \"100ms\"; } );"                               \
    "sequences = ( { key = \"order\"; max_unused = 2000;"                      \
    "                deadline = \"1s\"; } );"

static struct server *members[ETCD_MEMBERS];
static struct server *nodes[GALERA_NODES];
static struct server *postgres;
static char path[SQLITE_PART_SIZE];
static char path_copy[SQLITE_PART_SIZE];

static void topology_write(struct chaos *chaos, int first,
                           void (*write)(struct chaos *chaos, const char *text))
{
    char text[SCENE_TEXT_SIZE];
    char etcd[ETCD_PLACE_SIZE];
    char galera[GALERA_PLACE_SIZE];

    etcd_pool_place(members, etcd);
    galera_pool_place(nodes, first, galera);
    assert_true(text_format(text, sizeof text, TOPOLOGY, etcd, galera,
                            (int)server_port(postgres)));
    write(chaos, text);
}

/* The even and the odd brokers write to different nodes of the Galera. */
static void four_stores(struct chaos *chaos)
{
    server_require("etcd");
    galera_require();
    postgres_require();
    server_etcd_cluster(members);
    server_galera_cluster(NULL, nodes);
    galera_pool_database(nodes[0]);
    postgres = server_postgres(NULL);
    (void)text_copy(path, sizeof path,
                    scene_state_path(chaos->scene, "one.db"));
    (void)text_copy(path_copy, sizeof path_copy,
                    scene_state_path(chaos->scene, "copy.db"));
    topology_write(chaos, 0, chaos_topology);
    topology_write(chaos, 1, chaos_topology_odd);
}

/* --- nodes that are killed --- */

static void take_if_any_runs(struct chaos *chaos)
{
    if (chaos->crowd.is_listening)
        chaos_take_some(chaos);
}

static void kill_member(struct chaos *chaos)
{
    members_set(members, ETCD_MEMBERS, NULL);
    members_kill_while(chaos, take_if_any_runs);
}

static void cluster_await(void)
{
    galera_pool_await(nodes);
}

static void kill_node(struct chaos *chaos)
{
    members_set(nodes, GALERA_NODES, cluster_await);
    members_kill_while(chaos, take_if_any_runs);
}

static void kill_postgres(struct chaos *chaos)
{
    postgres_kill(postgres);
    take_if_any_runs(chaos);
    server_start(postgres);
}

/* --- a store that goes back --- */

enum going_back { ETCD, POSTGRES, SQLITE, GOING_BACK };

static void copy(struct chaos *chaos, enum going_back which)
{
    if (which == ETCD)
        etcd_pool_save(members);
    else if (which == POSTGRES)
        postgres_copy_snapshot(postgres, COPY);
    else
        sqlite_parts_replace(chaos, path, path_copy);
}

/* Each of them in turn. */
static void go_back(struct chaos *chaos)
{
    const enum going_back which =
        (enum going_back)(chaos->faults / FAULTS % GOING_BACK);

    if (which == ETCD)
        etcd_pool_restore(members, NULL);
    else if (which == POSTGRES)
        postgres_put_back(postgres, COPY);
    else
        sqlite_parts_replace(chaos, path_copy, path);
}

/* --- the scenario --- */

static void next_fault(struct chaos *chaos)
{
    static void (*const faults[FAULTS])(struct chaos * chaos) = {
        go_back, kill_member, kill_node, kill_postgres};

    lessors_fault_begin(chaos, false);
    faults[chaos->faults % FAULTS](chaos);
    lessors_fault_end(chaos, false);
    lessors_await(chaos, LESSORS);
}

TEST_WITH(CHAOS, node_killed_or_store_put_back)
{
    four_stores(chaos);
    chaos_start(chaos);
    for (int which = 0; which < GOING_BACK; which++) {
        chaos_take_some(chaos);
        copy(chaos, (enum going_back)which);
    }
    chaos_run(chaos, __func__, TIMES, next_fault);
}
