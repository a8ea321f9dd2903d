/* SPDX-License-Identifier: Apache-2.0 */
/* Brokers of an earlier version, which have SQLite's locks alone, as on a file
 * system without flock. A test that links this wraps flock(2). */
#pragma once

#include <stdbool.h>

extern bool sqlite_earlier; /* false at first */
