/* SPDX-License-Identifier: Apache-2.0 */
/* Branch hints, for places where measurements showed an effect. */
#pragma once

#define LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
