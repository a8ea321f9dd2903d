/* SPDX-License-Identifier: Apache-2.0 */
/* An engine of a service's own: direct counters in one plain file. */
#pragma once

#include <seqbroker/backend.h>

/* `engine = "counter-file"; path = "..."` */
extern const struct seqb_backend_ops counter_file;
