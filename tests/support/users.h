/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of users for tests. */
#pragma once

#include "daemon/access/access.h"

/* Of settings and their values in turn, ended by NULL; checked. For
 * users_free. */
struct users *users_of(const char *const *settings);
