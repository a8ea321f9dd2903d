/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of a counter's failures, and when it is tried again; the time
 * is passed. Over stores it is test_refused.c's. */
#include <stdio.h>

#include "ha/policy/refusal.h"
#include "platform/error.h"
#include "support/test.h"

#define BEGIN_MS INT64_C(1000000)

/* A refusal of nobody: its slot is never looked at. */
static struct refusal *start(void)
{
    struct refusal *refusal = refusal_new(NULL);

    assert_non_null(refusal);
    return refusal;
}

static bool note(struct refusals *refusals, struct refusal *refusal,
                 enum seqb_status status, int64_t now_ms)
{
    struct seqb_error why;

    (void)error_set(&why, status, "at %lld", (long long)now_ms);
    return refusal_note(refusals, refusal, &why, true, now_ms);
}

static bool note_shared(struct refusals *refusals, struct refusal *refusal,
                        int64_t now_ms)
{
    struct seqb_error why;

    (void)error_set(&why, SEQB_UNREACHABLE, "it is down");
    return refusal_note(refusals, refusal, &why, false, now_ms);
}

TEST(refusal_is_of_its_slot)
{
    int64_t place;
    struct slot *slot = (struct slot *)&place; /* which nobody looks at */
    struct refusal *refusal = refusal_new(slot);

    assert_non_null(refusal);
    assert_ptr_equal(refusal->slot, slot);
    assert_string_equal(refusal_reason(refusal), seqb_status_text(SEQB_OK));
    refusal_free(refusal);
}

TEST(each_status_is_of_a_kind)
{
    static const struct {
        enum seqb_status status;
        enum refusal_kind kind;
    } cases[] = {
        {SEQB_REFUSED, REFUSAL_LASTING},
        {SEQB_CORRUPT, REFUSAL_LASTING},
        {SEQB_PROTOCOL, REFUSAL_LASTING},
        {SEQB_INVALID, REFUSAL_LASTING},
        {SEQB_UNSAFE, REFUSAL_LASTING},
        {SEQB_ROLE, REFUSAL_LASTING},
        {SEQB_POISONED, REFUSAL_LASTING},
        {SEQB_EXHAUSTED, REFUSAL_FINAL},
        {SEQB_LAYOUT, REFUSAL_FINAL},
        {SEQB_UNREACHABLE, REFUSAL_PASSING},
        {SEQB_UNCERTAIN, REFUSAL_PASSING},
        {SEQB_CLOCK, REFUSAL_PASSING},
        {SEQB_FENCED, REFUSAL_PASSING},
        {SEQB_NO_MEMORY, REFUSAL_PASSING},
        {SEQB_UNAVAILABLE, REFUSAL_PASSING},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct refusals refusals = {.count = 0};
        struct refusal *refusal = start();
        const bool is_told = cases[i].kind >= REFUSAL_LASTING;

        assert_int_equal(note(&refusals, refusal, cases[i].status, BEGIN_MS),
                         is_told);
        assert_int_equal(refusal->kind, cases[i].kind);
        assert_int_equal(refusal->status, cases[i].status);
        assert_int_equal(refusal_is_reported(refusal), is_told);
        assert_int_equal(refusals.count, is_told);
        assert_int_equal(refusal_end(&refusals, refusal, BEGIN_MS), is_told);
        assert_int_equal(refusals.count, 0);
    }
}

TEST(a_refusal_is_told_once)
{
    struct refusals refusals = {.count = 0};
    struct refusal *refusal = start();

    assert_true(note(&refusals, refusal, SEQB_REFUSED, 1));
    for (int64_t i = 2; i < 100; i++)
        assert_false(note(&refusals, refusal, SEQB_REFUSED, i));
    assert_string_equal(refusal_reason(refusal), "at 99");
    assert_int_equal(refusals.count, 1);
    /* Another status is another refusal, unless it may pass. */
    assert_false(note(&refusals, refusal, SEQB_UNREACHABLE, 100));
    assert_int_equal(refusal->kind, REFUSAL_LASTING);
    assert_true(note(&refusals, refusal, SEQB_CORRUPT, 101));
    assert_false(note(&refusals, refusal, SEQB_CORRUPT, 102));
    assert_true(note(&refusals, refusal, SEQB_EXHAUSTED, 103));
    assert_int_equal(refusals.count, 1);
    refusal_drop(&refusals, refusal);
}

TEST(what_may_pass_is_told_when_it_has_lasted)
{
    struct refusals refusals = {.count = 0};
    struct refusal *refusal = start();
    int64_t now_ms = BEGIN_MS;

    for (; now_ms < BEGIN_MS + REFUSAL_PATIENCE_MS; now_ms += 100) {
        assert_false(note(&refusals, refusal, SEQB_CLOCK, now_ms));
        assert_int_equal(refusal->rest_ms, REFUSAL_FIRST_MS);
    }
    assert_true(note(&refusals, refusal, SEQB_CLOCK, now_ms));
    /* It is tried as often as before, since it may end at any moment. */
    assert_false(note(&refusals, refusal, SEQB_CLOCK, now_ms + 100));
    assert_int_equal(refusal->rest_ms, REFUSAL_FIRST_MS);
    assert_true(refusal_end(&refusals, refusal, now_ms + 200));
}

TEST(rests_double_up_to_the_longest)
{
    static const enum seqb_status statuses[] = {SEQB_REFUSED, SEQB_FENCED};

    for (size_t i = 0; i < 2; i++) {
        struct refusals refusals = {.count = 0};
        struct refusal *refusal = start();
        int32_t rest_ms = REFUSAL_FIRST_MS;

        for (int j = 0; j < 20; j++) {
            (void)note(&refusals, refusal, statuses[i], j);
            assert_int_equal(refusal->rest_ms, rest_ms);
            rest_ms = rest_ms * 2 < REFUSAL_LONGEST_MS ? rest_ms * 2
                                                       : REFUSAL_LONGEST_MS;
        }
        refusal_drop(&refusals, refusal);
    }
}

TEST(failure_of_the_partition_is_no_refusal)
{
    struct refusals refusals = {.count = 0};
    struct refusal *refusal = start();

    for (int64_t i = 0; i < 10; i++)
        assert_false(note_shared(&refusals, refusal, i * 1000));
    assert_int_equal(refusal->kind, REFUSAL_SHARED);
    assert_string_equal(refusal_reason(refusal), "it is down");
    /* Nor does it end one, or change its reason. */
    assert_true(note(&refusals, refusal, SEQB_REFUSED, 20000));
    assert_false(note_shared(&refusals, refusal, 20001));
    assert_string_equal(refusal_reason(refusal), "at 20000");
    assert_int_equal(refusals.count, 1);
    assert_true(refusal_end(&refusals, refusal, 20002));
}

/* --- what one partition refuses --- */

#define MANY 5

static void notes_all(struct refusals *refusals, struct refusal **all)
{
    for (int64_t i = 0; i < MANY; i++) {
        all[i] = start();
        (void)note(refusals, all[i], SEQB_REFUSED, BEGIN_MS);
    }
    assert_int_equal(refusals->count, MANY);
}

TEST(all_have_their_turn_in_order)
{
    struct refusals refusals = {.count = 0};
    struct refusal *all[MANY];
    int64_t now_ms = BEGIN_MS;

    notes_all(&refusals, all);
    assert_int_equal(refusals.retry_ms, BEGIN_MS + REFUSAL_RETRY_MS);
    for (int i = 0; i < 3 * MANY; i++) {
        assert_null(refusals_next(&refusals, refusals.retry_ms - 1));
        now_ms = refusals.retry_ms;
        assert_ptr_equal(refusals_next(&refusals, now_ms), all[i % MANY]);
        refusals_rest(&refusals, 1, now_ms);
        assert_true(refusals.retry_ms > now_ms);
        assert_true(refusals.retry_ms <= now_ms + REFUSAL_LONGEST_MS);
    }
    for (int i = 0; i < MANY; i++)
        refusal_drop(&refusals, all[i]);
    assert_null(refusals_next(&refusals, INT64_MAX));
}

TEST(those_that_are_gone_have_no_turn)
{
    struct refusals refusals = {.count = 0};
    struct refusal *all[MANY];

    notes_all(&refusals, all);
    assert_ptr_equal(refusals_next(&refusals, INT64_MAX), all[0]);
    refusal_drop(&refusals, all[1]); /* whose turn it is */
    assert_ptr_equal(refusals_next(&refusals, INT64_MAX), all[2]);
    refusal_drop(&refusals, all[0]); /* the first */
    refusal_drop(&refusals, all[4]); /* the last */
    assert_ptr_equal(refusals.first, all[2]);
    assert_ptr_equal(refusals_next(&refusals, INT64_MAX), all[3]);
    assert_ptr_equal(refusals_next(&refusals, INT64_MAX), all[2]);
    refusal_unlist(&refusals, all[2]);
    refusal_unlist(&refusals, all[2]);
    assert_int_equal(refusals.count, 1);
    /* It was told, and is listed again without a word. */
    assert_false(note(&refusals, all[2], SEQB_REFUSED, BEGIN_MS));
    assert_int_equal(refusals.count, 2);
    assert_ptr_equal(refusals.last, all[2]);
    refusal_drop(&refusals, all[2]);
    refusal_drop(&refusals, all[3]);
    assert_null(refusals.first);
    assert_null(refusals.last);
}

/* A round with a turn for each takes as long with many as with few, but no
 * store is asked more often than once in the pace. */
TEST(a_round_is_shared_by_all)
{
    struct refusals refusals = {.count = 0};
    struct refusal *all[MANY];
    int64_t now_ms;

    notes_all(&refusals, all);
    refusals.rest_ms = REFUSAL_LONGEST_MS;
    now_ms = refusals.retry_ms;
    for (int i = 0; i < MANY; i++) {
        (void)refusals_next(&refusals, refusals.retry_ms);
        refusals_rest(&refusals, 1, refusals.retry_ms + i); /* late */
    }
    assert_int_equal(refusals.retry_ms, now_ms + REFUSAL_LONGEST_MS);
    refusals.count = 2 * REFUSAL_LONGEST_MS / REFUSAL_PACE_MS;
    now_ms = refusals.retry_ms;
    refusals_rest(&refusals, 1, now_ms);
    assert_int_equal(refusals.retry_ms, now_ms + REFUSAL_PACE_MS);
    refusals.count = MANY;
    for (int i = 0; i < MANY; i++)
        refusal_drop(&refusals, all[i]);
}

/* What ended one, a right that was granted, may have ended all. */
TEST(the_end_of_one_has_the_next_tried_at_once)
{
    struct refusals refusals = {.count = 0};
    struct refusal *all[MANY];
    int64_t now_ms = BEGIN_MS;

    notes_all(&refusals, all);
    for (int i = 0; i < 10; i++) {
        now_ms = refusals.retry_ms;
        refusals_rest(&refusals, MANY, now_ms);
    }
    assert_int_equal(refusals.retry_ms, now_ms + REFUSAL_LONGEST_MS);
    for (int i = 0; i < MANY; i++) {
        assert_ptr_equal(refusals_next(&refusals, refusals.retry_ms), all[i]);
        assert_true(refusal_end(&refusals, all[i], now_ms));
        assert_int_equal(refusals.retry_ms, now_ms);
        assert_int_equal(refusals.rest_ms, REFUSAL_RETRY_MS);
    }
}
