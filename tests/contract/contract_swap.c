/* SPDX-License-Identifier: Apache-2.0 */
/* The contract's tests for replacing what is claimed in a direct store. */
#include "contract/contract_suite.h"

#include <string.h>

#include "platform/text.h"
#include "support/race.h"

#define WORKER "worker/main/3"

static enum seqb_status swap(struct seqb_backend *backend, const char *expected,
                             const char *text, char *standing, size_t size)
{
    const struct seqb_swap swap = {WORKER, expected, text, NULL};
    struct seqb_error err;
    const enum seqb_status status =
        backend->ops->swap(backend, &swap, standing, size, &err);

    if (status != SEQB_OK) {
        assert_status(err.status, status);
        assert_true(strlen(err.text) > 0);
    }
    return status;
}

static void swap_expect(struct seqb_backend *backend, const char *expected,
                        const char *text, const char *stands)
{
    char standing[SEQB_CLAIM_SIZE];

    memset(standing, 0x5a, sizeof standing);
    assert_ok(swap(backend, expected, text, standing, sizeof standing));
    assert_string_equal(standing, stands);
}

static void assert_stands(struct seqb_backend *backend, const char *text)
{
    char standing[SEQB_CLAIM_SIZE];

    assert_ok(backend->ops->claim(backend, WORKER, NULL, standing,
                                  sizeof standing, NULL));
    assert_string_equal(standing, text);
}

CONTRACT_TEST(swap_puts_where_nothing_stands, NEEDS_DIRECT)
{
    swap_expect(contract->backend, "not there", "mine", "");
    assert_stands(contract->backend, "");
    swap_expect(contract->backend, "", "mine", "mine");
    assert_stands(contract->backend, "mine");
    contract_reopen(contract);
    assert_stands(contract->backend, "mine");
}

CONTRACT_TEST(swap_replaces_what_it_expects, NEEDS_DIRECT)
{
    struct seqb_backend *other = contract_open(contract);

    swap_expect(contract->backend, "", "a=1\n'\"; %s\\", "a=1\n'\"; %s\\");
    swap_expect(other, "a=1\n'\"; %s\\", "b", "b");
    swap_expect(contract->backend, "b", "c", "c");
    swap_expect(contract->backend, "c", "c", "c");
    assert_stands(other, "c");
    other->ops->close(other);
    contract_reopen(contract);
    assert_stands(contract->backend, "c");
    swap_expect(contract->backend, "c", "d", "d");
}

/* Compared to the byte. */
CONTRACT_TEST(swap_that_expects_another_changes_nothing, NEEDS_DIRECT)
{
    const char *const others[] = {
        "", "A", "a ", " a", "aa", "a\n", "%", "_", "b", "\xc3\xa0",
    };

    swap_expect(contract->backend, "", "a", "a");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        swap_expect(contract->backend, others[i], "new", "a");
        assert_stands(contract->backend, "a");
    }
    contract_reopen(contract);
    assert_stands(contract->backend, "a");
    swap_expect(contract->backend, "a", "new", "new");
    swap_expect(contract->backend, "a", "newer", "new");
}

/* As one does whose answer was lost. */
CONTRACT_TEST(swap_that_is_repeated_finds_its_text, NEEDS_DIRECT)
{
    for (int i = 0; i < 3; i++)
        swap_expect(contract->backend, "", "mine", "mine");
    for (int i = 0; i < 3; i++)
        swap_expect(contract->backend, "mine", "next", "next");
    assert_stands(contract->backend, "next");
}

CONTRACT_TEST(claim_and_swap_see_each_other, NEEDS_DIRECT)
{
    struct seqb_backend *backend = contract->backend;
    char standing[SEQB_CLAIM_SIZE];

    assert_ok(backend->ops->claim(backend, WORKER, "claimed", standing,
                                  sizeof standing, NULL));
    swap_expect(backend, "", "mine", "claimed");
    swap_expect(backend, "claimed", "mine", "mine");
    assert_ok(backend->ops->claim(backend, WORKER, "claimed", standing,
                                  sizeof standing, NULL));
    assert_string_equal(standing, "mine");
    assert_ok(backend->ops->claim(backend, "worker/main/33", NULL, standing,
                                  sizeof standing, NULL));
    assert_string_equal(standing, "");
}

CONTRACT_TEST(longest_texts_are_swapped, NEEDS_DIRECT)
{
    char a[SEQB_CLAIM_SIZE];
    char b[SEQB_CLAIM_SIZE];

    memset(a, 'a', sizeof a);
    a[sizeof a - 1] = '\0';
    memcpy(b, a, sizeof b);
    b[sizeof b - 2] = 'b';
    swap_expect(contract->backend, "", a, a);
    swap_expect(contract->backend, b, "c", a);
    swap_expect(contract->backend, a, b, b);
    assert_stands(contract->backend, b);
}

CONTRACT_TEST(standing_text_that_does_not_fit_is_an_error, NEEDS_DIRECT)
{
    char standing[8];

    swap_expect(contract->backend, "", "12345678", "12345678");
    assert_status(swap(contract->backend, "x", "y", standing, sizeof standing),
                  SEQB_PROTOCOL);
    assert_stands(contract->backend, "12345678");
}

CONTRACT_TEST(swap_is_not_bound_to_an_origin, NEEDS_DIRECT | NEEDS_RESTORE)
{
    char standing[SEQB_CLAIM_SIZE];
    struct seqb_error err;

    swap_expect(contract->backend, "", "before", "before");
    contract->subject->save(contract->store);
    contract->subject->restore(contract->store);
    contract_reopen(contract);
    /* Claims need not be in a subject's copy. */
    assert_ok(contract->backend->ops->claim(contract->backend, WORKER, NULL,
                                            standing, sizeof standing, &err));
    swap_expect(contract->backend, "other", "after", standing);
    swap_expect(contract->backend, standing, "after", "after");
    contract_reopen(contract);
    assert_stands(contract->backend, "after");
}

/* --- many at once --- */

#define SWAPPERS 4
#define ROUNDS   25

struct swapper {
    const struct contract *contract;
    int number;
    enum seqb_status status;
    char standing[ROUNDS][32];
    bool has_won[ROUNDS];
};

/* All expect what the last round came to, each puts a text of its own. */
static void swapper_play(struct swapper *me, struct seqb_backend *backend)
{
    const char *expected = "";

    for (int round = 0; round < ROUNDS; round++) {
        char *standing = me->standing[round];
        char text[sizeof me->standing[0]];

        (void)text_format(text, sizeof text, "round %d by %d", round,
                          me->number);
        race_meet();
        if (me->status != SEQB_OK)
            continue;
        me->status = backend->ops->swap(
            backend, &(struct seqb_swap){WORKER, expected, text, NULL},
            standing, sizeof me->standing[0], NULL);
        me->has_won[round] = strcmp(standing, text) == 0;
        expected = standing;
    }
}

static void swapper_run(void *racer)
{
    struct swapper *me = racer;
    const struct seqb_backend_ops *ops = me->contract->subject->ops;
    struct seqb_backend *backend = NULL;

    me->status = ops->open(&me->contract->store->options, &backend, NULL);
    swapper_play(me, backend);
    ops->close(backend);
}

CONTRACT_TEST(one_of_many_swappers_wins, NEEDS_DIRECT)
{
    static struct swapper swappers[SWAPPERS];

    for (int i = 0; i < SWAPPERS; i++) {
        swappers[i].contract = contract;
        swappers[i].number = i;
    }
    RACE(swappers, swapper_run);
    for (int i = 0; i < SWAPPERS; i++)
        assert_ok(swappers[i].status);
    for (int round = 0; round < ROUNDS; round++) {
        int winners = 0;

        for (int i = 0; i < SWAPPERS; i++) {
            winners += swappers[i].has_won[round];
            assert_string_equal(swappers[i].standing[round],
                                swappers[0].standing[round]);
        }
        assert_int_equal(winners, 1);
    }
}
