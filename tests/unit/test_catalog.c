/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences by key: found however many there are, in the order of adding. */

#include <stdlib.h>
#include <string.h>

#include "platform/text.h"
#include "queue/catalog.h"
#include "queue/sequence.h"
#include "support/test.h"

#define MANY ((size_t)20000 / SEQB_TEST_SCALE)

struct fixture {
    struct catalog catalog;
    struct seqb_sequence *sequences; /* MANY, with a key each */
    char keys[MANY][SEQB_KEY_MAX + 1];
};

/* Keys that differ in one letter, at either end. */
static int fixture_setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    if (fixture == NULL)
        return -1;
    fixture->sequences = calloc(MANY, sizeof *fixture->sequences);
    if (fixture->sequences == NULL) {
        free(fixture);
        return -1;
    }
    for (size_t i = 0; i < MANY; i++) {
        (void)text_format(fixture->keys[i], sizeof fixture->keys[i],
                          i % 2 == 0 ? "key.%zu" : "%zu.key", i);
        fixture->sequences[i].key = fixture->keys[i];
    }
    *state = fixture;
    return 0;
}

static int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;

    catalog_fini(&fixture->catalog);
    free(fixture->sequences);
    free(fixture);
    return 0;
}

#define CATALOG                                                                \
    FIXTURE(struct fixture *fixture, fixture_setup, fixture_teardown)

TEST_WITH(CATALOG, an_empty_one_holds_nothing)
{
    assert_null(catalog_get(&fixture->catalog, "key.0"));
    assert_true(catalog_reserve(&fixture->catalog, 0));
    assert_int_equal(fixture->catalog.count, 0);
    catalog_fini(&(struct catalog){.count = 0});
}

/* While it grows, and from what is not there. */
TEST_WITH(CATALOG, every_sequence_is_found_by_its_key_and_no_other)
{
    struct catalog *catalog = &fixture->catalog;

    for (size_t i = 0; i < MANY; i++) {
        assert_null(catalog_get(catalog, fixture->sequences[i].key));
        assert_true(catalog_add(catalog, &fixture->sequences[i]));
        assert_ptr_equal(catalog_get(catalog, fixture->sequences[i / 2].key),
                         &fixture->sequences[i / 2]);
    }
    for (size_t i = 0; i < MANY; i++)
        assert_ptr_equal(catalog_get(catalog, fixture->sequences[i].key),
                         &fixture->sequences[i]);
    assert_null(catalog_get(catalog, "key"));
    assert_null(catalog_get(catalog, "key.0 "));
    assert_null(catalog_get(catalog, ""));
}

TEST_WITH(CATALOG, keys_of_the_same_hash_are_told_apart)
{
    static const char *const keys[] = {"order-169714", "order-269738"};
    struct catalog *catalog = &fixture->catalog;

    for (size_t i = 0; i < 2; i++) {
        assert_null(catalog_get(catalog, keys[i]));
        fixture->sequences[i].key = keys[i];
        assert_true(catalog_add(catalog, &fixture->sequences[i]));
    }
    assert_int_equal(catalog_find(catalog, keys[0]), 0);
    assert_int_equal(catalog_find(catalog, keys[1]), 1);
}

TEST_WITH(CATALOG, they_stay_in_the_order_of_adding)
{
    struct catalog *catalog = &fixture->catalog;

    for (size_t i = 0; i < MANY; i++)
        assert_true(catalog_add(catalog, &fixture->sequences[MANY - 1 - i]));
    assert_int_equal(catalog->count, MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_ptr_equal(catalog->sequences[i],
                         &fixture->sequences[MANY - 1 - i]);
}

/* Wherever it stood, the others are found, and it can be added again. */
TEST_WITH(CATALOG, the_last_one_can_be_taken_out_at_any_time)
{
    struct catalog *catalog = &fixture->catalog;

    for (size_t i = 0; i < MANY / 10; i++) {
        assert_true(catalog_add(catalog, &fixture->sequences[i]));
        catalog_remove_last(catalog);
        assert_int_equal(catalog->count, i);
        assert_null(catalog_get(catalog, fixture->sequences[i].key));
        if (i > 0)
            assert_ptr_equal(
                catalog_get(catalog, fixture->sequences[i - 1].key),
                &fixture->sequences[i - 1]);
        assert_true(catalog_add(catalog, &fixture->sequences[i]));
    }
    for (size_t i = 0; i < MANY / 10; i++)
        assert_ptr_equal(catalog_get(catalog, fixture->sequences[i].key),
                         &fixture->sequences[i]);
}

TEST_WITH(CATALOG, room_that_was_made_is_not_made_again)
{
    struct catalog *catalog = &fixture->catalog;
    const struct catalog_place *places;

    assert_true(catalog_reserve(catalog, 24));
    assert_int_equal(catalog->capacity, 32);
    assert_true(catalog_reserve(catalog, MANY));
    places = catalog->places;
    for (size_t i = 0; i < MANY; i++)
        assert_true(catalog_add(catalog, &fixture->sequences[i]));
    assert_ptr_equal(catalog->places, places);
    assert_true(catalog->capacity / 4 * 3 >= MANY);
    assert_true(catalog->capacity < 4 * MANY);
    assert_true(
        catalog_reserve(catalog, catalog->capacity / 4 * 3 - catalog->count));
    assert_ptr_equal(catalog->places, places);
}

TEST_WITH(CATALOG, more_than_can_be_counted_is_refused)
{
    assert_false(catalog_reserve(&fixture->catalog, SIZE_MAX));
    assert_false(catalog_reserve(&fixture->catalog, (size_t)UINT32_MAX));
    assert_true(catalog_add(&fixture->catalog, fixture->sequences));
}

TEST_WITH(CATALOG, a_guess_of_the_index_changes_no_answer)
{
    for (size_t i = 0; i < MANY; i++)
        assert_true(catalog_add(&fixture->catalog, &fixture->sequences[i]));
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(
            catalog_find_at(&fixture->catalog, fixture->keys[i], i), i);
        assert_int_equal(
            catalog_find_at(&fixture->catalog, fixture->keys[i], i + 1), i);
    }
    assert_int_equal(catalog_find_at(&fixture->catalog, "none", 0),
                     CATALOG_NONE);
    assert_int_equal(catalog_find_at(&fixture->catalog, "key.1", 2),
                     CATALOG_NONE);
    assert_int_equal(catalog_find_at(&fixture->catalog, "none", MANY),
                     CATALOG_NONE);
}
