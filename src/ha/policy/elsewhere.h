/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a sequence may get its first number from its pool, although another
 * pool of the topology may have issued that number. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known of a sequence. The arrays have an element for each backend. */
struct elsewhere {
    const bool *is_needed;   /* a direct store of another pool */
    const bool *has_no_such; /* it answered that it does not know the
                                sequence */
    size_t count;
    bool is_known; /* a store of the sequence's own pool has its claim */
};

/*
 * The backend that the sequence waits for; -1: none, it may be served.
 *
 * Every direct store of the other pools has to answer. A store gets a
 * sequence's claim before its own first number of it, so a store that was the
 * only one in use then is the only one that has the claim. A sequence that its
 * own pool knows waits for none: they were asked before its first number.
 */
int32_t elsewhere_awaits(const struct elsewhere *elsewhere);
