/* SPDX-License-Identifier: Apache-2.0 */
/* config/mixed.conf and config/neighbours.conf over real servers: several kinds
 * of store in one pool. */

#include "platform/text.h"
#include "scene.h"
#include "support/server_mariadb.h"
#include "support/server_postgres.h"
#include "support/server_redis.h"
#include "support/test.h"

#define PARTITIONS 4

static struct server *servers[PARTITIONS];

static struct server *start_mariadb(void)
{
    struct server *server = server_mariadb(NULL);

    mariadb_execute(server, "CREATE DATABASE seqbroker; "
                            "CREATE USER seqbroker@'%%'; "
                            "GRANT ALL ON seqbroker.* TO seqbroker@'%%'");
    return server;
}

static struct server *start_postgres(void)
{
    struct server *server = server_postgres(NULL);

    postgres_execute(server, "postgres", "CREATE ROLE seqbroker LOGIN");
    postgres_execute(server, "postgres",
                     "CREATE DATABASE seqbroker OWNER seqbroker");
    return server;
}

TEST(prepare)
{
    mariadb_require();
    postgres_require();
    servers[0] = start_mariadb();
    servers[1] = start_mariadb();
    servers[2] = start_postgres();
    servers[3] = server_redis(NULL);
}

struct sample {
    const char *path;
    bool all_are_windowed;
};

static const struct sample mixed = {"config/mixed.conf", false};
static const struct sample neighbours = {"config/neighbours.conf", true};

/* The sample with the ports of the private servers; a loaded machine is not
 * to be taken for slow stores. */
static const char *write_sample(const struct scene *scene,
                                const struct sample *sample)
{
    static const char *const ports[PARTITIONS] = {"port = 3306", "port = 3307",
                                                  "port = 5432", "port = 6379"};
    char text[SCENE_TEXT_SIZE];

    scene_sample(sample->path, text);
    for (size_t i = 0; i < PARTITIONS; i++)
        scene_replace_port(text, ports[i], server_port(servers[i]));
    scene_replace(text, "{ name = \"main\";",
                  "{ name = \"main\"; timeout = \"5s\"; "
                  "rescue_after = \"400ms\";");
    scene_replace(text, "key = \"order\";",
                  "key = \"order\"; max_unused = 5000; deadline = \"1m\";");
    return scene_write(scene, "topology.conf", text);
}

static void expect_service(struct scene *scene, const struct sample *sample)
{
    const char *topology = write_sample(scene, sample);

    for (int i = 0; i < 2; i++) {
        scene_open(scene, topology);
        scene_take(scene, "order", 50000);
        for (int32_t j = 0; j < PARTITIONS; j++) {
            scene_take_until(scene, "order", j, SEQB_PARTITION_UP);
            while (scene_partition(scene, j).granted == 0)
                scene_take(scene, "order", 100);
            assert_true(scene_partition(scene, j).server[0] != '\0');
            assert_true(scene_partition(scene, j).is_windowed ==
                        (sample->all_are_windowed || j == 3));
        }
        scene_close(scene);
    }
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, mixed_sample_serves_on_four_kinds_of_store)
{
    expect_service(scene, &mixed);
}

/* For another sample, since a store stands in one pool. */
TEST(empty_all)
{
    for (size_t i = 0; i < 2; i++)
        mariadb_execute(servers[i], "DROP DATABASE seqbroker; "
                                    "CREATE DATABASE seqbroker");
    postgres_execute(servers[2], "postgres", "DROP DATABASE seqbroker");
    postgres_execute(servers[2], "postgres",
                     "CREATE DATABASE seqbroker OWNER seqbroker");
    redis_execute(servers[3], "FLUSHALL");
}

TEST_WITH(SCENE, three_servers_are_neighbours_if_nothing_is_said)
{
    expect_service(scene, &neighbours);
}

TEST_BEFORE_ALL(without_sigpipe);
