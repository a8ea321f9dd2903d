/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies as options: the samples, defaults, every setting, their table. */

#include <string.h>

#include "backends/backends.h"
#include "config/config.h"
#include "config/settings/settings.h"
#include "config/source/source.h"
#include "platform/text.h"
#include "support/test.h"
#include "unit/topology_expect.h"

TEST(embedded_default_is_four_sqlite_partitions)
{
    const struct config_topology *topology = topology_of_file(NULL);
    const struct ha_pool_options *pool = topology->ha.pools;

    assert_string_equal(topology->broker_name, "embedded");
    assert_string_equal(topology->state_dir, "/state");
    assert_int_equal(topology->ha.backend_count, 4);
    assert_int_equal(topology->ha.pool_count, 1);
    assert_int_equal(topology->ha.open_timeout_ms, 10000);
    for (int i = 0; i < 4; i++) {
        const struct store_options *backend = &topology->ha.backends[i];
        char path[64];

        assert_true(
            text_format(path, sizeof path, "/state/partition-%d.db", i));
        assert_string_equal(backend->ops->engine, "sqlite");
        assert_string_equal(backend->options.path, path);
        assert_int_equal(backend->options.timeout_ms, 200);
        assert_int_equal(backend->options.connect_timeout_ms, 1000);
        assert_null(backend->options.host);
        assert_null(backend->options.prefix);
        assert_int_equal(backend->options.port, 0);
        assert_false(backend->options.create);
        assert_int_equal(pool->layout.partitions[i], i);
    }
    assert_string_equal(pool->layout.name, "main");
    assert_int_equal(pool->layout.bits, 2);
    assert_int_equal(pool->layout.authority, -1);
}

TEST(embedded_default_makes_sequences_by_themselves)
{
    const struct config_topology *topology = topology_of_file(NULL);
    const struct queue_options *queue = &topology->queue;

    assert_int_equal(queue->interval_ms, 20);
    assert_int_equal(queue->sequence_count, 0);
    assert_string_equal(queue->auto_pattern, "*");
    assert_int_equal(queue->auto_limit, 10000);
    assert_non_null(queue->automatic);
    assert_null(queue->automatic->key);
    assert_int_equal(queue->automatic->pool, 0);
    assert_int_equal(queue->automatic->memory_bits, 3);
    assert_int_equal(queue->automatic->deadline_ms, 1000);
    assert_int_equal(queue->automatic->runway_ms, 50);
    assert_int_equal(queue->automatic->max_unused, 1000000);
    assert_true(queue->automatic->prefetch);
    assert_false(queue->automatic->warm);
    assert_int_equal(queue->automatic->idle_after_ms, 600000);
    assert_string_equal(queue->spool_path, "/state/spool");
    assert_int_equal(queue->warm_timeout_ms, 10000);
}

TEST(redis_sample_is_two_partitions_and_an_authority)
{
    const struct config_topology *topology =
        topology_of_file("config/redis.conf");
    const struct store_options *backends = topology->ha.backends;
    const struct ha_pool_options *pool = topology->ha.pools;

    assert_string_equal(topology->broker_name, "orders");
    assert_int_equal(topology->ha.backend_count, 3);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(backends[i].ops->engine, "redis");
        assert_string_equal(backends[i].options.host, "127.0.0.1");
        assert_int_equal(backends[i].options.port, 6379 + i);
        assert_string_equal(backends[i].options.prefix, "seqbroker");
        assert_int_equal(backends[i].options.timeout_ms, 200);
        assert_null(backends[i].options.path);
        assert_null(backends[i].options.password);
        assert_int_equal(pool->layout.partitions[i], i);
    }
    assert_string_equal(backends[1].options.name, "redis-b");
    assert_string_equal(backends[2].options.path, "/state/authority.db");
    assert_int_equal(backends[2].options.timeout_ms, 200);
    assert_int_equal(pool->layout.generation, 1);
    assert_int_equal(pool->layout.bits, 1);
    assert_int_equal(pool->layout.authority, 2);
    assert_int_equal(pool->layout.window_bits, 20);
    assert_int_equal(pool->timeout_ms, 200);
    assert_int_equal(pool->slow_count, 3);
    assert_int_equal(pool->slow_window_ms, 60000);
    assert_int_equal(pool->rescue_after_ms, 300000);
    assert_int_equal(pool->rescue, HA_RESCUE_BACKOFF);
    assert_int_equal(pool->check_interval_ms, 1500);
    assert_int_equal(pool->layout.failover_gap, 1000000);
}

TEST(redis_sample_lists_its_sequences)
{
    const struct config_topology *topology =
        topology_of_file("config/redis.conf");
    const struct queue_options *queue = &topology->queue;

    assert_int_equal(queue->sequence_count, 2);
    assert_string_equal(queue->sequences[0].key, "order");
    assert_int_equal(queue->sequences[0].memory_bits, 3);
    assert_int_equal(queue->sequences[0].max_unused, 1000000);
    assert_string_equal(queue->sequences[1].key, "waybill");
    assert_int_equal(queue->sequences[1].memory_bits, 10);
    assert_int_equal(queue->sequences[1].max_unused, 100000);
    assert_null(queue->automatic);
}

TEST(mixed_sample_is_four_kinds_of_store)
{
    static const char *const engines[] = {"mysql-autoinc", "mysql-row",
                                          "postgres", "redis"};
    static const int32_t ports[] = {3306, 3307, 5432, 6379};
    const struct config_topology *topology;
    const struct ha_options *ha;

    for (size_t i = 0; i < COUNT_OF(engines); i++) {
        if (backend_find(engines[i]) == NULL)
            skip();
    }
    topology = topology_of_file("config/mixed.conf");
    ha = &topology->ha;
    assert_int_equal(ha->backend_count, COUNT_OF(engines));
    for (size_t i = 0; i < COUNT_OF(engines); i++) {
        assert_string_equal(ha->backends[i].ops->engine, engines[i]);
        assert_int_equal(ha->backends[i].options.port, ports[i]);
        assert_false(ha->backends[i].options.accept_loss);
        assert_int_equal(ha->pools[0].layout.partitions[i], i);
    }
    assert_string_equal(ha->backends[0].options.table_format, "%s_code_%d");
    assert_int_equal(ha->pools[0].layout.bits, 2);
    assert_int_equal(ha->pools[0].layout.authority, 2);
}

TEST(galera_sample_names_nodes_alone)
{
    const struct config_topology *topology =
        topology_of_file("config/galera.conf");
    const struct seqb_backend_options *options =
        &topology->ha.backends[0].options;

    assert_string_equal(options->endpoints[0], "127.0.0.1:3306");
    assert_string_equal(options->endpoints[2], "127.0.0.1:3308");
    assert_null(options->endpoints[3]);
    assert_null(options->host);
    assert_int_equal(options->port, 0);
}

TEST(etcd_sample_names_members_alone)
{
    const struct config_topology *topology =
        topology_of_file("config/etcd.conf");
    const struct seqb_backend_options *options =
        &topology->ha.backends[0].options;

    assert_string_equal(options->endpoints[2], "127.0.0.1:32379");
    assert_null(options->endpoints[3]);
    assert_null(options->host);
    assert_int_equal(options->timeout_ms, 1000); /* see docs/choosing.md */
}

TEST(redis_cluster_sample_names_nodes_and_an_authority)
{
    const struct config_topology *topology =
        topology_of_file("config/redis-cluster.conf");
    const struct ha_options *ha = &topology->ha;

    assert_string_equal(ha->backends[0].options.endpoints[2], "127.0.0.1:7002");
    assert_null(ha->backends[0].options.host);
    assert_int_equal(ha->pools[0].layout.authority, 1);
}

TEST(patroni_sample_names_nodes_in_conninfo)
{
    const struct config_topology *topology =
        topology_of_file("config/patroni.conf");
    const struct seqb_backend_options *options =
        &topology->ha.backends[0].options;

    assert_non_null(strstr(options->conninfo, "port=5432,5433,5434 user="));
    assert_null(options->host);
}

TEST(sentinel_sample_names_no_server)
{
    const struct config_topology *topology =
        topology_of_file("config/sentinel.conf");
    const struct store_options *backends = topology->ha.backends;

    for (int i = 0; i < 2; i++) {
        const struct seqb_backend_options *redis = &backends[i].options;

        assert_string_equal(redis->master_name, i == 0 ? "main-a" : "main-b");
        assert_string_equal(redis->sentinels[0], "127.0.0.1:26379");
        assert_string_equal(redis->sentinels[2], "127.0.0.1:26381");
        assert_null(redis->sentinels[3]);
        assert_null(redis->host);
        assert_int_equal(redis->port, 0);
    }
}

#define FILES SQLITE("a") "," SQLITE("b") "," SQLITE("c")

static const char full[] =
    "broker={name=\"b\";open_timeout=\"1m\";interval=\"1s\";spool=false;};\n"
    "backends=({name=\"r\";engine=\"redis\";socket=\"/run//r\";database=7;"
    "prefix=\"x\";connect_timeout=\"10ms\";}," FILES ");\n"
    "pools=({name=\"p\";partitions=[\"r\"];authority=\"b\";window_bits=8;"
    "timeout=\"2s\";slow_count=9;slow_window=\"1d\";rescue=\"fixed\";"
    "rescue_after=\"1h\";check_interval=\"100ms\";failover_gap=1099511627776;"
    "generation=1000000;},"
    "{name=\"q\";partitions=[\"a\"];authority=\"b\";timeout=\"5s\";},"
    "{name=\"s\";partitions=[\"c\"];authority=\"a\";timeout=\"30s\";});\n"
    "sequences=({key=\"k\";pool=\"q\";memory_bits=0;deadline=\"10m\";"
    "runway=\"1m\";max_unused=1;prefetch=false;idle_after=\"7d\";},"
    "{key=\"w\";pool=\"q\";warm=true;});\n"
    "auto_sequences={pattern=\"x*\";limit=1000000;pool=\"p\";"
    "idle_after=\"1s\";};\n";

TEST(every_setting_of_broker_and_backends_arrives)
{
    const struct config_topology *topology = topology_of_text(full);
    const struct seqb_backend_options *redis =
        &topology->ha.backends[0].options;

    assert_string_equal(topology->broker_name, "b");
    assert_int_equal(topology->ha.open_timeout_ms, 60000);
    assert_string_equal(redis->name, "r");
    assert_string_equal(redis->socket_path, "/run//r");
    assert_null(redis->host);
    assert_int_equal(redis->port, 0);
    assert_string_equal(redis->database, "7");
    assert_string_equal(redis->prefix, "x");
    assert_int_equal(redis->connect_timeout_ms, 10);
    assert_int_equal(redis->timeout_ms, 2000);
    /* Of the pool it stands in; of the most patient one it serves. */
    assert_int_equal(topology->ha.backends[1].options.timeout_ms, 5000);
    assert_int_equal(topology->ha.backends[2].options.timeout_ms, 5000);
}

TEST(every_setting_of_a_pool_arrives)
{
    const struct config_topology *topology = topology_of_text(full);
    const struct ha_pool_options *pool = topology->ha.pools;

    assert_string_equal(pool->layout.name, "p");
    assert_int_equal(pool->layout.generation, 1000000);
    assert_int_equal(pool->layout.bits, 0);
    assert_int_equal(pool->layout.partitions[0], 0);
    assert_int_equal(pool->layout.authority, 2);
    assert_int_equal(pool->layout.window_bits, 8);
    assert_int_equal(pool->timeout_ms, 2000);
    assert_int_equal(pool->slow_count, 9);
    assert_int_equal(pool->slow_window_ms, 86400000);
    assert_int_equal(pool->rescue, HA_RESCUE_FIXED);
    assert_int_equal(pool->rescue_after_ms, 3600000);
    assert_int_equal(pool->check_interval_ms, 100);
    assert_true(pool->layout.failover_gap == INT64_C(1) << 40);
}

TEST(every_setting_of_sequences_arrives)
{
    const struct config_topology *topology = topology_of_text(full);
    const struct queue_options *queue = &topology->queue;
    const struct queue_sequence_options *sequence = queue->sequences;

    assert_int_equal(queue->interval_ms, 1000);
    assert_int_equal(sequence->pool, 1);
    assert_int_equal(sequence->memory_bits, 0);
    assert_int_equal(sequence->deadline_ms, 600000);
    assert_int_equal(sequence->runway_ms, 60000);
    assert_int_equal(sequence->max_unused, 1);
    assert_false(sequence->prefetch);
    assert_false(sequence->warm);
    assert_int_equal(sequence->idle_after_ms, 604800000);
    assert_true(queue->sequences[1].warm);
    assert_int_equal(queue->sequences[1].idle_after_ms, 600000);
    assert_int_equal(queue->automatic->idle_after_ms, 1000);
    assert_null(queue->spool_path);
    assert_int_equal(queue->warm_timeout_ms, 60000);
    assert_int_equal(queue->automatic->pool, 0);
    assert_string_equal(queue->auto_pattern, "x*");
    assert_int_equal(queue->auto_limit, 1000000);
}

TEST(rows_of_a_section_stand_together)
{
    size_t count;
    size_t all = 0;
    const struct schema_row *next = schema_rows(&count);

    for (int section = 0; section < SCHEMA_SECTIONS; section++) {
        size_t some;
        const struct schema_row *rows =
            schema_rows_of((enum schema_section)section, &some);

        assert_ptr_equal(rows, next);
        for (size_t i = 0; i < some; i++)
            assert_int_equal(rows[i].section, section);
        next += some;
        all += some;
    }
    assert_int_equal(all, count);
}

TEST(settings_are_sound_and_in_the_operators_words)
{
    size_t count;
    size_t rows;
    const struct seqb_setting *settings = config_settings(&count);
    const struct schema_row *row = schema_rows(&rows);

    assert_int_equal(count, rows);
    for (size_t i = 0; i < count; i++, row++) {
        int64_t low;
        int64_t high;
        int64_t initial = 0;

        assert_string_equal(settings[i].name, row->name);
        assert_string_equal(settings[i].section,
                            schema_group(row->section)->name);
        assert_true(strlen(settings[i].help) > 10);
        if (row->type != SCHEMA_INTEGER && row->type != SCHEMA_DURATION)
            continue;
        schema_range(row, &low, &high);
        assert_true(low < high);
        if (*row->initial == '\0') /* it depends on the engine */
            continue;
        if (row->type == SCHEMA_INTEGER)
            assert_true(
                text_to_int64(row->initial, strlen(row->initial), &initial));
        else
            assert_true(duration_parse(row->initial, &initial));
        assert_true(initial >= low && initial <= high);
    }
    assert_string_equal(settings[2].name, "open_timeout");
    assert_string_equal(settings[2].type, "duration");
    assert_string_equal(settings[2].range, "10ms ... 5m");
    assert_string_equal(settings[2].initial, "10s");
}

TEST(embedded_text_and_library_are_told)
{
    assert_non_null(strstr(config_embedded_text(), "partition-3.db"));
    assert_memory_equal(config_library(), "libconfig 1.", 12);
}

TEST(short_words_are_not_guessed_from_afar)
{
    struct did_you_mean did_you_mean = {.word = "xyz"};
    char hint[DID_YOU_MEAN_SIZE];

    did_you_mean_weigh(&did_you_mean, "ab");
    did_you_mean_weigh(&did_you_mean, "partitions");
    did_you_mean_weigh(&did_you_mean, NULL);
    assert_string_equal(did_you_mean_hint(&did_you_mean, "!", hint), "!");
    did_you_mean_weigh(&did_you_mean, "xya");
    did_you_mean_weigh(&did_you_mean, "xaa");
    assert_string_equal(did_you_mean_hint(&did_you_mean, "!", hint),
                        ": did you mean 'xya'?");
}

TEST_BEFORE_ALL(topology_setup);
