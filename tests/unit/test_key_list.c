/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a line of the log, of which only the first ones fit. */
#include "queue/key_list.h"

#include <string.h>

#include "support/test.h"

/* Fills a list but for `left` bytes, of which a comma needs one. */
static void fill(struct key_list *list, size_t left)
{
    char key[KEY_LIST_SIZE];

    memset(key, 'a', sizeof key);
    key[KEY_LIST_SIZE - 1 - left] = '\0';
    *list = (struct key_list){.count = 0};
    key_list_add(list, key);
}

TEST(keys_are_separated_by_commas)
{
    struct key_list list = {.count = 0};

    assert_string_equal(list.names, "");
    assert_string_equal(key_list_rest(&list), "");
    key_list_add(&list, "a");
    assert_string_equal(list.names, "a");
    key_list_add(&list, "bc");
    key_list_add(&list, "d");
    assert_string_equal(list.names, "a,bc,d");
    assert_int_equal(list.count, 3);
    assert_string_equal(key_list_rest(&list), "");
}

TEST(key_that_fits_to_the_byte_is_named)
{
    struct key_list list;

    fill(&list, 3);
    key_list_add(&list, "bc");
    assert_int_equal(strlen(list.names), KEY_LIST_SIZE - 1);
    assert_string_equal(list.names + KEY_LIST_SIZE - 4, ",bc");
    assert_string_equal(key_list_rest(&list), "");
}

/* Nor is a later one that would fit. */
TEST(key_that_does_not_fit_is_only_counted)
{
    struct key_list list;

    fill(&list, 3);
    key_list_add(&list, "bcd");
    key_list_add(&list, "e");
    assert_int_equal(strlen(list.names), KEY_LIST_SIZE - 4);
    assert_int_equal(list.count, 3);
    assert_string_equal(key_list_rest(&list), ",...");
}
