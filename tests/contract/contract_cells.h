/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a direct engine as a windowed engine, so that the contract's
 * tests for these run on them. */
#pragma once

#include <seqbroker/backend.h>

/* Every counter of the engine is a cell of `inner`, which can install. One at a
 * time. The window that a counter was seen with last, in any store, is the
 * hint of its next request. */
const struct seqb_backend_ops *cells_of(const struct seqb_backend_ops *inner);
