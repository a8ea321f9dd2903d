/* SPDX-License-Identifier: Apache-2.0 */
/* Purging counters of periods that are over, from mysql-row. */
#pragma once

#include <seqbroker/backend.h>

#include "backends/mysql/link.h"

/* The purge of backend.h, a call of its own. SEQB_REFUSED with what to run if
 * the user may not delete: that is noted nevertheless, and the link is fit. */
enum seqb_status mysql_purge(struct mysql_link *link,
                             const struct seqb_purge *purge, int32_t *deleted,
                             struct seqb_error *err);
