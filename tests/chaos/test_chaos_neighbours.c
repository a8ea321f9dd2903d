/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool whose stores lease to each other: any of them goes back to an older
 * state by a physical copy, one at a time, as often as it likes, while four
 * brokers take numbers, or are killed and started. Windows are small, so that
 * many are leased meanwhile.
 */

#include "chaos.h"
#include "contract/sqlite_files.h"
#include "lessors.h"
#include "platform/text.h"
#include "sqlite_parts.h"
#include "support/server_mariadb.h"
#include "support/server_memcached.h"
#include "support/server_postgres.h"
#include "support/server_postgres_copies.h"
#include "support/test.h"

#define TIMES 9 /* three of each moment of a fault */
#define COPY  "copy"

/* Windows of a memcached must be as large as its connections are many. */
#define CONNECTIONS "100"

#define TOPOLOGY                                                               \
    "broker = { interval = \"2ms\"; };"                                        \
    "backends = ("                                                             \
    "  { name = \"my\"; engine = \"mysql-row\"; socket = \"%s\";"              \
    "    user = \"root\"; database = \"seq\"; connect_timeout = \"10s\"; },"   \
    "  { name = \"pg\"; engine = \"postgres\"; port = %d; user = "             \
    "\"postgres\";"                                                            \
    "    database = \"postgres\"; connect_timeout = \"10s\"; },"               \
    "  { name = \"one\"; engine = \"sqlite\"; path = \"one.db\";"              \
    "    connect_timeout = \"10s\"; },"                                        \
    "  { name = \"mc\"; engine = \"memcached\"; port = %d;"                    \
    "    connect_timeout = \"10s\"; } );"                                      \
    "pools = ( { name = \"main\"; authority = \"neighbours\";"                 \
    "            partitions = [ \"my\", \"pg\", \"one\", \"mc\" ];"            \
    "            window_bits = 8; timeout = \"2s\";"                           \
    "            rescue_after = \"100ms\"; } );"                               \
    "sequences = ( { key = \"order\"; max_unused = 2000;"                      \
    "                deadline = \"1s\"; } );"

enum lessor { MARIADB, POSTGRES, SQLITE, LESSORS };

static struct server *mariadb;
static struct server *postgres;
static struct sqlite_files file;

static void four_stores(struct chaos *chaos)
{
    static const char *const few[] = {"-c", CONNECTIONS, NULL};
    char text[SCENE_TEXT_SIZE];

    mariadb = server_mariadb(NULL);
    postgres = server_postgres(NULL);
    mariadb_execute(mariadb, "CREATE DATABASE IF NOT EXISTS seq");
    (void)text_copy(file.path, sizeof file.path,
                    scene_state_path(chaos->scene, "one.db"));
    (void)text_copy(file.copy, sizeof file.copy,
                    scene_state_path(chaos->scene, "copy.db"));
    assert_true(text_format(text, sizeof text, TOPOLOGY, server_socket(mariadb),
                            (int)server_port(postgres),
                            (int)server_port(server_memcached(few))));
    chaos_topology(chaos, text);
}

/* --- a store that goes back --- */

static void copy(struct chaos *chaos, enum lessor which)
{
    if (which == MARIADB) {
        mariadb_copy_snapshot(mariadb, COPY);
    } else if (which == POSTGRES) {
        postgres_copy_snapshot(postgres, COPY);
    } else {
        sqlite_parts_replace(chaos, file.path, file.copy);
    }
}

static void put_back(struct chaos *chaos, enum lessor which)
{
    if (which == MARIADB) {
        mariadb_revert(mariadb, COPY);
    } else if (which == POSTGRES) {
        postgres_put_back(postgres, COPY);
    } else {
        sqlite_parts_replace(chaos, file.copy, file.path);
    }
}

/* --- the scenario --- */

static void go_back(struct chaos *chaos)
{
    const enum lessor which = (enum lessor)chaos_random(chaos, LESSORS);

    lessors_fault_begin(chaos, false);
    put_back(chaos, which);
    lessors_fault_end(chaos, false);
    lessors_await(chaos, LESSORS);
    if (chaos_random(chaos, 3) == 0)
        copy(chaos, (enum lessor)chaos_random(chaos, LESSORS));
}

TEST_WITH(CHAOS, any_store_goes_back_one_at_a_time)
{
    four_stores(chaos);
    chaos_start(chaos);
    for (int which = 0; which < LESSORS; which++) {
        chaos_take_some(chaos);
        copy(chaos, (enum lessor)which);
    }
    chaos_run(chaos, __func__, TIMES, go_back);
}
