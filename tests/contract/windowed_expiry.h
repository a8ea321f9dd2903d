/* SPDX-License-Identifier: Apache-2.0 */
/* What every windowed engine must guarantee when its cells expire. The
 * functions must_... fail the test otherwise. */
#pragma once

#include "contract/windowed_fixture.h"

/* Like install, for a cell that the store may remove after `keep_s` seconds. */
enum seqb_status install_for(struct fixture *f, int64_t window, int64_t keep_s,
                             int64_t *standing);

/* Two brokers count in cells that are kept for `keep_s` seconds, until
 * `expiries` of them have expired in the middle of their windows. No value may
 * repeat, and a cell that is gone must read as fenced. `hasten`, which may be
 * NULL, is called now and then to make the cell expire at once, or soon. */
void must_never_repeat(struct fixture *f, int64_t keep_s, int expiries,
                       void (*hasten)(struct fixture *f));

/* The backend's clock must be between two readings of `read_ms`, one before and
 * one after it. */
void must_tell_time(struct fixture *f, int64_t (*read_ms)(struct fixture *f));
