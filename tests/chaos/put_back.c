/* SPDX-License-Identifier: Apache-2.0 */
/* What the scenarios of all kinds of store have in common. */

#include "put_back.h"

#include "platform/text.h"

#define MEMORY_BITS 3

/* A window is not used up between a copy and its return, so that what the copy
 * holds of it would be served again. No gap matters. */
#define TOPOLOGY                                                               \
    "broker = { interval = \"2ms\"; };"                                        \
    "backends = ( %s, { name = \"lessor\"; engine = \"sqlite\";"               \
    "  path = \"lessor.db\"; connect_timeout = \"10s\"; } );"                  \
    "pools = ( { name = \"main\"; partitions = [ %s ]; windows = \"all\";"     \
    "            authority = \"lessor\"; window_bits = 22;"                    \
    "            timeout = \"2s\"; rescue_after = \"100ms\";"                  \
    "            failover_gap = 1; } );"                                       \
    "sequences = ( { key = \"order\"; max_unused = 2000; memory_bits = 3;"     \
    "                deadline = \"1s\"; },"                                    \
    "              { key = \"other\"; max_unused = 2000; memory_bits = 3;"     \
    "                deadline = \"1s\"; } );"

enum moment { UNDER_BROKERS, BETWEEN_BROKERS, BEFORE_THEIR_END, MOMENTS };

static const struct crowd_key order = {.name = "order", .index = 0};
static const struct crowd_key other = {.name = "other", .index = 1};

static const struct put_back *current; /* of the run */

void put_back_topology(struct chaos *chaos, const char *backends,
                       const char *names, int32_t bits)
{
    char text[SCENE_TEXT_SIZE];

    assert_true(text_format(text, sizeof text, TOPOLOGY, backends, names));
    chaos_topology(chaos, text);
    chaos->crowd.memory_bits = MEMORY_BITS;
    chaos->crowd.bits = bits;
}

/* --- the same copy again and again --- */

static void put_back(struct chaos *chaos)
{
    const enum moment moment = (enum moment)(chaos->faults % MOMENTS);

    if (moment == BETWEEN_BROKERS)
        chaos_stop(chaos);
    current->put(chaos);
    if (moment == BEFORE_THEIR_END) {
        chaos_take_some(chaos);
        chaos_stop(chaos);
    }
    if (!chaos->crowd.is_listening)
        chaos_start(chaos);
}

void put_back_run(struct chaos *chaos, const char *name,
                  const struct put_back *way, int times)
{
    current = way;
    chaos_start(chaos);
    chaos_take_some(chaos);
    way->copy(chaos);
    chaos_take(chaos);
    chaos_run(chaos, name, times, put_back);
}

/* --- back and forth --- */

static void change_key(struct chaos *chaos)
{
    chaos_stop(chaos);
    chaos->key = chaos->key.index == order.index ? other : order;
    chaos_start(chaos);
}

static void fail_over(struct chaos *chaos)
{
    current->put(chaos);
    chaos_take(chaos);
    if (chaos_random(chaos, 2) == 0)
        change_key(chaos);
}

void put_back_fail_over(struct chaos *chaos, const char *name,
                        const struct put_back *way, int times)
{
    current = way;
    chaos_start(chaos);
    chaos_take_some(chaos);
    change_key(chaos);
    way->copy(chaos);
    chaos_take(chaos);
    chaos_run(chaos, name, times, fail_over);
}
