/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seqb_take over a real store: which options are refused, what older and newer
 * programs may hand over, and what is taken.
 */

#include "scene.h"
#include "support/test.h"

#define RUN 16 /* 2^memory_bits of `order` */

static const char topology[] =
    "backends = ( { name = \"a\"; engine = \"sqlite\"; path = \"a.db\"; } );"
    "pools = ( { name = \"main\"; partitions = [ \"a\" ]; } );"
    "sequences = ("
    "  { key = \"order\"; memory_bits = 4; max_unused = 1000; },"
    "  { key = \"day\"; period = \"day\"; memory_bits = 0; },"
    "  { key = \"id\"; ids = { counter = 19; }; },"
    "  { key = \"scarce\"; ids = { shard = 0; counter = 8; }; memory_bits = 0; "
    "}"
    ");"
    "auto_sequences = { pattern = \"auto*\"; limit = 1; memory_bits = 4; };";

static int take_setup(void **state)
{
    struct scene *scene;

    if (scene_setup(state) != 0)
        return -1;
    scene = *state;
    scene_open(scene, scene_write(scene, "topology.conf", topology));
    return 0;
}

#define TAKE FIXTURE(struct scene *scene, take_setup, scene_teardown)

static void expect_ok(enum seqb_status status, const struct seqb_error *err)
{
    if (status != SEQB_OK)
        fail_msg("%s: %s", seqb_status_name(status), err->text);
}

/* The next number of `order`, which tells how many were used up before. */
static int64_t next(struct scene *scene)
{
    struct seqb_error err;
    int64_t number = 0;

    expect_ok(seqb_next(scene_sequence(scene, "order"), &number, &err), &err);
    return number;
}

/* --- the structs --- */

/* A program whose options end before the flags has none, whatever follows. */
TEST_WITH(TAKE, members_that_an_older_program_lacks_count_as_0)
{
    struct seqb_take_options options = {
        .size = offsetof(struct seqb_take_options, flags),
        .count = 2,
        .flags = 0xffff,
        .shard = -1,
        .deadline_ms = -1,
        .text_size = 7};
    struct seqb_error err;
    int64_t numbers[2];

    expect_ok(seqb_take(scene_sequence(scene, "order"), &options, numbers, NULL,
                        &err),
              &err);
    assert_int_equal(numbers[1], numbers[0] + 1);
    options.size = sizeof options;
    assert_int_equal(seqb_take(scene_sequence(scene, "order"), &options,
                               numbers, NULL, &err),
                     SEQB_INVALID);
}

struct newer {
    struct seqb_take_options options;
    int64_t more;
};

TEST_WITH(TAKE, members_that_a_newer_program_sets_are_refused)
{
    struct seqb_sequence *order = scene_sequence(scene, "order");
    struct newer newer = {.options = {.size = sizeof newer, .count = 1}};
    struct seqb_error err;
    int64_t first;
    int64_t second;

    expect_ok(seqb_take(order, &newer.options, &first, NULL, &err), &err);
    newer.more = INT64_C(1) << 56;
    assert_int_equal(seqb_take(order, &newer.options, &second, NULL, &err),
                     SEQB_INVALID);
    scene_expect_words(err.text, "struct seqb_take_options sets members");
    assert_int_equal(next(scene), first + 1);
}

TEST_WITH(TAKE, sizes_that_were_not_set_are_refused)
{
    static const size_t sizes[] = {0, sizeof(size_t) - 1, 4097, SIZE_MAX};
    struct seqb_sequence *order = scene_sequence(scene, "order");
    struct seqb_error err;
    int64_t number;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const struct seqb_take_options wrong = {.size = sizes[i], .count = 1};
        const struct seqb_take_options right = {.size = sizeof right,
                                                .count = 1};
        struct seqb_taken taken = {.size = sizes[i], .count = 77};

        assert_int_equal(seqb_take(order, &wrong, &number, NULL, &err),
                         SEQB_INVALID);
        scene_expect_words(err.text, "struct seqb_take_options is");
        assert_int_equal(seqb_take(order, &right, &number, &taken, &err),
                         SEQB_INVALID);
        scene_expect_words(err.text, "struct seqb_taken is");
        assert_int_equal(taken.count, 77);
    }
}

/* An older one is not written beyond its end; in a newer one what is not known
 * becomes 0. */
TEST_WITH(TAKE, what_was_taken_is_told_in_the_size_of_the_program)
{
    struct seqb_sequence *order = scene_sequence(scene, "order");
    const struct seqb_take_options options = {.size = sizeof options,
                                              .count = 1};
    struct {
        struct seqb_taken taken;
        int64_t more;
    } newer = {.taken = {.size = sizeof newer}, .more = 5};
    struct seqb_taken older = {.size = offsetof(struct seqb_taken, stamp),
                               .stamp = {.ends_ms = 5}};
    struct seqb_error err;
    int64_t number;

    expect_ok(seqb_take(order, &options, &number, &newer.taken, &err), &err);
    assert_int_equal(newer.taken.size, sizeof newer);
    assert_int_equal(newer.taken.count, 1);
    assert_int_equal(newer.taken.stamp.ends_ms, INT64_MAX);
    assert_int_equal(newer.more, 0);
    expect_ok(seqb_take(order, &options, &number, &older, &err), &err);
    assert_int_equal(older.count, 1);
    assert_int_equal(older.stamp.ends_ms, 5);
}

/* --- what is refused --- */

TEST_WITH(TAKE, options_in_vain_are_refused_and_use_up_no_number)
{
    static const struct seqb_param param = {"area", "1"};
    static const struct {
        struct seqb_take_options options;
        const char *why;
    } rows[] = {
        {{.count = 0}, "count 0 is not in 1 ... 10000000"},
        {{.count = 10000001}, "is not in 1 ... 10000000"},
        {{.count = 1, .flags = 32}, "flags 0x20 of a take are not known"},
        {{.count = 1, .flags = SEQB_SOME | SEQB_CONTIGUOUS},
         "SEQB_CONTIGUOUS and SEQB_SOME"},
        {{.count = 1, .flags = SEQB_SOME}, "SEQB_SOME needs"},
        {{.count = 1, .flags = SEQB_TRY, .deadline_ms = 1},
         "SEQB_TRY does not wait"},
        {{.count = 1, .shard = 3}, "shard 3 needs SEQB_SHARD"},
        {{.count = 1, .deadline_ms = -1}, "deadline_ms -1 is not in 0 ... 6"},
        {{.count = 1, .deadline_ms = 600001}, "deadline_ms 600001 is not"},
        {{.count = 1, .params = &param}, "for seqb_take_texts"},
        {{.count = 1, .param_count = 1}, "for seqb_take_texts"},
        {{.count = 1, .text_size = 1}, "for seqb_take_texts"},
        {{.count = RUN + 1, .flags = SEQB_CONTIGUOUS},
         "must be 1 ... 16 (2^memory_bits), not 17"},
        {{.count = RUN + 1, .flags = SEQB_CONTIGUOUS | SEQB_TRY},
         "must be 1 ... 16 (2^memory_bits), not 17"},
        {{.count = 0, .flags = SEQB_CONTIGUOUS}, "(2^memory_bits), not 0"},
        {{.count = 501, .flags = SEQB_TRY}, "more than half of its max_unused"},
        {{.count = 1, .flags = SEQB_SHARD}, "has no ids"},
    };
    struct seqb_sequence *order = scene_sequence(scene, "order");
    const int64_t first = next(scene);
    int64_t numbers[RUN];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct seqb_take_options options = rows[i].options;
        struct seqb_error err = {.text = ""};

        options.size = sizeof options;
        assert_int_equal(seqb_take(order, &options, numbers, NULL, &err),
                         SEQB_INVALID);
        scene_expect_words(err.text, rows[i].why);
    }
    assert_int_equal(next(scene), first + 1);
}

TEST_WITH(TAKE, wrong_options_are_told_before_there_is_a_sequence)
{
    static const struct {
        const char *key;
        struct seqb_take_options options;
        enum seqb_status status;
        const char *why;
    } rows[] = {
        {"auto1", {.count = 0}, SEQB_INVALID, "auto1: count 0 is not in"},
        {"auto1",
         {.count = RUN + 1, .flags = SEQB_CONTIGUOUS},
         SEQB_INVALID,
         "auto1: the increment must be 1 ... 16 (2^memory_bits), not 17"},
        {"auto1",
         {.count = 1, .flags = SEQB_SHARD},
         SEQB_INVALID,
         "auto1 has no ids"},
        {"auto1", {.count = 1, .text_size = 99}, SEQB_INVALID, "no template"},
        {"auto1",
         {.count = 1, .flags = SEQB_SOME | SEQB_CONTIGUOUS},
         SEQB_INVALID,
         "SEQB_CONTIGUOUS and SEQB_SOME"},
        {"other", {.count = 1}, SEQB_UNKNOWN_KEY, "unknown sequence 'other'"},
        {"day",
         {.count = 2, .flags = SEQB_CONTIGUOUS},
         SEQB_INVALID,
         "day has a period"},
        {"id",
         {.count = 1, .flags = SEQB_SHARD, .shard = -1},
         SEQB_INVALID,
         "id: shard -1 is not in 0"},
    };
    struct seqb_take_options right = {
        .size = sizeof right, .count = RUN, .flags = SEQB_CONTIGUOUS};
    struct seqb_error err;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct seqb_take_options options = rows[i].options;

        options.size = sizeof options;
        assert_int_equal(
            seqb_check_take(scene->broker, rows[i].key, &options, &err),
            rows[i].status);
        scene_expect_words(err.text, rows[i].why);
    }
    expect_ok(seqb_check_take(scene->broker, "auto1", &right, &err), &err);
    /* The limit is one sequence. */
    (void)scene_sequence(scene, "auto2");
    assert_int_equal(scene_find(scene, "auto3", &err), SEQB_UNKNOWN_KEY);
}

TEST_WITH(TAKE, runs_of_a_sequence_with_a_period_are_refused)
{
    static const uint32_t flags[] = {SEQB_CONTIGUOUS,
                                     SEQB_CONTIGUOUS | SEQB_TRY};
    struct seqb_error err;
    int64_t number;

    for (size_t i = 0; i < 2; i++) {
        const struct seqb_take_options options = {
            .size = sizeof options, .count = 2, .flags = flags[i]};

        assert_int_equal(seqb_take(scene_sequence(scene, "day"), &options,
                                   &number, NULL, &err),
                         SEQB_INVALID);
        scene_expect_words(err.text, "not 2 contiguous ones");
    }
}

/* --- what is taken --- */

/* The ring is empty at first: each waits for its run. */
TEST_WITH(TAKE, runs_are_waited_for)
{
    const struct seqb_take_options options = {
        .size = sizeof options, .count = 12, .flags = SEQB_CONTIGUOUS};
    struct seqb_taken taken = {.size = sizeof taken};
    struct seqb_error err;

    for (int i = 0; i < 2000; i++) {
        int64_t run[12];

        expect_ok(seqb_take(scene_sequence(scene, "order"), &options, run,
                            &taken, &err),
                  &err);
        assert_int_equal(taken.count, 12);
        for (int64_t j = 1; j < 12; j++)
            run[j] = run[0] + j;
        numbers_add(&scene->numbers, run, 12);
    }
    scene_expect_no_repeats(scene);
}

TEST_WITH(TAKE, some_are_those_at_hand)
{
    enum { MANY = 5000 };
    const struct seqb_take_options options = {
        .size = sizeof options, .count = MANY, .flags = SEQB_SOME};
    size_t calls = 0;

    while (numbers_count(&scene->numbers) < (size_t)3 * MANY) {
        struct seqb_taken taken = {.size = sizeof taken};
        struct seqb_error err = {.text = "?"};
        static int64_t numbers[MANY];
        const enum seqb_status status = seqb_take(
            scene_sequence(scene, "order"), &options, numbers, &taken, &err);

        assert_in_range(taken.count, 1, MANY);
        assert_int_equal(status, taken.count == MANY ? SEQB_OK : SEQB_AGAIN);
        if (status == SEQB_AGAIN)
            assert_string_equal(err.text, "");
        numbers_add(&scene->numbers, numbers, taken.count);
        calls++;
    }
    assert_true(calls > 3); /* the ring holds 1,000 */
    scene_expect_no_repeats(scene);
}

TEST_WITH(TAKE, what_is_not_at_hand_is_not_waited_for)
{
    enum { MANY = 5000 };
    const struct seqb_take_options all = {
        .size = sizeof all, .count = 500, .flags = SEQB_TRY};
    const struct seqb_take_options some = {
        .size = sizeof some, .count = MANY, .flags = SEQB_TRY | SEQB_SOME};
    struct seqb_sequence *order = scene_sequence(scene, "order");
    struct seqb_taken taken = {.size = sizeof taken};
    int64_t numbers[MANY];
    enum seqb_status status;

    while (numbers_count(&scene->numbers) == 0) {
        status = seqb_take(order, &all, numbers, &taken, NULL);
        assert_int_equal(status, taken.count == 0 ? SEQB_AGAIN : SEQB_OK);
        numbers_add(&scene->numbers, numbers, taken.count);
    }
    status = seqb_take(order, &some, numbers, &taken, NULL);
    assert_int_equal(status, taken.count == MANY ? SEQB_OK : SEQB_AGAIN);
    numbers_add(&scene->numbers, numbers, taken.count);
    scene_expect_no_repeats(scene);
}

/* More than a second has take a second at least. */
TEST_WITH(TAKE, deadline_of_the_call_replaces_that_of_the_sequence)
{
    enum { MANY = 600 };
    struct seqb_take_options options = {
        .size = sizeof options, .count = MANY, .flags = SEQB_ANY_STAMP};
    struct seqb_sequence *scarce = scene_sequence(scene, "scarce");
    struct seqb_taken taken = {.size = sizeof taken};
    struct seqb_error err;
    int64_t ids[MANY];

    expect_ok(seqb_take(scarce, &options, ids, &taken, &err), &err);
    assert_int_equal(taken.count, MANY);
    assert_int_equal(taken.stamp.ends_ms, 0);
    numbers_add(&scene->numbers, ids, MANY);
    options.deadline_ms = 1;
    assert_int_not_equal(seqb_take(scarce, &options, ids, &taken, &err),
                         SEQB_OK);
    assert_int_equal(taken.count, 0);
    scene_expect_no_repeats(scene);
}

TEST_WITH(TAKE, all_are_of_one_stamp_unless_any_will_do)
{
    enum { MANY = 200 };
    const struct seqb_take_options options = {.size = sizeof options,
                                              .count = MANY};
    const struct seqb_take_options more = {.size = sizeof more, .count = 256};
    struct seqb_sequence *scarce = scene_sequence(scene, "scarce");
    struct seqb_taken taken = {.size = sizeof taken};
    struct seqb_error err;
    int64_t ids[256];

    for (int i = 0; i < 3; i++) {
        expect_ok(seqb_take(scarce, &options, ids, &taken, &err), &err);
        assert_int_equal(taken.stamp.ends_ms - taken.stamp.begins_ms, 1000);
        for (size_t j = 0; j < MANY; j++) {
            struct seqb_decoded parts;

            expect_ok(seqb_decode(scarce, ids[j], &parts, &err), &err);
            assert_int_equal(parts.time_ms, taken.stamp.begins_ms);
        }
    }
    assert_int_equal(seqb_take(scarce, &more, ids, &taken, &err), SEQB_INVALID);
    scene_expect_words(err.text, "256 ids, and a stamp has 255: with "
                                 "SEQB_ANY_STAMP");
}

TEST_WITH(TAKE, shard_is_in_the_id)
{
    struct seqb_take_options options = {
        .size = sizeof options, .count = 1, .flags = SEQB_SHARD, .shard = 37};
    struct seqb_sequence *id = scene_sequence(scene, "id");
    struct seqb_decoded parts;
    struct seqb_error err;
    int64_t value;

    expect_ok(seqb_take(id, &options, &value, NULL, &err), &err);
    expect_ok(seqb_decode(id, value, &parts, &err), &err);
    assert_int_equal(parts.shard, 37);
    options.shard = -1;
    assert_int_equal(seqb_take(id, &options, &value, NULL, &err), SEQB_INVALID);
    scene_expect_words(err.text, "shard -1 is not in 0 ... ");
}
