/* SPDX-License-Identifier: Apache-2.0 */
/* What a topology says of time, as options: periods, ids, the guarded clock,
 * snowflakes; and the samples that are about it. */

#include "backends/backends.h"
#include "config/config.h"
#include "lease/lease.h"
#include "platform/text.h"
#include "support/test.h"
#include "unit/topology_expect.h"

#define EPOCH_2020_MS INT64_C(1577836800000)
#define EPOCH_2026_MS INT64_C(1767225600000)

/* --- periods and ids --- */

TEST(no_period_needs_no_clock)
{
    const struct config_topology *topology =
        topology_of_text("broker={max_ahead=\"1m\";clock_store="
                         "\"a\";};" BACKEND POOL KEY);
    const struct queue_sequence_options *sequence = topology->queue.sequences;

    assert_null(topology->queue.clock);
    assert_null(sequence->period);
    assert_null(sequence->ids);
    assert_null(sequence->attributes);
}

/* The instant's stamp in the zone that was configured. */
static int64_t stamp_at(const struct period_rules *rules, int64_t ms)
{
    struct period_span span;

    period_span_at(rules, ms, &span);
    return span.stamp;
}

TEST(every_setting_of_a_period_arrives)
{
    const struct config_topology *topology = topology_of_text(
        BACKEND POOL "sequences=({key=\"k\";period=\"day\";keep_periods=31;"
                     "time_zone=\"Asia/Shanghai\";},"
                     "{key=\"l\";period=\"quarter\";year_starts=\"04-06\";},"
                     "{key=\"m\";period=\"none\";});\n");
    const struct queue_sequence_options *day = &topology->queue.sequences[0];
    const struct queue_sequence_options *quarter =
        &topology->queue.sequences[1];

    assert_int_equal(day->period->unit, PERIOD_DAY);
    assert_non_null(day->period->zone);
    /* 16:00 in Greenwich is midnight there. */
    assert_int_equal(stamp_at(day->period, EPOCH_2020_MS + 57600000 - 1),
                     20200101);
    assert_int_equal(stamp_at(day->period, EPOCH_2020_MS + 57600000), 20200102);
    assert_null(day->ids);
    assert_int_equal(day->keep_periods, 31);
    assert_int_equal(quarter->period->unit, PERIOD_QUARTER);
    assert_null(quarter->period->zone);
    assert_int_equal(quarter->period->year_month, 4);
    assert_int_equal(quarter->period->year_day, 6);
    assert_int_equal(quarter->keep_periods, 10);
    assert_null(topology->queue.sequences[2].period);
    assert_non_null(topology->queue.clock);
}

TEST(every_setting_of_ids_arrives)
{
    const struct config_topology *topology = topology_of_text(
        BACKEND POOL "auto_sequences={pattern=\"*\";keep_periods=3;"
                     "when_full=\"refuse\";ids={epoch=\"2026-01-01\""
                     ";time=30;unit=\"minute\";shard=0;"
                     "counter=33;};};\n");
    const struct queue_sequence_options *automatic = topology->queue.automatic;

    assert_int_equal(automatic->period->unit, PERIOD_MINUTE);
    assert_null(automatic->period->zone);
    assert_true(automatic->ids->epoch_ms == EPOCH_2026_MS);
    assert_int_equal(automatic->ids->unit_ms, 60000);
    assert_int_equal(automatic->ids->time, 30);
    assert_int_equal(automatic->ids->shard, 0);
    assert_int_equal(automatic->ids->counter, 33);
    assert_false(automatic->full_waits);
    assert_int_equal(automatic->keep_periods, 3);
    assert_non_null(topology->queue.clock);
}

TEST(ids_have_defaults_of_their_own)
{
    const struct config_topology *topology =
        topology_of_text(BACKEND POOL "sequences=({key=\"k\";ids={};});\n");
    const struct queue_sequence_options *sequence = topology->queue.sequences;

    assert_int_equal(sequence->period->unit, PERIOD_SECOND);
    assert_int_equal(sequence->period->year_month, 1);
    assert_int_equal(sequence->period->year_day, 1);
    assert_true(sequence->ids->epoch_ms == EPOCH_2020_MS);
    assert_int_equal(sequence->ids->unit_ms, 1000);
    assert_int_equal(sequence->ids->time, 32);
    assert_int_equal(sequence->ids->shard, 12);
    assert_int_equal(sequence->ids->counter, 19);
    assert_true(sequence->full_waits);
}

/* What is claimed of a sequence: another text is another layout. */
TEST(terms_name_what_must_be_alike)
{
    static const struct {
        const char *settings;
        const char *attributes;
    } cases[] = {
        {"period=\"day\";", " period=day"},
        {"period=\"day\";time_zone=\"Asia/Shanghai\";",
         " period=day time_zone=Asia/Shanghai"},
        {"period=\"week\";keep_periods=99;", " period=week"},
        {"period=\"year\";year_starts=\"01-01\";", " period=year"},
        {"period=\"year\";year_starts=\"04-01\";",
         " period=year year_starts=04-01"},
        {"period=\"quarter\";year_starts=\"01-06\";",
         " period=quarter year_starts=01-06"},
        {"period=\"hour\";time_zone=\"UTC\";", " period=hour"},
        {"period=\"hour\";time_zone=\"Asia/Shanghai\";",
         " period=hour time_zone=Asia/Shanghai"},
        {"ids={};", " period=second ids=2020-01-01/s/32/12/19"},
        {"ids={unit=\"day\";time=20;};when_full=\"refuse\";",
         " period=day ids=2020-01-01/day/20/12/19"},
    };
    char text[512];

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct config_topology *topology;

        assert_true(text_format(text, sizeof text,
                                BACKEND POOL "sequences=({key=\"k\";%s});\n",
                                cases[i].settings));
        topology = topology_of_text(text);
        assert_string_equal(topology->queue.sequences[0].attributes,
                            cases[i].attributes);
    }
}

TEST(one_zone_is_read_once)
{
    const struct config_topology *topology = topology_of_text(
        BACKEND POOL
        "sequences=({key=\"k\";period=\"day\";time_zone=\"Europe/Berlin\";},"
        "{key=\"l\";period=\"day\";time_zone=\"Asia/Shanghai\";},"
        "{key=\"m\";period=\"hour\";time_zone=\"Europe/Berlin\";});\n");
    const struct queue_sequence_options *sequences = topology->queue.sequences;

    assert_ptr_equal(sequences[0].period->zone, sequences[2].period->zone);
    assert_ptr_not_equal(sequences[0].period->zone, sequences[1].period->zone);
}

/* --- the clock --- */

TEST(every_setting_of_the_clock_arrives)
{
    static const struct {
        const char *word;
        enum guard_rollback rollback;
    } cases[] = {
        {"hold", GUARD_HOLD}, {"wait", GUARD_WAIT}, {"refuse", GUARD_REFUSE}};
    char text[512];

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct queue_clock_options *clock;
        const struct config_topology *topology;

        assert_true(
            text_format(text, sizeof text,
                        "broker={name=\"b-1\";on_rollback=\"%s\";"
                        "max_rollback=\"1d\";max_ahead=\"1s\";"
                        "clock_store=\"b\";};\n"
                        "backends=(" SQLITE("a") "," SQLITE(
                            "b") ");pools=({name=\"p\";partitions=[\"a\"];"
                                 "authority=\"b\";});"
                                 "sequences=({key=\"k\";period=\"day\";});\n",
                        cases[i].word));
        topology = topology_of_text(text);
        clock = topology->queue.clock;
        assert_int_equal(clock->rules.on_rollback, cases[i].rollback);
        assert_int_equal(clock->rules.max_rollback_ms, 86400000);
        assert_int_equal(clock->rules.max_ahead_ms, 1000);
        assert_string_equal(clock->broker, "b-1");
        assert_string_equal(clock->path, "/state/clock-b-1");
        assert_int_equal(clock->store, 1);
    }
}

TEST(clock_has_defaults)
{
    const struct config_topology *topology = topology_of_text(
        BACKEND POOL "sequences=({key=\"k\";period=\"day\";});\n");
    const struct queue_clock_options *clock = topology->queue.clock;

    assert_int_equal(clock->rules.on_rollback, GUARD_HOLD);
    assert_int_equal(clock->rules.max_rollback_ms, 600000);
    assert_int_equal(clock->rules.max_ahead_ms, 300000);
    assert_string_equal(clock->path, "/state/clock-seqbroker");
    assert_int_equal(clock->store, -1);
}

/* --- samples --- */

TEST(daily_sample_has_a_pool_of_four_and_a_dense_one)
{
    const struct config_topology *topology =
        topology_of_file("config/daily.conf");
    const struct queue_sequence_options *sequences = topology->queue.sequences;

    assert_int_equal(topology->ha.pool_count, 2);
    assert_int_equal(topology->ha.pools[0].layout.bits, 2);
    assert_int_equal(topology->ha.pools[1].layout.bits, 0);
    for (size_t i = 0; i < topology->ha.backend_count; i++)
        assert_string_equal(topology->ha.backends[i].ops->engine, "sqlite");
    assert_int_equal(topology->queue.sequence_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(sequences[i].pool, i == 0 ? 0 : 1);
        assert_int_equal(sequences[i].memory_bits, i == 0 ? 3 : 0);
        assert_int_equal(sequences[i].period->unit,
                         i == 2 ? PERIOD_YEAR : PERIOD_DAY);
        assert_non_null(sequences[i].period->zone);
    }
    assert_string_equal(
        sequences[2].attributes,
        " period=year time_zone=Asia/Shanghai year_starts=04-01");
}

TEST(seconds_sample_counts_in_redis)
{
    const struct config_topology *topology;

    if (backend_find("redis") == NULL)
        skip();
    topology = topology_of_file("config/seconds.conf");
    assert_string_equal(topology->ha.backends[0].ops->engine, "redis");
    assert_int_equal(topology->ha.pools[0].layout.authority, 2);
    assert_int_equal(topology->ha.pools[0].layout.window_bits, 14);
    assert_int_equal(topology->queue.sequences[0].period->unit, PERIOD_SECOND);
    assert_int_equal(topology->queue.sequences[0].keep_periods, 600);
}

TEST(time_ids_sample_has_the_bits_that_it_draws)
{
    const struct config_topology *topology =
        topology_of_file("config/time-ids.conf");
    const struct queue_sequence_options *sequences = topology->queue.sequences;
    const struct bits_layout *order = sequences[0].ids;
    const struct bits_layout *web = sequences[1].ids;

    assert_int_equal(order->time + order->shard + order->counter, 63);
    /* 2156-02-07 06:28:16 */
    assert_true(bits_end_ms(order) == INT64_C(5872804096000));
    assert_true(sequences[0].full_waits);
    assert_int_equal(web->time + web->shard + web->counter, 53);
    assert_false(sequences[1].full_waits);
}

TEST(snowflake_sample_fills_63_bits)
{
    const struct config_topology *topology =
        topology_of_file("config/snowflake.conf");
    const struct queue_options *queue = &topology->queue;
    const struct lease_options *options = queue->snowflakes;

    assert_int_equal(queue->snowflake_count, 1);
    assert_ptr_equal(queue->sequences[0].snowflake, options);
    assert_int_equal(queue->sequences[0].memory_bits, 0);
    assert_int_equal(options->lease_ms, 10000);
    assert_int_equal(options->pool, 0);
    assert_string_equal(options->broker, "ids");
    assert_true(options->layout.epoch_ms == EPOCH_2020_MS);
    assert_int_equal(options->layout.time, 41);
    assert_int_equal(options->layout.shard, 10);
    assert_int_equal(options->datacenter_bits, 0);
    assert_int_equal(options->layout.counter, 12);
    /* 2089-09-06 15:47:35.552 */
    assert_true(bits_end_ms(&options->layout) == INT64_C(3776860055552));
    assert_non_null(queue->clock);
}

/* A number that is js_safe ends the time of all that share its generator. */
TEST(snowflakes_of_a_pool_share_their_bits_and_site)
{
    const struct config_topology *topology = topology_of_text(
        "broker={datacenter=5;};" BACKEND POOL
        "sequences=({key=\"k\";snowflake={datacenter_bits=3;worker_bits=2;"
        "counter_bits=5;lease=\"7s\";};},{key=\"l\";js_safe=true;"
        "snowflake={datacenter_bits=3;worker_bits=2;counter_bits=5;"
        "lease=\"7s\";};});auto_sequences={pattern=\"*\";snowflake={"
        "datacenter_bits=3;worker_bits=2;counter_bits=5;lease=\"7s\";};};");
    const struct queue_options *queue = &topology->queue;
    const struct lease_options *options = queue->snowflakes;

    assert_int_equal(queue->snowflake_count, 1);
    assert_ptr_equal(queue->sequences[1].snowflake, options);
    assert_ptr_equal(queue->automatic->snowflake, options);
    assert_true(queue->automatic->claims_first);
    assert_string_equal(queue->sequences[0].attributes,
                        " snowflake=2020-01-01/3/2/5");
    assert_int_equal(options->datacenter, 5);
    assert_int_equal(options->datacenter_bits, 3);
    assert_int_equal(options->layout.time, 43);
    assert_int_equal(options->layout.shard, 5);
    assert_int_equal(options->layout.counter, 5);
    assert_int_equal(options->lease_ms, 7000);
}

TEST_BEFORE_ALL(topology_setup);
