/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the primary among the hosts of a backend, for the postgres engine
 * only. */
#pragma once

#include "backends/postgres/link.h"

/* Opens the link and fills `base`. Errors as for open; a failure leaves what
 * postgres_link_close frees. */
enum seqb_status
postgres_primary_open(struct postgres_link *link, struct seqb_backend *base,
                      const struct seqb_backend_options *options,
                      struct seqb_error *err);
