/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sample topologies whose sequences have templates, as they stand in
 * config/: the texts that their comments show are what comes out, at the times
 * that they name, and every one of them is read back.
 */
#include <string.h>

#include "platform/text.h"
#include "scene.h"
#include "support/script_clock.h"
#include "support/take.h"
#include "support/test.h"

#define SHANGHAI_MS INT64_C(28800000) /* east of Greenwich, all year */
#define SECOND      INT64_C(1000)
#define DAY         (86400 * SECOND)
#define MANY        200

/* 2025-04-13T12:00:00, 2026-03-04T08:00:00, 2026-07-20T23:59:00; Shanghai */
#define NOON_IN_APRIL    (INT64_C(1744545600) * SECOND - SHANGHAI_MS)
#define MORNING_IN_MARCH (INT64_C(1772611200) * SECOND - SHANGHAI_MS)
#define NIGHT_IN_JULY    (INT64_C(1784591940) * SECOND - SHANGHAI_MS)

static struct seqb_sequence *sequence_of(const struct scene *scene,
                                         const char *key)
{
    struct seqb_sequence *sequence = NULL;
    struct seqb_error err = {.text = ""};

    assert_done(seqb_get_sequence(scene->broker, key, &sequence, &err), err);
    return sequence;
}

/* The next text of a sequence, read back: it must be its own. */
static struct seqb_parsed take(struct seqb_sequence *sequence,
                               const struct seqb_param *params, size_t n,
                               char *out)
{
    struct seqb_parsed parsed;
    struct seqb_error err = {.text = ""};

    assert_done(take_text(sequence, params, n, out, SEQB_TEXT_MAX + 1, &err),
                err);
    if (seqb_parse(sequence, out, &parsed, &err) != SEQB_OK)
        fail_msg("%s: %s", out, err.text);
    return parsed;
}

static void expect_next(struct seqb_sequence *sequence,
                        const struct seqb_param *params, size_t n,
                        const char *expected)
{
    char text[SEQB_TEXT_MAX + 1];

    (void)take(sequence, params, n, text);
    assert_string_equal(text, expected);
}

static void expect_foreign(struct seqb_sequence *sequence, const char *text)
{
    struct seqb_parsed parsed;
    struct seqb_error err = {.text = ""};

    if (seqb_parse(sequence, text, &parsed, &err) != SEQB_FOREIGN)
        fail_msg("%s is taken for a number of the sequence", text);
}

/* --- texts of plain numbers --- */

TEST_WITH(SCENE, phone_numbers_have_two_parameters)
{
    static const struct seqb_param beijing[] = {{"area", "010"},
                                                {"office", "6541"}};
    static const struct seqb_param canton[] = {{"office", "8888"},
                                               {"area", "020"}};
    struct seqb_sequence *phone;
    struct seqb_parsed parsed;
    struct seqb_error err = {.text = ""};
    char text[SEQB_TEXT_MAX + 1];

    scene_open(scene, scene_write_sample(scene, "config/numbers.conf"));
    phone = sequence_of(scene, "phone");
    expect_next(phone, beijing, 2, "010-6541-00001");
    expect_next(phone, canton, 2, "020-8888-00002");
    parsed = take(phone, beijing, 2, text);
    assert_string_equal(text, "010-6541-00003");
    assert_int_equal(parsed.number, 3);
    assert_int_equal(parsed.param_count, 2);
    assert_string_equal(parsed.params[0].value, "010");
    assert_string_equal(parsed.params[1].name, "office");
    assert_int_equal(take_text(phone, beijing, 1, text, sizeof text, &err),
                     SEQB_INVALID);
    expect_foreign(phone, "010-6541-0001");
    expect_foreign(phone, "010-65a1-00001");
}

TEST_WITH(SCENE, forms_count_from_one_to_their_width)
{
    struct seqb_sequence *form;

    scene_open(scene, scene_write_sample(scene, "config/numbers.conf"));
    form = sequence_of(scene, "form");
    for (int i = 1; i <= MANY; i++) {
        char expected[16];

        (void)text_format(expected, sizeof expected, "QJ%06d", i);
        expect_next(form, NULL, 0, expected);
    }
    expect_foreign(form, "QJ0000001");
    expect_foreign(form, "QX000001");
}

/* v * 9 % 31 % 10, by its own arithmetic. */
TEST_WITH(SCENE, waybills_end_with_the_old_check_digit)
{
    struct seqb_sequence *waybill;

    scene_open(scene, scene_write_sample(scene, "config/numbers.conf"));
    waybill = sequence_of(scene, "waybill");
    for (int i = 1; i <= MANY; i++) {
        char expected[32];

        (void)text_format(expected, sizeof expected, "SN-%d-%d", i,
                          i * 9 % 31 % 10);
        expect_next(waybill, NULL, 0, expected);
    }
    expect_foreign(waybill, "SN-1-8");
}

/* --- days and seconds --- */

TEST_WITH(SCENE, waybills_of_a_day_begin_with_one)
{
    struct seqb_sequence *waybill;

    script_clock_set(MORNING_IN_MARCH);
    scene_open(scene, scene_write_sample(scene, "config/daily.conf"));
    waybill = sequence_of(scene, "waybill");
    expect_next(waybill, NULL, 0, "2026030400001");
    expect_next(waybill, NULL, 0, "2026030400002");
    script_clock_step(DAY);
    expect_next(waybill, NULL, 0, "2026030500001");
    expect_foreign(waybill, "2026023000001");
    expect_foreign(waybill, "202603040001");
}

TEST_WITH(SCENE, orders_of_a_second_begin_with_one)
{
    struct seqb_sequence *order;

    script_clock_set(NOON_IN_APRIL);
    scene_open(scene, scene_write_sample(scene, "config/numbers-seconds.conf"));
    order = sequence_of(scene, "order");
    for (int i = 1; i <= 120; i++) {
        char expected[32];

        (void)text_format(expected, sizeof expected, "250413120000%02d", i);
        expect_next(order, NULL, 0, expected);
    }
    script_clock_step(SECOND);
    expect_next(order, NULL, 0, "25041312000101");
    expect_foreign(order, "25041324000001");
}

/* --- ids --- */

TEST_WITH(SCENE, ids_are_texts_of_the_same_parts)
{
    static const struct seqb_param shard[] = {{"shard", "37"}};
    struct seqb_sequence *order;
    struct seqb_parsed parsed;
    struct seqb_decoded decoded = {.time_ms = 0};
    struct seqb_error err = {.text = ""};
    char text[SEQB_TEXT_MAX + 1];
    char expected[64];

    script_clock_set(NIGHT_IN_JULY);
    scene_open(scene, scene_write_sample(scene, "config/time-ids.conf"));
    order = sequence_of(scene, "order");
    parsed = take(order, shard, 1, text);
    assert_ok(seqb_decode(order, parsed.value, &decoded, &err));
    /* The time of ids is UTC. */
    (void)text_format(expected, sizeof expected, "WB20260720155900%06lld0037",
                      (long long)parsed.number);
    assert_string_equal(text, expected);
    assert_int_equal(strlen(text), 2 + 14 + 6 + 4);
    assert_int_equal(parsed.shard, 37);
    assert_int_equal(decoded.shard, 37);
    assert_int_equal(decoded.time_ms, NIGHT_IN_JULY);
    assert_int_equal(decoded.number, parsed.number);
    expect_foreign(order, "WB202607201559000000094096");
}

/* --- codes --- */

/* The sample beside a key that is made for it. */
static const char *write_codes(const struct scene *scene, const char *key)
{
    char text[SCENE_TEXT_SIZE];

    (void)scene_write(scene, "codes.key", key);
    scene_sample("config/numbers-codes.conf", text);
    return scene_write(scene, "numbers-codes.conf", text);
}

/* Takes codes of a day into `out`, at the places of their numbers. */
static void take_codes(struct seqb_sequence *code, const char *day,
                       char out[MANY][16])
{
    for (int i = 0; i < MANY; i++) {
        char text[SEQB_TEXT_MAX + 1];
        const struct seqb_parsed parsed = take(code, NULL, 0, text);

        assert_int_equal(strlen(text), 11);
        assert_memory_equal(text, day, 6);
        assert_int_equal(parsed.number, i + 1);
        assert_true(text_copy(out[i], sizeof out[i], text));
    }
}

TEST_WITH(SCENE, codes_of_a_day_are_different_and_in_no_order)
{
    struct seqb_sequence *code;
    char codes[2][MANY][16];
    int ascents = 0;
    int alike = 0;

    script_clock_set(NIGHT_IN_JULY);
    scene_open(scene, write_codes(scene, "a key that is made for this test\n"));
    code = sequence_of(scene, "code");
    take_codes(code, "260720", codes[0]);
    script_clock_step(60 * SECOND);
    take_codes(code, "260721", codes[1]);
    for (int i = 0; i < MANY; i++) {
        for (int j = 0; j < i; j++)
            assert_string_not_equal(codes[0][i], codes[0][j]);
        ascents += i > 0 && strcmp(codes[0][i], codes[0][i - 1]) > 0;
        alike += strcmp(codes[0][i] + 6, codes[1][i] + 6) == 0;
    }
    /* The key is the same in each run, so that these are. */
    assert_in_range(ascents, MANY / 4, MANY * 3 / 4);
    assert_in_range(alike, 0, MANY / 10);
}

TEST_WITH(SCENE, another_key_is_refused_and_the_same_goes_on)
{
    static const char key[] = "a key that is made for this test\n";
    char before[SEQB_TEXT_MAX + 1];
    struct seqb_parsed parsed;
    char text[SEQB_TEXT_MAX + 1];
    struct seqb_error err = {.text = ""};

    script_clock_set(NIGHT_IN_JULY);
    scene_open(scene, write_codes(scene, key));
    (void)take(sequence_of(scene, "code"), NULL, 0, before);
    scene_close(scene);
    scene_expect_refused(scene, write_codes(scene, "a key of somebody else\n"),
                         SEQB_LAYOUT, " shuffle=10/");
    scene_open(scene, write_codes(scene, key));
    (void)take(sequence_of(scene, "code"), NULL, 0, text);
    assert_string_not_equal(text, before);
    assert_ok(seqb_parse(sequence_of(scene, "code"), before, &parsed, &err));
    assert_int_equal(parsed.number, 1);
}

/* --- what is told of them --- */

static void add_line(void *context, const char *line)
{
    assert_true(text_append(context, SCENE_TEXT_SIZE, "%s\n", line));
}

static void expect_notes(const char *path, const char *words)
{
    char told[SCENE_TEXT_SIZE] = "";
    struct seqb_error err = {.text = ""};

    assert_done(seqb_check_topology(path, add_line, told, &err), err);
    if (strstr(told, "warning: ") != NULL)
        fail_msg("%s", told);
    scene_expect_words(told, words);
}

TEST_WITH(SCENE, checks_tell_the_numbers_and_warn_of_nothing)
{
    struct seqb_sequence_status status;
    size_t count;

    expect_notes("config/numbers.conf",
                 ": sequence 'form': 999,999 numbers in all fit its width, of "
                 "which pool 'dense' can give 999,999\n");
    expect_notes("config/daily.conf", ": sequence 'waybill': 99,999 numbers a "
                                      "day fit its width, of which pool "
                                      "'dense' can give 99,999\n");
    expect_notes("config/numbers-seconds.conf", ": 99 numbers a second fit");
    expect_notes("config/time-ids.conf", "");
    expect_notes(
        write_codes(scene, "a key that is made for this test\n"),
        "numbers-codes.conf:24: sequence 'code': 100,000 numbers a day "
        "fit its width, of which pool 'dense' can give 100,000\n");
    script_clock_set(NIGHT_IN_JULY);
    scene_open(scene, scene_path(scene, "numbers-codes.conf"));
    assert_ok(
        seqb_sequences(scene->broker, &status, sizeof status, 1, &count, NULL));
    assert_int_equal(status.width_numbers, 100000);
    assert_int_equal(status.pool_numbers, 100000);
}

static int at_night(void **state)
{
    (void)state;
    script_clock_set(NIGHT_IN_JULY);
    return 0;
}

TEST_BEFORE_ALL(at_night);
