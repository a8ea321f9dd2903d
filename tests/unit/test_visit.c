/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker asks its store about counters: in one call, one by one, and in
 * which order. */
#include <string.h>

#include "unit/visit_script.h"

static const struct visit_row rows[] = {
    {.keys = "abd",
     .claims = "...",
     .log = "connect begin +a +b +d step . step . retired:main retired:other ",
     .accepted = "110"},
    {.keys = "abe",
     .claims = "x..",
     .log = "connect begin +a +b step . retired:main retired:other "
            "connect one:a retired:main . connect . ",
     .accepted = "110"},
    {.keys = "abc",
     .claims = "rxv",
     .log = "connect begin +b step . retired:main retired:other "
            ". connect one:b retired:main . . ",
     .accepted = "010"},
    {.keys = "abcd",
     .claims = "lfLl",
     .log = "connect begin +a +b +c +d step . step . retired:main "
            "retired:other connect one:a . connect one:b . connect one:c . "
            "connect one:d . ",
     .accepted = "0000"},
    {.keys = "abc",
     .claims = ".ux",
     .status = SEQB_UNREACHABLE,
     .log = "connect begin +a +b +c step . step . retired:main retired:other "
            "connect one:b fail . ",
     .accepted = "100"},
    {.keys = "ad",
     .claims = "..",
     .retired = "main",
     .log = "connect begin +a +d step . retired:main connect one:a "
            "retired:main . connect one:d retired:other . ",
     .accepted = "00"},
    {.keys = "ad",
     .claims = "..",
     .retired = "other",
     .log = "connect begin +a +d step . retired:main retired:other "
            "connect one:a retired:main . connect one:d retired:other . ",
     .accepted = "10"},
    {.keys = "ab",
     .claims = "..",
     .steps = SEQB_REFUSED,
     .log = "connect begin +a +b step . connect one:a retired:main . "
            "connect one:b retired:main . ",
     .accepted = "11"},
    {.keys = "ab",
     .claims = "..",
     .steps = SEQB_UNREACHABLE,
     .status = SEQB_UNREACHABLE,
     .log = "connect begin +a +b step . fail ",
     .accepted = "00"},
    {.keys = "a",
     .claims = ".",
     .log = "connect one:a retired:main . ",
     .accepted = "1"},
    {.keys = "ab",
     .claims = "..",
     .has_no_batch = true,
     .log = "connect one:a retired:main . connect one:b retired:main . ",
     .accepted = "11"},
    {.keys = "ab",
     .claims = "..",
     .membership_count = -1,
     .log = "connect begin connect . connect . ",
     .accepted = "00"},
    /* parts */
    {.keys = "abc",
     .claims = "..x",
     .generation = CLAIM_BATCH / 2 - 1,
     .log = "connect begin +a +b step . retired:main retired:other "
            "connect begin +c step . retired:main retired:other "
            "connect one:c retired:main . ",
     .accepted = "111"},
    {.keys = "abcd",
     .claims = "..xx",
     .generation = CLAIM_BATCH / 2 - 1,
     .unusable_at = 2,
     .log = "connect begin +a +b step . retired:main retired:other ",
     .accepted = "1100"},
    {.keys = "cdab",
     .claims = "..x.",
     .generation = CLAIM_BATCH / 2 - 1,
     .step_ms = 1000,
     .log = "connect begin +c +d step . retired:main retired:other log:2/4 "
            "connect begin +a +b step . retired:main retired:other "
            "connect one:a retired:main . ",
     .accepted = "1011"},
    {.keys = "ab",
     .claims = "..",
     .generation = CLAIM_BATCH,
     .log = "connect one:a retired:main . connect one:b retired:main . ",
     .accepted = "11"},
    /* an end on the way */
    {.keys = "ab", .claims = "..", .over_at = 1, .status = SEQB_CLOSED},
    {.keys = "abc",
     .claims = "...",
     .over_at = 3,
     .status = SEQB_CLOSED,
     .log = "connect begin +a +b +c step . ",
     .accepted = "000"},
    {.keys = "ab",
     .claims = "xx",
     .over_at = 4,
     .status = SEQB_CLOSED,
     .log = "connect begin +a +b step . retired:main retired:other "
            "connect one:a retired:main . . ",
     .accepted = "10"},
    {.keys = "ab", .claims = "..", .unusable_at = 1},
    {.keys = "ab",
     .claims = "xx",
     .unusable_at = 3,
     .log = "connect begin +a +b step . retired:main retired:other "
            "connect one:a retired:main . . ",
     .accepted = "10"},
    {.keys = "ab",
     .claims = "..",
     .unreachable_at = 1,
     .status = SEQB_UNREACHABLE,
     .log = "connect "},
    {.keys = "ab",
     .claims = "xx",
     .unreachable_at = 2,
     .status = SEQB_UNREACHABLE,
     .log = "connect begin +a +b step . retired:main retired:other connect . "},
    /* what is logged */
    {.keys = "abc",
     .claims = "...",
     .step_ms = 1000,
     .log = "connect begin +a +b +c step . step . retired:main retired:other "
            "log:3/3 ",
     .accepted = "111"},
    {.keys = "abcd",
     .claims = "xxxx",
     .has_no_batch = true,
     .step_ms = 2500,
     .log = "connect one:a retired:main . log:1/4 connect one:b retired:main . "
            "connect one:c retired:main . log:3/4 "
            "connect one:d retired:other . ",
     .accepted = "1110"},
    {.keys = "a",
     .claims = "x",
     .step_ms = 1000,
     .log = "connect one:a retired:main . log:1/1 ",
     .accepted = "1"},
    {.keys = "a",
     .claims = "x",
     .step_ms = 999,
     .log = "connect one:a retired:main . ",
     .accepted = "1"},
    /* the other visits */
    {.visit = &visit_note,
     .keys = "ab",
     .claims = ".x",
     .log = "connect begin +a +b step . retired:main retired:other "
            "connect one:b retired:main . ",
     .accepted = "11"},
    {.visit = &visit_copy,
     .keys = "ab",
     .claims = ".x",
     .log = "connect begin +a +b step . retired:main retired:other "
            "connect one:b retired:main . ",
     .accepted = "11"},
    {.visit = &visit_known,
     .keys = "abcde",
     .claims = ".kKx.",
     .log = "connect begin ?a ?b ?c ?d step . step . connect read:b . connect "
            "read:c . connect read:d . connect . ",
     .accepted = "01100"},
    {.visit = &visit_known,
     .keys = "abc",
     .claims = "fxu",
     .status = SEQB_UNREACHABLE,
     .log = "connect begin ?a ?b ?c step . step . connect read:a . connect "
            "read:b . connect read:c fail . ",
     .accepted = "000"},
    {.visit = &visit_elsewhere,
     .keys = "abd",
     .claims = ".x.",
     .log = "connect begin other?a other?b main?d step . step . step . "
            "connect moved:other:b . ",
     .accepted = "111"},
    {.visit = &visit_elsewhere,
     .keys = "abe",
     .claims = "xl.",
     .membership_count = 3,
     .log = "connect begin other?a strange?a other?b strange?b main?e other?e "
            "step . step . step . step . step . step . "
            "connect moved:other:a moved:strange:a . connect moved:other:b . ",
     .accepted = "101"},
    {.visit = &visit_elsewhere,
     .keys = "ad",
     .claims = "xf",
     .membership_count = 1,
     .log = "connect begin main?d step . connect . connect moved:main:d . ",
     .accepted = "00"},
};

static bool is_accepted(const struct visit *visit, size_t i)
{
    const struct admitted *admitted = &scene.admission->admitted[i];
    const struct ha_counter *counter = admitted->counter;
    const bool is_claimed = counter->claims_read != 0;

    if (visit == &visit_elsewhere)
        return admission_answers(scene.admission, i, PARTITIONS)[WORKER];
    if (visit == &visit_known)
        return admitted->is_known;
    assert_int_equal(counter->claims_read, is_claimed ? 1 << MEMBER : 0);
    assert_int_equal(counter->slots[MEMBER].admitted_on,
                     is_claimed ? SERIAL : 0);
    assert_int_equal(admitted->is_noted, is_claimed && visit == &visit_note);
    return is_claimed;
}

TEST_WITH(VISITED, counters_are_asked_about_together_then_those_that_differ)
{
    for (size_t n = 0; n < COUNT_OF(rows); n++) {
        const struct visit_row *row = &rows[n];
        struct seqb_error err;

        print_message("  row %zu\n", n);
        assert_int_equal(visit_play(f, row, -1, &err), row->status);
        assert_string_equal(scene.log, row->log != NULL ? row->log : "");
        assert_int_equal(scene.allocated_count, 0);
        if (row->status == SEQB_CLOSED)
            assert_string_equal(err.text, "the broker is closing");
        for (size_t i = 0; i < strlen(row->keys); i++)
            assert_int_equal(is_accepted(scene.admission->visit, i),
                             row->accepted != NULL && row->accepted[i] == '1');
        visit_end(scene.admission);
    }
}

static void expect_refusal(size_t i, const char *reason, int partition)
{
    const struct admitted *admitted = &scene.admission->admitted[i];

    assert_int_equal(admitted_is_refused(admitted), reason != NULL);
    if (reason == NULL)
        assert_null(admitted->reason);
    else
        assert_string_equal(admitted->reason, reason);
    assert_int_equal(admitted->partition, partition);
}

/* The authority is no partition, nor is a store of another pool. */
TEST_WITH(VISITED, first_refusal_is_kept_and_the_partition_that_refused)
{
    static const struct visit_row own = {.keys = "abcd", .claims = "lfLl"};
    static const struct visit_row moved = {.visit = &visit_elsewhere,
                                           .keys = "d",
                                           .claims = "l",
                                           .membership_count = 1};
    struct seqb_error err;

    assert_ok(visit_play(f, &own, -1, &err));
    expect_refusal(0, "it says no to a", MEMBER);
    expect_refusal(1, NULL, 0);
    expect_refusal(2, "another store was first", 0);
    expect_refusal(3, "it says no to d", 0);
    visit_end(scene.admission);
    assert_ok(visit_play(f, &moved, -1, &err));
    expect_refusal(0, "it says no to d", 0);
    visit_end(scene.admission);
}

TEST_WITH(VISITED, nothing_is_visited_without_memory_but_one_by_one)
{
    static const struct visit_row row = {.keys = "ab", .claims = ".."};
    struct seqb_error err;

    assert_int_equal(visit_play(f, &row, 0, &err), SEQB_NO_MEMORY);
    assert_string_equal(err.text, "admission: out of memory");
    assert_string_equal(scene.log, "");
    visit_end(scene.admission);
    assert_ok(visit_play(f, &row, 1, &err));
    assert_string_equal(
        scene.log,
        "connect one:a retired:main . connect one:b retired:main . ");
    assert_int_equal(scene.allocated_count, 0);
    visit_end(scene.admission);
}

/* By the number of pools that the worker serves, and counter: whether its store
 * is asked. */
static const struct concern {
    const struct visit *visit;
    const char *direct;
    const char *windowed;
} concerned[] = {
    {&visit_claim, "000 100 110", "000 100 110"},
    {&visit_note, "000 100 110", "000 000 000"},
    {&visit_copy, "000 000 000", "000 100 110"},
    {&visit_known, "000 100 110", "000 100 110"},
    {&visit_elsewhere, "000 011 111", "000 000 000"},
};

static void concerns_of(const struct worker *worker, const struct visit *visit,
                        char *out)
{
    static const char keys[] = "ade";

    for (size_t i = 0; i < strlen(keys); i++)
        *out++ =
            visit->concerns(worker, scene.counters[keys[i] - 'a']) ? '1' : '0';
}

TEST_WITH(VISITED, stores_are_asked_by_their_pools_and_whether_they_forget)
{
    struct worker *worker = &f->workers[WORKER];

    scene.memberships[0].member = 0;
    for (size_t n = 0; n < COUNT_OF(concerned); n++) {
        const struct concern *row = &concerned[n];
        char text[] = "... ... ...";

        print_message("  row %zu\n", n);
        for (int is_windowed = 0; is_windowed < 2; is_windowed++) {
            f->store.ops = is_windowed ? &backend_fake_windowed : &backend_fake;
            for (size_t i = 0; i < 3; i++) {
                worker->membership_count = i;
                concerns_of(worker, row->visit, &text[4 * i]);
            }
            assert_string_equal(text,
                                is_windowed ? row->windowed : row->direct);
        }
    }
}

TEST_WITH(VISITED, claim_of_each_partition_is_accepted)
{
    struct worker *worker = &f->workers[WORKER];
    const struct visit_row row = {.keys = "a", .claims = "."};

    worker->membership_count = 1;
    visit_make(&row);
    for (int i = -1; i <= PARTITIONS; i++) {
        scene.memberships[0].member = i;
        visit_claim.accept(worker, scene.admission, 0);
    }
    assert_int_equal(scene.counters[0]->claims_read, (1 << PARTITIONS) - 1);
    assert_int_equal(scene.counters[0]->slots[0].admitted_on, SERIAL);
    visit_end(scene.admission);
}
