/* SPDX-License-Identifier: Apache-2.0 */
/* What any windowed engine must keep when its cells expire; the must_...
 * functions assert. */
#pragma once

#include "contract/windowed_fixture.h"

/* As install, of a cell that the store may forget after `keep_s`. */
enum seqb_status install_for(struct fixture *f, int64_t window, int64_t keep_s,
                             int64_t *standing);

/* Two brokers count in cells that are kept for `keep_s`, until so many have
 * expired in the middle of their windows. No value comes twice, and a cell that
 * is gone reads as fenced. `hasten`, which may be NULL, is called now and
 * then to have the cell expire at once, or nearly. */
void must_never_repeat(struct fixture *f, int64_t keep_s, int expiries,
                       void (*hasten)(struct fixture *f));

/* The backend's clock is one that `read_ms` shows before and after it. */
void must_tell_time(struct fixture *f, int64_t (*read_ms)(struct fixture *f));
