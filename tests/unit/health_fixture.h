/* SPDX-License-Identifier: Apache-2.0 */
/* What health is expected to be, of the stores alone and of the whole queue. */
#pragma once

#include "queue/queue.h"
#include "support/rig.h"
#include "support/test.h"

static inline void expect_health_is(enum seqb_health health,
                                    enum seqb_health expected)
{
    assert_string_equal(seqb_health_name(health), seqb_health_name(expected));
}

/* Of the stores, with that reason. */
static inline void expect_health(const struct rig_broker *broker,
                                 enum seqb_health expected, const char *reason)
{
    char words[SEQB_ERROR_TEXT_SIZE] = "?";

    expect_health_is(ha_health(broker->ha, NULL, 0), expected);
    expect_health_is(ha_health(broker->ha, words, sizeof words), expected);
    assert_string_equal(words, reason);
}

/* The same with a reason that contains `words`; "": with none. */
static inline void expect_health_says(const struct rig_broker *broker,
                                      enum seqb_health expected,
                                      const char *words)
{
    char reason[SEQB_ERROR_TEXT_SIZE] = "?";

    expect_health_is(ha_health(broker->ha, reason, sizeof reason), expected);
    rig_expect_words(reason, words);
    assert_int_equal(reason[0] == '\0', words[0] == '\0');
}

/* Also of the worker ids, the clock, and the sequences that wait. */
static inline void expect_queue_health(const struct rig_broker *broker,
                                       enum seqb_health expected,
                                       const char *reason)
{
    char words[SEQB_ERROR_TEXT_SIZE] = "?";

    expect_health_is(queue_health(broker->queue, words, sizeof words),
                     expected);
    assert_string_equal(words, reason);
}
