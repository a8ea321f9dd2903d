/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of two stores of one pool, taken at different times and put back
 * one after the other. */

#include "platform/text.h"
#include "put_back.h"
#include "support/server_mariadb.h"
#include "support/server_postgres.h"
#include "support/server_postgres_copies.h"
#include "support/test.h"

#define TIMES 3
#define COPY  "copy"

/* More than a process holds of one partition and has in its pipe. */
#define ENOUGH 20000

#define BACKENDS                                                               \
    "{ name = \"my-a\"; engine = \"mysql-row\"; socket = \"%s\";"              \
    "  user = \"root\"; database = \"seq\"; connect_timeout = \"10s\"; },"     \
    "{ name = \"pg-a\"; engine = \"postgres\"; port = %d;"                     \
    "  user = \"postgres\"; database = \"postgres\";"                          \
    "  connect_timeout = \"10s\"; }"

enum partition { MARIADB, POSTGRES, PARTITIONS };

static struct server *mariadb;
static struct server *postgres;

static void two_servers(struct chaos *chaos)
{
    char backends[512];

    mariadb = server_mariadb(NULL);
    postgres = server_postgres(NULL);
    mariadb_execute(mariadb, "CREATE DATABASE seq");
    assert_true(text_format(backends, sizeof backends, BACKENDS,
                            server_socket(mariadb),
                            (int)server_port(postgres)));
    put_back_topology(chaos, backends, "\"my-a\", \"pg-a\"", 1);
}

/* Until none of the numbers of that partition was held before. */
static void take_from(struct chaos *chaos, enum partition which)
{
    crowd_await_granted(&chaos->crowd, (int32_t)which, ENOUGH);
}

static void copy(struct chaos *chaos)
{
    take_from(chaos, MARIADB);
    take_from(chaos, POSTGRES);
    mariadb_copy_snapshot(mariadb, COPY);
    take_from(chaos, POSTGRES);
    postgres_copy_snapshot(postgres, COPY);
    take_from(chaos, MARIADB);
}

static void put_one(enum partition which)
{
    if (which == MARIADB)
        mariadb_revert(mariadb, COPY);
    else
        postgres_put_back(postgres, COPY);
}

/* The second one when the first one has served again. */
static void put(struct chaos *chaos)
{
    const enum partition first =
        (enum partition)chaos_random(chaos, PARTITIONS);
    const enum partition second = PARTITIONS - 1 - first;

    put_one(first);
    if (!chaos->crowd.is_listening)
        chaos_start(chaos);
    take_from(chaos, first);
    put_one(second);
    take_from(chaos, second);
}

TEST_WITH(CHAOS, snapshots_of_two_stores_put_back)
{
    static const struct put_back way = {copy, put};

    two_servers(chaos);
    put_back_run(chaos, __func__, &way, TIMES);
}
