/* SPDX-License-Identifier: Apache-2.0 */
/* The rule of a row in seqb_counters. */

#include <string.h>

#include "backends/sql/sql.h"
#include "support/test.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define NOW    "this store"
#define OTHER  "another store"
#define ORDER  "main/0/order"
#define DAY    ORDER "@20261121"
#define BEGINS INT64_C(1795219200000)
#define LIMIT  100

/* What stands in the table: a value, and an origin, NULL for no such row. */
struct cell {
    int64_t value;
    const char *origin;
};

static const struct cell none = {0, NULL};

static struct sql_counter counter_of(const char *name, struct cell row,
                                     struct cell mark)
{
    struct sql_counter counter = {.name = name};

    if (row.origin != NULL)
        sql_row_found(&counter, row.value, row.origin, NOW);
    if (mark.origin != NULL)
        sql_mark_found(&counter, mark.value, mark.origin);
    return counter;
}

TEST(state_is_told_by_value_and_origin)
{
    static const struct {
        int64_t value;
        const char *origin;
        int expected;
        bool is_unbound;
    } cases[] = {
        {0, NOW, SQL_ROW_BOUND, false},       {7, NOW, SQL_ROW_BOUND, false},
        {7, OTHER, SQL_ROW_FOREIGN, false},   {7, "", SQL_ROW_FOREIGN, true},
        {7, NOW "!", SQL_ROW_FOREIGN, false}, {-1, NOW, SQL_ROW_DAMAGED, false},
        {7, NULL, SQL_ROW_DAMAGED, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sql_counter counter = {.name = ORDER};

        assert_int_equal(counter.row.state, SQL_ROW_ABSENT);
        sql_row_found(&counter, cases[i].value, cases[i].origin, NOW);
        assert_int_equal(counter.row.state, cases[i].expected);
        assert_int_equal(counter.row.is_unbound, cases[i].is_unbound);
    }
}

/* Of this store, as a base that is to be raised is not. */
TEST(row_of_an_earlier_epoch_is_rebound)
{
    static const struct {
        const char *origin;
        bool is_rebound;
    } cases[] = {
        {"s", true},           {"s#00000001", true},   {"s#00000002", false},
        {"t#00000001", false}, {"s#00000002!", false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sql_counter counter = {.name = ORDER};

        sql_row_found(&counter, 7, cases[i].origin, "s#00000002");
        assert_int_equal(counter.row.is_rebound, cases[i].is_rebound);
    }
}

TEST(mark_tells_which_names_were_purged)
{
    static const struct {
        const char *keep;
        bool is_purged;
        int64_t ms;
    } cases[] = {
        {ORDER "@20261120", false, 5},
        {DAY, false, 5},
        {ORDER "@20261122", true, 5},
        {ORDER "@30000101", true, 5},
        {"zzz", false, 5}, /* as an earlier version wrote */
        {ORDER, false, 5},
        {ORDER "ing@30000101", false, 5},
        {NULL, true, SQL_MARK_DAMAGED},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sql_counter counter = {.name = DAY};

        sql_mark_found(&counter, 5, cases[i].keep);
        assert_int_equal(counter.mark_ms, cases[i].ms);
        assert_int_equal(counter.is_purged, cases[i].is_purged);
    }
}

/* --- reservations --- */

static const struct {
    struct cell base, base_mark, row, mark;
    int64_t begins_ms;
    int64_t want;
    enum seqb_status status;
    struct seqb_block block;
} takes[] = {
    /* a row of its own: whatever the base */
    {{9, OTHER}, {0}, {40, NOW}, {0}, 0, 5, SEQB_OK, {41, 5}},
    {{9, OTHER}, {0}, {97, NOW}, {0}, 0, 5, SEQB_OK, {98, 3}},
    {{9, NOW}, {0}, {100, NOW}, {0}, 0, 5, SEQB_EXHAUSTED, {0}},
    {{9, NOW}, {0}, {INT64_MAX, NOW}, {0}, 0, 5, SEQB_EXHAUSTED, {0}},
    {{9, NOW}, {0}, {40, OTHER}, {0}, 0, 5, SEQB_FENCED, {0}},
    {{9, NOW}, {0}, {40, ""}, {0}, 0, 5, SEQB_FENCED, {0}},
    {{9, NOW}, {0}, {-1, NOW}, {0}, 0, 5, SEQB_CORRUPT, {0}},
    {{9, NOW}, {0}, {40, NOW}, {BEGINS + 1, "x"}, BEGINS, 5, SEQB_OK, {41, 5}},
    /* none: at the base; above one that was raised it is to be raised */
    {{0, NOW}, {0}, {0}, {0}, 0, 5, SEQB_OK, {1, 5}},
    {{0, NOW}, {-1, NOW}, {0}, {0}, 0, 5, SEQB_OK, {1, 5}},
    {{9, OTHER}, {0}, {0}, {0}, 0, 5, SEQB_FENCED, {0}},
    {{0, ""}, {0}, {0}, {0}, 0, 5, SEQB_FENCED, {0}},
    {{0}, {0}, {0}, {0}, 0, 5, SEQB_FENCED, {0}},
    {{-1, NOW}, {0}, {0}, {0}, 0, 5, SEQB_CORRUPT, {0}},
    {{9, NOW}, {0}, {0}, {0}, 0, 5, SEQB_FENCED, {0}},
    {{1, NOW}, {0}, {0}, {0}, 0, 5, SEQB_FENCED, {0}},
    /* none, of a period: afresh, unless it may have been forgotten */
    {{9, NOW}, {0}, {0}, {0}, BEGINS, 5, SEQB_OK, {1, 5}},
    {{9, NOW}, {BEGINS - 1, NOW}, {0}, {0}, BEGINS, 5, SEQB_OK, {1, 5}},
    {{9, NOW}, {BEGINS, NOW}, {0}, {0}, BEGINS, 5, SEQB_FENCED, {0}},
    {{0, NOW}, {BEGINS, NOW}, {0}, {0}, BEGINS, 5, SEQB_OK, {1, 5}},
    {{9, OTHER}, {0}, {0}, {0}, BEGINS, 5, SEQB_FENCED, {0}},
    {{9, NOW}, {-1, NOW}, {0}, {0}, BEGINS, 5, SEQB_CORRUPT, {0}},
    {{0, NOW}, {-1, NOW}, {0}, {0}, 1, 5, SEQB_CORRUPT, {0}},
    /* none, of a period that may have been purged */
    {{9, NOW}, {0}, {0}, {0, "x"}, BEGINS, 5, SEQB_OK, {1, 5}},
    {{9, NOW}, {0}, {0}, {BEGINS, "x"}, BEGINS, 5, SEQB_OK, {1, 5}},
    {{9, NOW}, {0}, {0}, {BEGINS + 1, "x"}, BEGINS, 5, SEQB_EXHAUSTED, {0}},
    {{9, OTHER}, {0}, {0}, {BEGINS + 1, "x"}, BEGINS, 5, SEQB_EXHAUSTED, {0}},
    {{9, NOW}, {0}, {0}, {-1, "x"}, BEGINS, 5, SEQB_CORRUPT, {0}},
};

TEST(reservation_takes_what_the_rows_allow)
{
    for (size_t i = 0; i < COUNT(takes); i++) {
        const struct sql_counter base =
            counter_of(SQL_BASE, takes[i].base, takes[i].base_mark);
        const struct sql_counter counter =
            counter_of(DAY, takes[i].row, takes[i].mark);
        const struct seqb_request request = {.counter = DAY,
                                             .want = takes[i].want,
                                             .limit = LIMIT,
                                             .begins_ms = takes[i].begins_ms};
        const struct sql_grant grant =
            sql_counter_take(&base, &counter, &request);

        assert_int_equal(grant.status, takes[i].status);
        assert_int_equal(grant.why == NULL, grant.status == SEQB_OK);
        assert_int_equal(grant.block.first, takes[i].block.first);
        assert_int_equal(grant.block.count, takes[i].block.count);
        if (grant.status == SEQB_OK)
            assert_int_equal(grant.value - grant.block.first,
                             grant.block.count - 1);
    }
}

/* No broker of its layout takes a value above its limit. */
TEST(counter_that_a_migration_ended_says_so)
{
    const struct seqb_request request = {
        .counter = ORDER, .want = 1, .limit = LIMIT};
    struct sql_row row = {.state = SQL_ROW_BOUND, .value = LIMIT};

    assert_null(strstr(sql_row_take(&row, &request).why, "migrated"));
    row.value++;
    assert_non_null(strstr(sql_row_take(&row, &request).why, "migrated"));
}

/* A row that stands is no proof that its stamp is open: the lessor may have
 * gone back. */
TEST(lease_takes_nothing_of_a_closed_stamp)
{
    static const struct {
        struct cell base_mark, row, mark;
        enum seqb_status status;
    } cases[] = {
        {{0}, {40, NOW}, {0}, SEQB_OK},
        {{-1, NOW}, {40, NOW}, {BEGINS, "x"}, SEQB_OK},
        {{0}, {40, NOW}, {BEGINS + 1, "x"}, SEQB_EXHAUSTED},
        {{0}, {40, NOW}, {-1, "x"}, SEQB_CORRUPT},
        {{0}, {40, OTHER}, {0}, SEQB_FENCED},
        {{0}, {0}, {BEGINS, "x"}, SEQB_OK},
        {{0}, {0}, {BEGINS + 1, "x"}, SEQB_EXHAUSTED},
    };
    struct seqb_guard guard = {.name = "synced/main", .text = ""};
    const struct seqb_request request = {.counter = DAY,
                                         .want = 5,
                                         .limit = LIMIT,
                                         .begins_ms = BEGINS,
                                         .guard = &guard};

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct sql_counter base =
            counter_of(SQL_BASE, (struct cell){9, NOW}, cases[i].base_mark);
        const struct sql_counter counter =
            counter_of(DAY, cases[i].row, cases[i].mark);

        assert_int_equal(sql_counter_take(&base, &counter, &request).status,
                         cases[i].status);
    }
}

TEST(counter_without_a_row_is_not_taken_from_by_it_alone)
{
    const struct seqb_request request = {
        .counter = ORDER, .want = 5, .limit = LIMIT};
    const struct sql_counter counter = counter_of(ORDER, none, none);

    assert_int_equal(sql_row_take(&counter.row, &request).status, SEQB_FENCED);
}

/* --- raises --- */

static void assert_writes(const struct sql_lift *lift, int64_t base,
                          int64_t base_ms, int64_t value)
{
    size_t at = 0;

    if (base >= 0) {
        assert_string_equal(lift->writes[at].name, SQL_BASE);
        assert_int_equal(lift->writes[at++].value, base);
    }
    if (base_ms > 0) {
        assert_string_equal(lift->writes[at].name, SQL_MARK_BASE);
        assert_int_equal(lift->writes[at++].value, base_ms);
    }
    assert_string_equal(lift->writes[at].name, DAY);
    assert_int_equal(lift->writes[at++].value, value);
    assert_int_equal(lift->count, at);
    assert_int_equal(lift->value, value);
}

TEST(raise_rebinds_with_a_gap_and_never_lowers)
{
    static const struct {
        struct cell base, base_mark, row;
        int64_t floor;
        int64_t base_after; /* -1: not written */
        int64_t base_ms_after;
        int64_t value;
    } cases[] = {
        /* the gap is 20, the base's 10, its floor 5 */
        {{9, NOW}, {0}, {40, NOW}, 0, -1, 0, 40},
        {{9, NOW}, {0}, {40, NOW}, 50, -1, 0, 50},
        {{9, NOW}, {0}, {40, OTHER}, 0, -1, 0, 60},
        {{9, NOW}, {0}, {40, OTHER}, 70, -1, 0, 70},
        {{9, NOW}, {0}, {0}, 0, -1, 0, 9},
        {{9, NOW}, {0}, {0}, 30, -1, 0, 30},
        {{9, OTHER}, {0}, {40, NOW}, 0, 19, BEGINS, 40},
        {{9, OTHER}, {0}, {40, OTHER}, 0, 19, BEGINS, 60},
        {{9, OTHER}, {0}, {0}, 0, 19, BEGINS, 19},
        {{9, OTHER}, {BEGINS - 1, OTHER}, {0}, 0, 19, BEGINS, 19},
        {{9, OTHER}, {BEGINS, OTHER}, {0}, 0, 19, 0, 19},
        {{0}, {0}, {0}, 0, 15, BEGINS, 15},
        {{0, ""}, {0}, {0}, 0, 15, BEGINS, 15},
        {{0, ""}, {0}, {40, ""}, 0, 15, BEGINS, 60},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct sql_counter base =
            counter_of(SQL_BASE, cases[i].base, cases[i].base_mark);
        const struct sql_counter counter = counter_of(DAY, cases[i].row, none);
        const struct seqb_raise raise = {
            DAY, cases[i].floor, 20, LIMIT, 10, 15, BEGINS, NULL, 0, NULL};
        const struct sql_lift lift = sql_counter_raise(&base, &counter, &raise);

        assert_ok(lift.status);
        assert_writes(&lift, cases[i].base_after, cases[i].base_ms_after,
                      cases[i].value);
    }
}

/* Two brokers find the same rows, and know nothing of each other. */
TEST(raise_of_the_same_copy_twice_goes_elsewhere)
{
    static const struct {
        struct cell base, row;
        int64_t floor;
        uint64_t chance;
        int64_t value;
    } cases[] = {
        /* the gap is 20, of the base 10; the spread is below 1/4096 of what
         * is left and 2^16 gaps */
        {{9, NOW}, {40, OTHER}, 0, 0, 60},
        {{9, NOW}, {40, OTHER}, 0, 777, 837},
        {{9, NOW}, {40, OTHER}, 70, 777, 847},
        {{9, NOW}, {40, OTHER}, 0, 20 * 65536 + 5, 65},
        {{9, NOW}, {INT64_MAX - 4116, OTHER}, 0, 777, INT64_MAX - 4096},
        {{9, OTHER}, {0}, 0, 777, 796},
        {{0}, {0}, 0, 777, 792},
        {{9, NOW}, {0}, 0, 777, 786},
        {{1, NOW}, {0}, 0, 777, 778},
        /* somebody was faster, or it is new in a store that never changed */
        {{9, NOW}, {40, NOW}, 0, 777, 40},
        {{0, NOW}, {0}, 30, 777, 30},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct sql_counter base =
            counter_of(SQL_BASE, cases[i].base, none);
        const struct sql_counter counter = counter_of(DAY, cases[i].row, none);
        const struct seqb_raise raise = {.counter = DAY,
                                         .floor = cases[i].floor,
                                         .gap = 20,
                                         .limit = INT64_MAX,
                                         .base_gap = 10,
                                         .base_floor = 15,
                                         .chance = cases[i].chance};
        const struct sql_lift lift = sql_counter_raise(&base, &counter, &raise);

        assert_ok(lift.status);
        assert_int_equal(lift.value, cases[i].value);
    }
}

TEST(spread_leaves_room_for_thousands_of_raises)
{
    struct seqb_raise raise = {.gap = 1000000,
                               .limit = INT64_C(1) << 48, /* js_safe */
                               .chance = UINT64_MAX};
    int64_t value = 0;

    for (int i = 0; i < 4096; i++) {
        raise.chance--;
        value += seqb_raise_spread(&raise, value);
    }
    assert_true(value < raise.limit / 4 * 3);
    assert_int_equal(seqb_raise_spread(&raise, raise.limit - 4095), 0);
    assert_int_equal(seqb_raise_spread(&raise, raise.limit), 0);
    assert_int_equal(seqb_raise_spread(&raise, INT64_MAX), 0);
    raise.gap = 0;
    assert_int_equal(seqb_raise_spread(&raise, 0), 0);
    raise.gap = INT64_MAX;
    raise.limit = INT64_MAX;
    assert_in_range(seqb_raise_spread(&raise, 0), 0, INT64_MAX / 4096);
}

TEST(raise_that_cannot_be_writes_nothing)
{
    static const struct {
        struct cell base, base_mark, row, mark;
        int64_t floor;
        enum seqb_status status;
    } cases[] = {
        {{9, NOW}, {0}, {101, NOW}, {0}, 0, SEQB_EXHAUSTED},
        {{9, NOW}, {0}, {40, NOW}, {0}, 101, SEQB_EXHAUSTED},
        {{9, NOW}, {0}, {81, OTHER}, {0}, 0, SEQB_EXHAUSTED},
        {{9, NOW}, {0}, {INT64_MAX, OTHER}, {0}, 0, SEQB_EXHAUSTED},
        {{INT64_MAX, OTHER}, {0}, {40, NOW}, {0}, 0, SEQB_EXHAUSTED},
        {{101, NOW}, {0}, {0}, {0}, 0, SEQB_EXHAUSTED},
        {{-1, NOW}, {0}, {40, NOW}, {0}, 0, SEQB_CORRUPT},
        {{9, NOW}, {0}, {-1, NOW}, {0}, 0, SEQB_CORRUPT},
        {{9, OTHER}, {-1, NOW}, {40, NOW}, {0}, 0, SEQB_CORRUPT},
        /* purged: it is not raised into being */
        {{9, NOW}, {0}, {0}, {5, ORDER "@20261122"}, 0, SEQB_EXHAUSTED},
        {{9, NOW}, {0}, {0}, {5, ORDER "@20261122"}, 50, SEQB_EXHAUSTED},
        {{9, OTHER}, {0}, {0}, {5, ORDER "@20261122"}, 50, SEQB_EXHAUSTED},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct sql_counter base =
            counter_of(SQL_BASE, cases[i].base, cases[i].base_mark);
        const struct sql_counter counter =
            counter_of(DAY, cases[i].row, cases[i].mark);
        const struct seqb_raise raise = {
            DAY, cases[i].floor, 20, LIMIT, 10, 15, BEGINS, NULL, 0, NULL};
        const struct sql_lift lift = sql_counter_raise(&base, &counter, &raise);

        assert_int_equal(lift.status, cases[i].status);
        assert_non_null(lift.why);
        assert_int_equal(lift.count, 0);
    }
}

/* --- notes and epochs --- */

TEST(note_is_needed_where_a_multiple_is_passed)
{
    static const struct {
        const char *name;
        int64_t value;
        int64_t want;
        bool is_noted;
    } cases[] = {
        {ORDER, 0, 1, false},
        {ORDER, 1, 1, true},
        {ORDER, 1, SQL_NOTE_VALUES - 1, true},
        {ORDER, 1, SQL_NOTE_VALUES, false},
        {ORDER, SQL_NOTE_VALUES - 1, 1, true},
        {ORDER, SQL_NOTE_VALUES - 1, 2, false},
        {ORDER, SQL_NOTE_VALUES, 1, false},
        {ORDER, 5, SEQB_GRANT_MAX, false},
        {DAY, SQL_NOTE_VALUES, SEQB_GRANT_MAX, true},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(
            sql_row_is_noted(cases[i].name, cases[i].value, cases[i].want),
            cases[i].is_noted);
}

static struct sql_counter noted(struct cell note)
{
    struct sql_counter counter;

    sql_counter_init(&counter, ORDER);
    if (note.origin != NULL)
        sql_kept_found(&counter, note.value, note.origin, NOW);
    return counter;
}

/* What a raise writes of a counter, and of its note: 0 if that stays. */
static void expect_noted(const struct sql_lift *lift, int64_t value,
                         int64_t note)
{
    assert_int_equal(lift->value, value);
    assert_int_equal(lift->count, (value > 0) + (note > 0));
    if (note > 0) {
        assert_string_equal(lift->writes[1].name, SQL_NOTE_PREFIX ORDER);
        assert_int_equal(lift->writes[1].value, note);
    }
}

/* And its note is at or above it from then on. */
TEST(counter_that_is_gone_begins_above_its_note)
{
    static const struct {
        struct cell note;
        int64_t floor;
        enum seqb_status status;
        int64_t first;
        int64_t raised;
        int64_t note_after;
    } cases[] = {
        {{0, NULL}, 0, SEQB_FENCED, 0, 7, 65536},
        {{0, NULL}, 65536, SEQB_FENCED, 0, 65536, 65536},
        {{0, NULL}, 65537, SEQB_FENCED, 0, 65537, 131072},
        {{0, NULL},
         INT64_MAX - 65536,
         SEQB_FENCED,
         0,
         INT64_MAX - 65536,
         INT64_MAX - 65535},
        {{5, NOW}, 0, SEQB_FENCED, 0, 7, 65536},
        {{7, NOW}, 0, SEQB_FENCED, 0, 7, 0},
        {{65536, NOW}, 0, SEQB_OK, 65537, 65536, 0},
        {{65536, OTHER}, 0, SEQB_FENCED, 0, 66536, 131072},
        {{INT64_MAX - 1000, OTHER}, 0, SEQB_FENCED, 0, INT64_MAX, INT64_MAX},
        {{INT64_MAX - 999, OTHER}, 0, SEQB_FENCED, 0, 0, 0},
        {{-1, NOW}, 0, SEQB_CORRUPT, 0, 0, 0},
    };
    const struct sql_counter base = counter_of("", (struct cell){7, NOW}, none);
    const struct seqb_request request = {.want = 1, .limit = INT64_MAX};

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct sql_counter counter = noted(cases[i].note);
        const struct seqb_raise raise = {.counter = ORDER,
                                         .floor = cases[i].floor,
                                         .gap = 1000,
                                         .limit = INT64_MAX};
        const struct sql_grant grant =
            sql_counter_take(&base, &counter, &request);
        const struct sql_lift lift = sql_counter_raise(&base, &counter, &raise);

        assert_int_equal(grant.status, cases[i].status);
        if (grant.status == SEQB_OK)
            assert_int_equal(grant.block.first, cases[i].first);
        expect_noted(&lift, cases[i].raised, cases[i].note_after);
    }
}
