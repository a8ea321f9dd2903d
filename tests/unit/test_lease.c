/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of leases, and what a text that was seen allows. What several
 * brokers make of it is test_lease_schedules.c's. */
#include <string.h>

#include "lease/rows.h"
#include "platform/text.h"
#include "support/test.h"

#define LEASE_MS    INT64_C(10000)
#define PATIENCE_MS 12501
#define WALL_MS     INT64_C(1790000000000)

static const struct lease_self self = {
    .key = 77, .lease_ms = LEASE_MS, .holder = "orders@b:2", .origin = "now"};

static struct lease_row row_of(bool is_held, uint64_t key)
{
    struct lease_row row = {.is_held = is_held,
                            .tenure = 4,
                            .count = 9,
                            .key = key,
                            .renewed_ms = WALL_MS - LEASE_MS,
                            .upto_ms = WALL_MS,
                            .lease_ms = LEASE_MS};

    (void)text_copy(row.holder, sizeof row.holder, "orders@a:1");
    (void)text_copy(row.origin, sizeof row.origin,
                    "sqlite:with blanks = and ;");
    return row;
}

TEST(row_is_read_as_it_was_written)
{
    const struct lease_row row = row_of(true, UINT64_MAX);
    struct lease_row again;
    char text[LEASE_TEXT_SIZE];

    lease_write(&row, text, sizeof text);
    assert_string_equal(
        text, "worker 1 state=held tenure=4 count=9 key=ffffffffffffffff "
              "renewed=1789999990000 upto=1790000000000 lease=10000 "
              "holder=orders@a:1 origin=sqlite:with blanks = and ;");
    assert_true(lease_read(text, &again));
    assert_true(again.is_held);
    assert_int_equal(again.tenure, 4);
    assert_int_equal(again.count, 9);
    assert_true(again.key == UINT64_MAX);
    assert_int_equal(again.renewed_ms, row.renewed_ms);
    assert_int_equal(again.upto_ms, row.upto_ms);
    assert_int_equal(again.lease_ms, LEASE_MS);
    assert_string_equal(again.holder, row.holder);
    assert_string_equal(again.origin, row.origin);
}

/* Cut off anywhere, or with anything in it changed to what no broker writes. */
TEST(damaged_rows_are_not_read)
{
    static const char *const damaged[] = {
        "worker 2 state=held tenure=4 count=9 key=000000000000004d renewed=1 "
        "upto=2 lease=3 holder=a origin=b",
        "worker 1 state=gone tenure=4 count=9 key=000000000000004d renewed=1 "
        "upto=2 lease=3 holder=a origin=b",
        "worker 1 state=held tenure=04 count=9 key=000000000000004d renewed=1 "
        "upto=2 lease=3 holder=a origin=b",
        "worker 1 state=held tenure=4 count=9 key=4d renewed=1 upto=2 lease=3 "
        "holder=a origin=b",
        "worker 1 state=held tenure=4 count=9 key=000000000000004d renewed=1 "
        "upto=-2 lease=3 holder=a origin=b",
        "worker 1 state=held tenure=4 count=9 key=000000000000004d renewed=1 "
        "upto=9223372036854775807 lease=3 holder=a origin=b",
        "worker 1 state=held tenure=4 count=9 key=000000000000004d renewed=1 "
        "upto=99999999999999999999 lease=3 holder=a origin=b",
        "worker 1 state=held tenure=4 count=9 key=000000000000004d renewed=1 "
        "upto=2 lease=3 holder=a origin=b\nmore",
    };
    const struct lease_row row = row_of(true, 1);
    struct lease_row out;
    char text[LEASE_TEXT_SIZE];
    size_t length;

    for (size_t i = 0; i < COUNT_OF(damaged); i++) {
        int64_t left;

        if (lease_read(damaged[i], &out))
            fail_msg("was read: %s", damaged[i]);
        assert_int_equal(
            lease_evaluate(damaged[i], INT64_MAX / 8, &self, WALL_MS, &left),
            LEASE_DAMAGED);
    }
    lease_write(&row, text, sizeof text);
    length = strlen(text) - strlen(row.origin);
    for (size_t i = 0; i <= length; i++) {
        char cut[LEASE_TEXT_SIZE];

        (void)text_format(cut, sizeof cut, "%.*s", (int)i, text);
        assert_false(lease_read(cut, &out));
    }
}

struct verdict {
    const char *name;
    bool is_held;
    uint64_t key;
    int64_t lease_ms;
    int64_t upto_ms;
    int64_t unchanged_ms;
    enum lease_verdict verdict;
    int64_t left_ms; /* of LEASE_WAIT */
};

static const struct verdict verdicts[] = {
    {"given back", false, 1, LEASE_MS, WALL_MS, 0, LEASE_TAKE, 0},
    {"given back by ourselves", false, 77, LEASE_MS, WALL_MS, 0, LEASE_TAKE, 0},
    {"held, just seen", true, 1, LEASE_MS, WALL_MS, 0, LEASE_WAIT, PATIENCE_MS},
    {"held, unchanged for a lease", true, 1, LEASE_MS, WALL_MS, LEASE_MS,
     LEASE_WAIT, PATIENCE_MS - LEASE_MS},
    {"held, and nearly a quarter more", true, 1, LEASE_MS, WALL_MS,
     PATIENCE_MS - 1, LEASE_WAIT, 1},
    {"held, and the quarter", true, 1, LEASE_MS, WALL_MS, PATIENCE_MS,
     LEASE_TAKE, 0},
    {"held for longer than ours", true, 1, 4 * LEASE_MS, WALL_MS, PATIENCE_MS,
     LEASE_WAIT, 50001 - PATIENCE_MS},
    {"held for less than ours", true, 1, 10, WALL_MS, PATIENCE_MS - 1,
     LEASE_WAIT, 1},
    {"ours", true, 77, LEASE_MS, WALL_MS, 0, LEASE_OURS, 0},
    {"given back, its times a lease ahead", false, 1, LEASE_MS,
     WALL_MS + LEASE_MS, 0, LEASE_TAKE, 0},
    {"given back, its times farther ahead", false, 1, LEASE_MS,
     WALL_MS + LEASE_MS + 1, 0, LEASE_AHEAD, 0},
    {"dead, its times far ahead", true, 1, LEASE_MS, 2 * WALL_MS, PATIENCE_MS,
     LEASE_AHEAD, 0},
};

TEST(rows_are_judged_by_how_long_they_stood)
{
    int64_t left = -1;

    assert_int_equal(lease_evaluate("", 0, &self, WALL_MS, &left), LEASE_TAKE);
    for (size_t i = 0; i < COUNT_OF(verdicts); i++) {
        const struct verdict *about = &verdicts[i];
        struct lease_row row = row_of(about->is_held, about->key);
        char text[LEASE_TEXT_SIZE];
        enum lease_verdict verdict;

        row.lease_ms = about->lease_ms;
        row.upto_ms = about->upto_ms;
        lease_write(&row, text, sizeof text);
        verdict =
            lease_evaluate(text, about->unchanged_ms, &self, WALL_MS, &left);
        if (verdict != about->verdict ||
            (verdict == LEASE_WAIT && left != about->left_ms))
            fail_msg("%s: verdict %d, %lld ms left", about->name, (int)verdict,
                     (long long)left);
    }
}

TEST(text_stands_only_as_long_as_it_is_the_same)
{
    struct observation seen = {.is_seen = false};

    assert_int_equal(lease_watch(&seen, "a", 1000), 0);
    assert_int_equal(lease_watch(&seen, "a", 1500), 500);
    assert_int_equal(lease_watch(&seen, "b", 1600), 0);
    assert_int_equal(lease_watch(&seen, "b", 1700), 100);
    assert_int_equal(lease_watch(&seen, "a", 1800), 0);
    assert_int_equal(lease_watch(&seen, "", 1900), 0);
}

/* Every text of an id differs from all others, and no time in it goes back. */
TEST(rows_follow_each_other_without_going_back)
{
    struct lease_row row = lease_taken(NULL, &self, WALL_MS);
    struct lease_row next;

    assert_true(row.is_held);
    assert_int_equal(row.tenure, 1);
    assert_int_equal(row.count, 1);
    assert_int_equal(row.upto_ms, WALL_MS + LEASE_MS);
    assert_string_equal(row.holder, self.holder);
    assert_string_equal(row.origin, self.origin);

    next = lease_renewed(&row, &self, WALL_MS + 3000);
    assert_int_equal(next.count, 2);
    assert_int_equal(next.upto_ms, WALL_MS + 3000 + LEASE_MS);
    row = lease_renewed(&next, &self, WALL_MS - 3600000); /* it went back */
    assert_int_equal(row.count, 3);
    assert_int_equal(row.tenure, 1);
    assert_int_equal(row.upto_ms, next.upto_ms);

    next = lease_given_back(&row, WALL_MS + 17, WALL_MS + 4000);
    assert_false(next.is_held);
    assert_int_equal(next.count, 4);
    assert_int_equal(next.upto_ms, WALL_MS + 17);

    next.upto_ms = WALL_MS + 5 * LEASE_MS;
    row = lease_taken(&next, &self, WALL_MS);
    assert_true(row.is_held);
    assert_int_equal(row.tenure, 2);
    assert_int_equal(row.count, 1);
    assert_int_equal(row.upto_ms, WALL_MS + 5 * LEASE_MS);
}

TEST(new_authority_is_bound_then_opened)
{
    char text[LEASE_TEXT_SIZE] = "";
    char next[LEASE_TEXT_SIZE] = "";
    int64_t left;

    assert_int_equal(lease_check_origin(text, 99999, &self, &left, next),
                     LEASE_ORIGIN_SWAP);
    assert_string_equal(next, "workers 1 state=waiting lease=10000 origin=now");
    (void)text_copy(text, sizeof text, next);
    assert_int_equal(lease_check_origin(text, 0, &self, &left, next),
                     LEASE_ORIGIN_WAIT);
    assert_int_equal(left, PATIENCE_MS);
    assert_int_equal(
        lease_check_origin(text, PATIENCE_MS - 1, &self, &left, next),
        LEASE_ORIGIN_WAIT);
    assert_int_equal(left, 1);
    assert_int_equal(lease_check_origin(text, PATIENCE_MS, &self, &left, next),
                     LEASE_ORIGIN_SWAP);
    assert_string_equal(next, "workers 1 state=open lease=10000 origin=now");
    (void)text_copy(text, sizeof text, next);
    assert_int_equal(lease_check_origin(text, 0, &self, &left, next),
                     LEASE_ORIGIN_OPEN);
}

struct binding {
    const char *text;
    enum lease_origin_verdict verdict;
    const char *next; /* of LEASE_ORIGIN_SWAP */
};

/* However long they stood. */
static const struct binding bindings[] = {
    {"workers 1 state=open lease=10000 origin=before", LEASE_ORIGIN_SWAP,
     "workers 1 state=waiting lease=10000 origin=now"},
    {"workers 1 state=waiting lease=60000 origin=before", LEASE_ORIGIN_SWAP,
     "workers 1 state=waiting lease=60000 origin=now"},
    {"workers 1 state=open lease=60000 origin=now", LEASE_ORIGIN_OPEN, NULL},
    {"workers 1 state=open lease=500 origin=now", LEASE_ORIGIN_SWAP,
     "workers 1 state=open lease=10000 origin=now"},
    {"workers 1 state=waiting lease=500 origin=now", LEASE_ORIGIN_SWAP,
     "workers 1 state=waiting lease=10000 origin=now"},
    {"workers 1 state=waiting lease=60000 origin=now", LEASE_ORIGIN_WAIT, NULL},
    {"workers 1 state=open lease=-1 origin=now", LEASE_ORIGIN_SWAP,
     "workers 1 state=waiting lease=10000 origin=now"},
    {"anything", LEASE_ORIGIN_SWAP,
     "workers 1 state=waiting lease=10000 origin=now"},
};

TEST(authority_with_another_history_is_bound_anew)
{
    for (size_t i = 0; i < COUNT_OF(bindings); i++) {
        char next[LEASE_TEXT_SIZE] = "";
        int64_t left;
        const enum lease_origin_verdict verdict = lease_check_origin(
            bindings[i].text, PATIENCE_MS, &self, &left, next);

        if (verdict != bindings[i].verdict)
            fail_msg("%s: %d", bindings[i].text, (int)verdict);
        if (verdict == LEASE_ORIGIN_SWAP)
            assert_string_equal(next, bindings[i].next);
    }
}
