/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the cells of a direct engine a windowed engine, so that the contract's
 * tests of windowed engines can run on them. */
#pragma once

#include <seqbroker/backend.h>

/* An engine whose counters are cells of `inner`, which must have `install`.
 * Only one such engine at a time. The window that a counter had last, in any
 * store, becomes the hint of its next request. */
const struct seqb_backend_ops *cells_of(const struct seqb_backend_ops *inner);
