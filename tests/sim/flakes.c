/* SPDX-License-Identifier: Apache-2.0 */
#include "flakes.h"

#include "moves.h"
#include "trusts.h"
#include "world.h"

#define STREAM_FLAKES  8
#define FLAKES_PERCENT 20 /* of the pools that may have some */
#define EPOCH_MS       INT64_C(1672531200000) /* 2023: clocks go back a year */

/* Few ids a ms, so that some calls wait for the next one; and as many worker
 * ids as there may be that a broker left, or that a clock led ahead. */
#define COUNTER_BITS 4
#define WORKER_BITS  5

/* A lease is over, and waited for, in so many of its lengths. */
#define SETTLE_LEASES INT64_C(4)

/* Where one store leases worker ids, clocks are assumed to be right that others
 * make ids by once it has forgotten who holds which. */
static bool may_have_flakes(const struct scene *scene)
{
    return !scene->has_surgery && !scene->runs_out &&
           (!scene->is_timed || scene->pool.layout.neighbours);
}

void flakes_add(struct scene *scene, struct random *random)
{
    scene->flakes = (struct lease_options){
        .layout = {.epoch_ms = EPOCH_MS,
                   .unit_ms = 1,
                   .time = 41,
                   .shard = WORKER_BITS,
                   .counter = COUNTER_BITS},
        .lease_ms = random_chance(random, 50) ? 1000 : 3000,
        .broker = "sim",
    };
    scene->sequences[scene->keys++] = (struct queue_sequence_options){
        .key = "flake",
        .snowflake = &scene->flakes,
        .deadline_ms = 1000,
        .max_unused = 64,
        .runway_ms = 20,
    };
}

void flakes_draw(struct scene *scene, uint64_t seed)
{
    struct random random = random_of(seed, STREAM_FLAKES);

    if (!moves_are_drawn(seed) && !trusts_are_drawn(seed) &&
        may_have_flakes(scene) && random_chance(&random, FLAKES_PERCENT))
        flakes_add(scene, &random);
}

void flakes_set(const struct scene *scene, struct broker *broker)
{
    if (scene->flakes.lease_ms == 0)
        return;
    broker->queue_options.snowflakes = &scene->flakes;
    broker->queue_options.snowflake_count = 1;
}

bool flakes_excuse(enum seqb_status status)
{
    return status == SEQB_UNAVAILABLE || status == SEQB_TIMEOUT;
}

int64_t flakes_settle_us(const struct scene *scene)
{
    return SETTLE_LEASES * scene->flakes.lease_ms * MS;
}

bool flakes_settled(const struct broker *broker, int64_t since_us)
{
    return broker->run->scene.flakes.lease_ms == 0 ||
           broker->run->scene.uses_ahead || broker->flaked_us > since_us;
}
