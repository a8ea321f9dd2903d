/* SPDX-License-Identifier: Apache-2.0 */
/* Users and groups of the system. The front header of this folder. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Looks up a user's or a group's id by its name; a number is the id itself.
 * Returns 0 or an errno; ENOENT: there is no such name. May wait for the
 * system's name service. Any thread may call it. */
int account_read(const char *name, bool is_group, id_t *out);
