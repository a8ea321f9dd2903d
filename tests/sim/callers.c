/* SPDX-License-Identifier: Apache-2.0 */
/* Calls, and the time between them. */
#include "callers.h"

#include <stdlib.h>

#include "clocks.h"
#include "flakes.h"
#include "judge.h"
#include "support/queue_calls.h"
#include "world.h"

#define STREAM_CALLERS 1000
#define MOST           64         /* numbers in one call */
#define CURSOR_US      (300 * MS) /* how long a slice is kept, usually */

struct caller {
    struct broker *broker;
    struct random random;
    int32_t key;
    int64_t till_us; /* the present mood ends */
    int64_t last_ms; /* begin of the last stamp that it was given */
    int32_t mood;    /* in a hundred: of the usual pauses */
};

#define ASLEEP 1000000 /* a mood: no call before its end */

/* Bursts are seconds of ten times the calls, nights are without any. */
static void mood_change(struct caller *caller)
{
    const enum scene_load load = caller->broker->run->scene.load;
    const bool was_usual = caller->mood == 100;

    caller->mood = 100;
    caller->till_us =
        world_now_us() + random_between(&caller->random, 2, 10) * SECOND;
    if (!was_usual || load == SCENE_STEADY)
        return;
    caller->mood = load == SCENE_BURSTS ? 10 : ASLEEP;
}

static void caller_pause(struct caller *caller)
{
    if (world_now_us() >= caller->till_us)
        mood_change(caller);
    if (caller->mood == ASLEEP)
        world_sleep_until(caller->till_us);
    else
        world_sleep(
            random_wait(&caller->random, caller->broker->run->scene.pause_us *
                                             caller->mood / 100));
}

/* Of one stamp, if the sequence has any. */
static enum seqb_status take_stamped(struct caller *caller, size_t n,
                                     int64_t *numbers, struct seqb_error *err)
{
    struct broker *broker = caller->broker;
    struct seqb_stamp stamp;
    const struct queue_take take = {
        .out = numbers, .count = n, .stamp = &stamp};
    const enum seqb_status status =
        queue_take(broker->sequences[caller->key], &take, err);

    if (status == SEQB_OK && (broker->is_open || broker->is_halting))
        clocks_record(broker, caller->key, &caller->last_ms, &stamp, numbers,
                      n);
    return status;
}

/* What a broker that ends in order still answers counts, if it is a number. */
static void caller_told(const struct judge_call *call, const int64_t *numbers,
                        size_t n, const struct seqb_error *err)
{
    const struct broker *broker = call->broker;

    if (broker->is_open)
        judge_answer(call, numbers, n, err);
    else if (broker->is_halting && call->status == SEQB_OK)
        judge_numbers(broker->run, call->key, numbers, n);
}

/* The numbers of a run that the cursor shows are the caller's. */
static void cursor_take(struct caller *caller, struct seqb_cursor *cursor)
{
    struct broker *broker = caller->broker;
    struct judge_call call = {
        .broker = broker, .key = caller->key, .begun_us = world_now_us()};
    struct seqb_error err;
    int64_t number;

    if (cursor->next < cursor->end) {
        number = cursor->next++;
        call.status = SEQB_OK;
    } else {
        call.status = queue_cursor_refill(cursor, &number, &err);
    }
    caller_told(&call, &number, 1, &err);
}

/* A slice is kept for a while, and what is left of it is given back. */
static void cursor_call(struct caller *caller)
{
    struct broker *broker = caller->broker;
    const size_t slice = (size_t)random_between(&caller->random, 1, 300);
    const int64_t first = random_between(&caller->random, 1, 40);
    const int64_t second = random_between(&caller->random, 0, 40);
    struct seqb_cursor *cursor;

    if (queue_cursor_open(broker->sequences[caller->key], slice, &cursor,
                          NULL) != SEQB_OK)
        return;
    for (int64_t i = 0; i < first && broker->is_open; i++)
        cursor_take(caller, cursor);
    world_sleep(random_wait(&caller->random, CURSOR_US));
    for (int64_t i = 0; i < second && broker->is_open; i++)
        cursor_take(caller, cursor);
    queue_cursor_close(cursor);
}

static bool uses_cursor(struct caller *caller)
{
    const struct scene *scene = &caller->broker->run->scene;

    return scene->extras.has_cursors &&
           scene->sequences[caller->key].period == NULL &&
           !flakes_are(scene, caller->key) &&
           random_chance(&caller->random, 25);
}

static void caller_call(struct caller *caller)
{
    struct broker *broker = caller->broker;
    const struct scene *scene = &broker->run->scene;
    struct seqb_sequence *sequence = broker->sequences[caller->key];
    const size_t n = (size_t)random_between(&caller->random, 1, scene->most);
    struct judge_call call = {
        .broker = broker, .key = caller->key, .begun_us = world_now_us()};
    int64_t numbers[MOST];
    struct seqb_error err;

    if (scene->sequences[caller->key].period != NULL)
        call.status = take_stamped(caller, n, numbers, &err);
    else
        call.status = n == 1 ? queue_next(sequence, numbers, &err)
                             : queue_next_many(sequence, n, numbers, &err);
    caller_told(&call, numbers, n, &err);
}

static void *caller_run(void *argument)
{
    struct caller *caller = argument;
    struct broker *broker = caller->broker;

    for (;;) {
        caller_pause(caller);
        if (!broker->is_open || broker->run->is_over)
            break;
        if (uses_cursor(caller))
            cursor_call(caller);
        else
            caller_call(caller);
    }
    if (--broker->callers == 0)
        world_wake(&broker->callers, true);
    free(caller);
    return NULL;
}

void callers_start(struct broker *broker)
{
    const struct scene *scene = &broker->run->scene;

    for (int32_t i = 0; i < scene->callers * scene->keys; i++) {
        struct caller *caller = malloc(sizeof *caller);

        if (caller == NULL)
            abort();
        *caller = (struct caller){
            .broker = broker,
            .random = random_of(scene->seed, STREAM_CALLERS +
                                                 (uint64_t)broker->index * 64 +
                                                 (uint64_t)i),
            .key = i % scene->keys,
            .mood = 100};
        broker->callers++;
        (void)world_spawn(caller_run, caller, false);
    }
}
