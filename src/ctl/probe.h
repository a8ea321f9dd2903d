/* SPDX-License-Identifier: Apache-2.0 */
/* `seqctl check --probe`: every backend of a topology, tried. */
#pragma once

#include <stdbool.h>

#include "ctl/ctl.h"

enum ctl_exit probe_run(const char *topology, bool is_json);
