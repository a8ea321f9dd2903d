/* SPDX-License-Identifier: Apache-2.0 */
/* A pool with neighbours that a migration makes larger: started again after it
 * was cut short, it comes to its end, and every number is above those before.
 */
#include <stdio.h>

#include <seqbroker/admin.h>

#include "support/test.h"
#include "sweep.h"

#define FEW 3
#define HEAD                                                                   \
    "broker = { name = \"pool\"; open_timeout = $; }; backends = ("            \
    "  { name = \"a\"; engine = \"sqlite\"; path = \"a.db\"; },"               \
    "  { name = \"b\"; engine = \"sqlite\"; path = \"b.db\"; }"
#define POOL " ); pools = ( { name = \"main\"; authority = \"neighbours\"; "
#define TAIL                                                                   \
    " } ); sequences = ( { key = \"order\"; memory_bits = 2;"                  \
    "  max_unused = 32; deadline = $; } );"

static const char small[] = HEAD POOL "partitions = [ \"a\", \"b\" ];" TAIL;
static const char large[] =
    HEAD ", { name = \"c\"; engine = \"sqlite\"; path = \"c.db\"; },"
         "  { name = \"d\"; engine = \"sqlite\"; path = \"d.db\"; }" POOL
         "generation = 2; partitions = [ \"a\", \"b\", \"c\", \"d\" ];" TAIL;

static void use(struct sweep *sweep, const char *topology)
{
    struct seqb_broker *broker =
        sweep_open(sweep, sweep_topology(sweep, "pool.conf", topology));

    if (broker == NULL)
        return;
    sweep_take(sweep, broker, "order", FEW);
    seqb_close(broker);
}

static void use_small(struct sweep *sweep)
{
    use(sweep, small);
}

static void migrate(struct sweep *sweep)
{
    const struct seqb_migrate_options options = {.report = NULL};
    struct seqb_error err = {SEQB_OK, ""};
    char from[128];
    enum seqb_status status;

    (void)snprintf(from, sizeof from, "%s",
                   sweep_topology(sweep, "small.conf", small));
    status = seqb_migrate(from, sweep_topology(sweep, "large.conf", large),
                          &options, &err);
    (void)sweep_expect(sweep, status, &err, "migrate");
}

static void migrate_and_use(struct sweep *sweep)
{
    migrate(sweep);
    use(sweep, large);
}

static const struct sweep_scene neighbours = {
    .before = use_small, .during = use_small, .after = use_small};
static const struct sweep_scene migration = {
    .before = use_small, .during = migrate, .after = migrate_and_use};

TEST(memory_of_neighbours)
{
    sweep_run(&neighbours, FAULTS_MEMORY);
}

TEST(calls_of_sqlite_with_neighbours)
{
    sweep_run(&neighbours, FAULTS_SQLITE_CALLS);
}

TEST(memory_of_a_migration)
{
    sweep_run(&migration, FAULTS_MEMORY);
}

TEST(calls_of_a_migration)
{
    sweep_run(&migration, FAULTS_CALLS);
}

TEST(memory_of_sqlite_in_a_migration)
{
    sweep_run(&migration, FAULTS_SQLITE_MEMORY);
}

TEST(calls_of_sqlite_in_a_migration)
{
    sweep_run(&migration, FAULTS_SQLITE_CALLS);
}
