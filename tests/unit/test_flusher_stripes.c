/* SPDX-License-Identifier: Apache-2.0 */
/* What the stripes of a busy sequence hold is kept over a clean stop, whether
 * its threads still live or not. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "queue/sequence.h"
#include "support/rig.h"
#include "support/test.h"

#define THREADS 4
#define TAKEN   700 /* by each thread: less than a slice */
#define UNUSED  65536

/* Numbers a ms: more than any test takes, so that the sequence stays busy for
 * longer than the test runs. */
#define BUSY 1e15

struct scene {
    struct rig *rig;
    struct rig_broker *broker;
    pthread_barrier_t stopped; /* who outlives the broker waits here */
    bool is_outlived;
};

static void scene_begin(struct scene *scene, void **state)
{
    struct rig *rig = *state;

    *scene = (struct scene){.rig = rig};
    rig->queue.spool_path = rig_file(rig, "spool");
    rig->sequences[0].max_unused = UNUSED;
    rig->sequences[0].prefetch = true;
    assert_int_equal(pthread_barrier_init(&scene->stopped, NULL, THREADS + 1),
                     0);
    scene->broker = rig_open(rig);
}

static void scene_end(struct scene *scene)
{
    rig_close(scene->broker);
    pthread_barrier_destroy(&scene->stopped);
}

static bool has_stripes(void *context)
{
    const struct scene *scene = context;
    struct stripes *stripes =
        atomic_load(&rig_sequence(scene->broker, "order")->stripes);

    return stripes != NULL && atomic_load(&stripes->slice) > TAKEN;
}

/* It is measured to be busy; then it gets stripes by itself. */
static void make_busy(struct scene *scene)
{
    struct seqb_sequence *sequence = rig_sequence(scene->broker, "order");

    pthread_mutex_lock(&sequence->lock);
    sequence->refill.rate = BUSY;
    pthread_mutex_unlock(&sequence->lock);
    rig_take(scene->broker, 1);
    rig_await(has_stripes, scene);
}

static void *taker_run(void *argument)
{
    struct scene *scene = argument;
    struct seqb_sequence *sequence = rig_sequence(scene->broker, "order");
    int64_t number;

    for (int i = 0; i < TAKEN; i++) {
        if (queue_next(sequence, &number, NULL) == SEQB_OK)
            numbers_add(&scene->rig->taken, &number, 1);
    }
    (void)pthread_barrier_wait(&scene->stopped);
    if (scene->is_outlived) /* the broker is closed by now */
        (void)pthread_barrier_wait(&scene->stopped);
    return NULL;
}

/* Nothing is under way, and the refill is content. */
static bool is_at_rest(void *context)
{
    const struct scene *scene = context;
    const struct seqb_sequence_status status =
        rig_status(scene->broker, "order");

    return status.in_flight == 0 && status.stock > status.low_water;
}

static int64_t granted(const struct scene *scene)
{
    int64_t values = 0;

    for (int32_t i = 0; i < 1 << scene->rig->pool.layout.bits; i++)
        values += rig_partition(scene->broker, i).granted;
    return values << scene->rig->sequences[0].memory_bits;
}

static void stop_and_start(struct scene *scene)
{
    rig_close(scene->broker);
    if (scene->is_outlived)
        (void)pthread_barrier_wait(&scene->stopped);
    scene->broker = rig_open(scene->rig);
}

static void take_by_threads_then_stop(struct scene *scene)
{
    pthread_t threads[THREADS];
    int64_t unused;
    int64_t stock;

    make_busy(scene);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, taker_run, scene),
                         0);
    (void)pthread_barrier_wait(&scene->stopped);
    for (int i = 0; i < THREADS && !scene->is_outlived; i++)
        pthread_join(threads[i], NULL);
    rig_await(is_at_rest, scene);
    unused = granted(scene) - (int64_t)numbers_count(&scene->rig->taken);
    /* The rest is in the stripes. */
    assert_true(rig_status(scene->broker, "order").stock < unused);
    stop_and_start(scene);
    for (int i = 0; i < THREADS && scene->is_outlived; i++)
        pthread_join(threads[i], NULL);
    stock = rig_status(scene->broker, "order").stock;
    assert_int_equal(stock, unused);
    rig_take(scene->broker, (size_t)stock);
}

TEST_STATE(DIRECT, stripes_of_threads_that_live_are_kept)
{
    struct scene scene;

    scene_begin(&scene, state);
    scene.is_outlived = true;
    take_by_threads_then_stop(&scene);
    scene_end(&scene);
}

TEST_STATE(DIRECT, stripes_of_threads_that_ended_are_kept)
{
    struct scene scene;

    scene_begin(&scene, state);
    take_by_threads_then_stop(&scene);
    scene_end(&scene);
}

/* There are more stripes than the ring has segments free beside its grants. */
TEST_STATE(DIRECT, stripes_are_kept_when_the_ring_has_many_segments)
{
    struct seqb_sequence *sequence;
    struct scene scene;
    int64_t before;
    int64_t number;

    scene_begin(&scene, state);
    make_busy(&scene);
    sequence = rig_sequence(scene.broker, "order");
    assert_ok(queue_next(sequence, &number, NULL));
    numbers_add(&scene.rig->taken, &number, 1);
    rig_await(is_at_rest, &scene);
    before = granted(&scene) - (int64_t)numbers_count(&scene.rig->taken);
    assert_true(rig_status(scene.broker, "order").stock < before);
    pthread_mutex_lock(&sequence->lock);
    while (ring_free_blocks(sequence->ring) > 0) { /* as grants of one number */
        struct ring_slice one;

        assert_int_not_equal(
            ring_take_slice(sequence->ring, 1, RING_SEGMENT, &one), RING_EMPTY);
        assert_true(ring_push(
            sequence->ring,
            ring_number(sequence->ring->shape, one.base, one.position), 1));
    }
    pthread_mutex_unlock(&sequence->lock);
    rig_close(scene.broker);
    scene.broker = rig_open(scene.rig);
    assert_int_equal(rig_status(scene.broker, "order").stock, before);
    scene_end(&scene);
}

/* A cursor's rest, and what a round of the flusher took out of the file when
 * the stop began. */
TEST_STATE(DIRECT, what_comes_back_after_the_close_is_kept)
{
    struct seqb_sequence *sequence;
    struct ring_slice slice;
    struct scene scene;
    int64_t unused;

    scene_begin(&scene, state);
    sequence = rig_sequence(scene.broker, "order");
    rig_take(scene.broker, 1);
    rig_await(is_at_rest, &scene);
    unused = granted(&scene) - 1;
    assert_int_not_equal(ring_take_slice(sequence->ring, 8, RING_RUN, &slice),
                         RING_EMPTY);
    assert_true(slice.count > 1);
    sequence_close(sequence);
    sequence_put(sequence,
                 ring_number(sequence->ring->shape, slice.base, slice.position),
                 1);
    slice.position++;
    slice.count--;
    sequence_give_back(sequence, &slice);
    rig_close(scene.broker);
    scene.broker = rig_open(scene.rig);
    assert_int_equal(rig_status(scene.broker, "order").stock, unused);
    scene_end(&scene);
}
