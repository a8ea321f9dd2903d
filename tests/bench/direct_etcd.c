/* SPDX-License-Identifier: Apache-2.0 */
/* etcd asked by gRPC for one number at a time: each put has a revision of its
 * own. */
#include "bench/direct.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/etcd/etcd.pb-c.h"
#include "backends/etcd/grpc.h"

#define BUDGET_MS 20000

struct direct {
    struct etcd_grpc grpc;
    struct etcd_buffer put;
    struct stream_target target;
    char authority[32];
};

static struct direct *etcd_open(const char *path, int32_t port)
{
    static uint8_t key[] = "direct";
    struct direct *direct = calloc(1, sizeof *direct);
    Etcd__PutRequest put = ETCD__PUT_REQUEST__INIT;
    uint8_t *message;

    (void)path;
    if (direct == NULL)
        abort();
    put.key = (ProtobufCBinaryData){.len = sizeof key - 1, .data = key};
    message = etcd_buffer_grow(&direct->put,
                               etcd__put_request__get_packed_size(&put));
    if (message == NULL)
        abort();
    etcd__put_request__pack(&put, message);
    (void)snprintf(direct->authority, sizeof direct->authority, "127.0.0.1:%d",
                   (int)port);
    direct->target = (struct stream_target){.host = "127.0.0.1", .port = port};
    return direct;
}

static bool etcd_next(struct direct *direct)
{
    const struct etcd_call call = {
        .path = "/etcdserverpb.KV/Put",
        .authority = direct->authority,
        .token = "",
        .request = &direct->put,
        .budget_ms = BUDGET_MS,
    };

    return etcd_grpc_call(&direct->grpc, &direct->target, &call) ==
               ETCD_ANSWERED &&
           direct->grpc.code == 0 && direct->grpc.length > 0;
}

static void etcd_close(struct direct *direct)
{
    etcd_grpc_close(&direct->grpc);
    etcd_buffer_fini(&direct->put);
    free(direct);
}

const struct direct_kind direct_etcd = {"put, revision", etcd_open, etcd_next,
                                        etcd_close};
