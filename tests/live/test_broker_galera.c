/* SPDX-License-Identifier: Apache-2.0 */
/* config/galera.conf over a real cluster: a broker goes on taking numbers while
 * the node that it uses is killed. */
#include "platform/clock.h"
#include "platform/text.h"
#include "scene.h"
#include "support/server_galera.h"
#include "support/test.h"

#define CLUSTER 0 /* the partitions */
#define SQLITE  1
#define SOME    2000

static struct server *nodes[GALERA_NODES];

static void port_put(char *text, int port, const struct server *node)
{
    char from[32];
    char to[32];

    (void)text_format(from, sizeof from, "127.0.0.1:%d", port);
    (void)text_format(to, sizeof to, "127.0.0.1:%d", (int)server_port(node));
    scene_replace(text, from, to);
}

/* The sample, on the private nodes. A busy machine is not to be taken for slow
 * stores. */
static const char *sample_write(struct scene *scene)
{
    char text[SCENE_TEXT_SIZE];
    char path[128];

    scene_sample("config/galera.conf", text);
    for (int i = 0; i < GALERA_NODES; i++)
        port_put(text, 3306 + i, nodes[i]);
    (void)text_format(path, sizeof path, "path = \"%s\"",
                      scene_path(scene, "orders.db"));
    scene_replace(text, "path = \"orders.db\"", path);
    scene_replace(text, "timeout = \"1s\";",
                  "timeout = \"5s\"; rescue_after = \"200ms\";");
    scene_replace(text, "key = \"order\";",
                  "key = \"order\"; max_unused = 1000; deadline = \"1m\";");
    return scene_write(scene, "galera.conf", text);
}

static int64_t granted_by(const struct scene *scene, int32_t partition)
{
    return scene_partition(scene, partition).granted;
}

/* Takes until that partition has granted more; the longest that one number took
 * meanwhile, in ms. */
static int64_t more_await(struct scene *scene, int32_t partition)
{
    const int64_t before = granted_by(scene, partition);
    int64_t longest_ms = 0;

    while (granted_by(scene, partition) < before + SOME) {
        const int64_t since_ms = clock_now_ms();
        int64_t took_ms;

        scene_take(scene, "order", 1);
        took_ms = clock_now_ms() - since_ms;
        longest_ms = took_ms > longest_ms ? took_ms : longest_ms;
    }
    return longest_ms;
}

TEST_WITH(SCENE, node_that_dies_keeps_no_caller_waiting)
{
    int64_t since_ms;
    int64_t longest_ms;

    galera_require();
    server_galera_cluster(NULL, nodes);
    mariadb_execute(nodes[0], "CREATE DATABASE seq; CREATE USER seq;"
                              "GRANT ALL ON seq.* TO seq");
    scene_open(scene, sample_write(scene));
    scene_take_until(scene, "order", CLUSTER, SEQB_PARTITION_UP);
    (void)more_await(scene, CLUSTER);
    (void)more_await(scene, SQLITE);
    server_kill(nodes[0]);
    since_ms = clock_now_ms();
    longest_ms = more_await(scene, CLUSTER);
    print_message("a node was killed: the longest call took %lld ms, the "
                  "cluster grants again after %lld ms\n",
                  (long long)longest_ms,
                  (long long)(clock_now_ms() - since_ms));
    scene_close(scene);
    scene_expect_no_repeats(scene);
    for (int i = 0; i < GALERA_NODES; i++)
        server_free(nodes[i]);
}

TEST_BEFORE_ALL(without_sigpipe);
