/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A broker over two private Redis servers and a SQLite authority, while the
 * servers are demoted, full, and down at the start. Servers that die or hang
 * are in test_faults.c, servers that forget in the chaos suite.
 */

#include "platform/clock.h"
#include "platform/text.h"
#include "scene.h"
#include "support/server_redis.h"
#include "support/test.h"

#define CELL_B "{main/1/order}" /* its key's end, on redis-b */

static struct server *redis_a;
static struct server *redis_b;

/* --- the topology --- */

static const char template[] =
    "backends = ("
    "  { name = \"redis-a\"; engine = \"redis\"; port = 6379; },"
    "  { name = \"redis-b\"; engine = \"redis\"; port = 6380; },"
    "  { name = \"authority\"; engine = \"sqlite\"; path = \"authority.db\"; }"
    ");"
    "pools = ( { name = \"main\"; authority = \"authority\";"
    "            partitions = [ \"redis-a\", \"redis-b\" ];"
    "            timeout = \"2s\"; rescue_after = \"400ms\";"
    "            window_bits = 8; } );"
    "sequences = ( { key = \"order\"; max_unused = 2000;"
    "                deadline = \"1m\"; } );";

/* Starts servers that hold nothing, or empties them, and writes a topology
 * with their ports. */
static const char *prepare(struct scene *scene, const char *text)
{
    char written[SCENE_TEXT_SIZE];

    if (redis_a == NULL) {
        redis_a = server_redis(NULL);
        redis_b = server_redis(NULL);
    }
    redis_execute(redis_a, "FLUSHALL");
    redis_execute(redis_b, "FLUSHALL");
    redis_execute(redis_b, "CONFIG SET maxmemory 0"); /* a test that failed */
    assert_true(text_copy(written, sizeof written, text));
    scene_replace_port(written, "port = 6379", server_port(redis_a));
    scene_replace_port(written, "port = 6380", server_port(redis_b));
    return scene_write(scene, "redis.conf", written);
}

static void open_and_take(struct scene *scene)
{
    scene_open(scene, prepare(scene, template));
    scene_take(scene, "order", 5000);
}

static void expect_both_up_and_no_repeats(struct scene *scene)
{
    scene_await(scene, 0, SEQB_PARTITION_UP);
    scene_await(scene, 1, SEQB_PARTITION_UP);
    scene_take(scene, "order", 20000);
    scene_expect_no_repeats(scene);
}

/* --- tests --- */

TEST_WITH(SCENE, redis_sample_serves_with_its_ports_changed)
{
    const char *topology;
    char sample[SCENE_TEXT_SIZE];

    scene_sample("config/redis.conf", sample);
    topology = prepare(scene, sample);
    for (int i = 0; i < 3; i++) {
        scene_open(scene, topology);
        assert_string_equal(seqb_broker_name(scene->broker), "orders");
        scene_take(scene, "order", 20000);
        assert_true(scene_partition(scene, 0).is_windowed);
        assert_true(scene_partition(scene, -1).is_authority);
        scene_close(scene);
    }
    scene_expect_no_repeats(scene);
    scene_open(scene, topology);
    scene->numbers.count = 0;
    scene_take(scene, "waybill", 20000);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, replica_is_no_partition)
{
    open_and_take(scene);
    redis_execute(redis_b, "REPLICAOF 127.0.0.1 %d", (int)free_port());
    scene_take_until(scene, "order", 1, SEQB_PARTITION_QUARANTINED);
    scene_expect_words(scene_partition(scene, 1).reason, "master");
    scene_take(scene, "order", 20000);
    redis_execute(redis_b, "REPLICAOF NO ONE");
    expect_both_up_and_no_repeats(scene);
}

TEST_WITH(SCENE, replica_at_the_start_is_rescued_once_promoted)
{
    const char *topology = prepare(scene, template);

    redis_execute(redis_a, "REPLICAOF 127.0.0.1 %d", (int)free_port());
    scene_open(scene, topology);
    assert_string_not_equal(scene_partition(scene, 0).reason, "");
    scene_take(scene, "order", 5000);
    redis_execute(redis_a, "REPLICAOF NO ONE");
    expect_both_up_and_no_repeats(scene);
}

static void fill(struct server *server)
{
    redis_execute(server, "EVAL %s 0",
                  "for i = 1, 20000 do redis.call('SET', 'user:' .. i, "
                  "string.rep('x', 100)) end");
}

TEST_WITH(SCENE, server_full_of_anothers_keys_serves_or_says_so)
{
    open_and_take(scene);
    fill(redis_a);
    fill(redis_b);
    scene_take(scene, "order", 10000);
    redis_execute(redis_b, "CONFIG SET maxmemory-policy noeviction");
    redis_execute(redis_b, "CONFIG SET maxmemory 1mb");
    /* All of the partition, or the counter alone: by what it asked for. */
    scene_take_until_says(scene, "order", 1, "OOM");
    scene_take(scene, "order", 10000);
    redis_execute(redis_b, "CONFIG SET maxmemory 0");
    expect_both_up_and_no_repeats(scene);
}

/* Takes numbers until the cell of "order" stands on redis-b; its key. */
static void cell_await(struct scene *scene, char *out, size_t size)
{
    const int64_t until_ms = clock_now_ms() + SCENE_PATIENCE_MS;
    size_t elements = 0;

    while (elements == 0) {
        redisReply *reply;

        if (clock_now_ms() > until_ms)
            fail_msg("no cell on redis-b: %s",
                     scene_partition(scene, 1).reason);
        scene_take(scene, "order", 1000);
        reply = server_ask(redis_b, "KEYS *%s", CELL_B);
        elements = reply->elements;
        if (elements > 0)
            (void)text_copy(out, size, reply->element[0]->str);
        freeReplyObject(reply);
    }
}

TEST_WITH(SCENE, cell_that_another_overwrote_is_left_alone)
{
    redisReply *reply;
    char key[256];

    open_and_take(scene);
    cell_await(scene, key, sizeof key);
    redis_execute(redis_b, "SET %s another's", key);
    scene_take(scene, "order", 30000);
    reply = server_ask(redis_b, "GET %s", key);
    assert_string_equal(reply->str, "another's");
    freeReplyObject(reply);
    redis_execute(redis_b, "DEL %s", key);
    cell_await(scene, key, sizeof key);
    expect_both_up_and_no_repeats(scene);
}

TEST_WITH(SCENE, first_start_needs_no_redis_but_numbers_do)
{
    const char *topology = prepare(scene, template);

    server_kill(redis_a);
    server_kill(redis_b);
    scene_open(scene, topology);
    server_start(redis_a);
    server_start(redis_b);
    expect_both_up_and_no_repeats(scene);
}

TEST_WITH(SCENE, other_layouts_are_refused)
{
    static const struct {
        const char *from;
        const char *to;
        const char *words;
    } changes[] = {
        {"window_bits = 8", "window_bits = 9", "window_bits was 8 and is 9"},
        {"[ \"redis-a\", \"redis-b\" ]", "[ \"redis-b\", \"redis-a\" ]",
         "partition 0 was store 'redis-a' and is 'redis-b'"},
        {"key = \"order\";", "key = \"order\"; memory_bits = 4;",
         "memory_bits=3 and is configured with memory_bits=4"},
        {"name = \"main\"", "name = \"other\"", "stands in main/0"},
    };
    char text[SCENE_TEXT_SIZE];
    const char *topology;

    open_and_take(scene);
    scene_close(scene);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        (void)text_copy(text, sizeof text, template);
        scene_replace(text, changes[i].from, changes[i].to);
        scene_replace_port(text, "port = 6379", server_port(redis_a));
        scene_replace_port(text, "port = 6380", server_port(redis_b));
        topology = scene_write(scene, "changed.conf", text);
        scene_expect_refused(scene, topology, SEQB_LAYOUT, changes[i].words);
    }
    scene_open(scene, scene_path(scene, "redis.conf"));
    scene_take(scene, "order", 5000);
    scene_expect_no_repeats(scene);
}
