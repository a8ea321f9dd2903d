/* SPDX-License-Identifier: Apache-2.0 */
/* The least that a counter in a shared library can do: one atomic step and a
 * look at a bound; and what the call costs without that. In a library of its
 * own, so that the call is a real one. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

/* 0, or -1 where the bound is passed. */
__attribute__((visibility("default"))) int
outside_take(_Atomic int64_t *counter, int64_t bound, int64_t *out);

/* Always 0. */
__attribute__((visibility("default"))) int outside_nothing(int64_t value,
                                                           int64_t *out);
