/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A MariaDB that is killed, and whose counters are deleted, under one counter
 * of each of its two engines. One that loses what it commits is used only if
 * the topology says so, and what it then repeats is counted.
 */

#include "chaos.h"
#include "platform/text.h"
#include "support/server_mariadb.h"
#include "support/test.h"

#define TEXT_SIZE 2048
#define FAULTS    4

/* The gap exceeds what the fastest broker takes while the slowest takes what
 * is waited for. */
#define TOPOLOGY                                                               \
    "broker = { interval = \"2ms\"; };"                                        \
    "backends = ("                                                             \
    "  { name = \"my-a\"; engine = \"%s\"; socket = \"%s\";"                   \
    "    user = \"root\"; database = \"seq\"; accept_loss = %s; }"             \
    ");"                                                                       \
    "pools = ( { name = \"main\"; partitions = [ \"my-a\" ];"                  \
    "            timeout = \"2s\"; rescue_after = \"100ms\";"                  \
    "            failover_gap = 10000000; } );"                                \
    "sequences = ( { key = \"order\"; max_unused = 2000;"                      \
    "                deadline = \"1s\"; } );"

static const char row[] = "mysql-row";
static const char autoinc[] = "mysql-autoinc";

static struct server *mariadb;  /* keeps what it commits */
static struct server *careless; /* does not */

static void set_topology(struct chaos *chaos, const struct server *server,
                         const char *engine, bool accept_loss)
{
    char text[TEXT_SIZE];

    assert_true(text_format(text, sizeof text, TOPOLOGY, engine,
                            server_socket(server),
                            accept_loss ? "true" : "false"));
    chaos_topology(chaos, text);
}

static void one_server(struct chaos *chaos, const char *engine)
{
    if (mariadb == NULL)
        mariadb = server_mariadb(NULL);
    mariadb_execute(mariadb,
                    "DROP DATABASE IF EXISTS seq; CREATE DATABASE seq");
    set_topology(chaos, mariadb, engine, false);
}

/* --- killed --- */

static void restart(struct chaos *chaos)
{
    (void)chaos;
    server_kill(mariadb);
    server_start(mariadb);
}

TEST_WITH(CHAOS, row_of_a_server_killed_and_started)
{
    one_server(chaos, row);
    chaos_run(chaos, __func__, FAULTS, restart);
}

TEST_WITH(CHAOS, autoinc_of_a_server_killed_and_started)
{
    one_server(chaos, autoinc);
    chaos_run(chaos, __func__, FAULTS, restart);
}

/* --- killed, without what it had committed last --- */

static void lose(struct chaos *chaos)
{
    server_kill(careless);
    server_start(careless);
    chaos_take(chaos);
    chaos_stop(chaos);
    chaos_start(chaos);
}

/* The tables with their first rows. */
static void keep_so_far(void)
{
    mariadb_execute(careless,
                    "SET GLOBAL innodb_flush_log_at_trx_commit = 1;"
                    "CREATE OR REPLACE TABLE seq.kept (id INT) ENGINE = InnoDB;"
                    "INSERT INTO seq.kept VALUES (1);"
                    "SET GLOBAL innodb_flush_log_at_trx_commit = 0");
}

/* Numbers do come twice, from different brokers, and are told. */
static void careless_server(struct chaos *chaos, const char *engine,
                            const char *name)
{
    static const char *const args[] = {"--innodb-flush-log-at-trx-commit=0",
                                       NULL};

    if (careless == NULL)
        careless = server_mariadb(args);
    mariadb_execute(careless,
                    "DROP DATABASE IF EXISTS seq; CREATE DATABASE seq");
    set_topology(chaos, careless, engine, false);
    scene_expect_refused(chaos->scene, chaos->topologies[0], SEQB_UNAVAILABLE,
                         "innodb_flush_log_at_trx_commit");
    set_topology(chaos, careless, engine, true);
    chaos->crowd.expects_loss = true;
    chaos_start(chaos);
    keep_so_far();
    chaos_run(chaos, name, FAULTS, lose);
}

TEST_WITH(CHAOS, row_that_loses_commits_repeats_none_of_ones_own)
{
    careless_server(chaos, row, __func__);
}

TEST_WITH(CHAOS, autoinc_that_loses_commits_repeats_none_of_ones_own)
{
    careless_server(chaos, autoinc, __func__);
}

/* --- deleted --- */

static void empty(struct chaos *chaos, const char *table)
{
    mariadb_execute(mariadb, "%s seq.%s",
                    chaos_random(chaos, 2) == 0 ? "TRUNCATE" : "DELETE FROM",
                    table);
}

static void empty_rows(struct chaos *chaos)
{
    empty(chaos, "seqb_counters");
}

TEST_WITH(CHAOS, row_truncated_or_deleted)
{
    one_server(chaos, row);
    chaos_run(chaos, __func__, 3 * FAULTS, empty_rows);
}

static void empty_ids(struct chaos *chaos)
{
    empty(chaos, "order_code_0");
}

TEST_WITH(CHAOS, autoinc_truncated_or_deleted)
{
    one_server(chaos, autoinc);
    chaos_run(chaos, __func__, 3 * FAULTS, empty_ids);
}
