/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Templates of every field, option, base, period and check: what random numbers
 * are written as is read back, a changed character is noticed or makes another
 * number's text, and no two numbers have one text.
 */
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "unit/custom_fields.h"
#include "unit/round_rows.h"

#define DRAWS   (20000 / SEQB_TEST_SCALE) /* of each template */
#define CHANGES (10000 / SEQB_TEST_SCALE)
#define TEXTS   (30000 / SEQB_TEST_SCALE) /* that must all differ */
#define STAMPS  5
#define SHARDS  4

static void make(size_t row, struct round *round)
{
    struct seqb_error err = {SEQB_OK, ""};

    if (round_make(round, round_rows[row].kind, round_rows[row].template,
                   &err) != SEQB_OK)
        fail_msg("%s: %s", round_rows[row].template, err.text);
}

static void expect_round_trips(const struct round *round, uint64_t *seed)
{
    for (size_t i = 0; i < DRAWS; i++) {
        struct round_draw draw;
        struct seqb_error why = {SEQB_OK, ""};
        char text[SEQB_TEXT_MAX + 2];

        round_draw(round, seed, &draw);
        if (!round_trip(round, &draw, text, &why))
            fail_msg("%s: '%s': %s", round->text, text, why.text);
    }
}

TEST(numbers_come_back)
{
    for (size_t row = 0; row < round_row_count; row++) {
        uint64_t seed = row;
        struct round round;

        make(row, &round);
        expect_round_trips(&round, &seed);
        round_free(&round);
    }
}

/* The draws of a text whose changes are tried; how many were accepted. */
static size_t try_changes(const struct round *round, uint64_t *seed,
                          size_t changes)
{
    size_t accepted = 0;
    struct round_draw draw;
    struct seqb_error why = {SEQB_OK, ""};
    char text[SEQB_TEXT_MAX + 2];

    round_draw(round, seed, &draw);
    if (!round_write(round, &draw.facts, text, &why))
        fail_msg("%s: %s", round->text, why.text);
    for (size_t i = 0; i < changes; i++) {
        char changed[SEQB_TEXT_MAX + 2];
        bool is_accepted = false;

        memcpy(changed, text, sizeof changed);
        round_spoil(seed, changed);
        if (!round_is_canonical(round, changed, strlen(changed), &is_accepted,
                                &why))
            fail_msg("%s: '%s', changed to '%s': %s", round->text, text,
                     changed, why.text);
        accepted += is_accepted;
    }
    return accepted;
}

TEST(changed_characters_are_noticed_or_make_another_number)
{
    size_t accepted = 0;

    for (size_t row = 0; row < round_row_count; row++) {
        uint64_t seed = row;
        struct round round;

        make(row, &round);
        for (size_t i = 0; i < CHANGES; i += 20)
            accepted += try_changes(&round, &seed, 20);
        round_free(&round);
    }
    /* Else it would be no wonder. */
    assert_true(accepted > round_row_count * CHANGES / 20);
}

static int compare_hashes(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;

    return (*x > *y) - (*x < *y);
}

static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

/* Stamps that follow each other, some beyond the next ones. */
static void make_stamps(const struct round *round, uint64_t *seed,
                        struct facts stamps[STAMPS])
{
    const int64_t ms = round_draw_ms(round, seed);

    round_set_ms(round, ms, &stamps[0]);
    for (size_t i = 1; i < STAMPS; i++)
        round_set_ms(round,
                     round->rules.period == NULL ? ms
                                                 : stamps[i - 1].stamp.ends_ms,
                     &stamps[i]);
}

/* Texts of the numbers 1, 1 + stride, ... of some stamps and shards: fewer if
 * these are far apart. */
static size_t write_texts(const struct round *round, int64_t stride,
                          uint64_t *seed, uint64_t *hashes)
{
    const bool is_sharded =
        round->rules.ids != NULL && round->rules.ids->shard > 0;
    const size_t stamp_count = round->rules.period == NULL ? 1 : STAMPS;
    const size_t shard_count = is_sharded ? SHARDS : 1;
    struct facts stamps[STAMPS];
    struct round_draw draw;
    const size_t most = stride == 1 ? TEXTS : TEXTS / 10;
    size_t count = 0;

    round_draw(round, seed, &draw);
    make_stamps(round, seed, stamps);
    for (; count < most; count++) {
        const size_t step = count / (stamp_count * shard_count);
        const struct facts *stamp = &stamps[count % stamp_count];
        struct seqb_error why = {SEQB_OK, ""};
        char text[SEQB_TEXT_MAX + 2];

        if ((int64_t)step > (round->limit - 1) / stride)
            break;
        draw.facts.number = 1 + (int64_t)step * stride;
        draw.facts.stamp = stamp->stamp;
        draw.facts.date = stamp->date;
        if (is_sharded)
            draw.facts.shard = (int64_t)(count / stamp_count % shard_count);
        if (!round_write(round, &draw.facts, text, &why))
            fail_msg("%s: %s", round->text, why.text);
        hashes[count] = hash_of(text);
    }
    return count;
}

static void expect_all_different(const struct round *round, int64_t stride,
                                 uint64_t *hashes)
{
    uint64_t seed = (uint64_t)stride;
    const size_t count = write_texts(round, stride, &seed, hashes);

    qsort(hashes, count, sizeof *hashes, compare_hashes);
    for (size_t i = 1; i < count; i++) {
        if (hashes[i] == hashes[i - 1])
            fail_msg("%s: one of %zu texts came twice", round->text, count);
    }
}

TEST(no_two_numbers_have_one_text)
{
    static const int64_t strides[] = {1, 1000003};
    uint64_t *hashes = calloc(TEXTS, sizeof *hashes);

    assert_non_null(hashes);
    for (size_t row = 0; row < round_row_count; row++) {
        struct round round;

        make(row, &round);
        for (size_t i = 0; i < COUNT_OF(strides); i++)
            expect_all_different(&round, strides[i], hashes);
        round_free(&round);
    }
    free(hashes);
}

static int register_fields(void **state)
{
    (void)state;
    return own_fields_register() ? 0 : -1;
}

TEST_BEFORE_ALL(register_fields);
