/* SPDX-License-Identifier: Apache-2.0 */
/* The list of engines. An engine that is not built in is not in it. */
#include "backends/backends.h"

#include <string.h>

static const struct seqb_backend_ops *const engines[] = {
#ifdef SEQB_WITH_SQLITE
    &backend_sqlite,
#endif
#ifdef SEQB_WITH_REDIS
    &backend_redis,
#endif
#ifdef SEQB_WITH_MEMCACHED
    &backend_memcached,
#endif
#ifdef SEQB_WITH_MYSQL
    &backend_mysql_row,
    &backend_mysql_autoinc,
#endif
#ifdef SEQB_WITH_POSTGRES
    &backend_postgres,
#endif
#ifdef SEQB_WITH_ETCD
    &backend_etcd,
#endif
    NULL,
};

const struct seqb_backend_ops *backend_at(size_t i)
{
    return i < sizeof engines / sizeof engines[0] ? engines[i] : NULL;
}

const struct seqb_backend_ops *backend_find(const char *engine)
{
    for (size_t i = 0; engines[i] != NULL; i++) {
        if (strcmp(engines[i]->engine, engine) == 0)
            return engines[i];
    }
    return NULL;
}
