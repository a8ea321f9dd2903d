/* SPDX-License-Identifier: Apache-2.0 */
/* Which store of another pool a sequence waits for, and when it is asked
 * again. */
#include "ha/policy/elsewhere.h"
#include "queue/retry.h"
#include "support/test.h"

#define BACKENDS 3

/* 'n': needed, 'a': needed and answered, ' ': of its own pool. */
static int32_t awaits(const char *backends, bool is_known)
{
    bool is_needed[BACKENDS];
    bool has_no_such[BACKENDS];

    for (size_t i = 0; i < BACKENDS; i++) {
        is_needed[i] = backends[i] != ' ';
        has_no_such[i] = backends[i] == 'a';
    }
    return elsewhere_awaits(&(struct elsewhere){.is_needed = is_needed,
                                                .has_no_such = has_no_such,
                                                .count = BACKENDS,
                                                .is_known = is_known});
}

TEST(every_store_of_another_pool_has_to_answer)
{
    assert_int_equal(awaits("nnn", false), 0);
    assert_int_equal(awaits("ann", false), 1);
    assert_int_equal(awaits("aan", false), 2);
    assert_int_equal(awaits("aaa", false), -1);
}

TEST(stores_of_its_own_pool_have_not)
{
    assert_int_equal(awaits("   ", false), -1);
    assert_int_equal(awaits(" a ", false), -1);
    assert_int_equal(awaits(" an", false), 2);
}

TEST(sequence_that_its_pool_knows_waits_for_none)
{
    assert_int_equal(awaits("nnn", true), -1);
}

TEST(rests_double_up_to_the_longest)
{
    struct retry retry;
    int64_t now_ms = 0;
    int64_t rest_ms = RETRY_FIRST_MS;

    retry_begin(&retry, 7, now_ms);
    for (int i = 0; i < 20; i++) {
        assert_false(retry_is_due(&retry, 7, now_ms + rest_ms - 1));
        now_ms += rest_ms;
        assert_true(retry_is_due(&retry, 7, now_ms));
        rest_ms =
            2 * rest_ms < RETRY_LONGEST_MS ? 2 * rest_ms : RETRY_LONGEST_MS;
    }
    assert_int_equal(rest_ms, RETRY_LONGEST_MS);
}

TEST(stores_that_come_back_are_asked_at_once)
{
    struct retry retry;

    retry_begin(&retry, 7, 0);
    assert_true(retry_is_due(&retry, 8, 1));
    assert_false(retry_is_due(&retry, 8, RETRY_FIRST_MS));
    assert_true(retry_is_due(&retry, 8, 1 + RETRY_FIRST_MS));
}
