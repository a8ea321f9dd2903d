/* SPDX-License-Identifier: Apache-2.0 */
/* Which way a branch goes, where that was measured to count. */
#pragma once

#define LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
