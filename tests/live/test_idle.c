/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A broker that nobody asks, while its servers are killed or stopped: its
 * health says what the next caller would meet. How soon is printed, and judged
 * by nobody.
 */
#include <time.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "scene.h"
#include "support/server_redis.h"
#include "support/test.h"

#define IDLE_MS 500

/* Looks as often as without the setting, with the usual time-outs. */
static const char topology[] =
    "backends = ("
    "  { name = \"redis-a\"; engine = \"redis\"; port = 6379;"
    "    connect_timeout = \"1s\"; },"
    "  { name = \"redis-b\"; engine = \"redis\"; port = 6380;"
    "    connect_timeout = \"1s\"; },"
    "  { name = \"authority\"; engine = \"sqlite\"; path = \"authority.db\"; }"
    ");"
    "pools = ( { name = \"main\"; authority = \"authority\";"
    "            partitions = [ \"redis-a\", \"redis-b\" ];"
    "            timeout = \"200ms\"; rescue_after = \"400ms\"; } );"
    "sequences = ( { key = \"order\"; deadline = \"1m\"; } );";

static struct server *redis_a;
static struct server *redis_b;

/* Waits until both servers have had nothing to do for a while. */
static void await_idleness(const struct scene *scene)
{
    const int64_t until_ms = clock_now_ms() + SCENE_PATIENCE_MS;

    while (scene_partition(scene, 0).last_ok_ms < IDLE_MS ||
           scene_partition(scene, 1).last_ok_ms < IDLE_MS) {
        assert_true(clock_now_ms() < until_ms);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

/* Servers that hold nothing, a broker that has taken numbers and is idle. */
static void open_and_take(struct scene *scene)
{
    char text[SCENE_TEXT_SIZE];

    if (redis_a == NULL) {
        redis_a = server_redis(NULL);
        redis_b = server_redis(NULL);
    }
    server_tell(redis_a, "FLUSHALL");
    server_tell(redis_b, "FLUSHALL");
    (void)text_copy(text, sizeof text, topology);
    scene_replace_port(text, "port = 6379", server_port(redis_a));
    scene_replace_port(text, "port = 6380", server_port(redis_b));
    scene_open(scene, scene_write(scene, "idle.conf", text));
    scene_take(scene, "order", 1000);
    await_idleness(scene);
}

/* Nobody asks meanwhile. */
static void await_health(const struct scene *scene, enum seqb_health expected)
{
    const int64_t begin_ms = clock_now_ms();
    char reason[SEQB_ERROR_TEXT_SIZE];
    enum seqb_health health;
    struct seqb_error err;

    while (seqb_get_health(scene->broker, &health, reason, sizeof reason,
                           &err) == SEQB_OK &&
           health != expected) {
        if (clock_now_ms() - begin_ms > SCENE_PATIENCE_MS)
            fail_msg("health stays %s: %s", seqb_health_name(health), reason);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    assert_int_equal(health, expected);
    print_message("# %s after %d ms%s%s\n", seqb_health_name(health),
                  (int)(clock_now_ms() - begin_ms), reason[0] ? ": " : "",
                  reason);
}

static void serve_again(struct scene *scene)
{
    await_health(scene, SEQB_HEALTH_SERVING);
    scene_take(scene, "order", 1000);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, health_knows_that_all_servers_were_killed)
{
    open_and_take(scene);
    await_health(scene, SEQB_HEALTH_SERVING);
    server_kill(redis_a);
    server_kill(redis_b);
    await_health(scene, SEQB_HEALTH_NOT_SERVING);
    server_start(redis_a);
    server_start(redis_b);
    serve_again(scene);
}

/* They take connections, and answer nothing. */
TEST_WITH(SCENE, health_knows_that_all_servers_were_stopped)
{
    open_and_take(scene);
    await_health(scene, SEQB_HEALTH_SERVING);
    server_pause(redis_a);
    server_pause(redis_b);
    await_health(scene, SEQB_HEALTH_NOT_SERVING);
    server_resume(redis_a);
    server_resume(redis_b);
    serve_again(scene);
}
