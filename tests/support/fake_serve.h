/* SPDX-License-Identifier: Apache-2.0 */
/* What calls do to a fake store, for fake.c alone; see <seqbroker/backend.h>.
 * The store's lock is held. */
#pragma once

#include "support/fake_store.h"

void fake_serve_request(struct fake_store *store, struct seqb_request *request);
enum seqb_status fake_serve_raise(struct fake_store *store,
                                  const struct seqb_raise *raise, int64_t *out,
                                  struct seqb_error *err);
enum seqb_status fake_serve_install(struct fake_store *store,
                                    const struct seqb_window *window,
                                    int64_t *standing, struct seqb_error *err);

/* How many counters were deleted. */
int32_t fake_serve_purge(struct fake_store *store,
                         const struct seqb_purge *purge);

/* SEQB_FENCED also where the store has another incarnation; else `*stands` is
 * what stands there then. */
enum seqb_status fake_serve_swap(struct fake_store *store,
                                 const struct seqb_swap *swap,
                                 const char **stands, struct seqb_error *err);

void fake_serve_list(struct fake_store *store, struct seqb_page *page);
