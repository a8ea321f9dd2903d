/* SPDX-License-Identifier: Apache-2.0 */
/* `seqctl migrate`: pools moved to another layout. */
#pragma once

#include <stdbool.h>

#include "ctl/ctl.h"

/* `keys` is a file of keys, one a line; NULL: none was named. */
enum ctl_exit migrate_run(const char *old_topology, const char *new_topology,
                          const char *keys, bool dry_run);
