/* SPDX-License-Identifier: Apache-2.0 */
/* The layout as a text that stores keep: made, completed, compared. */

#include <string.h>

#include "platform/text.h"
#include "store/layout.h"
#include "support/failure.h"
#include "support/test.h"

#define BITS   2
#define STORES ((1 << BITS) + 1) /* four partitions, one authority beside */

#define CLAIM                                                                  \
    "pool=main;bits=2;window_bits=20;authority=e5;partitions=a1,b2,redis-c,d4"

struct fixture {
    struct layout pool;
    struct layout_store store[STORES];
    struct layout_stores stores;
    struct seqb_error err;
    char text[SEQB_CLAIM_SIZE];
};

/* Three direct stores, a windowed one third, the authority beside them. */
static void fixture_init(struct fixture *fixture)
{
    static const char *const ids[STORES] = {"a1", "b2", "redis-c", "d4", "e5"};

    *fixture = (struct fixture){
        .pool = {.name = "main", .bits = BITS, .window_bits = 20},
        .stores = {.count = STORES, .partitions = 1 << BITS, .authority = 4}};
    fixture->stores.stores = fixture->store;
    for (size_t i = 0; i < STORES; i++) {
        struct layout_store *store = &fixture->store[i];

        store->is_reached = true;
        assert_true(text_copy(store->id, sizeof store->id, ids[i]));
    }
    fixture->store[2].is_windowed = true;
    fixture->store[2].forgets = true;
}

static int setup(void **state)
{
    static struct fixture fixture;

    fixture_init(&fixture);
    *state = &fixture;
    return 0;
}

#define LAYOUT FIXTURE(struct fixture *fixture, setup, NULL)

static const char *compose(struct fixture *fixture)
{
    assert_ok(layout_compose(&fixture->pool, &fixture->stores, fixture->text,
                             sizeof fixture->text, &fixture->err));
    return fixture->text;
}

TEST_WITH(LAYOUT, a_layout_names_all_that_makes_a_number)
{
    assert_string_equal(compose(fixture), CLAIM);
    fixture->stores.authority = 1;
    fixture->stores.count = 4;
    assert_string_equal(compose(fixture),
                        "pool=main;bits=2;window_bits=20;authority=b2;"
                        "partitions=a1,b2,redis-c,d4");
    fixture->store[0].is_windowed = true; /* by choice */
    assert_string_equal(compose(fixture),
                        "pool=main;bits=2;window_bits=20;authority=b2;"
                        "partitions=a1,b2,redis-c,d4;windows=all");
}

/* Windows and their authority are nothing to a pool that uses none: changing
 * them there must not refuse it. */
TEST_WITH(LAYOUT, a_later_generation_says_so)
{
    fixture->pool.generation = 2;
    assert_memory_equal(compose(fixture), "pool=main~2;bits=2;", 19);
}

TEST_WITH(LAYOUT, a_pool_without_windows_names_no_authority)
{
    fixture->store[2].is_windowed = false;
    fixture->store[2].forgets = false;
    for (int32_t authority = -1; authority <= 4; authority++) {
        fixture->stores.authority = authority;
        fixture->pool.window_bits = 10 + authority;
        assert_string_equal(compose(fixture),
                            "pool=main;bits=2;window_bits=0;authority=none;"
                            "partitions=a1,b2,redis-c,d4");
    }
}

TEST_WITH(LAYOUT, a_pool_of_one_partition_has_a_layout)
{
    fixture->pool.bits = 0;
    fixture->stores =
        (struct layout_stores){fixture->store, .count = 1, 1, .authority = 0};
    assert_string_equal(compose(fixture), "pool=main;bits=0;window_bits=0;"
                                          "authority=none;partitions=a1");
}

/* A claim that was cut would be the claim of several layouts. */
TEST_WITH(LAYOUT, a_layout_that_does_not_fit_is_refused_not_cut)
{
    for (size_t size = 1; size <= sizeof CLAIM; size++) {
        const enum seqb_status status =
            layout_compose(&fixture->pool, &fixture->stores, fixture->text,
                           size, &fixture->err);

        assert_int_equal(status, size < sizeof CLAIM ? SEQB_LAYOUT : SEQB_OK);
    }
    assert_non_null(strstr(fixture->err.text, "pool main"));
}

/* With names and ids as long as they are made. */
TEST(the_largest_layout_fits_in_a_claim)
{
    static const char name[] = "poolpoolpoolpoolpoolpoolpoolpool";
    struct layout_store store[STORE_PARTITIONS_MAX + 1] = {{.backend = "x"}};
    const struct layout_stores stores = {.stores = store,
                                         .count = COUNT_OF(store),
                                         .partitions = STORE_PARTITIONS_MAX,
                                         .authority = STORE_PARTITIONS_MAX};
    const struct layout pool = {
        .name = name, .bits = STORE_BITS_MAX, .window_bits = 31};
    char text[SEQB_CLAIM_SIZE];

    for (size_t i = 0; i < COUNT_OF(store); i++) {
        store[i].is_windowed = i % 2 == 1;
        store[i].forgets = i % 2 == 1;
        (void)text_format(store[i].id, sizeof store[i].id, "%032zu", i);
    }
    assert_ok(layout_compose(&pool, &stores, text, sizeof text, NULL));
    assert_ok(layout_compare("x", text, text, NULL));
}

TEST_WITH(LAYOUT, a_first_start_finds_no_claim)
{
    assert_null(layout_find_claim(&fixture->stores));
    /* What was read before a store went away says nothing. */
    (void)text_copy(fixture->store[1].layout, SEQB_CLAIM_SIZE, CLAIM);
    fixture->store[1].is_reached = false;
    assert_null(layout_find_claim(&fixture->stores));
    fixture->stores.count = 0;
    assert_null(layout_find_claim(&fixture->stores));
}

TEST(any_store_s_claim_makes_it_a_later_start)
{
    for (int32_t i = 0; i < STORES; i++) {
        struct fixture fixture;

        fixture_init(&fixture);
        /* All from the i-th on: the first of them is found. */
        for (int32_t j = i; j < STORES; j++)
            (void)text_copy(fixture.store[j].layout, SEQB_CLAIM_SIZE, CLAIM);
        assert_ptr_equal(layout_find_claim(&fixture.stores), &fixture.store[i]);
    }
}

/* One file under two names: each partition's numbers would still differ, and
 * yet one failure takes out both. */
TEST(two_partitions_in_one_store_are_found)
{
    const struct layout_store *a;
    const struct layout_store *b;

    for (int32_t i = 0; i < STORES; i++) {
        for (int32_t j = 0; j < i; j++) {
            struct fixture fixture;

            fixture_init(&fixture);
            assert_false(layout_find_twins(&fixture.stores, &a, &b));
            (void)text_copy(fixture.store[i].id, LAYOUT_STORE_SIZE,
                            fixture.store[j].id);
            /* The windowed one goes by its name, not by what it holds. */
            assert_int_equal(layout_find_twins(&fixture.stores, &a, &b),
                             i != 2 && j != 2);
            assert_true(i == 2 || j == 2 ||
                        (a == &fixture.store[j] && b == &fixture.store[i]));
        }
    }
}

TEST_WITH(LAYOUT, stores_that_are_away_or_unnamed_are_no_twins)
{
    const struct layout_store *a;
    const struct layout_store *b;

    fixture->store[0].id[0] = '\0';
    fixture->store[1].id[0] = '\0';
    assert_false(layout_find_twins(&fixture->stores, &a, &b));
    (void)text_copy(fixture->store[3].id, LAYOUT_STORE_SIZE, "e5");
    for (int32_t away = 3; away < 5; away++) {
        fixture->store[away].is_reached = false;
        assert_false(layout_find_twins(&fixture->stores, &a, &b));
        fixture->store[away].is_reached = true;
        assert_true(layout_find_twins(&fixture->stores, &a, &b));
    }
}

/* Whichever direct stores are away, the claim completes their ids, so that
 * the layout comes out as it was. */
TEST(a_claim_completes_the_ids_of_stores_that_are_away)
{
    for (unsigned away = 0; away < 1u << STORES; away++) {
        struct fixture fixture;

        fixture_init(&fixture);
        for (size_t i = 0; i < STORES; i++) {
            if ((away >> i & 1) != 0 && !fixture.store[i].forgets)
                fixture.store[i].id[0] = '\0';
        }
        layout_adopt(CLAIM, &fixture.stores);
        assert_string_equal(compose(&fixture), CLAIM);
    }
}

/* Of a store that has a claim, else another one would pass as the old one. */
TEST_WITH(LAYOUT, a_claim_replaces_no_id_that_is_known)
{
    for (size_t i = 0; i < STORES; i++)
        fixture->store[i].layout[0] = 'x';
    layout_adopt("pool=x;authority=99;partitions=91,92,93,94",
                 &fixture->stores);
    assert_string_equal(compose(fixture), CLAIM);
}

TEST(a_claim_without_an_id_completes_none)
{
    static const char *const claims[] = {
        "",
        ";;;",
        "partitions",
        "partitions=",
        "partitions=,,,,,;authority=",
        "xpartitions=1,2,3,4;xauthority=5",
        "bits=2;authority",
        "\x01\xff\xfe",
    };

    for (size_t c = 0; c < COUNT_OF(claims); c++) {
        struct fixture fixture;

        fixture_init(&fixture);
        for (size_t i = 0; i < STORES; i++)
            fixture.store[i].id[0] = '\0';
        layout_adopt(claims[c], &fixture.stores);
        for (size_t i = 0; i < STORES; i++)
            assert_string_equal(fixture.store[i].id, "");
    }
}

TEST_WITH(LAYOUT, a_claim_of_fewer_partitions_completes_those_it_has)
{
    for (size_t i = 0; i < STORES; i++)
        fixture->store[i].id[0] = '\0';
    layout_adopt("partitions=p0,p1", &fixture->stores);
    assert_string_equal(fixture->store[0].id, "p0");
    assert_string_equal(fixture->store[1].id, "p1");
    assert_string_equal(fixture->store[2].id, "");
    assert_string_equal(fixture->store[4].id, "");
}

TEST_WITH(LAYOUT, an_id_that_is_too_long_is_cut_within_its_place)
{
    char claim[400] = "authority=";

    memset(claim + 10, 'x', 200);
    (void)text_append(claim, sizeof claim, ";partitions=");
    memset(claim + strlen(claim), 'y', 100);
    fixture->store[0].id[0] = '\0';
    fixture->store[4].id[0] = '\0';
    layout_adopt(claim, &fixture->stores);
    assert_int_equal(strlen(fixture->store[0].id), LAYOUT_STORE_SIZE - 1);
    assert_int_equal(strlen(fixture->store[4].id), LAYOUT_STORE_SIZE - 1);
    assert_string_equal(fixture->store[1].id, "b2");
}

TEST(the_same_layout_is_welcome)
{
    struct seqb_error err = {SEQB_OK, "untouched"};

    assert_ok(layout_compare("pg-a", CLAIM, CLAIM, &err));
    assert_string_equal(err.text, "untouched");
}

TEST(a_difference_is_told_and_nothing_else)
{
    static const char other[] = "backend pg-a was used with another layout: ";
    static const struct {
        const char *standing;
        const char *expected;
        const char *words;
    } cases[] = {
        {"memory_bits=3", "memory_bits=4", "memory_bits was 3 and is 4"},
        {"pool=a;bits=2;window_bits=20;authority=e;partitions=1,2,3,4",
         "pool=b;bits=2;window_bits=20;authority=e;partitions=1,2,3,4",
         "pool was a and is b"},
        {"pool=a;bits=2;window_bits=20;authority=e;partitions=1,2,3,4",
         "pool=a;bits=2;window_bits=10;authority=e;partitions=1,2,3,4",
         "window_bits was 20 and is 10"},
        {"pool=a;bits=2;window_bits=20;authority=e;partitions=1,2,3,4",
         "pool=a;bits=2;window_bits=20;authority=f;partitions=1,2,3,4",
         "authority was e and is f"},
        /* Swapped: the first of the two places. */
        {"pool=a;bits=2;window_bits=20;authority=e;partitions=1,2,3,4",
         "pool=a;bits=2;window_bits=20;authority=e;partitions=1,4,3,2",
         "partition 1 was store '2' and is '4', which was partition 3"},
        {"partitions=1,2,3,4", "partitions=2,1,3,4",
         "partition 0 was store '1' and is '2', which was partition 1"},
        /* Replaced. */
        {"pool=a;bits=2;window_bits=20;authority=e;partitions=1,2,3,4",
         "pool=a;bits=2;window_bits=20;authority=e;partitions=1,2,3,44",
         "partition 3 was store '4' and is '44'"},
        {"pool=a;bits=1;window_bits=20;authority=e;partitions=1,2",
         "pool=a;bits=2;window_bits=20;authority=e;partitions=1,2,3,4",
         "bits was 1 and is 2, partition 2 was store '' and is '3'"},
        {"pool=a;bits=2;window_bits=0;authority=none;partitions=1,2,3,4",
         "pool=a;bits=2;window_bits=20;authority=e;partitions=1,2,3,r",
         "window_bits was 0 and is 20, authority was none and is e, "
         "partition 3 was store '4' and is 'r'"},
        /* A field's name inside of another's value or name is none. */
        {"pool=bits=9;bits=2", "pool=bits=9;bits=3", "bits was 2 and is 3"},
        {"window_bits=7;bits=2", "window_bits=7;bits=3", "bits was 2 and is 3"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct seqb_error err = {0};
        char text[512];

        assert_int_equal(
            layout_compare("pg-a", cases[i].standing, cases[i].expected, &err),
            SEQB_LAYOUT);
        assert_int_equal(err.status, SEQB_LAYOUT);
        (void)text_format(text, sizeof text, "%s%s; nothing was changed; ",
                          other, cases[i].words);
        assert_memory_equal(err.text, text, strlen(text));
    }
}

/* A store that lost part of its claim is not one of a similar layout. */
TEST(a_claim_that_was_cut_anywhere_is_refused)
{
    for (size_t length = 0; length < sizeof CLAIM - 1; length++) {
        struct seqb_error err = {0};
        char cut[sizeof CLAIM];

        assert_int_equal(text_copy(cut, length + 1, CLAIM), false);
        assert_int_equal(layout_compare("x", cut, CLAIM, &err), SEQB_LAYOUT);
        assert_int_equal(layout_compare("x", CLAIM, cut, NULL), SEQB_LAYOUT);
        assert_null(strstr(err.text, "layout: ;"));
    }
}

TEST(a_claim_of_garbage_is_refused)
{
    static const char *const claims[] = {
        "",           ";",
        "=",          "bits",
        "bits=",      "bits=;",
        ";;bits=2;",  "PING\r\n",
        "\xff\x01%s", "partitions=,,,,",
        CLAIM ";",    CLAIM " ",
        " " CLAIM,    ";" CLAIM,
        CLAIM ",",    CLAIM ";bits=2",
        CLAIM ";x=1",
    };

    for (size_t i = 0; i < COUNT_OF(claims); i++) {
        struct seqb_error err = {0};

        assert_int_equal(layout_compare("x", claims[i], CLAIM, &err),
                         SEQB_LAYOUT);
        assert_non_null(strstr(err.text, "nothing was changed"));
    }
}

/* The longest that a store may hold: the next step is still told. */
TEST(the_longest_garbage_leaves_room_for_the_next_step)
{
    static const char *const fields[] = {
        "pool=", "bits=", "authority=", "partitions=", ";,;,"};
    char claim[SEQB_CLAIM_SIZE];

    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        struct seqb_error err = {0};

        memset(claim, 'x', sizeof claim);
        claim[sizeof claim - 1] = '\0';
        memcpy(claim, fields[i], strlen(fields[i]));
        assert_int_equal(layout_compare("x", claim, CLAIM, &err), SEQB_LAYOUT);
        assert_int_equal(layout_compare("x", CLAIM, claim, &err), SEQB_LAYOUT);
        assert_non_null(strstr(err.text, "put the topology back"));
    }
}

TEST(an_authority_that_leases_nothing_has_no_id)
{
    struct layout_store store[] = {
        {.backend = "a"}, {.backend = "b"}, {.backend = "c"}};
    struct layout_stores stores = {
        .stores = store, .count = 3, .partitions = 2, .authority = 2};

    layout_adopt("pool=main;bits=1;window_bits=0;authority=none;"
                 "partitions=1,2",
                 &stores);
    assert_string_equal(store[1].id, "2");
    assert_string_equal(store[2].id, "");
}

TEST(a_claim_that_differs_in_no_field_is_shown)
{
    assert_fails(layout_compare("x", "bits=2;partitions=1,2;",
                                "bits=2;partitions=1,2", &failure),
                 SEQB_LAYOUT, "reads 'bits=2;partitions=1,2;'");
}
