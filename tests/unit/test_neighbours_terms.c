/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms of lessors over scripted stores: a copy of a lessor's store leases in
 * its place, and then the store is there again, as it was left.
 */
#include <string.h>

#include "ha/neighbours/sync.h"
#include "ha/startup.h"
#include "neighbours_fixture.h"
#include "platform/text.h"
#include "store/term.h"
#include "support/events.h"
#include "support/test.h"

TEST(term_has_its_nonce_before_the_incarnation)
{
    char nonce[TERM_NONCE_SIZE];

    assert_true(term_read("run-1", "run-1", nonce));
    assert_string_equal(nonce, "");
    assert_true(term_read("00ff~run-1", "run-1", nonce));
    assert_string_equal(nonce, "00ff~");
    assert_false(term_read("00ff~run-1", "run-2", nonce));
    assert_false(term_read("", "run-1", nonce));
    assert_false(term_read("-run-1", "run-1", nonce));
    term_nonce(255, nonce);
    assert_string_equal(nonce, "00000000000000ff~");
}

/* A copy takes its place and leases; then it is there again, as it was left and
 * never restarted, and later that copy is. */
TEST_WITH(TWO_LESSORS, lessor_that_ran_elsewhere_leases_nothing_twice)
{
    rig_use(rig, 8 * WINDOW_STOCK);
    fake_save(rig->stores[0]);
    for (int i = 0; i < 6; i++) {
        rig_use(rig, 8 * WINDOW_STOCK);
        fake_exchange(rig->stores[0]);
        forget(rig, 2);
    }
}

/* Its server goes on and nobody knows, while the cells are gone as well, whose
 * windows would refuse what it leases then. */
TEST_WITH(TWO_LESSORS, lessor_that_was_emptied_leases_nothing_twice)
{
    for (int i = 0; i < 6; i++) {
        rig_use(rig, 8 * WINDOW_STOCK);
        fake_flush(rig->stores[0]);
        forget(rig, 2);
    }
}

/* A lease of its first term may be noted late. So that term does not begin once
 * more. */
TEST_WITH(TWO_LESSORS, lessor_that_came_back_begins_another_term)
{
    char synced[256];
    char mark[256];
    char expected[256];

    rig_use(rig, WINDOW_STOCK);
    fake_save(rig->stores[0]);
    for (int i = 0; i < 2; i++) {
        fake_exchange(rig->stores[0]);
        rig_use(rig, WINDOW_STOCK);
    }
    await_lessor(rig_open(rig), 0, HA_LESSOR_LEVEL);
    fake_claim_text(rig->stores[0], "synced/main", synced, sizeof synced);
    fake_claim_text(rig->stores[1], "known/main/0", mark, sizeof mark);
    assert_string_not_equal(synced, "run-0");
    assert_non_null(strstr(synced, "~run-0"));
    (void)text_format(expected, sizeof expected, "%s|run-0", synced);
    assert_string_equal(mark, expected);
}

/* A witness that was only started is no sign of a copy. */
TEST_WITH(TWO_LESSORS, lessor_of_a_restarted_witness_keeps_its_term)
{
    char text[256];

    rig_use(rig, WINDOW_STOCK);
    fake_restart(rig->stores[1]);
    rig_use(rig, WINDOW_STOCK);
    await_lessor(rig_open(rig), 0, HA_LESSOR_LEVEL);
    fake_claim_text(rig->stores[0], "synced/main", text, sizeof text);
    assert_string_equal(text, "run-0");
}

/* Others know an earlier term of it, as they would if a copy had leased. */
TEST_WITH(THREE_LESSORS, trusted_lessor_needs_no_sync)
{
    struct rig_broker *broker;

    rig_use(rig, WINDOW_STOCK);
    fake_restart(rig->stores[0]);
    fake_set_down(rig->stores[1], true);
    events_start();
    broker = rig_open(rig);
    await_lessor(broker, 0, HA_LESSOR_WAITING);
    fake_claim_put(rig->stores[0], "synced/main", TERM_TRUSTED "0~run-1");
    await_lessor(broker, 0, HA_LESSOR_LEVEL);
    events_await("event=lessor_level pool=main partition=0", "seqctl trust");
    bar_lessor(rig, 2);
    rig_take(broker, 32 * WINDOW_STOCK);
}

/* --- what a look says --- */

/* Two lessors; what stands behind them is nobody's. NULL: not there. */
static const struct {
    const char *synced;
    const char *mark; /* at the other one */
    const char *behind;
    bool is_level;
    const char *term; /* NULL: one that was never */
    bool has_marks;
    bool is_away;
} looks[] = {
    {"run-0", "run-0|run-1", NULL, true, "run-0", true, false},
    {"run-0", "run-0|run-1", "run-9|run-2", true, "run-0", true, false},
    {"run-0", "run-0|run-9", NULL, true, "run-0", false, false},
    {"run-0", "", NULL, true, "run-0", false, false},
    {"run-0", NULL, NULL, true, "run-0", true, true},
    {"run-0", "run-9|run-1", NULL, false, NULL, false, false},
    {"ab~run-0", "ab~run-0|run-1", NULL, true, "ab~run-0", true, false},
    {"ab~run-0", "run-0|run-1", NULL, false, NULL, false, false},
    {"-ab~run-0", "ab~run-0|run-1", NULL, false, "ab~run-0", true, false},
    {"-run-0", "run-9|run-1", NULL, false, "run-0", false, false},
    {"run-9", "run-9|run-1", NULL, false, "run-0", false, false},
    {"", "", NULL, false, "run-0", false, false},
    {TERM_TRUSTED "0~run-0", "run-9|run-1", NULL, false, NULL, false, false},
    {TERM_TRUSTED "0~run-0", TERM_TRUSTED "0~run-0|run-1", NULL, true,
     TERM_TRUSTED "0~run-0", true, false},
    {TERM_TRUSTED "0~run-0", NULL, NULL, true, TERM_TRUSTED "0~run-0", true,
     true},
};

/* `mark` is that of lessor `own`. */
static struct seen seen_at(int32_t i, const char *synced, int32_t own,
                           const char *mark)
{
    struct seen seen = {.is_there = mark != NULL};

    (void)text_format(seen.incarnation, sizeof seen.incarnation, "run-%d", i);
    (void)text_copy(seen.synced, sizeof seen.synced, synced);
    if (mark != NULL)
        (void)text_copy(seen.marks[own], sizeof seen.marks[own], mark);
    return seen;
}

/* Of the lessor with that index, whose store's incarnation is "run-0". */
static void expect_look(size_t row, int32_t own)
{
    struct ha_pool pool = {.name = "main", .lessors.count = 2};
    struct seen seen[3];
    struct sync sync;
    char term[TERM_SIZE];

    seen[own] = seen_at(0, looks[row].synced, own, "run-9|run-0");
    seen[1 - own] = seen_at(1, "run-1", own, looks[row].mark);
    seen[2] = seen_at(2, "run-2", own, looks[row].behind);
    sync = sync_of(&pool, seen, own);
    assert_int_equal(sync.is_level, looks[row].is_level);
    assert_true(text_format(term, sizeof term, "%s%s", sync.nonce, "run-0"));
    assert_string_equal(sync.term, term);
    if (looks[row].term != NULL)
        assert_string_equal(term, looks[row].term);
    else
        assert_int_equal(strlen(sync.nonce), 17);
    assert_int_equal(sync_has_marks(&sync), looks[row].has_marks);
    assert_int_equal(sync_away(&sync), looks[row].is_away ? 1 - own : -1);
}

TEST(look_tells_the_term_and_who_lacks_its_mark)
{
    for (size_t i = 0; i < COUNT_OF(looks); i++) {
        expect_look(i, 0);
        expect_look(i, 1);
    }
}

/* Of three, the first may be away, and the last has a mark of another term. */
TEST(operators_word_counts_while_a_store_is_away)
{
    static const struct {
        const char *synced;
        const char *away; /* its mark; NULL: it is away */
        bool is_level;
    } words[] = {{"run-0", NULL, false},
                 {TERM_TRUSTED "0~run-0", NULL, true},
                 {TERM_TRUSTED "0~run-0", "", false}};
    struct ha_pool pool = {.name = "main", .lessors.count = 3};

    for (size_t i = 0; i < COUNT_OF(words); i++) {
        const struct seen seen[] = {seen_at(1, "run-1", 1, words[i].away),
                                    seen_at(0, words[i].synced, 1, ""),
                                    seen_at(2, "run-2", 1, "run-9|run-2")};

        assert_int_equal(sync_of(&pool, seen, 1).is_level, words[i].is_level);
    }
}

static struct call *read_store(struct ha_pool *pool, int32_t lessor)
{
    struct call *call = call_new(pool, lessor);
    struct seqb_error err;

    assert_non_null(call);
    call->run = call_read;
    assert_true(call_ask(call, &err));
    return call;
}

TEST_WITH(THREE_LESSORS, look_reads_the_marks_and_the_level_once)
{
    struct rig_broker *broker = rig_open(rig);
    int64_t claims;
    struct call *call;

    for (int32_t i = 0; i < 3; i++)
        await_lessor(broker, i, HA_LESSOR_LEVEL);
    await_no_look(broker);
    claims = fake_calls(rig->stores[1], FAKE_CLAIM);
    call = read_store(ha_pool_at(broker->ha, 0), 1);
    assert_int_equal(fake_calls(rig->stores[1], FAKE_CLAIM), claims + 3);
    assert_int_equal(call->ask.steps, 2);
    assert_string_equal(call->seen.incarnation, "run-0");
    assert_string_equal(call->seen.synced, "run-0");
    assert_string_equal(call->seen.marks[0], "run-0|run-0");
    assert_string_equal(call->seen.marks[1], "");
    assert_string_equal(call->seen.marks[2], "run-0|run-0");
    ask_release(&call->ask);
}
