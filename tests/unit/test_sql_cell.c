/* SPDX-License-Identifier: Apache-2.0 */
/* The rule of a cell in seqb_counters. */

#include "backends/sql/cell.h"
#include "support/test.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define NOW  "this store/started then"
#define PAST "this store/started before"
#define SIZE 100

static struct sql_cell bound_cell(int64_t used)
{
    return sql_cell_found(used, "7:100:" NOW, NOW);
}

static struct seqb_request request_of(int64_t want, int64_t limit)
{
    return (struct seqb_request){
        .counter = SEQB_CELL "main/0/order", .want = want, .limit = limit};
}

TEST(cell_is_bound_to_this_run_of_the_store_alone)
{
    static const struct {
        const char *origin;
        int64_t value;
        int state;
        int64_t window;
    } cases[] = {
        {"7:100:" NOW, 0, SQL_CELL_BOUND, 7},
        {"7:100:" NOW, 100, SQL_CELL_BOUND, 7},
        {"9223372036854775807:100:" NOW, 3, SQL_CELL_BOUND, INT64_MAX},
        {"7:100:" PAST, 3, SQL_CELL_FOREIGN, 7},
        {"7:100:" NOW "!", 3, SQL_CELL_FOREIGN, 7},
        {"7:100:", 3, SQL_CELL_FOREIGN, 7},
        {"0:0:", 0, SQL_CELL_ABSENT, 0},
        {"7:100:" NOW, 101, SQL_CELL_DAMAGED, 0},
        {"7:100:" NOW, -1, SQL_CELL_DAMAGED, 0},
        {"7:100", 3, SQL_CELL_DAMAGED, 0},
        {"-7:100:" NOW, 3, SQL_CELL_DAMAGED, 0},
        {"x:100:" NOW, 3, SQL_CELL_DAMAGED, 0},
        {"9223372036854775808:100:" NOW, 3, SQL_CELL_DAMAGED, 0},
        {NOW, 3, SQL_CELL_DAMAGED, 0},
        {"", 3, SQL_CELL_DAMAGED, 0},
        {NULL, 3, SQL_CELL_DAMAGED, 0},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct sql_cell cell =
            sql_cell_found(cases[i].value, cases[i].origin, NOW);

        assert_int_equal(cell.state, cases[i].state);
        assert_int_equal(cell.window, cases[i].window);
    }
}

TEST(offsets_follow_each_other_to_the_end_of_the_window)
{
    const struct seqb_request some = request_of(30, SIZE);
    struct sql_cell cell = bound_cell(0);
    int64_t next = 0;

    while (next < SIZE) {
        const struct sql_cell_answer answer = sql_cell_take(&cell, &some);

        assert_ok(answer.status);
        assert_true(answer.is_write);
        assert_int_equal(answer.window, 7);
        assert_int_equal(answer.block.first, next);
        assert_in_range(answer.block.count, 1, 30);
        next += answer.block.count;
        assert_int_equal(answer.cell.used, next);
        cell = answer.cell;
    }
    assert_int_equal(sql_cell_take(&cell, &some).status, SEQB_EXHAUSTED);
    assert_int_equal(sql_cell_take(&cell, &some).window, 7);
}

TEST(nothing_is_taken_from_a_cell_that_is_not_bound)
{
    const struct seqb_request one = request_of(1, SIZE);
    static const struct {
        const char *origin;
        enum seqb_status status;
        int64_t window;
    } cases[] = {
        {"7:100:" PAST, SEQB_FENCED, 7}, {"0:0:", SEQB_FENCED, SEQB_NO_WINDOW},
        {"7:99:" NOW, SEQB_LAYOUT, 7},   {"7:101:" NOW, SEQB_LAYOUT, 7},
        {"7:99:" PAST, SEQB_FENCED, 7},  {"?", SEQB_CORRUPT, SEQB_NO_WINDOW},
        {"1:100:" PAST, SEQB_FENCED, 1},
    };
    const struct sql_cell none = {.state = SQL_CELL_ABSENT};

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct sql_cell cell = sql_cell_found(0, cases[i].origin, NOW);
        const struct sql_cell_answer answer = sql_cell_take(&cell, &one);

        assert_int_equal(answer.status, cases[i].status);
        assert_int_equal(answer.window, cases[i].window);
        assert_non_null(answer.why);
        assert_false(answer.is_write);
    }
    assert_int_equal(sql_cell_take(&none, &one).status, SEQB_FENCED);
    assert_int_equal(sql_cell_take(&none, &one).window, SEQB_NO_WINDOW);
}

TEST(only_a_later_window_is_installed)
{
    static const struct {
        const char *origin;
        int64_t used;
        int64_t window;
        enum seqb_status status;
        int64_t standing;
        bool is_write;
    } cases[] = {
        {"7:100:" NOW, 99, 8, SEQB_OK, 7, false}, /* somebody was faster */
        {"7:100:" NOW, 99, 6, SEQB_OK, 7, false},
        {"7:100:" NOW, 100, 8, SEQB_OK, 8, true},
        {"7:100:" NOW, 100, 7, SEQB_FENCED, 7, false},
        {"7:100:" NOW, 100, 6, SEQB_FENCED, 7, false},
        {"7:100:" PAST, 0, 7, SEQB_FENCED, 7, false},
        {"7:100:" PAST, 0, 8, SEQB_OK, 8, true},
        {"7:99:" PAST, 0, 8, SEQB_OK, 8, true},
        {"7:99:" NOW, 0, 8, SEQB_LAYOUT, 7, false},
        {"0:0:", 0, 1, SEQB_OK, 1, true},
        {"?", 0, 8, SEQB_CORRUPT, SEQB_NO_WINDOW, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct seqb_window window = {
            .counter = "", .window = cases[i].window, .size = SIZE};
        const struct sql_cell cell =
            sql_cell_found(cases[i].used, cases[i].origin, NOW);
        const struct sql_cell_answer answer = sql_cell_install(&cell, &window);

        assert_int_equal(answer.status, cases[i].status);
        assert_int_equal(answer.window, cases[i].standing);
        assert_int_equal(answer.is_write, cases[i].is_write);
        if (answer.is_write) {
            assert_int_equal(answer.cell.window, cases[i].window);
            assert_int_equal(answer.cell.size, SIZE);
            assert_int_equal(answer.cell.used, 0);
        }
    }
}

TEST(window_in_use_is_given_up_for_a_later_one_alone)
{
    struct seqb_window window = {
        .counter = "", .window = 8, .size = SIZE, .over = 6};
    const struct sql_cell cell = sql_cell_found(99, "7:100:" NOW, NOW);
    struct sql_cell_answer answer = sql_cell_install(&cell, &window);

    assert_int_equal(answer.window, 7);
    assert_false(answer.is_write);
    window.over = 7;
    answer = sql_cell_install(&cell, &window);
    assert_ok(answer.status);
    assert_int_equal(answer.cell.window, 8);
    assert_true(answer.is_write);
    window.window = 7;
    assert_int_equal(sql_cell_install(&cell, &window).status, SEQB_FENCED);
}

/* Who puts it there has its first values; others have those behind them. */
TEST(cell_counts_on_behind_what_was_taken_with_the_window)
{
    const struct sql_cell cell = sql_cell_found(SIZE, "7:100:" NOW, NOW);

    for (int64_t take = 0; take <= SIZE; take += SIZE / 4) {
        const struct seqb_window window = {
            .counter = "", .window = 8, .size = SIZE, .take = take};
        const struct sql_cell_answer answer = sql_cell_install(&cell, &window);

        assert_true(answer.is_write);
        assert_int_equal(answer.cell.used, take);
    }
}

TEST(drop_leaves_windows_above_its_floor)
{
    const struct sql_cell cell = bound_cell(3);
    const struct sql_cell damaged = sql_cell_found(0, "?", NOW);

    for (int64_t floor = 6; floor <= 8; floor++) {
        const struct sql_cell_answer answer = sql_cell_drop(&cell, floor);

        assert_ok(answer.status);
        assert_int_equal(answer.window, floor < 7 ? 7 : floor);
        assert_int_equal(answer.is_write, floor >= 7);
        assert_int_equal(answer.cell.window, 0);
    }
    assert_true(sql_cell_drop(&damaged, 0).is_write);
}

TEST(names_and_prefixes_are_those_of_cells)
{
    char prefix[SQL_CELL_PREFIX_SIZE];

    assert_true(sql_name_is_cell("cell:main/0/order"));
    assert_false(sql_name_is_cell("main/0/cell:"));
    assert_false(sql_name_is_cell("cell/0/order")); /* of a pool of that name */
    assert_false(sql_name_is_cell("window/main/0/order"));
    assert_false(sql_name_is_cell("@cell:main/0/order"));
    assert_false(sql_name_is_cell(""));
    sql_cell_prefix(INT64_MAX, INT64_MAX, prefix);
    assert_string_equal(prefix, "9223372036854775807:9223372036854775807:");
}
