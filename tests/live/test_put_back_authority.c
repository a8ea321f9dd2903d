/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a pool's authority is put back to the same copy again and again,
 * as another file, so that it is noticed, while one of the two Redis servers
 * that count in its windows starts again without data. Numbers are taken
 * between, by brokers that are started for it.
 */
#include <unistd.h>

#include "platform/text.h"
#include "scene.h"
#include "support/server_redis.h"
#include "support/test.h"

#define TIMES 6
#define MANY  12000 /* more than rings and several windows hold */

static struct server *redis_a;
static struct server *redis_b;

static const char template[] =
    "backends = ("
    "  { name = \"redis-a\"; engine = \"redis\"; port = 6379; },"
    "  { name = \"redis-b\"; engine = \"redis\"; port = 6380; },"
    "  { name = \"authority\"; engine = \"sqlite\"; path = \"authority.db\"; }"
    ");"
    "pools = ( { name = \"main\"; authority = \"authority\";"
    "            partitions = [ \"redis-a\", \"redis-b\" ];"
    "            rescue_after = \"400ms\"; window_bits = 8; } );"
    "sequences = ( { key = \"order\"; max_unused = 500; } );";

static const char *prepare(struct scene *scene)
{
    char text[SCENE_TEXT_SIZE];

    if (redis_a == NULL) {
        redis_a = server_redis(NULL);
        redis_b = server_redis(NULL);
    }
    redis_execute(redis_a, "FLUSHALL");
    redis_execute(redis_b, "FLUSHALL");
    (void)text_copy(text, sizeof text, template);
    scene_replace_port(text, "port = 6379", server_port(redis_a));
    scene_replace_port(text, "port = 6380", server_port(redis_b));
    return scene_write(scene, "authority.conf", text);
}

static void use(struct scene *scene, const char *path)
{
    scene_open(scene, path);
    scene_take(scene, "order", MANY);
    for (int32_t i = 0; i < 2; i++) {
        while (scene_partition(scene, i).granted == 0)
            scene_take(scene, "order", 100);
    }
    scene_close(scene);
}

/* What brokers of another machine do not know. */
static void forget(const struct scene *scene)
{
    (void)unlink(scene_state_path(scene, "raised"));
    (void)unlink(scene_state_path(scene, "spool"));
}

static void restart(struct server *server)
{
    server_kill(server);
    server_start(server);
}

/* Of the two servers one keeps its cells, and thereby the level. */
static void put_back_again_and_again(struct scene *scene, bool forgets)
{
    const char *path = prepare(scene);
    const char *store = scene_state_path(scene, "authority.db");
    const char *copy = scene_state_path(scene, "authority.copy");

    use(scene, path);
    scene_copy(store, copy);
    for (int i = 0; i < TIMES; i++) {
        for (int j = 0; j <= i % 3; j++)
            use(scene, path);
        scene_copy(copy, store);
        restart(redis_a);
        if (forgets)
            forget(scene);
        use(scene, path);
    }
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, brokers_that_know_nothing_of_each_other_repeat_nothing)
{
    put_back_again_and_again(scene, true);
}

TEST_WITH(SCENE, brokers_that_share_a_state_directory_repeat_nothing)
{
    put_back_again_and_again(scene, false);
}

TEST_BEFORE_ALL(without_sigpipe);
