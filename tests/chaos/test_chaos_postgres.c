/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PostgreSQL servers whose processes die, whose standby is behind, whose
 * tables are emptied, under one counter.
 */
#include <signal.h>

#include "chaos.h"
#include "platform/text.h"
#include "support/server_postgres.h"
#include "support/test.h"

#define TEXT_SIZE 2048
#define FAULTS    6
#define DATABASE  "postgres"
#define GATE_NAME ".s.PGSQL.5432" /* as by default */

/* The gap exceeds what the fastest broker takes while the slowest takes what
 * is waited for. */
#define TOPOLOGY                                                               \
    "broker = { interval = \"2ms\"; };"                                        \
    "backends = ("                                                             \
    "  { name = \"pg-a\"; engine = \"postgres\"; socket = \"%s\";"             \
    "    user = \"postgres\"; database = \"" DATABASE "\";"                    \
    "    connect_timeout = \"10s\"; }"                                         \
    ");"                                                                       \
    "pools = ( { name = \"main\"; partitions = [ \"pg-a\" ];"                  \
    "            timeout = \"2s\"; rescue_after = \"100ms\";"                  \
    "            failover_gap = 100000000; } );"                               \
    "sequences = ( { key = \"order\"; max_unused = 2000;"                      \
    "                deadline = \"1s\"; } );"

static struct server *primary;
static struct gate gate;

static void gate_to_primary(const struct chaos *chaos)
{
    char socket[128];

    (void)text_format(socket, sizeof socket, "%s/.s.PGSQL.%d",
                      server_folder(primary), (int)server_port(primary));
    gate_lead(&gate, chaos, GATE_NAME, socket);
}

static void one_server(struct chaos *chaos)
{
    char text[TEXT_SIZE];

    if (primary == NULL)
        primary = server_postgres(NULL);
    postgres_execute(primary, DATABASE,
                     "DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    gate_to_primary(chaos);
    assert_true(text_format(text, sizeof text, TOPOLOGY, chaos->scene->folder));
    chaos_topology(chaos, text);
}

static void kill_process(struct chaos *chaos)
{
    (void)chaos;
    postgres_signal(primary, SIGKILL);
}

TEST_WITH(CHAOS, server_processes_killed)
{
    one_server(chaos);
    chaos_run(chaos, __func__, FAULTS, kill_process);
}

static void kill_server(struct chaos *chaos)
{
    (void)chaos;
    postgres_kill(primary);
    server_start(primary);
}

TEST_WITH(CHAOS, server_killed_and_started)
{
    one_server(chaos);
    chaos_run(chaos, __func__, FAULTS, kill_server);
}

/* The standby hears nothing for a while, and then is the primary. */
static void fail_over(struct chaos *chaos)
{
    struct server *standby = server_postgres_standby(primary);

    chaos_take_some(chaos);
    postgres_catch_up(primary, standby);
    postgres_alter(standby, "primary_conninfo = ''");
    chaos_take_some(chaos);
    postgres_kill(primary);
    server_free(primary);
    postgres_promote(standby);
    primary = standby;
    gate_to_primary(chaos);
}

TEST_WITH(CHAOS, standby_promoted_behind_a_lag)
{
    one_server(chaos);
    chaos_run(chaos, __func__, FAULTS / 2, fail_over);
}

/* All at once: a DELETE that meets brokers row by row may deadlock with them.
 */
static void empty_tables(struct chaos *chaos)
{
    postgres_execute(primary, DATABASE,
                     "LOCK TABLE seqb_counters; %s seqb_counters",
                     chaos_random(chaos, 2) == 0 ? "TRUNCATE" : "DELETE FROM");
}

TEST_WITH(CHAOS, counters_truncated_or_deleted)
{
    one_server(chaos);
    chaos_run(chaos, __func__, 2 * FAULTS, empty_tables);
}
