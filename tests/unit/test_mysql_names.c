/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the tables of mysql-autoinc. */
#include <string.h>
#include <strings.h>

#include "backends/mysql/autoinc/names.h"
#include "support/test.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define USUAL    "%s_code_%d"

#define TEN         "abcdefghij"
#define FORTY_ONE   TEN TEN TEN TEN "k"
#define MAIN        "main/0/"
#define DASHES_42   "------------------------------------------"
#define LONGEST_KEY TEN TEN TEN TEN TEN TEN "abcd"

TEST(only_what_users_count_has_a_table)
{
    static const char *const with[] = {
        "main/0/order", "window/0/order", "main~2/31/a:b",
        "main/0/Cell",  "main//order",
    };
    static const char *const without[] = {
        "",
        "main",
        "main/0",
        "main/0/order@20261121",
        "main/0//order",
        "window/main/0/order",
        "window/window/0/order",
        "window/main/0/order@20261121",
        "ticket/main/0/order",
        "cell:main/0/order",
        "cell:main/0/order@20261121",
    };

    for (size_t i = 0; i < COUNT(with); i++)
        assert_true(mysql_has_table(with[i]));
    for (size_t i = 0; i < COUNT(without); i++)
        assert_false(mysql_has_table(without[i]));
}

TEST(formatted_names_hold_key_and_partition)
{
    static const struct {
        const char *format;
        const char *counter;
        const char *table;
    } cases[] = {
        {USUAL, "main/0/order", "order_code_0"},
        {USUAL, "main/31/order", "order_code_31"},
        {USUAL, "main/123456/order", "order_code_123456"},
        {USUAL, "other/3/a.b:c-d_e", "a.b:c-d_e_code_3"},
        {USUAL, MAIN "9", "9_code_0"},
        {"%d$%s", "main/7/order", "7$order"},
        {"Seq-%s%d", "main/7/order", "Seq-order7"},
        {USUAL, MAIN FORTY_ONE, FORTY_ONE "_code_0"},
        {"%s%d$", MAIN FORTY_ONE "lmnop", FORTY_ONE "lmnop0$"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char table[MYSQL_TABLE_SIZE];

        mysql_table_name(cases[i].format, cases[i].counter, table);
        assert_string_equal(table, cases[i].table);
    }
}

TEST(what_the_format_cannot_tell_has_a_name_of_its_own)
{
    static const char *const counters[] = {
        "window/main/0/order",
        "window/main/0/orders",
        "main~2/0/order",
        "main~3/0/order",
        "window/main~2/0/order",
        MAIN "Order",
        MAIN "oRDER",
        MAIN "order ",
        MAIN "%",
        MAIN "a/b",
        MAIN "a`b",
        MAIN "\xc3\xa9",
        MAIN "order@20261121",
        MAIN,
        MAIN FORTY_ONE "l",
        MAIN LONGEST_KEY,
        "window/" MAIN LONGEST_KEY "a",
        "window/" MAIN LONGEST_KEY "b",
        MAIN DASHES_42,
        "main//order",
        "main/x/order",
        "main/1234567/order",
        "main",
        "/",
        "",
    };
    char tables[COUNT(counters)][MYSQL_TABLE_SIZE];

    for (size_t i = 0; i < COUNT(counters); i++) {
        mysql_table_name(USUAL, counters[i], tables[i]);
        assert_memory_equal(tables[i], "seqb_", 5);
        assert_int_equal(
            strspn(tables[i], "abcdefghijklmnopqrstuvwxyz0123456789_"),
            strlen(tables[i]));
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(strcasecmp(tables[i], tables[j]), 0);
    }
}

/* Another version must find the same table. */
TEST(own_names_say_whose_they_are_and_never_change)
{
    static const char *const cases[][3] = {
        {USUAL, "window/main/0/Order",
         "seqb_window_main_0_order_0e8833794cc3e74f"},
        {USUAL, MAIN DASHES_42,
         "seqb_main_0___________________________________19c86a0f5028ab06"},
        {"%s%d$", MAIN FORTY_ONE "lmnopq",
         "seqb_main_0_abcdefghijabcdefghijabcdefghijabc_5f6c8bcc2de8dcba"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char table[MYSQL_TABLE_SIZE];

        mysql_table_name(cases[i][0], cases[i][1], table);
        assert_string_equal(table, cases[i][2]);
    }
}

TEST(format_needs_key_and_partition_once_each)
{
    static const char *const good[] = {USUAL, "%s%d", "%d%s", "A-%d_$%s9"};
    static const char *const bad[] = {
        "",       "%s",     "%d",    "%s_%s_%d",     "%s_%d_%d", "%s_%d%",
        "%s%%%d", "%s`%d",  "%s %d", "%s.%d",        "%s/%d",    "%x%s%d",
        "%s_%5d", "%s\n%d", "%S_%d", "\xc3\xa9%s%d",
    };

    for (size_t i = 0; i < COUNT(good); i++)
        assert_true(mysql_format_is_valid(good[i]));
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(mysql_format_is_valid(bad[i]));
}
