/* SPDX-License-Identifier: Apache-2.0 */
/* The status of a snapshot as JSON. Private to this folder. */
#pragma once

#include <stddef.h>

#include "daemon/http/snapshot.h"
#include "daemon/wire/wire.h"

/* Appends the status as JSON, with the sequences in the snapshot. Any
 * thread. */
void status_json_write(struct buffer *out, const struct snapshot *snapshot);
