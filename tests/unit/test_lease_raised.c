/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a lessor's counter of leases is raised that was set back by hand: by
 * a gap and a chance that are parts of the leases, which are fewer than the
 * windows. What the system gives as random bits is the test's.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "neighbours_fixture.h"
#include "store/value.h"
#include "support/test.h"
#include "support/wrap.h"

#define LESSORS 3 /* two bits of a window; the fourth store forgets */
#define LOW_BITS                                                               \
    (2 /* of the partition */ + 2 /* memory_bits */ + 8 /* window_bits */ +    \
     2 /* of the lessor */)

static atomic_bool is_fixed;
static _Atomic uint64_t chance;

WRAPPED(ssize_t, getrandom, void *buffer, size_t size, unsigned int flags)
{
    const uint64_t bits = atomic_load(&chance);

    if (!atomic_load(&is_fixed) || size != sizeof bits)
        return __real_getrandom(buffer, size, flags);
    memcpy(buffer, &bits, sizeof bits);
    return (ssize_t)size;
}

/* Leases to the fourth partition come from the first store alone. */
static struct rig_broker *open_with_one_lessor(struct rig *rig)
{
    struct rig_broker *broker;

    for (int32_t i = 1; i < LESSORS; i++)
        bar_lessor(rig, i);
    broker = rig_open(rig);
    for (int32_t i = 0; i < LESSORS; i++)
        await_lessor(broker, i, HA_LESSOR_LEVEL);
    while (rig_partition(broker, 3).granted == 0)
        rig_take(broker, 16);
    return broker;
}

/* Sets the counter back, and has the broker notice. Returns by how much it then
 * stands above what it was, a run that was leased meanwhile included. */
static int64_t raise_of_one_set_back(struct rig *rig, uint64_t bits)
{
    struct rig_broker *broker;
    int64_t before;

    broker = open_with_one_lessor(rig);
    atomic_store(&chance, bits);
    atomic_store(&is_fixed, true);
    before = fake_value(rig->stores[0], LEASES(3));
    fake_put(rig->stores[0], LEASES(3), 0);
    fake_flush(rig->stores[3]);
    rig_take_until(broker, 0, SEQB_PARTITION_POISONED);
    rig_expect_words(rig_partition(broker, 0).reason, "window/main/3/order");
    atomic_store(&is_fixed, false);
    return fake_value(rig->stores[0], LEASES(3)) - before;
}

TEST_WITH(THREE_LESSORS, gap_is_a_sixteenth_of_the_leases)
{
    const int64_t leases = 1023;
    int64_t by;

    rig->sequences[0].value_bits = LOW_BITS + 10;
    by = raise_of_one_set_back(rig, 0);
    assert_in_range(by, 1, 2 * layout_window_gap(leases));
}

TEST_WITH(THREE_LESSORS, chance_is_a_part_of_the_leases_that_a_text_has)
{
    const int64_t useful = INT64_C(1000000000000);
    const int64_t most = (useful >> LOW_BITS) / SEQB_SPREAD_PARTS;
    int64_t by;

    rig->sequences[0].width_numbers = useful;
    by = raise_of_one_set_back(rig, (uint64_t)(2 * most));
    assert_in_range(by, WINDOW_GAP / 2, WINDOW_GAP + most + most / 2);
}
