/* SPDX-License-Identifier: Apache-2.0 */
/* The names of marks, and what a purge may keep. */
#include "backends/sql/sql.h"
#include "support/test.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define ORDER "main/0/order"
#define DAY   ORDER "@20261121"

TEST(marks_are_named_after_the_counter_without_its_stamp)
{
    static const struct {
        const char *counter;
        const char *mark;
        bool counts;
    } cases[] = {
        {SQL_BASE, SQL_MARK_BASE, true},
        {ORDER, "@" ORDER, false},
        {DAY, "@" ORDER, true},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char name[SEQB_COUNTER_SIZE];

        assert_true(sql_mark_name(cases[i].counter, name));
        assert_string_equal(name, cases[i].mark);
        assert_int_equal(sql_mark_counts(cases[i].counter), cases[i].counts);
    }
}

TEST(purge_keeps_a_period_of_the_counter)
{
    static const struct seqb_purge good = {ORDER, DAY, 1, 1};
    static const struct seqb_purge bad[] = {{ORDER, ORDER "s@2026", 1, 1},
                                            {ORDER, "main/1/order@2026", 1, 1}};

    assert_true(sql_purge_is_sane(&good));
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(sql_purge_is_sane(&bad[i]));
}
