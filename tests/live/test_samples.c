/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sample topologies that are about time, as they stand in config/: numbers
 * of a day, of a second, ids of time, snowflakes. What they draw and promise
 * in their comments is what comes out.
 */
#include <string.h>
#include <time.h>

#include "platform/text.h"
#include "scene.h"
#include "support/rig.h"
#include "support/server_redis.h"
#include "support/take.h"
#include "support/test.h"

#define DAY_MS        INT64_C(86400000)
#define SHANGHAI_MS   INT64_C(28800000) /* east of Greenwich, all year */
#define EPOCH_2020_MS INT64_C(1577836800000)
#define EPOCH_2026_MS INT64_C(1767225600000)
#define MANY          100
#define STAMPS        8 /* that a test may see */

/* Numbers by their stamps: unique is the pair. */
struct pairs {
    struct {
        struct seqb_stamp stamp;
        struct numbers numbers;
    } of[STAMPS];
    size_t count;
};

static struct numbers *pairs_of(struct pairs *pairs,
                                const struct seqb_stamp *stamp)
{
    size_t i = 0;

    while (i < pairs->count && pairs->of[i].stamp.digits != stamp->digits)
        i++;
    if (i == pairs->count) {
        assert_true(i < STAMPS);
        /* No stamp comes after a later one. */
        if (i > 0)
            assert_true(stamp->begins_ms >= pairs->of[i - 1].stamp.ends_ms);
        pairs->of[i].stamp = *stamp;
        numbers_init(&pairs->of[i].numbers);
        pairs->count++;
    }
    return &pairs->of[i].numbers;
}

static void pairs_fini(struct pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        assert_int_equal(numbers_repeats(&pairs->of[i].numbers), 0);
        numbers_fini(&pairs->of[i].numbers);
    }
}

static struct seqb_sequence *sequence_of(const struct scene *scene,
                                         const char *key)
{
    struct seqb_sequence *sequence = NULL;
    struct seqb_error err;

    assert_done(seqb_get_sequence(scene->broker, key, &sequence, &err), err);
    return sequence;
}

/* Takes numbers of one stamp. */
static struct seqb_stamp take(struct seqb_sequence *sequence,
                              struct pairs *pairs, int64_t *out)
{
    struct seqb_stamp stamp;
    struct seqb_error err;

    assert_done(take_stamped(sequence, MANY, out, &stamp, &err), err);
    numbers_add(pairs_of(pairs, &stamp), out, MANY);
    return stamp;
}

/* An instant as digits, in Shanghai: 20261121235959. */
static int64_t second_at(int64_t ms)
{
    const time_t local = (time_t)((ms + SHANGHAI_MS) / 1000);
    char text[32];
    int64_t digits;
    struct tm parts;

    assert_non_null(gmtime_r(&local, &parts));
    assert_true(strftime(text, sizeof text, "%Y%m%d%H%M%S", &parts) > 0);
    assert_true(text_to_int64(text, strlen(text), &digits));
    return digits;
}

static int64_t day_at(int64_t ms)
{
    return second_at(ms) / 1000000;
}

TEST_WITH(SCENE, days_begin_at_midnight_in_shanghai)
{
    struct pairs pairs = {.count = 0};
    int64_t numbers[MANY];

    for (int run = 0; run < 2; run++) {
        scene_open(scene, scene_write_sample(scene, "config/daily.conf"));
        for (int i = 0; i < 200; i++) {
            const struct seqb_stamp stamp =
                take(sequence_of(scene, "order"), &pairs, numbers);

            assert_int_equal(stamp.ends_ms - stamp.begins_ms, DAY_MS);
            assert_int_equal((stamp.begins_ms + SHANGHAI_MS) % DAY_MS, 0);
            assert_int_equal(stamp.digits, day_at(stamp.begins_ms));
        }
        scene_close(scene);
    }
    pairs_fini(&pairs);
}

/* A stop drops what is at hand; else none is skipped, nor out of order. */
TEST_WITH(SCENE, one_partition_counts_a_day_from_one)
{
    struct pairs pairs = {.count = 0};
    int64_t numbers[MANY];
    int64_t last = 0;
    int64_t digits = 0;

    scene_open(scene, scene_write_sample(scene, "config/daily.conf"));
    for (int i = 0; i < 50; i++) {
        const struct seqb_stamp stamp =
            take(sequence_of(scene, "waybill"), &pairs, numbers);

        if (stamp.digits != digits)
            last = 0;
        digits = stamp.digits;
        for (int j = 0; j < MANY; j++)
            assert_int_equal(numbers[j], ++last);
    }
    pairs_fini(&pairs);
}

TEST_WITH(SCENE, fiscal_years_begin_in_april)
{
    struct pairs pairs = {.count = 0};
    int64_t numbers[MANY];
    struct seqb_stamp stamp;

    scene_open(scene, scene_write_sample(scene, "config/daily.conf"));
    stamp = take(sequence_of(scene, "invoice"), &pairs, numbers);
    assert_int_equal(day_at(stamp.begins_ms), stamp.digits * 10000 + 401);
    assert_int_equal(day_at(stamp.ends_ms), (stamp.digits + 1) * 10000 + 401);
    assert_int_equal(numbers[0], 1);
    pairs_fini(&pairs);
}

/* --- seconds --- */

static const char *write_seconds(const struct scene *scene)
{
    static struct server *servers[2];
    char text[SCENE_TEXT_SIZE];

    for (int i = 0; i < 2; i++) {
        if (servers[i] == NULL)
            servers[i] = server_redis(NULL);
    }
    scene_sample("config/seconds.conf", text);
    scene_replace_port(text, "port = 6379", server_port(servers[0]));
    scene_replace_port(text, "port = 6380", server_port(servers[1]));
    scene_replace(text, "window_bits = 14;",
                  "window_bits = 14; timeout = \"5s\"; "
                  "rescue_after = \"400ms\";");
    scene_replace(text, "key = \"order\";",
                  "key = \"order\"; deadline = \"1m\";");
    return scene_write(scene, "seconds.conf", text);
}

TEST_WITH(SCENE, seconds_follow_each_other)
{
    struct pairs pairs = {.count = 0};
    int64_t numbers[MANY];

    scene_open(scene, write_seconds(scene));
    while (pairs.count < 4) {
        const struct seqb_stamp stamp =
            take(sequence_of(scene, "order"), &pairs, numbers);

        assert_int_equal(stamp.ends_ms - stamp.begins_ms, 1000);
        assert_int_equal(stamp.digits, second_at(stamp.begins_ms));
        nanosleep(&(struct timespec){0, 1000000}, NULL); /* enough to sort */
    }
    pairs_fini(&pairs);
}

/* --- ids --- */

static int64_t next_shard(struct seqb_sequence *sequence, int64_t shard)
{
    struct seqb_error err;
    int64_t id;

    assert_done(take_shard(sequence, shard, &id, &err), err);
    return id;
}

static struct seqb_decoded decode(const struct seqb_sequence *sequence,
                                  int64_t id)
{
    struct seqb_decoded parts;
    struct seqb_error err;

    assert_done(seqb_decode(sequence, id, &parts, &err), err);
    return parts;
}

TEST_WITH(SCENE, time_ids_have_the_bits_that_the_sample_draws)
{
    struct seqb_sequence *order;
    struct seqb_error err;
    int64_t id;

    scene_open(scene, scene_write_sample(scene, "config/time-ids.conf"));
    order = sequence_of(scene, "order");
    for (int64_t shard = 0; shard < 4096; shard++) {
        struct seqb_decoded parts;

        id = next_shard(order, shard);
        parts = decode(order, id);
        numbers_add(&scene->numbers, &id, 1);
        assert_int_equal((id >> 19) & 4095, shard);
        assert_int_equal(parts.shard, shard);
        assert_int_equal(parts.time_ms, EPOCH_2020_MS + (id >> 31) * 1000);
        assert_int_equal(parts.number, id & 0x7ffff);
        assert_int_equal(parts.worker, -1);
    }
    scene_expect_no_repeats(scene);
    assert_int_equal(take_shard(order, 4096, &id, &err), SEQB_INVALID);
    assert_int_equal(take_shard(order, -1, &id, &err), SEQB_INVALID);
}

/* Without the shard they are unique, too. */
TEST_WITH(SCENE, ids_of_all_shards_share_one_counter)
{
    struct seqb_sequence *order;

    scene_open(scene, scene_write_sample(scene, "config/time-ids.conf"));
    order = sequence_of(scene, "order");
    for (int64_t i = 0; i < 4096; i++) {
        const int64_t id = next_shard(order, i);
        const int64_t bare = id & ~(INT64_C(4095) << 19);

        numbers_add(&scene->numbers, &bare, 1);
    }
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, ids_for_javascript_end_below_53_bits)
{
    struct seqb_sequence *web;

    scene_open(scene, scene_write_sample(scene, "config/time-ids.conf"));
    web = sequence_of(scene, "web");
    for (int64_t shard = 0; shard < 64; shard++) {
        const int64_t id = next_shard(web, shard);

        assert_true(id > 0 && id < INT64_C(1) << 53);
        assert_int_equal(decode(web, id).time_ms,
                         EPOCH_2026_MS + (id >> 22) * 1000);
    }
}

/* A pool that is new in two direct stores need not wait for any lease: one of
 * an hour would be noticed. */
static const char *write_snowflake(const struct scene *scene)
{
    char text[SCENE_TEXT_SIZE];

    scene_sample("config/snowflake.conf", text);
    scene_replace(text, "lease = \"10s\";", "lease = \"1h\";");
    scene_replace(text, "key = \"order\";",
                  "key = \"order\"; deadline = \"1m\";");
    return scene_write(scene, "snowflake.conf", text);
}

static void take_flakes(struct scene *scene, struct seqb_sequence *order)
{
    struct seqb_error err;
    int64_t ids[MANY];

    assert_done(take_numbers(order, MANY, ids, &err), err);
    numbers_add(&scene->numbers, ids, MANY);
    for (int i = 0; i < MANY; i++) {
        const struct seqb_decoded parts = decode(order, ids[i]);

        assert_int_equal(parts.worker, 0);
        assert_int_equal((ids[i] >> 12) & 1023, 0);
        assert_int_equal(parts.time_ms, EPOCH_2020_MS + (ids[i] >> 22));
        assert_int_equal(parts.number, ids[i] & 4095);
    }
}

/* The worker id is given back at the end, and had again at the next start. */
TEST_WITH(SCENE, snowflakes_are_of_the_lowest_worker_id)
{
    const char *topology = write_snowflake(scene);

    for (int run = 0; run < 2; run++) {
        scene_open(scene, topology);
        for (int i = 0; i < 200; i++)
            take_flakes(scene, sequence_of(scene, "order"));
        scene_close(scene);
    }
    scene_expect_no_repeats(scene);
}

TEST_BEFORE_ALL(without_sigpipe);
