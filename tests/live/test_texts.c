/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of a sequence over a real store: what a call uses up and what it does
 * not, and that number, date and shard are of one taking.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "scene.h"
#include "support/take.h"
#include "support/test.h"

#define SEEN_MS INT64_C(3000)  /* three turns of a second */
#define EAST_S  INT64_C(28800) /* of Shanghai, all year */

static const char topology[] =
    "backends = ( { name = \"a\"; engine = \"sqlite\"; path = \"a.db\"; } );"
    "pools = ( { name = \"main\"; partitions = [ \"a\" ]; } );"
    "sequences = ("
    "  { key = \"plain\"; memory_bits = 0; },"
    "  { key = \"order\"; memory_bits = 0; template = \"@{param, name=area, "
    "width=3}-@{param, name=kind, default=A}-@{seq, width=5}\"; },"
    "  { key = \"few\"; memory_bits = 0; max_unused = 20;"
    "    template = \"F@{seq, width=1, overflow=refuse}\"; },"
    "  { key = \"own\"; memory_bits = 0; template = \"@{seq}/@{grumpy}\"; },"
    "  { key = \"many\"; template = \"M@{seq, base=36}\"; },"
    "  { key = \"second\"; period = \"second\"; memory_bits = 0;"
    "    template = \"@{date}-@{seq}\"; },"
    "  { key = \"waybill\"; ids = { counter = 19; };"
    "    template = \"@{date}-@{seq, width=6}-@{shard, width=4}\"; },"
    "  { key = \"scarce\"; ids = { shard = 0; counter = 8; }; memory_bits = 0;"
    "    template = \"@{date}-@{seq}\"; },"
    "  { key = \"dated\"; time_zone = \"Asia/Shanghai\";"
    "    template = \"@{date, format=%Y%m%d}-@{seq}\"; }"
    ");"
    "auto_sequences = { pattern = \"auto*\"; memory_bits = 0;"
    "                   template = \"@{key}/@{seq}\"; };";

static const struct seqb_param area = {"area", "010"};

/* The next text of `order`, which tells how many were used up before. */
static void expect_order(struct seqb_sequence *order, const char *expected)
{
    char text[SEQB_TEXT_MAX + 1];
    struct seqb_error err = {.text = ""};

    assert_done(take_text(order, &area, 1, text, sizeof text, &err), err);
    assert_string_equal(text, expected);
}

static int texts_setup(void **state)
{
    struct scene *scene;

    if (scene_setup(state) != 0)
        return -1;
    scene = *state;
    scene_open(scene, scene_write(scene, "topology.conf", topology));
    return 0;
}

#define TEXTS FIXTURE(struct scene *scene, texts_setup, scene_teardown)

/* --- what is used up --- */

TEST_WITH(TEXTS, call_that_is_refused_uses_up_no_number)
{
    static const struct {
        struct seqb_param params[3];
        size_t count;
        size_t size;
        const char *why;
    } rows[] = {
        {{{"area", "010"}}, 1, 56, "needs 57 bytes"},
        {{{"area", "010"}}, 1, 0, "needs 57 bytes"},
        {{{"area", "010"}}, 0, 57, "parameter area is missing"},
        {{{"area", "0101"}}, 1, 57, "parameter area is '0101'"},
        {{{"area", "0-1"}}, 1, 57, "parameter area is '0-1'"},
        {{{"area", ""}}, 1, 57, "parameter area is ''"},
        {{{"zone", "010"}}, 1, 57, "no parameter 'zone'"},
        {{{"area", "010"}, {"area", "011"}}, 2, 57, "area comes twice"},
        {{{"area", "010"}, {"shard", "1"}}, 2, 57, "has no ids"},
    };
    struct seqb_take_options options = {
        .size = sizeof options, .count = 1, .flags = SEQB_TRY};
    struct seqb_sequence *order = scene_sequence(scene, "order");
    char text[SEQB_TEXT_MAX + 1];
    struct seqb_error err;

    assert_int_equal(seqb_number_size(order), 57);
    expect_order(order, "010-A-00001");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(take_text(order, rows[i].params, rows[i].count, text,
                                   rows[i].size, &err),
                         SEQB_INVALID);
        scene_expect_words(err.text, rows[i].why);
        options.params = rows[i].params;
        options.param_count = rows[i].count;
        options.text_size = rows[i].size;
        assert_int_equal(seqb_take_texts(order, &options, text, NULL, &err),
                         SEQB_INVALID);
        options.text_size += rows[i].size == 0; /* 0 would ask for numbers */
        assert_int_equal(
            seqb_check_take(scene->broker, "order", &options, &err),
            SEQB_INVALID);
        scene_expect_words(err.text, rows[i].why);
    }
    options = (struct seqb_take_options){.size = sizeof options,
                                         .params = &area,
                                         .param_count = 1,
                                         .text_size = 57};
    assert_int_equal(seqb_take_texts(order, &options, text, NULL, &err),
                     SEQB_INVALID);
    expect_order(order, "010-A-00002");
}

TEST_WITH(TEXTS, sequence_without_a_template_has_no_texts)
{
    struct seqb_sequence *plain = scene_sequence(scene, "plain");
    char text[SEQB_TEXT_MAX + 1];
    struct seqb_parsed parsed;
    struct seqb_error err;

    assert_int_equal(seqb_number_size(plain), 0);
    assert_int_equal(take_text(plain, NULL, 0, text, sizeof text, &err),
                     SEQB_INVALID);
    scene_expect_words(err.text, "plain has no template");
    assert_int_equal(seqb_parse(plain, "1", &parsed, &err), SEQB_INVALID);
}

TEST_WITH(TEXTS, width_that_is_used_up_is_refused_and_says_so)
{
    struct seqb_sequence *few = scene_sequence(scene, "few");
    char text[20][3];
    const struct seqb_take_options options = {.size = sizeof options,
                                              .count = 20,
                                              .flags = SEQB_TRY | SEQB_SOME,
                                              .text_size = 3};
    struct seqb_taken taken = {.size = sizeof taken};
    struct seqb_error err;

    assert_ok(take_texts(few, 5, text[0], 3, NULL));
    assert_string_equal(text[0], "F1");
    assert_string_equal(text[4], "F5");
    assert_int_equal(seqb_take_texts(few, &options, text[0], &taken, &err),
                     SEQB_EXHAUSTED);
    assert_int_equal(taken.count, 4);
    assert_string_equal(text[3], "F9");
    scene_expect_words(err.text, "sequence few: number 10 does not fit the 1 "
                                 "digits of base 10");
    assert_int_equal(take_text(few, NULL, 0, text[0], 3, &err), SEQB_EXHAUSTED);
}

/* Writes 'ok', or as it is told in its context. */
static enum seqb_status grumpy(void *context,
                               const struct seqb_field_view *view, char *out,
                               size_t size, struct seqb_error *err)
{
    const int *mood = context;

    (void)view;
    (void)size;
    if (*mood == 1) {
        err->status = SEQB_UNAVAILABLE;
        (void)text_copy(err->text, sizeof err->text, "not today");
        return SEQB_UNAVAILABLE;
    }
    (void)text_copy(out, size, *mood == 2 ? "?!" : "ok");
    return SEQB_OK;
}

static int mood;

TEST_WITH(TEXTS, number_whose_field_failed_is_a_gap)
{
    struct seqb_sequence *own = scene_sequence(scene, "own");
    char text[SEQB_TEXT_MAX + 1];
    struct seqb_error err;

    mood = 0;
    assert_ok(take_text(own, NULL, 0, text, sizeof text, NULL));
    assert_string_equal(text, "1/ok");
    mood = 1;
    assert_int_equal(take_text(own, NULL, 0, text, sizeof text, &err),
                     SEQB_UNAVAILABLE);
    assert_string_equal(err.text, "sequence own: field grumpy: not today");
    mood = 2;
    assert_int_equal(take_text(own, NULL, 0, text, sizeof text, &err),
                     SEQB_INVALID);
    scene_expect_words(err.text, "field grumpy wrote '?!'");
    mood = 0;
    assert_ok(take_text(own, NULL, 0, text, sizeof text, NULL));
    assert_string_equal(text, "4/ok");
}

/* --- what is of one taking --- */

static int64_t value_of(struct seqb_sequence *sequence, const char *text,
                        struct seqb_parsed *parsed)
{
    struct seqb_error err = {.text = ""};

    assert_done(seqb_parse(sequence, text, parsed, &err), err);
    return parsed->value;
}

/* More than is taken in one step, and more than a ring holds at first. */
TEST_WITH(TEXTS, many_at_once_are_all_different)
{
    enum { MANY = 20000, SIZE = 16 };
    struct seqb_sequence *many = scene_sequence(scene, "many");
    char *texts = malloc((size_t)MANY * SIZE);
    struct seqb_parsed parsed;

    assert_non_null(texts);
    assert_true(seqb_number_size(many) <= SIZE);
    assert_ok(take_texts(many, MANY, texts, SIZE, NULL));
    for (size_t i = 0; i < MANY; i++) {
        const int64_t value = value_of(many, texts + i * SIZE, &parsed);

        numbers_add(&scene->numbers, &value, 1);
    }
    assert_int_equal(numbers_count(&scene->numbers), MANY);
    scene_expect_no_repeats(scene);
    free(texts);
}

TEST_WITH(TEXTS, texts_of_all_seconds_are_of_their_second)
{
    struct seqb_sequence *second = scene_sequence(scene, "second");
    const int64_t until_ms = clock_wall_ms() + SEEN_MS;
    int64_t last_stamp = 0;
    int64_t last_number = 0;

    while (clock_wall_ms() < until_ms) {
        const int64_t before_ms = clock_wall_ms();
        char text[SEQB_TEXT_MAX + 1];
        struct seqb_parsed parsed;
        int64_t value;

        assert_ok(take_text(second, NULL, 0, text, sizeof text, NULL));
        value = value_of(second, text, &parsed);
        assert_int_equal(value, parsed.number);
        assert_true(parsed.stamp.ends_ms > before_ms);
        assert_true(parsed.stamp.begins_ms <= clock_wall_ms());
        assert_true(
            parsed.stamp.digits > last_stamp ||
            (parsed.stamp.digits == last_stamp && parsed.number > last_number));
        last_stamp = parsed.stamp.digits;
        last_number = parsed.number;
    }
    assert_true(last_stamp > 0);
}

/* A second has 255 ids: no more of one stamp can be waited for. */
TEST_WITH(TEXTS, many_may_be_of_more_than_one_stamp)
{
    enum { MANY = 400, SIZE = 19 };
    struct seqb_sequence *scarce = scene_sequence(scene, "scarce");
    char texts[MANY][SIZE];
    struct seqb_error err = {.text = ""};

    assert_int_equal(seqb_number_size(scarce), SIZE);
    assert_done(take_texts(scarce, MANY, texts[0], SIZE, &err), err);
    for (size_t i = 0; i < MANY; i++) {
        struct seqb_parsed parsed;
        const int64_t value = value_of(scarce, texts[i], &parsed);

        numbers_add(&scene->numbers, &value, 1);
    }
    scene_expect_no_repeats(scene);
}

TEST_WITH(TEXTS, text_of_an_id_has_the_ids_parts)
{
    static const struct seqb_param shard = {"shard", "17"};
    struct seqb_sequence *waybill = scene_sequence(scene, "waybill");
    char text[SEQB_TEXT_MAX + 1];
    struct seqb_parsed parsed;
    struct seqb_decoded decoded;

    assert_ok(take_text(waybill, &shard, 1, text, sizeof text, NULL));
    assert_ok(
        seqb_decode(waybill, value_of(waybill, text, &parsed), &decoded, NULL));
    assert_int_equal(decoded.shard, 17);
    assert_int_equal(parsed.shard, 17);
    assert_int_equal(decoded.number, parsed.number);
    assert_int_equal(decoded.time_ms, parsed.stamp.begins_ms);
    assert_ok(take_text(waybill, NULL, 0, text, sizeof text, NULL));
    assert_string_equal(text + strlen(text) - 4, "0000");
}

TEST_WITH(TEXTS, shard_is_given_once)
{
    static const struct seqb_param shard = {"shard", "17"};
    struct seqb_take_options options = {.size = sizeof options,
                                        .count = 1,
                                        .flags = SEQB_SHARD,
                                        .shard = 42,
                                        .text_size = SEQB_TEXT_MAX + 1};
    struct seqb_sequence *waybill = scene_sequence(scene, "waybill");
    char text[2 * (SEQB_TEXT_MAX + 1)];
    struct seqb_error err;

    assert_ok(seqb_take_texts(waybill, &options, text, NULL, NULL));
    assert_string_equal(text + strlen(text) - 4, "0042");
    options.params = &shard;
    options.param_count = 1;
    assert_int_equal(seqb_take_texts(waybill, &options, text, NULL, &err),
                     SEQB_INVALID);
    scene_expect_words(err.text, "'shard', or it comes twice");
    options.param_count = 0;
    options.shard = 4096;
    assert_int_equal(seqb_take_texts(waybill, &options, text, NULL, &err),
                     SEQB_INVALID);
    scene_expect_words(err.text, "shard 4096 is not in 0 ... ");
    options.shard = -1;
    for (options.count = 1; options.count <= 2; options.count++) {
        assert_int_equal(seqb_take_texts(waybill, &options, text, NULL, &err),
                         SEQB_INVALID);
        scene_expect_words(err.text, "shard -1 is below 0");
    }
    options.count = 1;
    options.shard = 4096;
    assert_int_equal(seqb_take_texts(scene_sequence(scene, "many"), &options,
                                     text, NULL, &err),
                     SEQB_INVALID);
    scene_expect_words(err.text, "has no ids");
}

TEST_WITH(TEXTS, texts_are_of_one_stamp_unless_any_will_do)
{
    enum { MANY = 200, SIZE = 19 };
    const struct seqb_take_options options = {
        .size = sizeof options, .count = MANY, .text_size = SIZE};
    const struct seqb_take_options more = {
        .size = sizeof more, .count = 256, .text_size = SIZE};
    struct seqb_sequence *scarce = scene_sequence(scene, "scarce");
    struct seqb_taken taken = {.size = sizeof taken};
    char texts[MANY][SIZE];
    struct seqb_error err;

    for (int i = 0; i < 3; i++) {
        if (seqb_take_texts(scarce, &options, texts[0], &taken, &err) !=
            SEQB_OK)
            fail_msg("%s", err.text);
        assert_int_equal(taken.count, MANY);
        for (size_t j = 0; j < MANY; j++) {
            struct seqb_parsed parsed;

            (void)value_of(scarce, texts[j], &parsed);
            assert_int_equal(parsed.stamp.digits, taken.stamp.digits);
        }
    }
    assert_int_equal(seqb_take_texts(scarce, &more, texts[0], &taken, &err),
                     SEQB_INVALID);
    scene_expect_words(err.text, "a stamp has 255");
    assert_int_equal(taken.count, 0);
}

TEST_WITH(TEXTS, texts_without_waiting_are_some_or_all)
{
    enum { SIZE = 16 };
    struct seqb_take_options options = {.size = sizeof options,
                                        .count = SEQB_TEXTS_TRY_MAX,
                                        .flags = SEQB_TRY,
                                        .text_size = SIZE};
    struct seqb_sequence *few = scene_sequence(scene, "few");
    struct seqb_taken taken = {.size = sizeof taken};
    char texts[SEQB_TEXTS_TRY_MAX][SIZE];
    struct seqb_error err;
    enum seqb_status status;

    do { /* the ring was empty when it began */
        status = seqb_take_texts(scene_sequence(scene, "many"), &options,
                                 texts[0], &taken, &err);
        assert_int_equal(taken.count,
                         status == SEQB_OK ? SEQB_TEXTS_TRY_MAX : 0);
    } while (status == SEQB_AGAIN);
    assert_ok(status);
    options.flags = SEQB_SOME;
    options.count = 1;
    assert_ok(seqb_take_texts(few, &options, texts[0], &taken, &err));
    assert_string_equal(texts[0], "F1");
    assert_int_equal(taken.count, 1);
    options.flags = SEQB_TRY;
    options.count = SEQB_TEXTS_TRY_MAX + 1;
    assert_int_equal(seqb_take_texts(few, &options, texts[0], &taken, &err),
                     SEQB_INVALID);
    scene_expect_words(err.text, "SEQB_TRY takes at most 256 texts");
    options.flags = SEQB_CONTIGUOUS;
    options.count = 1;
    assert_int_equal(seqb_take_texts(few, &options, texts[0], &taken, &err),
                     SEQB_INVALID);
    scene_expect_words(err.text, "SEQB_CONTIGUOUS is for seqb_take");
}

/* Without a period: the day of the taking, in the sequence's zone, over one
 * midnight at the most. */
TEST_WITH(TEXTS, date_without_a_period_is_that_of_the_taking)
{
    struct seqb_sequence *dated = scene_sequence(scene, "dated");
    char text[SEQB_TEXT_MAX + 1];
    struct seqb_parsed parsed;
    time_t before = (time_t)(clock_wall_ms() / 1000 + EAST_S);
    time_t after;
    char days[2][12];
    struct tm parts;

    assert_ok(take_text(dated, NULL, 0, text, sizeof text, NULL));
    after = (time_t)(clock_wall_ms() / 1000 + EAST_S);
    strftime(days[0], sizeof days[0], "%Y%m%d-", gmtime_r(&before, &parts));
    strftime(days[1], sizeof days[1], "%Y%m%d-", gmtime_r(&after, &parts));
    assert_true(strncmp(text, days[0], 9) == 0 ||
                strncmp(text, days[1], 9) == 0);
    (void)value_of(dated, text, &parsed);
    assert_int_equal(parsed.stamp.digits, 0);
}

TEST_WITH(TEXTS, automatic_sequences_share_one_template)
{
    struct seqb_sequence *one = scene_sequence(scene, "auto.one");
    struct seqb_sequence *two = scene_sequence(scene, "auto.two");
    char text[SEQB_TEXT_MAX + 1];
    struct seqb_parsed parsed;

    assert_ok(take_text(one, NULL, 0, text, sizeof text, NULL));
    assert_string_equal(text, "auto.one/1");
    assert_int_equal(value_of(one, text, &parsed), 1);
    assert_int_equal(seqb_parse(two, text, &parsed, NULL), SEQB_FOREIGN);
}

static int register_grumpy(void **state)
{
    static const struct seqb_field field = {.name = "grumpy",
                                            .phase = 1,
                                            .min_length = 2,
                                            .max_length = 2,
                                            .context = &mood,
                                            .evaluate = grumpy};

    (void)state;
    return seqb_register_field(&field, NULL) == SEQB_OK ? 0 : -1;
}

TEST_BEFORE_ALL(register_grumpy);
