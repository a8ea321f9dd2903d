/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The embedded default end to end: threads and fork. What happens to its files
 * is in test_broker_files.c; processes that are killed are the chaos suite's.
 */
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/text.h"
#include "scene.h"
#include "support/race.h"
#include "support/rig.h"
#include "support/take.h"
#include "support/test.h"

#define THREADS 4
#define ALL     1000000

struct client {
    struct scene *scene;
    struct seqb_sequence *sequence;
    size_t count;
    enum seqb_status status;
};

static void take_one_by_one(void *racer)
{
    struct client *client = racer;
    int64_t *many = calloc(client->count, sizeof *many);
    size_t have = 0;

    while (many != NULL && have < client->count) {
        client->status = seqb_next(client->sequence, &many[have], NULL);
        if (client->status != SEQB_OK)
            break;
        have++;
    }
    numbers_add(&client->scene->numbers, many, have);
    free(many);
}

static void take_by_threads(struct scene *scene, const char *key, size_t count)
{
    struct client clients[THREADS];

    for (size_t i = 0; i < THREADS; i++) {
        clients[i] = (struct client){.scene = scene, .count = count / THREADS};
        clients[i].sequence = scene_sequence(scene, key);
    }
    RACE(clients, take_one_by_one);
    for (size_t i = 0; i < THREADS; i++)
        assert_ok(clients[i].status);
}

TEST_WITH(SCENE, embedded_default_repeats_nothing_over_many_opens)
{
    scene_open(scene, scene_write_sample(scene, SCENE_EMBEDDED));
    assert_string_equal(seqb_broker_name(scene->broker), "embedded");
    take_by_threads(scene, "order", rig_scaled(ALL));
    scene_close(scene);
    for (int i = 0; i < 5; i++) {
        scene_open(scene, scene_write_sample(scene, SCENE_EMBEDDED));
        take_by_threads(scene, "order", 4000);
        scene_close(scene);
    }
    assert_int_equal(numbers_count(&scene->numbers),
                     rig_scaled(ALL) + (size_t)5 * 4000);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, every_key_is_a_sequence_of_its_own)
{
    struct seqb_decoded decoded;
    struct seqb_sequence *sequence;
    char key[16];
    int64_t number;

    scene_open(scene, scene_write_sample(scene, SCENE_EMBEDDED));
    for (int i = 0; i < 20; i++) {
        (void)text_format(key, sizeof key, "key-%d", i);
        sequence = scene_sequence(scene, key);
        assert_ok(seqb_next(sequence, &number, NULL));
        assert_ok(seqb_decode(sequence, number, &decoded, NULL));
        assert_int_equal(decoded.counter, 1);
    }
}

TEST_WITH(SCENE, decoded_value_is_made_of_its_parts)
{
    struct seqb_sequence *order;
    struct seqb_decoded decoded;
    struct seqb_error err;
    int64_t number;

    scene_open(scene, scene_write_sample(scene, SCENE_EMBEDDED));
    order = scene_sequence(scene, "order");
    assert_ok(seqb_next(order, &number, &err));
    assert_ok(seqb_decode(order, number, &decoded, &err));
    assert_int_equal(decoded.memory_bits, 3);
    assert_in_range(decoded.partition, 0, 3);
    assert_int_equal((decoded.counter << 2 | decoded.partition) << 3 |
                         decoded.memory,
                     number);
    assert_int_equal(seqb_decode(order, 0, &decoded, &err), SEQB_INVALID);
    assert_int_equal(seqb_decode(order, -1, &decoded, &err), SEQB_INVALID);
}

/* --- fork --- */

/* What a child is answered, one bit a function that was wrong. */
static int child_answers(struct seqb_broker *broker,
                         struct seqb_sequence *order)
{
    struct seqb_sequence *found;
    struct seqb_error err;
    int64_t numbers[8];
    static const uint32_t flags[] = {SEQB_TRY | SEQB_SOME, SEQB_TRY,
                                     SEQB_TRY | SEQB_CONTIGUOUS};
    struct seqb_taken taken = {.size = sizeof taken};
    size_t count;
    int wrong = 0;

    wrong |= seqb_get_sequence(broker, "other", &found, &err) != SEQB_FORKED;
    wrong |= (seqb_next(order, numbers, &err) != SEQB_FORKED) << 1;
    wrong |= (seqb_try_next(order, numbers, &err) != SEQB_FORKED) << 2;
    wrong |= (take_numbers(order, 8, numbers, &err) != SEQB_FORKED) << 3;
    for (size_t i = 0; i < 3; i++) {
        const struct seqb_take_options options = {
            .size = sizeof options, .count = 8, .flags = flags[i]};

        wrong |=
            (seqb_take(order, &options, numbers, &taken, &err) != SEQB_FORKED)
            << 4;
    }
    wrong |=
        (seqb_partitions(broker, NULL, sizeof(struct seqb_partition_status), 0,
                         &count, &err) != SEQB_FORKED)
        << 6;
    wrong |= (seqb_sequences(broker, NULL, sizeof(struct seqb_sequence_status),
                             0, &count, &err) != SEQB_FORKED)
             << 7;
    seqb_close(broker); /* must return, and leave the parent's alone */
    return wrong;
}

TEST_WITH(SCENE, forked_child_is_refused_and_its_parent_goes_on)
{
    struct seqb_sequence *order;
    int status;
    pid_t child;

    scene_open(scene, scene_write_sample(scene, SCENE_EMBEDDED));
    scene_take(scene, "order", 1000);
    order = scene_sequence(scene, "order");
    child = fork();
    if (child == 0)
        _exit(child_answers(scene->broker, order));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    scene_take(scene, "order", 5000);
    scene_expect_no_repeats(scene);
}

/* --- the samples --- */

TEST_WITH(SCENE, embedded_sample_is_the_embedded_default)
{
    scene_use(scene, NULL, 1000);
    scene_open(scene, "config/embedded.conf");
    scene_take(scene, "order", 1000);
    scene_expect_no_repeats(scene);
}

/* --- programs of another version of the header --- */

struct later_partition {
    struct seqb_partition_status known;
    int64_t unknown;
};

struct later_clock {
    struct seqb_clock_status known;
    int64_t unknown;
};

TEST_WITH(SCENE, status_fills_the_larger_struct_of_a_later_header)
{
    struct later_partition partitions[2] = {{.unknown = 5}, {.unknown = 5}};
    struct later_clock clock = {.unknown = 5};
    size_t count = 0;

    scene_open(scene, scene_write_sample(scene, SCENE_EMBEDDED));
    assert_ok(seqb_partitions(scene->broker, &partitions[0].known,
                              sizeof partitions[0], 2, &count, NULL));
    assert_int_equal(count, 4);
    for (int32_t i = 0; i < 2; i++) {
        assert_int_equal(partitions[i].known.partition, i);
        assert_int_equal(partitions[i].unknown, 0);
    }
    assert_ok(seqb_clock(scene->broker, &clock.known, sizeof clock, NULL));
    assert_int_equal(clock.unknown, 0);
}

/* What a partition's status had before `last_ok_ms`. */
#define EARLIER_SIZE  offsetof(struct seqb_partition_status, last_ok_ms)
#define EARLIER_CLOCK offsetof(struct seqb_clock_status, effect)

TEST_WITH(SCENE, status_fills_the_smaller_struct_of_an_earlier_header)
{
    struct seqb_partition_status partition = {.last_ok_ms = 5};
    struct seqb_clock_status clock;
    size_t count = 0;

    scene_open(scene, scene_write_sample(scene, SCENE_EMBEDDED));
    assert_ok(seqb_clock(scene->broker, &clock, EARLIER_CLOCK, NULL));
    assert_ok(seqb_partitions(scene->broker, &partition, EARLIER_SIZE, 1,
                              &count, NULL));
    assert_int_equal(count, 4);
    assert_string_equal(partition.pool, "main");
    assert_int_equal(partition.last_ok_ms, 5);
}

TEST_WITH(SCENE, status_refuses_a_size_that_no_release_had)
{
    struct seqb_broker *broker;
    struct seqb_partition_status partition;
    struct seqb_sequence_status sequence;
    struct seqb_lessor lessor;
    struct seqb_clock_status clock;
    struct seqb_worker worker;
    size_t count;

    scene_open(scene, scene_write_sample(scene, SCENE_EMBEDDED));
    broker = scene->broker;
    assert_status(
        seqb_partitions(broker, &partition, EARLIER_SIZE - 1, 1, &count, NULL),
        SEQB_INVALID);
    assert_status(
        seqb_sequences(broker, &sequence, sizeof sequence - 1, 1, &count, NULL),
        SEQB_INVALID);
    assert_status(
        seqb_lessors(broker, &lessor, sizeof lessor - 1, 1, &count, NULL),
        SEQB_INVALID);
    assert_status(seqb_clock(broker, &clock, EARLIER_CLOCK - 1, NULL),
                  SEQB_INVALID);
    assert_status(
        seqb_workers(broker, &worker, sizeof worker - 1, 1, &count, NULL),
        SEQB_INVALID);
}
