/* SPDX-License-Identifier: Apache-2.0 */
/* What a reply means: each guarantee, mark, floor and status, at the borders.
 */

#include "ha/policy/fence.h"
#include "support/test.h"

#define STATUSES (SEQB_POISONED + 1)

static struct seqb_request granted(int64_t window, int64_t first, int64_t count)
{
    return (struct seqb_request){.status = SEQB_OK,
                                 .window = window,
                                 .block = {.first = first, .count = count},
                                 .want = count,
                                 .limit = INT64_MAX};
}

struct judged {
    struct fence_mark mark;
    int64_t floor;
    int64_t window;
    int64_t first;
    enum fence_verdict verdict;
};

static void judge_all(enum seqb_guarantee guarantee, const struct judged *cases,
                      size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct seqb_request reply =
            granted(cases[i].window, cases[i].first, 10);

        if (fence_evaluate(guarantee, &cases[i].mark, cases[i].floor, &reply) !=
            cases[i].verdict)
            fail_msg("case %zu is judged otherwise", i);
    }
}

TEST(a_direct_block_must_lie_above_mark_and_floor)
{
    static const struct judged cases[] = {
        /* Nothing held yet. */
        {{0, -1}, 0, 0, 1, FENCE_ACCEPT},
        {{0, -1}, 0, 0, INT64_MAX - 9, FENCE_ACCEPT},
        /* The mark. A block that begins below and ends above it is a repeat
         * as well. */
        {{0, 100}, 0, 0, 101, FENCE_ACCEPT},
        {{0, 100}, 0, 0, 1000, FENCE_ACCEPT},
        {{0, 100}, 0, 0, 100, FENCE_POISON},
        {{0, 100}, 0, 0, 95, FENCE_POISON},
        {{0, 100}, 0, 0, 1, FENCE_POISON},
        {{0, INT64_MAX}, 0, 0, INT64_MAX, FENCE_POISON},
        /* A window means nothing to a direct counter. */
        {{0, 100}, 0, 7, 100, FENCE_POISON},
        {{0, 100}, 0, SEQB_NO_WINDOW, 100, FENCE_POISON},
        {{0, 100}, 0, SEQB_NO_WINDOW, 101, FENCE_ACCEPT},
        /* The floor: to be raised, not a repeat. */
        {{0, -1}, 50, 0, 51, FENCE_ACCEPT},
        {{0, -1}, 50, 0, 50, FENCE_RAISE},
        {{0, -1}, 50, 0, 45, FENCE_RAISE},
        {{0, -1}, 50, 0, 1, FENCE_RAISE},
        {{0, -1}, INT64_MAX, 0, INT64_MAX, FENCE_RAISE},
        /* Both: what went back is worse than what lags behind. */
        {{0, 100}, 200, 0, 150, FENCE_RAISE},
        {{0, 100}, 200, 0, 101, FENCE_RAISE},
        {{0, 100}, 200, 0, 100, FENCE_POISON},
        {{0, 100}, 200, 0, 201, FENCE_ACCEPT},
        {{0, 300}, 200, 0, 250, FENCE_POISON},
        {{0, 300}, 200, 0, 301, FENCE_ACCEPT},
    };

    judge_all(SEQB_DIRECT, cases, COUNT_OF(cases));
}

TEST(a_windowed_block_must_lie_above_the_mark_of_its_window)
{
    static const struct judged cases[] = {
        /* Nothing held yet. */
        {{0, -1}, 0, 1, 0, FENCE_ACCEPT},
        {{0, -1}, 0, 9, 500, FENCE_ACCEPT},
        /* The window of the mark. */
        {{5, 100}, 0, 5, 101, FENCE_ACCEPT},
        {{5, 100}, 0, 5, 100, FENCE_POISON},
        {{5, 100}, 0, 5, 95, FENCE_POISON},
        {{5, 100}, 0, 5, 0, FENCE_POISON},
        {{5, 0}, 0, 5, 0, FENCE_POISON},
        {{5, 0}, 0, 5, 1, FENCE_ACCEPT},
        /* A later window, and an earlier one that another broker had leased
         * and installed only now: nothing is held of either. */
        {{5, 100}, 0, 6, 0, FENCE_ACCEPT},
        {{5, 100}, 0, 6, 100, FENCE_ACCEPT},
        {{5, 100}, 0, 4, 0, FENCE_ACCEPT},
        {{5, 100}, 0, 4, 50, FENCE_ACCEPT},
        /* The floor is a window, whatever the offset: to be replaced. */
        {{5, 100}, 4, 5, 101, FENCE_ACCEPT},
        {{5, 100}, 5, 5, 101, FENCE_RAISE},
        {{5, 100}, 5, 6, 0, FENCE_ACCEPT},
        {{5, 100}, 1000, 6, 5000, FENCE_RAISE},
        {{0, -1}, 1, 1, 0, FENCE_RAISE},
        {{0, -1}, INT64_MAX, INT64_MAX, 0, FENCE_RAISE},
        {{5, 100}, 1000, 5, 100, FENCE_POISON},
    };

    judge_all(SEQB_WINDOWED, cases, COUNT_OF(cases));
}

static enum fence_verdict verdict_of(enum seqb_guarantee guarantee,
                                     enum seqb_status status)
{
    if (status == SEQB_OK)
        return FENCE_ACCEPT;
    if (status == SEQB_FENCED)
        return guarantee == SEQB_DIRECT ? FENCE_RAISE : FENCE_WINDOW;
    if (status == SEQB_EXHAUSTED)
        return guarantee == SEQB_DIRECT ? FENCE_EXHAUSTED : FENCE_WINDOW;
    return FENCE_FAIL;
}

/* Nothing but SEQB_OK may ever be used, whatever stands in the block. */
TEST(each_status_has_one_meaning_for_each_guarantee)
{
    static const enum seqb_guarantee guarantees[] = {SEQB_DIRECT,
                                                     SEQB_WINDOWED};
    static const struct fence_mark marks[] = {{0, -1}, {3, 50}, {4, 200}};

    for (int status = SEQB_OK; status < STATUSES; status++) {
        for (size_t g = 0; g < COUNT_OF(guarantees); g++) {
            struct seqb_request reply = granted(4, 1000, 10);

            reply.status = (enum seqb_status)status;
            for (size_t m = 0; m < COUNT_OF(marks); m++)
                assert_int_equal(
                    fence_evaluate(guarantees[g], &marks[m], 3, &reply),
                    verdict_of(guarantees[g], reply.status));
        }
    }
}

/* A fenced or exhausted reply carries no block: that it holds zeros, below
 * every mark, poisons nothing. */
TEST(a_reply_without_a_block_poisons_nothing)
{
    static const struct fence_mark mark = {7, 900};

    for (int status = SEQB_OK + 1; status < STATUSES; status++) {
        const struct seqb_request reply = {.status = (enum seqb_status)status,
                                           .window = 7};

        assert_int_equal(fence_evaluate(SEQB_DIRECT, &mark, 0, &reply),
                         verdict_of(SEQB_DIRECT, reply.status));
        assert_int_equal(fence_evaluate(SEQB_WINDOWED, &mark, 0, &reply),
                         verdict_of(SEQB_WINDOWED, reply.status));
    }
}

TEST(the_mark_is_the_last_value_of_the_block)
{
    const struct seqb_request one = granted(9, 41, 1);
    const struct seqb_request many = granted(9, 0, 1024);
    const struct seqb_request last = granted(9, INT64_MAX - 9, 10);

    assert_int_equal(fence_advance(&one, SEQB_WINDOWED).value, 41);
    assert_int_equal(fence_advance(&one, SEQB_WINDOWED).window, 9);
    assert_int_equal(fence_advance(&one, SEQB_DIRECT).value, 41);
    assert_int_equal(fence_advance(&one, SEQB_DIRECT).window, 0);
    assert_int_equal(fence_advance(&many, SEQB_WINDOWED).value, 1023);
    assert_int_equal(fence_advance(&last, SEQB_DIRECT).value, INT64_MAX);
}

/* Each block that begins within the one just accepted. */
static void expect_refused_again(enum seqb_guarantee guarantee,
                                 const struct fence_mark *mark,
                                 const struct seqb_block *accepted)
{
    for (int64_t i = 0; i < accepted->count; i++) {
        const struct seqb_request again = granted(3, accepted->first + i, 500);

        assert_int_equal(fence_evaluate(guarantee, mark, 0, &again),
                         FENCE_POISON);
    }
}

/* Whatever was accepted is refused when it comes a second time, whole or in
 * part; what follows it is accepted. */
TEST(no_value_is_accepted_twice)
{
    static const enum seqb_guarantee guarantees[] = {SEQB_DIRECT,
                                                     SEQB_WINDOWED};

    for (size_t g = 0; g < COUNT_OF(guarantees); g++) {
        struct fence_mark mark = FENCE_NOTHING;
        int64_t next = guarantees[g] == SEQB_DIRECT;

        for (int64_t count = 1; count < 200; next += count, count++) {
            const struct seqb_request reply = granted(3, next, count);

            assert_int_equal(fence_evaluate(guarantees[g], &mark, 0, &reply),
                             FENCE_ACCEPT);
            mark = fence_advance(&reply, guarantees[g]);
            expect_refused_again(guarantees[g], &mark, &reply.block);
        }
    }
}

TEST(a_new_window_lies_above_the_cells_ones_own_and_the_floor)
{
    static const struct {
        int64_t mark;
        int64_t cell;
        int64_t floor;
        int64_t above;
    } cases[] = {
        {0, SEQB_NO_WINDOW, 0, 0},
        {5, SEQB_NO_WINDOW, 0, 5},
        {5, 4, 0, 5},
        {5, 5, 0, 5},
        {5, 6, 0, 6},
        {0, 1, 0, 1},
        {INT64_MAX, 1, 0, INT64_MAX},
        {1, INT64_MAX, 0, INT64_MAX},
        {0, SEQB_NO_WINDOW, 9, 9},
        {5, 6, 9, 9},
        {5, 6, 6, 6},
        {5, 6, 4, 6},
        {7, 6, 4, 7},
        {1, 1, INT64_MAX, INT64_MAX},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct fence_mark mark = {cases[i].mark, 10};
        const struct seqb_request reply = {.status = SEQB_FENCED,
                                           .window = cases[i].cell};

        assert_int_equal(fence_window_floor(&mark, cases[i].floor, &reply),
                         cases[i].above);
    }
}

/* So far may a partition lag behind the others, and no further. */
TEST(one_that_lags_is_kept_near_the_others)
{
    static const struct {
        enum seqb_guarantee guarantee;
        int64_t level;
        int64_t want;
        int64_t floor;
    } cases[] = {
        {SEQB_DIRECT, 0, 1, 0},
        {SEQB_DIRECT, FENCE_LAG_VALUES + 4, 1, 0},
        {SEQB_DIRECT, FENCE_LAG_VALUES + 5, 1, 1},
        {SEQB_DIRECT, FENCE_LAG_VALUES + 400, 100, 0},
        {SEQB_DIRECT, FENCE_LAG_VALUES + 401, 100, 1},
        {SEQB_DIRECT, 1000000, 100, 1000000 - FENCE_LAG_VALUES - 400},
        {SEQB_DIRECT, SEQB_GRANT_MAX, SEQB_GRANT_MAX, 0},
        {SEQB_WINDOWED, 0, 0, 0},
        {SEQB_WINDOWED, FENCE_LAG_WINDOWS, 0, 0},
        {SEQB_WINDOWED, FENCE_LAG_WINDOWS + 1, 0, 1},
        {SEQB_WINDOWED, 100, 3, 100 - FENCE_LAG_WINDOWS - 12},
        {SEQB_WINDOWED, SEQB_GRANT_MAX, SEQB_GRANT_MAX, 0},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(fence_level_floor(cases[i].guarantee, cases[i].level,
                                           INT64_MAX, cases[i].want),
                         cases[i].floor);
}

/* A block of 10 from 101 on, of which `left` are above the floor. */
TEST(block_is_used_above_the_floor)
{
    static const struct {
        int64_t mark;
        int64_t floor;
        int64_t first;
        int64_t left;
    } cases[] = {
        {0, 0, 101, 10},    {0, 100, 101, 10},   {0, 101, 102, 9},
        {0, 109, 110, 1},   {0, 110, 101, 10},   {0, 999, 101, 10},
        {100, 105, 106, 5}, {101, 105, 101, 10}, {500, 105, 101, 10},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct fence_mark mark = {.value = cases[i].mark};
        struct seqb_request reply = {
            .status = SEQB_OK, .want = 10, .block = {101, 10}};

        fence_trim(&mark, cases[i].floor, &reply);
        assert_int_equal(reply.block.first, cases[i].first);
        assert_int_equal(reply.block.count, cases[i].left);
    }
}

TEST(none_follows_one_past_the_half_of_all_there_are)
{
    static const enum seqb_guarantee guarantees[] = {SEQB_DIRECT,
                                                     SEQB_WINDOWED};
    static const int64_t highest[] = {100000, 100001, INT64_MAX};

    for (size_t i = 0; i < 2 * COUNT_OF(highest); i++) {
        const enum seqb_guarantee guarantee = guarantees[i % 2];
        const int64_t most = highest[i / 2];

        assert_true(fence_level_floor(guarantee, most / 2, most, 1) > 0);
        assert_int_equal(fence_level_floor(guarantee, most / 2 + 1, most, 1),
                         0);
        assert_int_equal(fence_level_floor(guarantee, most, most, 1), 0);
    }
}

TEST(a_raise_passes_what_others_may_have_been_granted)
{
    static const struct {
        enum seqb_status status;
        int64_t mark;
        int64_t floor;
        int64_t raised;
    } cases[] = {
        {SEQB_FENCED, -1, 0, 0}, /* nothing is known */
        {SEQB_FENCED, -1, 7, 7},
        {SEQB_FENCED, 0, 0, 0},
        {SEQB_FENCED, 1, 0, 101},
        {SEQB_FENCED, 50, 149, 150},
        {SEQB_FENCED, 50, 151, 151},
        {SEQB_FENCED, INT64_MAX - 100, 0, INT64_MAX},
        {SEQB_FENCED, INT64_MAX - 99, 0, INT64_MAX},
        {SEQB_FENCED, INT64_MAX, 0, INT64_MAX},
        {SEQB_OK, 50, 60, 60}, /* below the windows in use, no more */
        {SEQB_OK, 50, 0, 50},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct fence_mark mark = {0, cases[i].mark};
        const struct seqb_request reply = {.status = cases[i].status};

        assert_int_equal(fence_raise_floor(&mark, cases[i].floor, 100, &reply),
                         cases[i].raised);
    }
}

struct sanity {
    int64_t want;
    int64_t limit;
    int64_t window;
    int64_t first;
    int64_t count;
    bool is_sane;
};

static void sanity_all(enum seqb_guarantee guarantee, int64_t window_max,
                       const struct sanity *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct seqb_request reply = {
            .status = SEQB_OK,
            .want = cases[i].want,
            .limit = cases[i].limit,
            .window = cases[i].window,
            .block = {.first = cases[i].first, .count = cases[i].count}};

        if (fence_is_sane(guarantee, window_max, &reply) != cases[i].is_sane)
            fail_msg("case %zu is judged otherwise", i);
    }
}

TEST(a_direct_block_is_one_that_was_asked_for)
{
    static const struct sanity cases[] = {
        /* As asked, and less. */
        {10, 1000, 0, 1, 10, true},
        {10, 1000, 0, 1, 1, true},
        {10, 1000, SEQB_NO_WINDOW, 500, 10, true},
        /* Count. */
        {10, 1000, 0, 1, 0, false},
        {10, 1000, 0, 1, -1, false},
        {10, 1000, 0, 1, INT64_MIN, false},
        {10, 1000, 0, 1, 11, false},
        {10, 1000, 0, 1, INT64_MAX, false},
        /* The lowest value is 1. */
        {10, 1000, 0, 0, 10, false},
        {10, 1000, 0, -1, 10, false},
        {10, 1000, 0, INT64_MIN, 10, false},
        /* The highest is the limit. */
        {10, 1000, 0, 991, 10, true},
        {10, 1000, 0, 992, 10, false},
        {10, 1000, 0, 1000, 1, true},
        {10, 1000, 0, 1001, 1, false},
        {10, 1000, 0, INT64_MAX, 1, false},
        {10, 1000, 0, INT64_MAX, 10, false},
        {10, 5, 0, 1, 5, true},
        {10, 5, 0, 1, 6, false},
        /* The end of all values. */
        {10, INT64_MAX, 0, INT64_MAX - 9, 10, true},
        {10, INT64_MAX, 0, INT64_MAX - 8, 10, false},
        {10, INT64_MAX, 0, INT64_MAX, 1, true},
        {SEQB_GRANT_MAX, INT64_MAX, 0, INT64_MAX, SEQB_GRANT_MAX, false},
        {SEQB_GRANT_MAX, INT64_MAX, 0, 1, SEQB_GRANT_MAX, true},
    };

    sanity_all(SEQB_DIRECT, 7, cases, COUNT_OF(cases));
}

TEST(a_windowed_block_is_one_that_was_asked_for)
{
    static const struct sanity cases[] = {
        {10, 1024, 1, 0, 10, true},
        {10, 1024, 7, 0, 1, true},
        {10, 1024, 1, 0, 0, false},
        {10, 1024, 1, 0, -1, false},
        {10, 1024, 1, 0, 11, false},
        /* Offsets 0 ... limit - 1. */
        {10, 1024, 1, -1, 10, false},
        {10, 1024, 1, INT64_MIN, 1, false},
        {10, 1024, 1, 1014, 10, true},
        {10, 1024, 1, 1015, 10, false},
        {10, 1024, 1, 1023, 1, true},
        {10, 1024, 1, 1024, 1, false},
        {10, 1024, 1, INT64_MAX, 10, false},
        {10, 1, 1, 0, 1, true},
        {10, 1, 1, 0, 2, false},
        /* Windows 1 ... 7. */
        {10, 1024, 0, 0, 10, false},
        {10, 1024, SEQB_NO_WINDOW, 0, 10, false},
        {10, 1024, 8, 0, 10, false},
        {10, 1024, INT64_MAX, 0, 10, false},
        {10, 1024, INT64_MIN, 0, 10, false},
    };

    sanity_all(SEQB_WINDOWED, 7, cases, COUNT_OF(cases));
}
