/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codes of five digits a day on four partitions, two of them parts of a Redis
 * server, in a pool of large windows: those of the sequence are small, so that
 * every partition gives some of the day's codes.
 */
#include <string.h>

#include "platform/text.h"
#include "scene.h"
#include "support/script_clock.h"
#include "support/server_redis.h"
#include "support/take.h"
#include "support/test.h"

#define PARTITIONS 4
#define CODES      20000
#define DAYS       2
#define DAY_MS     INT64_C(86400000)
#define NOON_MS    INT64_C(1784548800000) /* 2026-07-20T12:00:00Z */
#define DATE_WIDTH 6                      /* of "260720" */

/* Windows of 2^20 begin beyond five digits. */
static const char topology[] =
    "backends = ("
    "  { name = \"a\"; engine = \"sqlite\"; path = \"a.db\"; },"
    "  { name = \"b\"; engine = \"sqlite\"; path = \"b.db\"; },"
    "  { name = \"r\"; engine = \"redis\"; prefix = \"r\"; port = %d; },"
    "  { name = \"s\"; engine = \"redis\"; prefix = \"s\"; port = %d; } );"
    "pools = ( { name = \"main\"; partitions = [ \"a\", \"b\", \"r\", \"s\" ];"
    "            window_bits = 20; %s } );"
    "sequences = ( { key = \"code\"; memory_bits = 0; max_unused = 256;"
    "                window_bits = 8; period = \"day\"; template ="
    "                \"@{date, format=%%y%%m%%d}@{seq, width=5, "
    "overflow=refuse}\"; } );";

static struct server *redis;

/* Takes codes of one day, and counts them by their partitions. */
static void take_day(struct scene *scene, int64_t wall_ms,
                     size_t (*of)[PARTITIONS])
{
    struct seqb_sequence *code = NULL;
    struct seqb_error err = {.text = ""};

    script_clock_set(wall_ms);
    scene->numbers.count = 0;
    assert_done(seqb_get_sequence(scene->broker, "code", &code, &err), err);
    for (int i = 0; i < CODES; i++) {
        char text[SEQB_TEXT_MAX + 1];
        struct seqb_parsed parsed;
        struct seqb_decoded decoded = {.partition = 0};

        if (take_text(code, NULL, 0, text, sizeof text, &err) != SEQB_OK ||
            seqb_parse(code, text, &parsed, &err) != SEQB_OK ||
            seqb_decode(code, parsed.number, &decoded, &err) != SEQB_OK)
            fail_msg("after %d codes: %s", i, err.text);
        assert_int_equal(strlen(text), DATE_WIDTH + 5);
        (*of)[decoded.partition]++;
        numbers_add(&scene->numbers, &parsed.number, 1);
    }
    scene_expect_no_repeats(scene);
}

static void expect_days_of(struct scene *scene, const char *pool)
{
    char text[SCENE_TEXT_SIZE];

    redis_execute(redis, "FLUSHALL");
    assert_true(text_format(text, sizeof text, topology,
                            (int)server_port(redis), (int)server_port(redis),
                            pool));
    script_clock_set(NOON_MS);
    scene_open(scene, scene_write(scene, "codes.conf", text));
    for (int day = 0; day < DAYS; day++) {
        size_t of[PARTITIONS] = {0};

        take_day(scene, NOON_MS + day * DAY_MS, &of);
        for (int i = 0; i < PARTITIONS; i++)
            assert_true(of[i] > 0);
    }
    scene_close(scene);
}

TEST_WITH(SCENE, every_partition_has_codes_of_an_authoritys_windows)
{
    expect_days_of(scene, "authority = \"a\"; failover_gap = 100;");
}

TEST_WITH(SCENE, every_partition_has_codes_of_neighbours_windows)
{
    expect_days_of(scene, "authority = \"neighbours\";");
}

static int start(void **state)
{
    (void)state;
    redis = server_redis(NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    server_free(redis);
    return 0;
}

TEST_BEFORE_ALL(start);
TEST_AFTER_ALL(stop);
