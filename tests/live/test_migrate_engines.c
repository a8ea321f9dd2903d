/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A migration over every kind of store that is a server, under a broker that
 * still runs: the names of a later generation are fit for all of them, and
 * each ends its counters.
 */

#include "platform/text.h"
#include "scene.h"
#include "support/server_mariadb.h"
#include "support/server_memcached.h"
#include "support/server_postgres.h"
#include "support/test.h"

#define TAKE     2000
#define LEFT_MAX 20000 /* that a broker may hold or have on its way */

static struct server *mariadb;
static struct server *postgres;
static struct server *memcached;

static const char template[] =
    "broker = { open_timeout = \"1m\"; };"
    "backends = ("
    "  { name = \"row\"; engine = \"mysql-row\"; port = 3306; user = \"seq\";"
    "    database = \"seq_row\"; },"
    "  { name = \"ids\"; engine = \"mysql-autoinc\"; port = 3307;"
    "    user = \"seq\"; database = \"seq_ids\"; },"
    "  { name = \"pg\"; engine = \"postgres\"; port = 5432; user = \"seq\";"
    "    database = \"seq\"; },"
    "  { name = \"mc\"; engine = \"memcached\"; port = 11211; } );"
    "pools = ( { name = \"main\"; authority = \"pg\"; timeout = \"1m\";"
    "            window_bits = 10; generation = 1;"
    "            partitions = [ \"row\", \"ids\", \"pg\", \"mc\" ]; } );"
    "sequences = ( { key = \"order\"; max_unused = 1000; memory_bits = 3;"
    "                deadline = \"1m\"; } );";

TEST(prepare)
{
    mariadb_require();
    postgres_require();
    mariadb = server_mariadb(NULL);
    mariadb_execute(mariadb,
                    "CREATE DATABASE seq_row; CREATE DATABASE seq_ids; "
                    "CREATE USER seq@'%%'; "
                    "GRANT ALL ON *.* TO seq@'%%'");
    postgres = server_postgres(NULL);
    postgres_execute(postgres, "postgres", "CREATE ROLE seq LOGIN");
    postgres_execute(postgres, "postgres", "CREATE DATABASE seq OWNER seq");
    memcached = server_memcached(NULL);
}

static void write_old(char text[SCENE_TEXT_SIZE])
{
    assert_true(text_copy(text, SCENE_TEXT_SIZE, template));
    scene_replace_port(text, "port = 3306", server_port(mariadb));
    scene_replace_port(text, "port = 3307", server_port(mariadb));
    scene_replace_port(text, "port = 5432", server_port(postgres));
    scene_replace_port(text, "port = 11211", server_port(memcached));
}

/* Another order, another authority, other bits: for every engine a partition
 * and a counter that it did not have. */
static void write_new(char text[SCENE_TEXT_SIZE])
{
    write_old(text);
    scene_replace(text, "generation = 1", "generation = 2");
    scene_replace(text, "authority = \"pg\"", "authority = \"ids\"");
    scene_replace(text, "window_bits = 10", "window_bits = 12");
    scene_replace(text, "[ \"row\", \"ids\", \"pg\", \"mc\" ]",
                  "[ \"mc\", \"pg\", \"ids\", \"row\" ]");
    scene_replace(text, "memory_bits = 3", "memory_bits = 2");
}

/* What the broker still holds; then it must say that there is no more. */
static void take_what_is_left(struct scene *scene)
{
    struct seqb_sequence *sequence = scene_sequence(scene, "order");
    struct seqb_error err = {SEQB_OK, ""};
    size_t count = 0;
    int64_t number;

    while (seqb_next(sequence, &number, &err) == SEQB_OK) {
        numbers_add(&scene->numbers, &number, 1);
        assert_true(++count < LEFT_MAX);
    }
    if (err.status != SEQB_EXHAUSTED && err.status != SEQB_LAYOUT)
        fail_msg("%s", err.text);
}

static void expect_all_above(struct scene *scene, size_t from, int64_t highest)
{
    for (size_t i = from; i < numbers_count(&scene->numbers); i++) {
        if (scene->numbers.values[i] <= highest)
            fail_msg("%lld is issued after %lld",
                     (long long)scene->numbers.values[i], (long long)highest);
    }
}

/* Migrates under a broker that runs; numbers of all partitions of the new
 * topology are above the old ones. */
static void expect_goes_on_above(struct scene *scene, const char *old_text,
                                 const char *new_text, int32_t partitions)
{
    const struct seqb_migrate_options options = {0};
    struct seqb_error err;
    int64_t highest;
    size_t before;
    const char *old = scene_write(scene, "old.conf", old_text);
    const char *new = scene_write(scene, "new.conf", new_text);

    scene_open(scene, old);
    scene_take(scene, "order", TAKE);
    assert_done(seqb_migrate(old, new, &options, &err), err);
    take_what_is_left(scene);
    scene_close(scene);
    highest = numbers_highest(&scene->numbers);
    before = numbers_count(&scene->numbers);
    scene_expect_refused(scene, old, SEQB_LAYOUT, "was retired");
    scene_open(scene, new);
    for (int32_t i = 0; i < partitions; i++) {
        while (scene_partition(scene, i).granted == 0)
            scene_take(scene, "order", TAKE);
    }
    expect_all_above(scene, before, highest);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, every_engine_goes_on_above_its_old_numbers)
{
    char old[SCENE_TEXT_SIZE];
    char new[SCENE_TEXT_SIZE];

    write_old(old);
    write_new(new);
    expect_goes_on_above(scene, old, new, 4);
}

/* --- mysql-autoinc: from tables to windows --- */

#define TABLES                                                                 \
    "broker = { open_timeout = \"1m\"; };"                                     \
    "backends = ("                                                             \
    "  { name = \"l\"; engine = \"mysql-autoinc\"; port = %d; user = "         \
    "\"seq\";"                                                                 \
    "    database = \"seq_l\"; },"                                             \
    "  { name = \"m\"; engine = \"mysql-autoinc\"; port = %d; user = "         \
    "\"seq\";"                                                                 \
    "    database = \"seq_m\"; } );"                                           \
    "pools = ( { name = \"main\"; timeout = \"1m\"; window_bits = 8;"          \
    "            partitions = [ \"l\", \"m\" ]; %s } );"                       \
    "sequences = ( { key = \"order\"; max_unused = 1000; memory_bits = 3;"     \
    "                deadline = \"1m\"; } );"

static void tables_write(char text[SCENE_TEXT_SIZE], const char *more)
{
    const int port = (int)server_port(mariadb);

    assert_true(text_format(text, SCENE_TEXT_SIZE, TABLES, port, port, more));
}

#define LAST_ID "SELECT MAX(id) FROM seq_l.order_code_0"

TEST_WITH(SCENE, auto_increment_tables_come_over_to_neighbours)
{
    char before[MARIADB_ASK_SIZE];
    char after[MARIADB_ASK_SIZE];
    char old[SCENE_TEXT_SIZE];
    char new[SCENE_TEXT_SIZE];

    mariadb_execute(mariadb, "CREATE DATABASE seq_l; CREATE DATABASE seq_m");
    tables_write(old, "");
    tables_write(new, "generation = 2; authority = \"neighbours\";");
    expect_goes_on_above(scene, old, new, 2);
    mariadb_ask(mariadb, before, LAST_ID);
    scene_take(scene, "order", (size_t)10 * TAKE);
    mariadb_ask(mariadb, after, LAST_ID);
    assert_string_equal(after, before);
    scene_expect_no_repeats(scene);
}

static int stop(void **state)
{
    (void)state;
    server_free(mariadb);
    server_free(postgres);
    server_free(memcached);
    return 0;
}

TEST_BEFORE_ALL(without_sigpipe);
TEST_AFTER_ALL(stop);
