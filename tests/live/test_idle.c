/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A broker that nobody asks, while its servers are cut off or stopped: its
 * health says what the next caller would meet. How soon is printed, and judged
 * by nobody.
 */
#include <time.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "scene.h"
#include "support/four_stores.h"
#include "support/test.h"

#define SEED    17
#define IDLE_MS 100

/* Looks as often as without the setting, with the usual time-outs. */
#define POOL_SETTINGS "timeout = \"200ms\"; rescue_after = \"400ms\";"
#define SEQUENCES     "sequences = ( { key = \"order\"; deadline = \"1m\"; } );\n"

static struct four_stores stores;

TEST(prepare)
{
    four_stores_start(&stores, false, SEED);
}

/* Waits until all stores have had nothing to do for a while. */
static void await_idleness(const struct scene *scene)
{
    const int64_t until_ms = clock_now_ms() + SCENE_PATIENCE_MS;

    for (int32_t i = 0; i < FOUR_STORES; i++) {
        while (scene_partition(scene, i).last_ok_ms < IDLE_MS) {
            assert_true(clock_now_ms() < until_ms);
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
    }
}

/* A broker that has taken numbers and is idle. */
static void open_and_take(struct scene *scene)
{
    char text[QUARTET_TEXT_SIZE];

    if (stores.servers[0] == NULL)
        skip();
    four_stores_topology(&stores, POOL_SETTINGS, text);
    assert_true(text_append(text, sizeof text, SEQUENCES));
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

static void expect_health_to_follow(struct scene *scene, enum fault fault)
{
    open_and_take(scene);
    await_health(scene, SEQB_HEALTH_SERVING);
    for (size_t i = 0; i < FOUR_STORES; i++)
        four_stores_fault(&stores, i, fault, 0);
    await_health(scene, SEQB_HEALTH_NOT_SERVING);
    four_stores_heal(&stores);
    serve_again(scene);
}

TEST_WITH(SCENE, health_knows_that_all_servers_refuse)
{
    expect_health_to_follow(scene, FAULT_REFUSED);
}

/* They take connections, and answer nothing. */
TEST_WITH(SCENE, health_knows_that_all_servers_were_stopped)
{
    expect_health_to_follow(scene, FAULT_STOPPED);
}

TEST(end)
{
    four_stores_end(&stores);
}
