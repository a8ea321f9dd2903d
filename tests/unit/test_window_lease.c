/* SPDX-License-Identifier: Apache-2.0 */
/* A lease of windows from neighbours, step by step: which lessor is asked and
 * for what, which witness is told what, and what becomes of their answers. Who
 * is chosen of several is in test_lessors.c, and what stores make of it in
 * test_neighbours.c. */
#include "unit/lease_fixture.h"

/* --- a lease that goes well --- */

TEST_WITH(LEASES, lease_is_noted_up_to_its_last_one_before_it_is_used)
{
    const struct window_source *source;
    struct slot *slot;

    f->pool.resumed = 5;
    expect_wants(f, OTHER);
    source = source_at(f);
    slot = expect_asked(f, 0);
    assert_true(source->is_asked);
    assert_int_equal(slot->floor, FLOOR);
    assert_string_equal(window_lease_nonce(slot), "nonce~");
    lease(slot, 12, 3);
    assert_int_equal(f->pool.lessors.lessor[0].leased, 1);
    assert_int_equal(source->run.left, 0);
    note(f, 1, 11, SEQB_OK);
    assert_string_equal(store.counter, LEASE_NAME);
    assert_int_equal(store.raise.floor, 14);
    assert_int_equal(store.raise.limit, slot_lease_max(slot));
    assert_string_equal(store.name, "known/main/0");
    assert_string_equal(store.text, "nonce~run|");
    assert_int_equal(source->run.next, 12 << LESSOR_BITS);
    assert_int_equal(source->run.step, 1 << LESSOR_BITS);
    assert_int_equal(source->run.left, 3);
    assert_int_equal(source->run.resumed, 5);
    assert_false(source->is_asked);
    assert_null(source->neighbours->waiting);
    expect_goes_on(f);
}

/* Its low bits are the lessor. What failed before counts no more. */
TEST_WITH(LEASES, window_of_the_next_lessor_is_another_window)
{
    f->pool.lessors.next = 1;
    expect_wants(f, OTHER);
    deny(expect_asked(f, 1), SEQB_UNREACHABLE, false, "away");
    lease(expect_asked(f, 2), 12, 1);
    note(f, 0, 11, SEQB_OK);
    assert_int_equal(source_at(f)->run.next, 12 << LESSOR_BITS | 2);
    expect_goes_on(f);
}

/* Any other one may have to be raised first. */
TEST_WITH(LEASES, store_that_noted_the_last_lease_leases_the_next_one)
{
    expect_wants(f, OTHER);
    lease(expect_asked(f, 0), 12, 1);
    note(f, 1, 0, SEQB_REFUSED);
    note(f, 2, 11, SEQB_OK);
    expect_goes_on(f);
    expect_wants(f, OTHER);
    lease(expect_asked(f, 2), 20, 1);
}

/* Rather than the store in which it is used. */
TEST_WITH(LEASES, lessor_leases_again_whose_lease_was_noted_where_it_is_used)
{
    for (int i = 0; i < 2; i++) {
        expect_wants(f, 1);
        lease(expect_asked(f, 0), 12, 1);
        note(f, 1, 11, SEQB_OK);
        expect_goes_on(f);
    }
}

/* --- what each lessor remembers --- */

TEST_WITH(LEASES, each_lessor_has_compared_the_claim_by_itself)
{
    for (int32_t n = 0; n < 2 * LESSORS; n++) {
        const int32_t i = n % LESSORS;
        struct slot *slot;

        if (i == 0)
            expect_wants(f, OTHER);
        slot = expect_asked(f, i);
        assert_int_equal(slot->admitted_on, n < LESSORS ? 0 : i + 7);
        slot->admitted_on = (uint32_t)i + 7;
        deny(slot, SEQB_UNREACHABLE, false, "away");
    }
}

/* Its store may have gone back when it was started again. */
TEST_WITH(LEASES, last_lease_of_a_lessor_is_its_mark_until_it_starts_again)
{
    struct slot *slot;

    drain(f, 2);
    expect_wants(f, 0);
    slot = expect_asked(f, 1);
    assert_int_equal(slot->mark.value, FENCE_NOTHING.value);
    lease(slot, 12, 3);
    note(f, 0, 11, SEQB_OK);
    expect_goes_on(f);
    expect_wants(f, 0);
    slot = expect_asked(f, 1);
    assert_int_equal(slot->mark.window, 0);
    assert_int_equal(slot->mark.value, 14);
    deny(slot, SEQB_UNREACHABLE, false, "away");
    deny(expect_asked(f, 0), SEQB_UNREACHABLE, false, "away");
    start_lessor(f, 1, "another run");
    expect_wants(f, 0);
    slot = expect_asked(f, 1);
    assert_int_equal(slot->mark.value, FENCE_NOTHING.value);
}

/* --- lessors that lease nothing --- */

/* What the lessors answer, each by one letter; '-': it may not be asked. */
static const struct denied {
    const char *letters;
    enum seqb_status status;
    const char *text;
} denied[] = {
    {"rrr", SEQB_REFUSED, "2 says no"}, /* refuses this counter */
    {"rcr", SEQB_UNAVAILABLE, "no window: 2 says no"}, /* as corrupt */
    {"arx", SEQB_UNAVAILABLE, "no window: 2 says no"}, /* away; refuses so */
    {"rrf", SEQB_UNAVAILABLE, "no window: 2 says no"}, /* fails altogether */
    {"rur", SEQB_UNAVAILABLE, "no window: 2 says no"}, /* is not level */
    {"rr-", SEQB_UNAVAILABLE, "no window: 1 says no"},
};

static void deny_as(struct slot *slot, int32_t i, char letter)
{
    const bool is_away = letter == 'a' || letter == 'x';
    char text[16];

    (void)text_format(text, sizeof text, "%d says no", (int)i);
    slot->is_unlevel = letter == 'u';
    deny(slot,
         is_away         ? SEQB_UNAVAILABLE
         : letter == 'c' ? SEQB_CORRUPT
                         : SEQB_REFUSED,
         letter != 'a' && letter != 'f', text);
}

/* One that is not level is looked at. */
static void expect_doubt(const struct lessor *lessor, bool is_doubted)
{
    assert_int_equal(lessor->is_doubted, is_doubted);
    assert_int_equal(lessor->state,
                     is_doubted ? HA_LESSOR_SYNCING : HA_LESSOR_LEVEL);
}

TEST_WITH(LEASES, only_what_all_lessors_refuse_alike_is_refused)
{
    for (size_t n = 0; n < COUNT_OF(denied); n++) {
        const struct denied *about = &denied[n];
        void *state;

        print_message("  %s\n", about->letters);
        if (about->letters[2] == '-')
            drain(f, 2);
        expect_wants(f, OTHER);
        for (int32_t i = 0; i < LESSORS && about->letters[i] != '-'; i++) {
            deny_as(expect_asked(f, i), i, about->letters[i]);
            expect_doubt(&f->pool.lessors.lessor[i], about->letters[i] == 'u');
        }
        expect_told(about->status, about->status == SEQB_REFUSED, about->text);
        assert_false(source_at(f)->is_asked);
        ha_counter_free(f->counter);
        (void)setup_lessors(&state);
    }
}

TEST_WITH(LEASES, nobody_is_asked_if_nobody_may_be)
{
    struct seqb_error err;

    for (int32_t i = 0; i < LESSORS; i++)
        drain(f, i);
    assert_int_equal(want(f, OTHER, &err), SEQB_UNAVAILABLE);
    assert_string_equal(err.text,
                        "no window: no neighbour that may be asked is level");
    assert_false(source_at(f)->is_asked);
}

/* --- witnesses that note nothing --- */

TEST_WITH(LEASES, lease_that_no_witness_notes_is_not_used)
{
    expect_wants(f, OTHER);
    for (int32_t i = LESSORS; i > 0; i--) {
        lease(expect_asked(f, i % LESSORS), 12, 1);
        for (int32_t j = 1; j < LESSORS; j++)
            note(f, (i + j) % LESSORS, 0, SEQB_REFUSED);
    }
    expect_told(SEQB_UNAVAILABLE, false,
                "no window: no neighbour notes a lease of b");
    assert_int_equal(source_at(f)->run.left, 0);
}

/* The look leaves the mark again. */
TEST_WITH(LEASES, lessor_whose_mark_is_missing_is_looked_at)
{
    const struct lessor *lessor = &f->pool.lessors.lessor[0];

    expect_wants(f, OTHER);
    lease(expect_asked(f, 0), 12, 1);
    note(f, 1, 0, SEQB_FENCED);
    assert_false(lessor->is_doubted);
    store.lacks_mark = true;
    note(f, 2, 0, SEQB_FENCED);
    assert_true(lessor->is_doubted);
}

/* Its thread may come to it too late. */
TEST_WITH(LEASES, witness_that_was_drained_meanwhile_is_told_nothing)
{
    expect_wants(f, OTHER);
    lease(expect_asked(f, 0), 12, 1);
    store.raise.floor = 0;
    drain(f, 1);
    note(f, 1, 11, SEQB_OK);
    assert_int_equal(store.raise.floor, 0);
    note(f, 2, 11, SEQB_OK);
    assert_int_equal(store.raise.floor, 12);
}

/* Another broker may hold a part of the run. */
TEST_WITH(LEASES, lease_that_a_witness_knows_is_made_again_above_it)
{
    const struct lease *known;
    struct slot *slot;

    expect_wants(f, OTHER);
    lease(expect_asked(f, 0), 12, 3);
    note(f, 1, 12, SEQB_OK);
    known = source_at(f)->neighbours;
    slot = expect_asked(f, known->lessor);
    assert_int_equal(slot->floor, 14);
    lease(slot, 20, 3);
    note(f, known->witness, 90, SEQB_OK);
    assert_int_equal(slot->floor, 90);
    assert_int_equal(source_at(f)->run.left, 0);
}

/* After so many refusals in a row, each lessor is asked once more. Which one
 * is the next one is left to chance, not to the witness. */
TEST_WITH(LEASES, lease_that_is_known_each_time_is_given_up)
{
    for (int round = 0; round < 2; round++) {
        int32_t witnesses = 0;

        expect_wants(f, OTHER);
        for (int32_t n = 0; n < 8 + LESSORS; n++) {
            const struct lease *known = source_at(f)->neighbours;

            assert_int_equal(told.status, SEQB_OK);
            witnesses += known->lessor == known->witness;
            lease(expect_asked(f, known->lessor), 12 + n, 1);
            note(f, known->witness, 12 + n, SEQB_OK);
        }
        assert_in_range(witnesses, 1, 7);
        expect_told(SEQB_UNAVAILABLE, false,
                    "no window: b leases what may have been leased before");
    }
}

/* --- stores that hang --- */

TEST_WITH(LEASES, store_that_hangs_is_asked_last)
{
    f->workers[0].connection.call_ms = clock_now_ms() - 60000;
    expect_wants(f, OTHER);
    lease(expect_asked(f, 1), 12, 1);
    note(f, 2, 0, SEQB_REFUSED);
    expect_job(f, 0, &source_at(f)->neighbours->note);
}

/* --- a broker that closes --- */

TEST_WITH(LEASES, lessor_and_witness_that_stop_are_passed_over)
{
    f->workers[0].is_stopping = true;
    expect_wants(f, OTHER);
    f->workers[2].is_stopping = true;
    lease(expect_asked(f, 1), 12, 1);
    expect_told(SEQB_UNAVAILABLE, false,
                "no window: no neighbour notes a lease of b");
}

TEST_WITH(LEASES, slot_is_told_that_the_broker_closes)
{
    struct worker_job *job;

    expect_wants(f, OTHER);
    job = &source_at(f)->neighbours->note;
    lease(expect_asked(f, 0), 12, 1);
    expect_job(f, 1, job);
    job->abandon(job);
    expect_told(SEQB_CLOSED, false, "the broker is closing");
    assert_int_equal(source_at(f)->run.left, 0);
    expect_wants(f, OTHER);
    f->workers[OTHER].is_stopping = true;
    lease(expect_asked(f, 1), 20, 1);
    note(f, 2, 19, SEQB_OK);
    expect_told(SEQB_CLOSED, false, "the broker is closing");
}
