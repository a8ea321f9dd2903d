/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the etcd engine: for counters, claims and periods, and for
 * opening a store. */
#pragma once

#include "backends/etcd/rows.h"

extern const struct sql_dialect etcd_dialect;

/* Members of seqb_backend_ops, with the contracts of backend.h. */
enum seqb_status etcd_reserve(struct seqb_backend *backend,
                              struct seqb_request *requests, size_t n,
                              struct seqb_error *err);
enum seqb_status etcd_raise(struct seqb_backend *backend,
                            const struct seqb_raise *raise, int64_t *out,
                            struct seqb_error *err);
enum seqb_status etcd_install(struct seqb_backend *backend,
                              const struct seqb_window *window,
                              int64_t *standing, struct seqb_error *err);
enum seqb_status etcd_claim(struct seqb_backend *backend, const char *name,
                            const char *text, char *standing, size_t size,
                            struct seqb_error *err);
enum seqb_status etcd_claim_many(struct seqb_backend *backend,
                                 struct seqb_claim *claims, size_t n,
                                 size_t *done, struct seqb_error *err);
enum seqb_status etcd_swap(struct seqb_backend *backend,
                           const struct seqb_swap *swap, char *standing,
                           size_t size, struct seqb_error *err);
enum seqb_status etcd_purge(struct seqb_backend *backend,
                            const struct seqb_purge *purge, int32_t *deleted,
                            struct seqb_error *err);
enum seqb_status etcd_list(struct seqb_backend *backend, struct seqb_page *page,
                           struct seqb_error *err);
enum seqb_status etcd_describe(struct seqb_backend *backend,
                               struct seqb_details *out,
                               struct seqb_error *err);

/* The state of the member that answers. Errors as for etcd_link_ask;
 * etcd_answer_free frees the answer. */
enum seqb_status etcd_status_ask(struct etcd_link *link,
                                 Etcd__StatusResponse **out,
                                 struct seqb_error *err);

/* Reads the store's identity, binds its base to it, and reads or makes its
 * incarnation. */
enum seqb_status etcd_session_open(struct etcd *etcd,
                                   const struct seqb_backend_options *options,
                                   struct seqb_error *err);
