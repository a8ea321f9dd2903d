/* SPDX-License-Identifier: Apache-2.0 */
#include "images.h"

#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "queue/sequence.h"

#define STREAM_IMAGES  9
#define IMAGES_PERCENT 25           /* of the scenes that may have some */
#define IMAGE_US       (8 * SECOND) /* between two of them, usually */

/* A broker looks once a second whether its clocks leapt apart. */
#define BLIND_US (1100 * MS)

/* The date leaps by more than what is taken for a step of it. */
#define LEAP_LEAST_MS 2100
#define LEAP_MOST_MS  60000

/* Where the time is part of a number, a leap has more effects than this one.
 * What a cursor shows, or an exchange with the spool has, may come twice. */
static bool may_be_imaged(const struct scene *scene)
{
    return !scene->moves.is_on && !scene->has_steps && !scene->has_surgery &&
           !scene->runs_out && !scene->is_timed &&
           scene->flakes.lease_ms == 0 && !scene->extras.has_state &&
           !scene->extras.has_cursors;
}

bool images_hide(const struct broker *broker, int64_t begun_us)
{
    return broker->imaged_us > 0 && begun_us < broker->imaged_us + BLIND_US;
}

/* The original hands out all that the ring holds. The broker has a copy of it.
 */
static void ring_record(struct run *run, int32_t key, const struct ring *ring)
{
    struct ring *copy = aligned_alloc(RING_LINE, ring_bytes(ring));
    int64_t numbers[64];
    size_t n;

    if (copy == NULL)
        abort();
    memcpy((void *)copy, (const void *)ring, ring_bytes(ring));
    while (ring_take_many(copy, sizeof numbers / sizeof numbers[0], numbers,
                          &n) != RING_EMPTY)
        judge_numbers(run, key, numbers, n);
    free(copy);
}

/* Not before it has to know of the last time. */
static void image_resume(struct run *run, struct machine *machine)
{
    struct broker *broker = machine->broker;
    const int64_t leap_ms =
        random_between(&run->images, LEAP_LEAST_MS, LEAP_MOST_MS);

    if (broker == NULL || !broker->is_open ||
        images_hide(broker, world_now_us()))
        return;
    run_report(run, "broker %d is resumed from an image", (int)machine->index);
    run->score.images++;
    for (int32_t k = 0; k < run->scene.keys; k++)
        ring_record(run, k, broker->sequences[k]->ring);
    broker->imaged_us = world_now_us();
    machine->clock.ahead_ms +=
        random_chance(&run->images, 50) ? leap_ms : -leap_ms;
}

static void next_image(void *context)
{
    struct run *run = context;
    const int64_t i = random_between(&run->images, 0, run->scene.brokers - 1);

    if (world_now_us() >= run->begun_us + run->scene.faulty_us)
        return;
    image_resume(run, &run->machines[i]);
    world_at(world_now_us() + random_wait(&run->images, IMAGE_US), next_image,
             run);
}

void images_schedule(struct run *run)
{
    run->images = random_of(run->scene.seed, STREAM_IMAGES);
    if (may_be_imaged(&run->scene) &&
        random_chance(&run->images, IMAGES_PERCENT))
        world_at(world_now_us() + random_wait(&run->images, IMAGE_US),
                 next_image, run);
}
