/* SPDX-License-Identifier: Apache-2.0 */
/* config/two-servers.conf over real servers: two databases of one server are
 * two stores, which fail together. */

#include "platform/text.h"
#include "probe_log.h"
#include "scene.h"
#include "support/server_mariadb.h"
#include "support/server_postgres.h"
#include "support/test.h"

#define PARTITIONS 4

static struct server *mariadb[2];
static struct server *postgres;

static struct server *start_mariadb(void)
{
    struct server *server = server_mariadb(NULL);

    mariadb_execute(server, "CREATE DATABASE seqbroker_0; "
                            "CREATE DATABASE seqbroker_1; "
                            "CREATE USER seqbroker@'%%'; "
                            "GRANT ALL ON *.* TO seqbroker@'%%'");
    return server;
}

TEST(prepare)
{
    mariadb_require();
    postgres_require();
    mariadb[0] = start_mariadb();
    mariadb[1] = start_mariadb();
    postgres = server_postgres(NULL);
    postgres_execute(postgres, "postgres", "CREATE DATABASE seqbroker_0");
    postgres_execute(postgres, "postgres", "CREATE DATABASE seqbroker_1");
}

/* A loaded machine is not to be taken for slow stores. */
static void be_patient(char *text)
{
    scene_replace(text, "name = \"main\";",
                  "name = \"main\"; timeout = \"1m\"; "
                  "rescue_after = \"400ms\";");
    scene_replace(text, "key = \"order\";",
                  "key = \"order\"; max_unused = 5000; deadline = \"1m\";");
}

/* The sample, on the private servers. */
static void read_sample(char text[static SCENE_TEXT_SIZE])
{
    scene_sample("config/two-servers.conf", text);
    for (int i = 0; i < 2; i++) {
        scene_replace_port(text, "port = 3306", server_port(mariadb[0]));
        scene_replace_port(text, "port = 3307", server_port(mariadb[1]));
    }
    be_patient(text);
}

static const char *write_sample(const struct scene *scene)
{
    char text[SCENE_TEXT_SIZE];

    read_sample(text);
    return scene_write(scene, "two-servers.conf", text);
}

static void take_from_all(struct scene *scene, int32_t partitions)
{
    scene_take(scene, "order", 20000);
    for (int32_t i = 0; i < partitions; i++) {
        scene_take_until(scene, "order", i, SEQB_PARTITION_UP);
        while (scene_partition(scene, i).granted == 0)
            scene_take(scene, "order", 100);
    }
}

TEST_WITH(SCENE, two_databases_of_a_server_are_two_partitions)
{
    const char *topology = write_sample(scene);

    for (int i = 0; i < 2; i++) {
        scene_open(scene, topology);
        take_from_all(scene, PARTITIONS);
        scene_close(scene);
    }
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, a_server_takes_its_partitions_with_it_and_no_others)
{
    scene_open(scene, write_sample(scene));
    take_from_all(scene, PARTITIONS);
    server_kill(mariadb[0]);
    scene_take_until(scene, "order", 0, SEQB_PARTITION_QUARANTINED);
    scene_take_until(scene, "order", 2, SEQB_PARTITION_QUARANTINED);
    scene_take(scene, "order", 20000);
    assert_int_equal(scene_partition(scene, 1).state, SEQB_PARTITION_UP);
    assert_int_equal(scene_partition(scene, 3).state, SEQB_PARTITION_UP);
    server_start(mariadb[0]);
    scene_take_until(scene, "order", 0, SEQB_PARTITION_UP);
    scene_take_until(scene, "order", 2, SEQB_PARTITION_UP);
    scene_take(scene, "order", 20000);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, a_probe_names_what_stands_on_one_server)
{
    char path[256];
    const struct probe_log *told;

    (void)text_copy(path, sizeof path, write_sample(scene));
    scene_use(scene, path, 1000);
    told = probe_log_of(path, NULL);
    probe_log_expect(told, SEQB_OK);
    scene_expect_words(told->warnings,
                       "pool main: a-0, a-1 stand on one server or disk (");
    scene_expect_words(told->warnings,
                       "pool main: b-0, b-1 stand on one server or disk (");
}

/* One database under two partitions would give each number twice. */
TEST_WITH(SCENE, one_database_is_not_two_partitions)
{
    char text[SCENE_TEXT_SIZE];

    mariadb_execute(mariadb[0], "CREATE OR REPLACE DATABASE seqbroker_0; "
                                "CREATE OR REPLACE DATABASE seqbroker_1");
    mariadb_execute(mariadb[1], "CREATE OR REPLACE DATABASE seqbroker_0; "
                                "CREATE OR REPLACE DATABASE seqbroker_1");
    read_sample(text);
    scene_replace(text, "seqbroker_1", "seqbroker_0");
    scene_expect_refused(scene, scene_write(scene, "twice.conf", text),
                         SEQB_LAYOUT, "a-0 and a-1 lead to the same store");
}

TEST_WITH(SCENE, so_it_is_with_postgres)
{
    char text[SCENE_TEXT_SIZE];

    assert_true(text_format(
        text, sizeof text,
        "backends = ("
        "  { name = \"pg-0\"; engine = \"postgres\"; host = \"127.0.0.1\";"
        "    port = %d; user = \"postgres\"; database = \"seqbroker_0\"; },"
        "  { name = \"pg-1\"; engine = \"postgres\"; host = \"127.0.0.1\";"
        "    port = %d; user = \"postgres\"; database = \"seqbroker_1\"; } );"
        "pools = ( { name = \"main\"; partitions = [ \"pg-0\", \"pg-1\" ]; } );"
        "sequences = ( { key = \"order\"; } );",
        (int)server_port(postgres), (int)server_port(postgres)));
    be_patient(text);
    scene_open(scene, scene_write(scene, "pg.conf", text));
    take_from_all(scene, 2);
    scene_expect_no_repeats(scene);
}

TEST_BEFORE_ALL(without_sigpipe);
