/* SPDX-License-Identifier: Apache-2.0 */
/* What a number of a sequence tells. Its pool takes apart what the counter
 * says. */
#include "lease/lease.h"
#include "queue/sequence.h"
#include "support/test.h"
#include "support/wrap.h"

static int64_t counted; /* what the pool was given; -1: nothing */

WRAPPED(void, ha_pool_decode, const struct ha_pool *pool, int32_t memory_bits,
        int64_t value, struct seqb_decoded *out)
{
    assert_null(pool);
    assert_int_equal(memory_bits, 2);
    (void)out;
    counted = value;
}

static struct seqb_decoded decode(const struct queue_sequence_options *options,
                                  int64_t value)
{
    const struct queue_meaning meaning = {.options = options};
    struct seqb_decoded out;

    counted = -1;
    queue_meaning_decode(&meaning, value, &out);
    return out;
}

/* Of 2 bits of site, 3 of worker, and 4 of counter. */
TEST(number_is_taken_apart_by_what_it_was_made_of)
{
    struct lease_options lease = {.layout = {.epoch_ms = 1000,
                                             .unit_ms = 1,
                                             .time = 20,
                                             .shard = 5,
                                             .counter = 4},
                                  .datacenter_bits = 2};
    const struct queue_sequence_options flakes = {.snowflake = &lease};
    const struct queue_sequence_options ids = {.ids = &lease.layout,
                                               .memory_bits = 2};
    const struct queue_sequence_options plain = {.memory_bits = 2};
    const int64_t value = 77 << 9 | 3 << 7 | 5 << 4 | 6;
    struct seqb_decoded out = decode(&flakes, value);

    assert_int_equal(out.time_ms, 1077);
    assert_int_equal(out.datacenter, 3);
    assert_int_equal(out.worker, 5);
    assert_int_equal(out.number, 6);
    assert_int_equal(out.shard, -1);
    assert_int_equal(counted, -1);
    lease.datacenter_bits = 0;
    out = decode(&flakes, value);
    assert_int_equal(out.datacenter, -1);
    assert_int_equal(out.worker, 3 << 3 | 5);
    lease.datacenter_bits = 1;
    assert_int_equal(decode(&flakes, value).datacenter, 1);
    out = decode(&ids, value);
    assert_int_equal(out.time_ms, 1077);
    assert_int_equal(out.shard, 3 << 3 | 5);
    assert_int_equal(out.number, 6);
    assert_int_equal(counted, 6);
    out = decode(&plain, value);
    assert_int_equal(out.time_ms, -1);
    assert_int_equal(out.shard, -1);
    assert_int_equal(out.datacenter, -1);
    assert_int_equal(out.worker, -1);
    assert_int_equal(out.number, value);
    assert_int_equal(counted, value);
}
