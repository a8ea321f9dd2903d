/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The etcd engine: direct counters, each a key that has the origin in which its
 * value is valid, read and written by gRPC, etcd's API v3.
 * The quorum of the cluster agrees on each write, and each write compares what
 * was read. See decision 51.
 */
#include "backends/etcd/etcd.h"

#include <stdlib.h>

#include "backends/backends.h"
#include "platform/error.h"
#include "platform/text.h"

#define DEFAULT_PREFIX "seqbroker"

static void etcd_close(struct seqb_backend *backend)
{
    struct etcd *etcd = etcd_of(backend);

    if (etcd == NULL)
        return;
    etcd_link_close(&etcd->link);
    etcd_known_fini(&etcd->known);
    free(etcd->texts);
    free(etcd);
}

static enum seqb_status etcd_start(struct etcd *etcd,
                                   const struct seqb_backend_options *options,
                                   struct seqb_error *err)
{
    const char *prefix =
        options->prefix != NULL ? options->prefix : DEFAULT_PREFIX;
    enum seqb_status status;

    if (!text_copy(etcd->prefix, sizeof etcd->prefix, prefix))
        return error_set(err, SEQB_INVALID, "%s: a prefix has at most %d bytes",
                         options->name, ETCD_PREFIX_SIZE - 1);
    etcd->timeout_ms = options->timeout_ms;
    status = etcd_link_open(&etcd->link, options, err);
    if (status != SEQB_OK)
        return status;
    etcd_link_begin(&etcd->link, options->connect_timeout_ms);
    return etcd_session_open(etcd, options, err);
}

static enum seqb_status etcd_open(const struct seqb_backend_options *options,
                                  struct seqb_backend **out,
                                  struct seqb_error *err)
{
    struct etcd *etcd = calloc(1, sizeof *etcd);
    enum seqb_status status;

    if (etcd == NULL)
        return error_set(err, SEQB_NO_MEMORY, "%s: out of memory",
                         options->name);
    etcd->sql.base.ops = &backend_etcd;
    etcd->sql.base.fd = -1; /* the engine enforces the time-out */
    etcd->sql.dialect = &etcd_dialect;
    etcd->sql.where = etcd->link.where;
    status = etcd_start(etcd, options, err);
    if (status != SEQB_OK) {
        etcd_close(&etcd->sql.base);
        return status;
    }
    *out = &etcd->sql.base;
    return SEQB_OK;
}

const struct seqb_backend_ops backend_etcd = {
    .engine = "etcd",
    .guarantee = SEQB_DIRECT,
    .library = etcd_grpc_library,
    .open = etcd_open,
    .reserve = etcd_reserve,
    .raise = etcd_raise,
    .install = etcd_install,
    .claim = etcd_claim,
    .claim_many = etcd_claim_many,
    .describe = etcd_describe,
    .swap = etcd_swap,
    .purge = etcd_purge,
    .list = etcd_list,
    .close = etcd_close,
};
