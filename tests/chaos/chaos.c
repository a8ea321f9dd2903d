/* SPDX-License-Identifier: Apache-2.0 */
/* What all scenarios do. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "chaos.h"

#include "platform/clock.h"
#include "platform/text.h"

#define SOME_MAX 5000

/* How long numbers are waited for where a store may be refused, ms. */
#define REFUSED_MS 3000

/* More than a broker holds (max_unused of a topology here, at most 2000), and
 * what is in its pipe. */
#define ENOUGH 20000

int chaos_setup(void **state)
{
    struct chaos *chaos = calloc(1, sizeof *chaos);
    const char *seed = getenv("SEQB_CHAOS_SEED");
    void *scene;

    if (chaos == NULL)
        return -1;
    if (scene_setup(&scene) != 0) {
        free(chaos);
        return -1;
    }
    chaos->scene = scene;
    chaos->seed = seed != NULL ? strtoull(seed, NULL, 10)
                               : (uint64_t)clock_now_us() << 8 | 1;
    chaos->random = chaos->seed;
    chaos->key = (struct crowd_key){.name = "order"};
    crowd_init(&chaos->crowd);
    *state = chaos;
    return 0;
}

int chaos_teardown(void **state)
{
    struct chaos *chaos = *state;
    void *scene = chaos->scene;
    int result;

    crowd_fini(&chaos->crowd);
    result = scene_teardown(&scene);
    free(chaos);
    return result;
}

/* splitmix64 */
uint64_t chaos_random(struct chaos *chaos, uint64_t n)
{
    uint64_t x = chaos->random += 0x9e3779b97f4a7c15U;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27) * 0x94d049bb133111ebU;
    return (x ^ x >> 31) % n;
}

static void topology_write(struct chaos *chaos, size_t i, const char *name,
                           const char *text)
{
    (void)text_copy(chaos->topologies[i], sizeof chaos->topologies[i],
                    scene_write(chaos->scene, name, text));
}

void chaos_topology(struct chaos *chaos, const char *text)
{
    topology_write(chaos, 0, "even.conf", text);
    topology_write(chaos, 1, "odd.conf", text);
}

void chaos_topology_odd(struct chaos *chaos, const char *text)
{
    topology_write(chaos, 1, "odd.conf", text);
}

void chaos_start(struct chaos *chaos)
{
    const char *topologies[CROWD_SIZE];

    for (size_t i = 0; i < CROWD_SIZE; i++)
        topologies[i] = chaos->topologies[i % 2];
    crowd_start(&chaos->crowd, topologies, chaos->key);
}

void chaos_stop(struct chaos *chaos)
{
    crowd_kill(&chaos->crowd);
}

void chaos_take_some(struct chaos *chaos)
{
    crowd_await(&chaos->crowd, 1 + (int64_t)chaos_random(chaos, SOME_MAX));
}

void chaos_take_if_any(struct chaos *chaos)
{
    crowd_await_for(&chaos->crowd, 1 + (int64_t)chaos_random(chaos, SOME_MAX),
                    REFUSED_MS);
}

void chaos_take(struct chaos *chaos)
{
    crowd_await(&chaos->crowd, ENOUGH);
}

/* Of a long run. */
static int64_t numbers_least(void)
{
    const char *least = getenv("SEQB_CHAOS_LEAST");

    return least != NULL ? strtoll(least, NULL, 10) : 0;
}

void chaos_run(struct chaos *chaos, const char *name, int times,
               void (*fault)(struct chaos *chaos))
{
    const int64_t least = numbers_least();

    if (!chaos->crowd.is_listening)
        chaos_start(chaos);
    while (chaos->faults < times || crowd_count(&chaos->crowd) < least) {
        chaos_take_some(chaos);
        fault(chaos);
        chaos->faults++;
        chaos_take(chaos);
    }
    print_message("# %s: numbers=%lld faults=%d repeats=%lld seed=%llu\n", name,
                  (long long)crowd_count(&chaos->crowd), chaos->faults,
                  (long long)crowd_repeats(&chaos->crowd),
                  (unsigned long long)chaos->seed);
}

void gate_lead(struct gate *gate, const struct chaos *chaos, const char *name,
               const char *target)
{
    char aside[80];

    (void)text_copy(gate->path, sizeof gate->path,
                    scene_path(chaos->scene, name));
    (void)text_format(aside, sizeof aside, "%s.new", gate->path);
    assert_int_equal(symlink(target, aside), 0);
    assert_int_equal(rename(aside, gate->path), 0);
}
