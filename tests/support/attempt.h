/* SPDX-License-Identifier: Apache-2.0 */
/* The start of a cluster: one that failed is not tried again by each later test
 * of the program, since each try may take minutes. */
#pragma once

#include "support/test.h"

/* Static; begins as {.what = "a Galera cluster"}. */
struct attempt {
    const char *what;
    bool is_under_way;
};

/* Fails the test if an earlier one failed between begin and end. */
static inline void attempt_begin(struct attempt *attempt)
{
    if (attempt->is_under_way)
        fail_msg("%s did not start for an earlier test", attempt->what);
    attempt->is_under_way = true;
}

static inline void attempt_end(struct attempt *attempt)
{
    attempt->is_under_way = false;
}
