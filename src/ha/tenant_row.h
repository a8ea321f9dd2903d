/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of worker ids in the authority's store; on its thread. */
#pragma once

#include "ha/tenant_state.h"

#define TENANT_SWAP_TRIES 4 /* others, or lost answers, may come in between */

/* What stands under a name; `standing` has LEASE_TEXT_SIZE. */
enum seqb_status tenant_look(struct tenant *tenant, const char *name,
                             char *standing, struct seqb_error *err);

/* SEQB_AGAIN: something else stands there, which is in `standing`. */
enum seqb_status tenant_swap(struct tenant *tenant,
                             const struct seqb_swap *about, char *standing,
                             struct seqb_error *err);

/* SEQB_AGAIN: somebody else has it, and this tenant none any more. */
enum seqb_status tenant_renew(struct tenant *tenant, struct seqb_error *err);

/* Says in its row that the id is nobody's any more, if it is still ours. */
void tenant_row_return(struct tenant *tenant);
