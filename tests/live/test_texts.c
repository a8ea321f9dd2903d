/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of a sequence over a real store: what a call uses up and what it does
 * not, and that number, date and shard are of one taking.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "scene.h"

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
    "    deadline = \"10s\"; template = \"@{date}-@{seq}\"; },"
    "  { key = \"dated\"; time_zone = \"Asia/Shanghai\";"
    "    template = \"@{date, format=%Y%m%d}-@{seq}\"; }"
    ");"
    "auto_sequences = { pattern = \"auto*\"; memory_bits = 0;"
    "                   template = \"@{key}/@{seq}\"; };";

static struct seqb_sequence *sequence_of(struct scene *scene, const char *key)
{
    struct seqb_sequence *sequence = NULL;

    assert_int_equal(seqb_sequence(scene->broker, key, &sequence, NULL),
                     SEQB_OK);
    return sequence;
}

static const struct seqb_param area = {"area", "010"};

/* The next text of `order`, which tells how many were used up before. */
static void expect_order(struct seqb_sequence *order, const char *expected)
{
    char text[SEQB_TEXT_MAX + 1];
    struct seqb_error err = {.text = ""};

    if (seqb_number(order, &area, 1, text, sizeof text, &err) != SEQB_OK)
        fail_msg("%s", err.text);
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

/* --- what is used up --- */

static void call_that_is_refused_uses_up_no_number(void **state)
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
    struct seqb_sequence *order = sequence_of(*state, "order");
    char text[SEQB_TEXT_MAX + 1];
    struct seqb_error err;

    assert_int_equal(seqb_number_size(order), 57);
    expect_order(order, "010-A-00001");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(seqb_number(order, rows[i].params, rows[i].count, text,
                                     rows[i].size, &err),
                         SEQB_INVALID);
        scene_expect_words(err.text, rows[i].why);
        assert_int_equal(seqb_try_number(order, rows[i].params, rows[i].count,
                                         text, rows[i].size, &err),
                         SEQB_INVALID);
    }
    assert_int_equal(seqb_numbers(order, &area, 1, 0, text, 57, &err),
                     SEQB_INVALID);
    expect_order(order, "010-A-00002");
}

static void sequence_without_a_template_has_no_texts(void **state)
{
    struct seqb_sequence *plain = sequence_of(*state, "plain");
    char text[SEQB_TEXT_MAX + 1];
    struct seqb_parsed parsed;
    struct seqb_error err;

    assert_int_equal(seqb_number_size(plain), 0);
    assert_int_equal(seqb_number(plain, NULL, 0, text, sizeof text, &err),
                     SEQB_INVALID);
    scene_expect_words(err.text, "plain has no template");
    assert_int_equal(seqb_parse(plain, "1", &parsed, &err), SEQB_INVALID);
}

static void width_that_is_used_up_is_refused_and_says_so(void **state)
{
    struct seqb_sequence *few = sequence_of(*state, "few");
    char text[20][3];
    size_t taken = 0;
    struct seqb_error err;

    assert_int_equal(seqb_numbers(few, NULL, 0, 5, text[0], 3, NULL), SEQB_OK);
    assert_string_equal(text[0], "F1");
    assert_string_equal(text[4], "F5");
    assert_int_equal(
        seqb_try_numbers(few, NULL, 0, 20, text[0], 3, &taken, &err),
        SEQB_EXHAUSTED);
    assert_int_equal(taken, 4);
    assert_string_equal(text[3], "F9");
    scene_expect_words(err.text, "sequence few: number 10 does not fit the 1 "
                                 "digits of base 10");
    assert_int_equal(seqb_number(few, NULL, 0, text[0], 3, &err),
                     SEQB_EXHAUSTED);
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

static void number_whose_field_failed_is_a_gap(void **state)
{
    struct seqb_sequence *own = sequence_of(*state, "own");
    char text[SEQB_TEXT_MAX + 1];
    struct seqb_error err;

    mood = 0;
    assert_int_equal(seqb_number(own, NULL, 0, text, sizeof text, NULL),
                     SEQB_OK);
    assert_string_equal(text, "1/ok");
    mood = 1;
    assert_int_equal(seqb_number(own, NULL, 0, text, sizeof text, &err),
                     SEQB_UNAVAILABLE);
    assert_string_equal(err.text, "sequence own: field grumpy: not today");
    mood = 2;
    assert_int_equal(seqb_number(own, NULL, 0, text, sizeof text, &err),
                     SEQB_INVALID);
    scene_expect_words(err.text, "field grumpy wrote '?!'");
    mood = 0;
    assert_int_equal(seqb_number(own, NULL, 0, text, sizeof text, NULL),
                     SEQB_OK);
    assert_string_equal(text, "4/ok");
}

/* --- what is of one taking --- */

static int64_t value_of(struct seqb_sequence *sequence, const char *text,
                        struct seqb_parsed *parsed)
{
    struct seqb_error err = {.text = ""};

    if (seqb_parse(sequence, text, parsed, &err) != SEQB_OK)
        fail_msg("%s", err.text);
    return parsed->value;
}

/* More than is taken in one step, and more than a ring holds at first. */
static void many_at_once_are_all_different(void **state)
{
    enum { MANY = 20000, SIZE = 16 };
    struct scene *scene = *state;
    struct seqb_sequence *many = sequence_of(scene, "many");
    char *texts = malloc((size_t)MANY * SIZE);
    struct seqb_parsed parsed;

    assert_non_null(texts);
    assert_true(seqb_number_size(many) <= SIZE);
    assert_int_equal(seqb_numbers(many, NULL, 0, MANY, texts, SIZE, NULL),
                     SEQB_OK);
    for (size_t i = 0; i < MANY; i++) {
        const int64_t value = value_of(many, texts + i * SIZE, &parsed);

        numbers_add(&scene->numbers, &value, 1);
    }
    assert_int_equal(numbers_count(&scene->numbers), MANY);
    scene_expect_no_repeats(scene);
    free(texts);
}

static void texts_of_all_seconds_are_of_their_second(void **state)
{
    struct seqb_sequence *second = sequence_of(*state, "second");
    const int64_t until_ms = clock_wall_ms() + SEEN_MS;
    int64_t last_stamp = 0;
    int64_t last_number = 0;

    while (clock_wall_ms() < until_ms) {
        const int64_t before_ms = clock_wall_ms();
        char text[SEQB_TEXT_MAX + 1];
        struct seqb_parsed parsed;
        int64_t value;

        assert_int_equal(seqb_number(second, NULL, 0, text, sizeof text, NULL),
                         SEQB_OK);
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
static void many_may_be_of_more_than_one_stamp(void **state)
{
    enum { MANY = 400, SIZE = 19 };
    struct scene *scene = *state;
    struct seqb_sequence *scarce = sequence_of(scene, "scarce");
    char texts[MANY][SIZE];
    struct seqb_error err = {.text = ""};

    assert_int_equal(seqb_number_size(scarce), SIZE);
    if (seqb_numbers(scarce, NULL, 0, MANY, texts[0], SIZE, &err) != SEQB_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < MANY; i++) {
        struct seqb_parsed parsed;
        const int64_t value = value_of(scarce, texts[i], &parsed);

        numbers_add(&scene->numbers, &value, 1);
    }
    scene_expect_no_repeats(scene);
}

static void text_of_an_id_has_the_ids_parts(void **state)
{
    static const struct seqb_param shard = {"shard", "17"};
    struct seqb_sequence *waybill = sequence_of(*state, "waybill");
    char text[SEQB_TEXT_MAX + 1];
    struct seqb_parsed parsed;
    struct seqb_decoded decoded;

    assert_int_equal(seqb_number(waybill, &shard, 1, text, sizeof text, NULL),
                     SEQB_OK);
    assert_int_equal(
        seqb_decode(waybill, value_of(waybill, text, &parsed), &decoded, NULL),
        SEQB_OK);
    assert_int_equal(decoded.shard, 17);
    assert_int_equal(parsed.shard, 17);
    assert_int_equal(decoded.number, parsed.number);
    assert_int_equal(decoded.time_ms, parsed.stamp.begins_ms);
    assert_int_equal(seqb_number(waybill, NULL, 0, text, sizeof text, NULL),
                     SEQB_OK);
    assert_string_equal(text + strlen(text) - 4, "0000");
}

/* Without a period: the day of the taking, in the sequence's zone, over one
 * midnight at the most. */
static void date_without_a_period_is_that_of_the_taking(void **state)
{
    struct seqb_sequence *dated = sequence_of(*state, "dated");
    char text[SEQB_TEXT_MAX + 1];
    struct seqb_parsed parsed;
    time_t before = (time_t)(clock_wall_ms() / 1000 + EAST_S);
    time_t after;
    char days[2][12];
    struct tm parts;

    assert_int_equal(seqb_number(dated, NULL, 0, text, sizeof text, NULL),
                     SEQB_OK);
    after = (time_t)(clock_wall_ms() / 1000 + EAST_S);
    strftime(days[0], sizeof days[0], "%Y%m%d-", gmtime_r(&before, &parts));
    strftime(days[1], sizeof days[1], "%Y%m%d-", gmtime_r(&after, &parts));
    assert_true(strncmp(text, days[0], 9) == 0 ||
                strncmp(text, days[1], 9) == 0);
    (void)value_of(dated, text, &parsed);
    assert_int_equal(parsed.stamp.digits, 0);
}

static void automatic_sequences_share_one_template(void **state)
{
    struct seqb_sequence *one = sequence_of(*state, "auto.one");
    struct seqb_sequence *two = sequence_of(*state, "auto.two");
    char text[SEQB_TEXT_MAX + 1];
    struct seqb_parsed parsed;

    assert_int_equal(seqb_number(one, NULL, 0, text, sizeof text, NULL),
                     SEQB_OK);
    assert_string_equal(text, "auto.one/1");
    assert_int_equal(value_of(one, text, &parsed), 1);
    assert_int_equal(seqb_parse(two, text, &parsed, NULL), SEQB_FOREIGN);
}

#define TEXTS(test)                                                            \
    cmocka_unit_test_setup_teardown(test, texts_setup, scene_teardown)

int main(void)
{
    static const struct seqb_field field = {.name = "grumpy",
                                            .phase = 1,
                                            .min_length = 2,
                                            .max_length = 2,
                                            .context = &mood,
                                            .evaluate = grumpy};
    const struct CMUnitTest tests[] = {
        TEXTS(call_that_is_refused_uses_up_no_number),
        TEXTS(sequence_without_a_template_has_no_texts),
        TEXTS(width_that_is_used_up_is_refused_and_says_so),
        TEXTS(number_whose_field_failed_is_a_gap),
        TEXTS(many_at_once_are_all_different),
        TEXTS(texts_of_all_seconds_are_of_their_second),
        TEXTS(many_may_be_of_more_than_one_stamp),
        TEXTS(text_of_an_id_has_the_ids_parts),
        TEXTS(date_without_a_period_is_that_of_the_taking),
        TEXTS(automatic_sequences_share_one_template),
    };

    if (seqb_register_field(&field, NULL) != SEQB_OK)
        return 1;
    return cmocka_run_group_tests_name("texts", tests, NULL, NULL);
}
