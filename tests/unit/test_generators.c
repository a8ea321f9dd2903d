/* SPDX-License-Identifier: Apache-2.0 */
/* The generators of a queue with two pools of snowflakes. */
#include <string.h>

#include "lease_script.h"
#include "platform/fork_wiped.h"
#include "platform/text_list.h"
#include "queue/queue_state.h"
#include "support/failure.h"

struct pools {
    struct queue queue;
    struct queue_options options;
    struct queue_sequence_options sequences[3], automatic;
    bool is_alive;
};

/* Two pools; both sequences are of the first one. */
static struct pools *pools_begin(void)
{
    static struct pools pools;
    const struct lease_options *options = script_begin();

    memset(&pools, 0, sizeof pools);
    pools.is_alive = true;
    pools.sequences[0].snowflake = &options[0];
    pools.sequences[1].snowflake = &options[0];
    pools.sequences[2].snowflake = &options[0]; /* it is none */
    pools.options.snowflakes = options;
    pools.options.snowflake_count = 2;
    pools.options.sequences = pools.sequences;
    pools.options.sequence_count = 2;
    pools.queue.options = pools.queue.first = &pools.options;
    pools.queue.is_alive = &pools.is_alive;
    pools.queue.context.memory = fork_wiped_open();
    return &pools;
}

static struct queue *pools_open(void)
{
    struct pools *pools = pools_begin();

    assert_ok(generators_open(&pools->queue, NULL));
    return &pools->queue;
}

static void pools_end(struct queue *queue, int leases)
{
    generators_free(queue);
    assert_int_equal(script.freed, leases);
    fork_wiped_close(queue->context.memory);
}

/* Counting would cost a sequence that has one for itself. */
TEST(generator_is_shared_by_several_sequences)
{
    static const struct {
        int first, second, automatic; /* the pools; -1: none */
        bool is_shared;               /* the generator of the first pool */
    } cases[] = {{0, 0, -1, true},  {0, 1, -1, false}, {0, 1, 1, false},
                 {0, 1, 0, true},   {-1, 0, 0, true},  {-1, -1, 0, true},
                 {0, -1, -1, false}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct pools *pools = pools_begin();
        const struct lease_options *options = pools->options.snowflakes;
        const struct lease_options *of[] = {NULL, &options[0], &options[1]};

        const struct generator *generator;

        pools->queue.context.clock = (struct guarded_clock *)&script;
        pools->sequences[0].snowflake = of[cases[i].first + 1];
        pools->sequences[1].snowflake = of[cases[i].second + 1];
        pools->automatic.snowflake = of[cases[i].automatic + 1];
        if (cases[i].automatic >= 0)
            pools->options.automatic = &pools->automatic;
        assert_ok(generators_open(&pools->queue, NULL));
        generator = pools->queue.context.generators;
        assert_int_equal(generator->is_shared, cases[i].is_shared);
        assert_ptr_equal(generator->is_alive, &pools->is_alive);
        assert_ptr_equal(generator->clock, &script);
        assert_ptr_equal(pools->queue.context.snowflakes, options);
        pools_end(&pools->queue, 2);
    }
}

TEST(queue_without_snowflakes_has_no_generators)
{
    struct pools *pools = pools_begin();
    size_t count = 99;

    pools->options.snowflake_count = 0;
    assert_ok(generators_open(&pools->queue, NULL));
    pools->options.snowflake_count = 2; /* nobody reads it any more */
    assert_null(pools->queue.context.generators);
    queue_worker_leases(&pools->queue, NULL, 0, &count);
    assert_int_equal(count, 0);
    assert_true(generators_can_make(&pools->queue, NULL));
    generators_shut(&pools->queue);
    generators_close(&pools->queue);
    pools_end(&pools->queue, 0);
}

/* It can be freed however far it came. */
TEST(open_says_what_failed)
{
    struct pools *pools = pools_begin();

    script.lacks_memory = true;
    assert_fails(generators_open(&pools->queue, &failure), SEQB_NO_MEMORY,
                 "queue: out of memory");
    script.lacks_memory = false;
    pools_end(&pools->queue, 0);
    pools = pools_begin();
    script.leases[0].status = SEQB_CONFIG;
    assert_fails(generators_open(&pools->queue, &failure), SEQB_CONFIG, HELD);
    assert_int_equal(script.made, 1);
    generators_shut(&pools->queue);
    generators_close(&pools->queue);
    assert_int_equal(script.leases[0].ends, 1);
    pools_end(&pools->queue, 1);
}

/* All ask before any is waited for. */
TEST(start_awaits_every_lease)
{
    struct queue *queue = pools_open();

    assert_ok(generators_start(queue, 77, NULL));
    assert_int_equal(script.leases[0].started, 1);
    assert_int_equal(script.leases[1].started, 2);
    assert_int_equal(script.leases[0].awaited, 3);
    assert_int_equal(script.leases[1].awaited, 4);
    script.leases[0].is_ended = true;
    assert_status(generators_start(queue, 77, NULL), SEQB_LAYOUT);
    assert_int_equal(script.starts, 7);
    script.leases[0].status = SEQB_NO_MEMORY;
    assert_status(generators_start(queue, 77, NULL), SEQB_NO_MEMORY);
    assert_int_equal(script.starts, 8);
    generators_shut(queue);
    assert_true(queue->context.generators[0].is_closed);
    assert_true(queue->context.generators[1].is_closed);
    generators_close(queue);
    assert_int_equal(script.leases[0].ends, 1);
    assert_int_equal(script.leases[1].ends, 1);
    pools_end(queue, 2);
}

TEST(workers_of_all_pools_are_listed)
{
    struct queue *queue = pools_open();
    struct seqb_worker workers[9];
    size_t count = 99;

    assert_ok(queue_workers(queue, workers, 9, &count, NULL));
    assert_int_equal(count, 2);
    assert_int_equal(workers[0].worker, 7);
    assert_int_equal(workers[1].worker, 8);
    script.leases[0].status = SEQB_UNAVAILABLE;
    assert_status(queue_workers(queue, workers, 9, &count, NULL),
                  SEQB_UNAVAILABLE);
    assert_int_equal(count, 1);
    pools_end(queue, 2);
}

TEST(leases_of_all_pools_are_told)
{
    struct queue *queue = pools_open();
    struct seqb_worker_lease leases[3] = {{.worker = -9}, {.worker = -9}};
    size_t count;

    queue_worker_leases(queue, leases, 1, &count);
    assert_int_equal(count, 2);
    assert_int_equal(leases[1].worker, -9);
    script.leases[1].status = SEQB_UNAVAILABLE;
    queue_worker_leases(queue, leases, 3, &count);
    assert_string_equal(leases[0].pool, "main");
    assert_int_equal(leases[0].worker, 7);
    assert_int_equal(leases[0].left_ms, UNTIL - BOOT);
    assert_string_equal(leases[1].pool, "other");
    assert_int_equal(leases[1].worker, -1);
    assert_int_equal(leases[1].left_ms, 0);
    script_at(NOW, UNTIL + 5);
    queue_worker_leases(queue, leases, 3, &count);
    assert_int_equal(leases[0].left_ms, 0);
    assert_int_equal(leases[2].worker, 0);
    pools_end(queue, 2);
}

/* A ms that is full is none of them. */
TEST(pools_that_can_make_no_ids_are_named)
{
    struct queue *queue = pools_open();
    struct text_list why;
    char text[SEQB_ERROR_TEXT_SIZE] = "";

    script_at(NOW + 101, BOOT);
    text_list_init(&why, text, sizeof text, "; ");
    assert_true(generators_can_make(queue, &why));
    assert_string_equal(text, "");
    script.leases[1].status = SEQB_UNAVAILABLE;
    assert_false(generators_can_make(queue, &why));
    assert_string_equal(text, HELD);
    script_at(NOW, BOOT);
    script.leases[0].id.until_ms = BOOT;
    assert_false(generators_can_make(queue, &why));
    assert_string_equal(text, HELD "; pool main: the lease of its worker id "
                                   "has ended; " HELD);
    pools_end(queue, 2);
}
