/* SPDX-License-Identifier: Apache-2.0 */
/* What is written of a snapshot. Private to this folder. */
#pragma once

#include <stddef.h>

#include "daemon/http/snapshot.h"
#include "daemon/wire/wire.h"

/* Appends the status as JSON, with the sequences that were read. On any thread.
 */
void status_json_write(struct buffer *out, const struct snapshot *snapshot);
