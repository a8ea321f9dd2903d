/* SPDX-License-Identifier: Apache-2.0 */
/* What each call does to a fake store. For fake.c alone; see
 * <seqbroker/backend.h>. The caller holds the store's lock. */
#pragma once

#include "support/fake_store.h"

void fake_serve_request(struct fake_store *store, struct seqb_request *request);
enum seqb_status fake_serve_raise(struct fake_store *store,
                                  const struct seqb_raise *raise, int64_t *out,
                                  struct seqb_error *err);
enum seqb_status fake_serve_install(struct fake_store *store,
                                    const struct seqb_window *window,
                                    int64_t *standing, struct seqb_error *err);

/* Returns the number of counters deleted. */
int32_t fake_serve_purge(struct fake_store *store,
                         const struct seqb_purge *purge);

/* SEQB_FENCED also if the store has another incarnation. Otherwise `*stands` is
 * the text stored afterwards. */
enum seqb_status fake_serve_swap(struct fake_store *store,
                                 const struct seqb_swap *swap,
                                 const char **stands, struct seqb_error *err);

void fake_serve_list(struct fake_store *store, struct seqb_page *page);
