/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call that must fail, and what its error must say:
 *
 *     assert_fails(queue_find(queue, "waybil", &found, &failure),
 *                  SEQB_UNKNOWN_KEY, "did you mean 'waybill'?");
 */
#pragma once

#include <string.h>

#include "support/test.h"

/* What the last such call of this thread said. */
static _Thread_local struct seqb_error failure;

/* Compares the status, and searches the words in the text of `failure`, whose
 * address is an argument of the call. */
#define assert_fails(call, expected, words)                                    \
    do {                                                                       \
        failure.text[0] = '\0';                                                \
        assert_status(call, expected);                                         \
        if (strstr(failure.text, words) == NULL)                               \
            fail_msg("'%s' does not say '%s'", failure.text, words);           \
    } while (0)
