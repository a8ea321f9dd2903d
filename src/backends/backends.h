/* SPDX-License-Identifier: Apache-2.0 */
/* The engines of this build. */
#pragma once

#include <seqbroker/backend.h>

extern const struct seqb_backend_ops backend_sqlite;
extern const struct seqb_backend_ops backend_redis;
extern const struct seqb_backend_ops backend_memcached;
extern const struct seqb_backend_ops backend_mysql_row;
extern const struct seqb_backend_ops backend_mysql_autoinc;
extern const struct seqb_backend_ops backend_postgres;
extern const struct seqb_backend_ops backend_etcd;

/* The engine of that name, or NULL. */
const struct seqb_backend_ops *backend_find(const char *engine);

/* The i-th engine, NULL past the last. */
const struct seqb_backend_ops *backend_at(size_t i);
