/* SPDX-License-Identifier: Apache-2.0 */
/* When the stores are asked again about sequences that wait for other pools. */
#include "queue/retry.h"

#include "support/test.h"

#define BEGIN_MS 5000

TEST(rest_doubles_up_to_the_longest)
{
    static const int32_t rests_ms[] = {1000,  2000,  4000, 8000,
                                       16000, 30000, 30000};
    struct retry retry;
    int64_t now_ms = BEGIN_MS;

    retry_begin(&retry, 3, now_ms);
    for (size_t i = 0; i < COUNT_OF(rests_ms); i++) {
        now_ms += rests_ms[i];
        assert_false(retry_is_due(&retry, 3, now_ms - 1));
        assert_true(retry_is_due(&retry, 3, now_ms));
    }
}

TEST(other_stores_end_the_rest_and_it_begins_anew)
{
    struct retry retry;

    retry_begin(&retry, 3, BEGIN_MS);
    assert_true(retry_is_due(&retry, 3, BEGIN_MS + 1000));
    assert_true(retry_is_due(&retry, 1, BEGIN_MS + 1001));
    assert_false(retry_is_due(&retry, 1, BEGIN_MS + 2000));
    assert_true(retry_is_due(&retry, 1, BEGIN_MS + 2001));
    assert_true(retry_is_due(&retry, 3, BEGIN_MS + 2001));
}
