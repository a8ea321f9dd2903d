/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of users for tests. */
#pragma once

#include "daemon/access/access.h"

/* Makes a table from settings and their values in turn, ended by NULL. The
 * settings must be valid. Free it by users_free. */
struct users *users_of(const char *const *settings);
